package timelines

import (
	"context"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"riverrun/timelines/kinds"
	"riverrun/timelines/snapshot"
)

// statements are what a connection was asked, as a tracer of it hears them.
type statements struct {
	mu  sync.Mutex // guards all
	all []statement
}

type statement struct {
	sql  string
	args []any
}

func (s *statements) hear(sql string, args []any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	// The settings for planning a search come before its query.
	args = slices.DeleteFunc(slices.Clone(args), func(a any) bool { _, mode := a.(pgx.QueryExecMode); return mode })
	s.all = append(s.all, statement{sql, args})
}

// take returns what was asked since it was last called, each statement once, without
// what begins and ends transactions.
func (s *statements) take() []statement {
	s.mu.Lock()
	defer s.mu.Unlock()
	var taken []statement
	for _, x := range s.all {
		known := slices.ContainsFunc(taken, func(y statement) bool { return x.sql == y.sql })
		if first := strings.ToUpper(strings.Fields(x.sql)[0]); (first == "SELECT" || first == "WITH") && !known {
			taken = append(taken, x)
		}
	}
	s.all = nil
	return taken
}

func (s *statements) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	s.hear(data.SQL, data.Args)
	return ctx
}

func (*statements) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (*statements) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}

func (s *statements) TraceBatchQuery(_ context.Context, _ *pgx.Conn, data pgx.TraceBatchQueryData) {
	s.hear(data.SQL, data.Args)
}

func (*statements) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// G22: a search for listings looks at those that have the state, or the price, and at no table whole; in a
// place it looks at what stands there.
func TestSearchesForListingsReadNoTableWhole(t *testing.T) {
	w := newTown(t)
	const rows = 4000
	_, viewer := w.stranded(rows, 200, 100)
	w.populous(viewer, rows)
	w.exec(`INSERT INTO listings (post_id, price, until_at, state, currency, condition, place)
		SELECT id, id % 1000 * 100, now() + interval '9 days', CASE WHEN id % 500 = 0 THEN 'expired' ELSE 'active' END, CASE WHEN id % 400 = 0 THEN 'USD' ELSE 'EUR' END, 'used', '' FROM posts`)
	w.exec(`VACUUM ANALYZE`)
	ctx, name := t.Context(), value[string](w, `
		SELECT a.name FROM subscriptions s JOIN accounts a ON a.id = s.account_id WHERE s.subscriber_id = $1 ORDER BY a.id LIMIT 1`, viewer.ID)
	posts := value[[]int64](w, `SELECT array_agg(id) FROM (SELECT id FROM posts ORDER BY id LIMIT 3) p`)
	at := snapshot.Scan{Viewer: viewer.ID, Down: math.MaxInt64, BeforePlace: math.MaxInt64, BeforePost: math.MaxInt64, Limit: 20}
	heard := &statements{}
	traced := w.traced(heard)
	for _, text := range []string{
		"is:expired", "price:7eur", "price:..0eur", "price:..900usd", "is:active price:7eur", "is:expired price:..500eur", "is:expired in:" + name,
		"is:active price:..20eur in:" + name,
		"in:" + name + " -is:active", "hello7 is:active", "hello7 -price:..50eur",
	} {
		q := w.query(text)
		w.must(traced.InSnapshot(ctx, func(sn *snapshot.Snapshot) error {
			heard.take()
			_, err := sn.Search(ctx, q, at)
			if err == nil {
				_, err = sn.Matches(ctx, []snapshot.ViewerQuery{{Viewer: viewer.ID, Query: q}}, posts)
			}
			return err
		}))
		for _, x := range heard.take() {
			looked := map[string]int{}
			w.explained("force_custom_plan", x.sql, x.args...).addLooks(looked)
			for table, n := range looked {
				if has := value[int](w, `SELECT count(*) FROM `+pgx.Identifier{table}.Sanitize()); n > max(has/4, 50) {
					t.Errorf("%s: of %d %s it looks at %d:\n%s", text, has, table, n, x.sql)
				}
			}
		}
	}
}

// A snapshot asks nothing for which a table would be read whole: each statement looks
// at a small part of each table, by an index, in whichever plan the server makes of it.
func TestSnapshotsReadNoTableWhole(t *testing.T) {
	w := newTown(t)
	const rows = 4000
	likes, viewer := w.stranded(rows, 200, 100)
	w.populous(viewer, rows)
	w.exec(`VACUUM ANALYZE`)

	posts := value[[]int64](w, `SELECT array_agg(id) FROM (SELECT id FROM posts ORDER BY id LIMIT 3) p`)
	celebrated := value[int64](w, `SELECT max(id) FROM posts`)
	followed := value[[]int64](w, `SELECT array_agg(account_id ORDER BY account_id) FROM subscriptions WHERE subscriber_id = $1`, viewer.ID)
	list := value[int64](w, `SELECT id FROM lists WHERE account_id = $1`, viewer.ID)
	name := value[string](w, `SELECT name FROM accounts WHERE id = $1`, followed[0])
	feeds := value[[]int64](w, `SELECT array_agg(id ORDER BY id) FROM timelines WHERE kind IN ('feed', 'likes') AND their_id = ANY($1)`, followed)
	var viewers snapshot.ViewerPairs
	for _, id := range posts {
		viewers.Add(id, viewer.ID)
		viewers.Add(id, 0)
	}
	depth := snapshot.Depth{BodyRunes: 100, BodyLines: 10, CommentRunes: 100, CommentLines: 10, First: 1, Last: 2, People: 100}
	first := func(viewer int64, timelines ...int64) snapshot.Scan {
		return snapshot.Scan{Viewer: viewer, Timelines: timelines, Down: math.MaxInt64, BeforePlace: math.MaxInt64, BeforePost: math.MaxInt64, Limit: 20}
	}
	created := func(s snapshot.Scan) snapshot.Scan {
		s.ByCreation = true
		return s
	}
	queries := []string{"hello7", "hello7 -no", "hello7 -#spring", "#tag7", "hello7 from:" + name, "in:" + name, "hello7 in:" + name, "hello7 -in:" + name}
	ctx := t.Context()
	asks := map[string]func(*snapshot.Snapshot) error{
		"Sees": func(sn *snapshot.Snapshot) error { _, err := sn.Sees(ctx); return err },
		"Named": func(sn *snapshot.Snapshot) error {
			_, err := sn.Named(ctx, viewer.ID, followed[0], kinds.Likes, kinds.Group)
			return err
		},
		"Feeds": func(sn *snapshot.Snapshot) error {
			_, err := sn.Feeds(ctx, viewer.ID, followed[0], "")
			if err == nil {
				_, err = sn.Feeds(ctx, viewer.ID, followed[0], kinds.PrivateTerm)
			}
			return err
		},
		"Termed": func(sn *snapshot.Snapshot) error {
			_, err := sn.Termed(ctx, viewer.ID, kinds.Hashtag, "tag7")
			return err
		},
		"Home": func(sn *snapshot.Snapshot) error {
			_, err := sn.Home(ctx, viewer.ID, false)
			if err == nil {
				_, err = sn.Home(ctx, viewer.ID, true)
			}
			return err
		},
		"List":     func(sn *snapshot.Snapshot) error { _, err := sn.List(ctx, viewer.ID, list, false); return err },
		"OwnsList": func(sn *snapshot.Snapshot) error { _, err := sn.OwnsList(ctx, viewer.ID, list); return err },
		"States":   func(sn *snapshot.Snapshot) error { _, err := sn.States(ctx, posts, viewers); return err },
		"StatesAmong": func(sn *snapshot.Snapshot) error {
			_, err := sn.StatesAmong(ctx, posts, viewers, feeds)
			return err
		},
		"Contents": func(sn *snapshot.Snapshot) error { _, err := sn.Contents(ctx, posts, depth); return err },
		"StatesAndContents": func(sn *snapshot.Snapshot) error {
			_, _, err := sn.StatesAndContents(ctx, posts, viewers, depth)
			return err
		},
		"MembershipsAmong": func(sn *snapshot.Snapshot) error {
			return sn.MembershipsAmong(ctx, map[int64]*snapshot.PostState{celebrated: {Overflows: true}}, feeds)
		},
		"MayRead": func(sn *snapshot.Snapshot) error { _, err := sn.MayRead(ctx, viewer.ID, posts[0]); return err },
		"Scan": func(sn *snapshot.Snapshot) error {
			for _, q := range []snapshot.Scan{first(viewer.ID, likes), first(viewer.ID, feeds...), first(0, likes)} {
				for _, q := range []snapshot.Scan{q, created(q)} {
					if _, err := sn.Scan(ctx, q); err != nil {
						return err
					}
				}
			}
			return nil
		},
		"Search": func(sn *snapshot.Snapshot) error {
			for _, text := range queries {
				for _, at := range []snapshot.Scan{first(viewer.ID), created(first(viewer.ID))} {
					if _, err := sn.Search(ctx, w.query(text), at); err != nil {
						return err
					}
				}
			}
			return nil
		},
		"Matches": func(sn *snapshot.Snapshot) error {
			var asked []snapshot.ViewerQuery
			for _, text := range queries {
				asked = append(asked, snapshot.ViewerQuery{Viewer: viewer.ID, Query: w.query(text)})
			}
			_, err := sn.Matches(ctx, asked, posts)
			return err
		},
	}
	heard, all := &statements{}, reflect.TypeFor[*snapshot.Snapshot]()
	traced := w.traced(heard)
	for m := range all.NumMethod() {
		name := all.Method(m).Name
		if name == "Tx" { // asks nothing itself
			continue
		}
		ask := asks[name]
		if ask == nil {
			t.Errorf("%s asks what nobody looked at", name)
			continue
		}
		heard.take()
		if err := traced.InSnapshot(ctx, ask); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		taken := heard.take()
		if len(taken) == 0 {
			t.Errorf("%s asks nothing", name)
		}
		for _, x := range taken {
			for _, mode := range []string{"force_custom_plan", "force_generic_plan"} {
				if mode == "force_generic_plan" && name == "Search" && strings.Contains(x.sql, "@viewer") {
					continue // planned anew each time
				}
				looked := map[string]int{}
				w.explained(mode, x.sql, x.args...).addLooks(looked)
				for table, n := range looked {
					if has := value[int](w, `SELECT count(*) FROM `+pgx.Identifier{table}.Sanitize()); n > max(has/4, 50) {
						t.Errorf("%s, %s: of %d %s it looks at %d:\n%s", name, mode, has, table, n, x.sql)
					}
				}
			}
		}
	}
}

// populous has somebody follow a few of many, and posts talked about by all.
func (w *town) populous(viewer Account, rows int) {
	w.Helper()
	people := w.people("talker", 300)
	w.exec(`INSERT INTO subscriptions (subscriber_id, account_id) SELECT $1, id FROM unnest(($2::bigint[])[1:10]) id`, viewer.ID, people)
	w.exec(`INSERT INTO subscriptions (subscriber_id, account_id)
		SELECT a, b FROM unnest($1::bigint[]) a, unnest($1::bigint[]) b WHERE a <> b AND (a + b) % 7 = 0`, people)
	w.exec(`INSERT INTO lists (account_id, slug, title) SELECT id, 'some', 'some' FROM unnest($1::bigint[] || $2::bigint) id`, people, viewer.ID)
	w.exec(`INSERT INTO list_members (list_id, subscriber_id, account_id)
		SELECT l.id, s.subscriber_id, s.account_id FROM subscriptions s JOIN lists l ON l.account_id = s.subscriber_id`)
	w.exec(`INSERT INTO timelines (kind, their_id, term) SELECT 'hashtag', 0, 'tag' || i FROM generate_series(1, 1000) i`)
	of := func(table, columns, values string) {
		w.exec(`INSERT INTO `+table+` (`+columns+`) SELECT `+values+`
			FROM (SELECT p.id, ($1::bigint[])[1 + p.id % cardinality($1)] AS who, row_number() OVER (ORDER BY p.id) AS i FROM posts p) p`, people)
	}
	of("comments", "post_id, author_id, created_at, body", "id, who, now(), 'hello' || i")
	of("likes", "post_id, account_id, created_at", "id, who, now()")
	of("faves", "post_id, account_id, created_at", "id, who, now()")
	of("attachments", "post_id, position, url, title", "id, 1, 'https://example.org', 'hello'")
	of("text_marks", "post_id, comment_id, timeline_id", "id, 0, (SELECT t.id FROM timelines t WHERE t.kind = 'hashtag' AND t.term = 'tag' || (1 + i % 1000))")
	w.exec(`INSERT INTO comment_likes (comment_id, account_id, created_at) SELECT id, author_id, now() FROM comments`)
	w.exec(`INSERT INTO readers (timeline_id, account_id)
		SELECT t.id, a FROM timelines t, unnest($1::bigint[]) a WHERE t.kind = 'feed' AND t.access = 2 AND (t.id + a) % 10 = 0 ON CONFLICT DO NOTHING`, people)
	w.exec(`INSERT INTO excluded (timeline_id, account_id)
		SELECT t.id, a FROM timelines t, unnest($1::bigint[]) a WHERE t.kind = 'feed' AND t.access = 0 AND (t.id + a) % 20 = 0`, people)
	// All like the last post, and those followed wrote and liked a few more.
	w.exec(`INSERT INTO timeline_entries (timeline_id, post_id, entered_at, fresh_at, created_at)
		SELECT t.id, p.id, p.fresh_at, p.fresh_at, p.fresh_at FROM timelines t, (SELECT * FROM posts ORDER BY id DESC LIMIT 30) p
		WHERE t.kind = 'likes' AND t.their_id = ANY($1) ON CONFLICT DO NOTHING`, people)
}

// traced is the store over connections of its own whose statements are heard.
func (w *town) traced(heard *statements) *Store { return w.tracedBy(heard) }

func (w *town) tracedBy(tracer pgx.QueryTracer) *Store {
	w.Helper()
	config := w.pool.Config()
	config.ConnConfig.Tracer = tracer
	pool, err := pgxpool.NewWithConfig(w.Context(), config)
	w.must(err)
	w.Cleanup(pool.Close)
	return Open(pool, w.heard, DefaultOptions())
}

// addLooks adds how many rows of each table are looked at.
func (p plan) addLooks(of map[string]int) {
	if p.Relation != "" {
		of[p.Relation] += int(p.Loops * (p.Rows + p.Filtered + p.Rechecked))
	}
	for _, inner := range p.Plans {
		inner.addLooks(of)
	}
}
