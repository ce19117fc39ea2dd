package rivers

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"riverrun/timelines"
)

// everyQuestion also sees the statements of batches.
type everyQuestion struct{ questions }

func (q *everyQuestion) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}

func (q *everyQuestion) TraceBatchQuery(ctx context.Context, c *pgx.Conn, d pgx.TraceBatchQueryData) {
	q.TraceQueryStart(ctx, c, pgx.TraceQueryStartData{SQL: d.SQL, Args: d.Args})
}

func (q *everyQuestion) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// The statements of pages, pushes and one's own actions read the rivers concerned and no
// others, however many stand and hold the same posts, in whichever plan the server makes,
// whether or not it has counted its rows.
func TestRiversAreFoundAmongMany(t *testing.T) {
	w := newTown(t)
	ann, bob := w.person("ann"), w.person("bob")
	w.told(w.follow(ann, "bob"))
	var posts []int64
	var last timelines.Change
	for i := range 2 * PageSize {
		last = w.post(bob, numbered(i))
		posts = append(posts, last.PostID)
	}
	w.drain()
	names := []Name{w.name(ann, Home, ""), w.name(ann, User, "bob"), w.name(timelines.Viewer{}, Everything, "")}
	watches := make([]Watch, len(names))
	for i, n := range names {
		v := timelines.Viewer{AccountID: n.UserID}
		if v == (timelines.Viewer{AccountID: ann.AccountID}) {
			v = ann
		}
		p, err := w.rivers.Visit(w.ctx, v, n, Cursor{})
		watches[i] = Watch{Viewer: v, Name: n, River: must(w, p, err).River}
	}
	searches := []Name{w.visit(ann, Search, "post").Name}
	const strangers = 3000
	w.exec(`INSERT INTO rivers (id, user_id, their_id, epoch, floor, state, kind, knows)
		SELECT 1000000 + i, 1000000 + i, 0, c.epoch, 0, 'live', 'home', '1:1:' FROM clock c, generate_series(1, $1::int) i`, strangers)
	w.exec(`INSERT INTO rivers_timelines (river_id, timeline_id) SELECT 1000000 + i, 1000000 + i FROM generate_series(1, $1::int) i`, strangers)
	w.exec(`INSERT INTO entries (river_id, post_id, version, fresh_at)
		SELECT 1000000 + i, p, 1, p FROM generate_series(1, $1::int) i, unnest($2::bigint[]) p`, strangers, posts[:3])
	w.foldsWritten(1_000_000, 10*strangers)

	asked := &everyQuestion{}
	rivers := Open(traced(t, w.db.SecondaryURL, asked), w.store, slog.New(slog.DiscardHandler), DefaultOptions())
	asks := map[string]func() error{
		"page":        func() error { _, err := rivers.Visit(w.ctx, ann, names[0], Cursor{}); return err },
		"flush":       func() error { _, err := rivers.Flush(w.ctx, watches, posts[:2]); return err },
		"first pages": func() error { _, err := rivers.FirstPages(w.ctx, watches); return err },
		"post":        func() error { _, _, err := rivers.Unfold(w.ctx, ann, last.Code); return err },
		"posts":       func() error { _, err := rivers.Posts(w.ctx, ann, false, []AskedPost{{PostID: posts[0]}}); return err },
		"entry":       func() error { _, _, err := rivers.Entry(w.ctx, ann, names[0], posts[0]); return err },
		"search":      func() error { _, err := rivers.BringUp(w.ctx, searches); return err },
		"like": func() error {
			c := w.like(ann, last.Code)
			return rivers.Distribute(w.ctx, []timelines.Touched{{PostID: c.PostID, Timelines: c.Touched}}, Scope{Actor: ann.AccountID})
		},
		"push": func() error {
			c := w.like(bob, last.Code)
			return rivers.Distribute(w.ctx, []timelines.Touched{{PostID: c.PostID, Timelines: c.Touched}}, Scope{Open: true})
		},
	}
	heard := map[string][]pgx.TraceQueryStartData{}
	for name, ask := range asks {
		asked.take()
		if err := ask(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, d := range asked.take() {
			known := slices.ContainsFunc(heard[name], func(x pgx.TraceQueryStartData) bool { return x.SQL == d.SQL })
			if first := strings.ToUpper(strings.Fields(d.SQL)[0]); (first == "SELECT" || first == "WITH") && !known {
				heard[name] = append(heard[name], d)
			}
		}
		if len(heard[name]) == 0 {
			t.Errorf("%s asks nothing", name)
		}
	}
	for _, counted := range []bool{false, true} {
		if counted {
			w.exec(`VACUUM ANALYZE`)
		}
		for name, statements := range heard {
			for _, d := range statements {
				for _, mode := range []string{"force_custom_plan", "force_generic_plan"} {
					p := w.explainedIn(mode, d.SQL, d.Args...)
					for _, table := range []string{"rivers", "rivers_timelines", "entries", "folds", "leases", "visits"} {
						if n := p.looksAt(table); n > 10*PageSize {
							t.Errorf("%s, %s, counted %t: looks at %d of the %s:\n%s", name, mode, counted, n, table, d.SQL)
						}
					}
				}
			}
		}
	}
}

// A plan that was made while the site was small finds the rivers and entries of posts by index steps
// when a load has brought thousands, also before the server has counted its rows.
func TestLookUpOnAGrownSite(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	post := w.post(ann, "one")
	w.drain()
	river := w.visit(ann, Home, "").River
	config := w.db.Secondary.Config().Copy()
	config.MaxConns = 1 // one connection has the plans, and counts what it reads
	pool, err := pgxpool.NewWithConfig(w.ctx, config)
	must(w, pool, err)
	t.Cleanup(pool.Close)
	lookUps := map[string]pgx.StrictNamedArgs{}
	for _, sql := range []string{lookUpByTimeline, lookUpFew, lookUpOpen} {
		lookUps[sql] = pgx.StrictNamedArgs{
			"posts": []int64{post.PostID}, "timelines": post.Touched, "viewed": []int64{post.PostID}, "viewers": []int64{ann.AccountID},
			"actor": ann.AccountID, "searches": []string{},
		}
		if sql != lookUpByTimeline {
			lookUps[sql]["most"] = 10
		}
		if sql == lookUpFew {
			lookUps[sql]["pairs"] = 10
		}
	}
	read := func(sql string) (rows int64) {
		for _, sql := range []string{sql, `SELECT pg_stat_force_next_flush()`} {
			args := lookUps[sql]
			if args == nil {
				args = pgx.StrictNamedArgs{}
			}
			if _, err := pool.Exec(w.ctx, sql, args); err != nil {
				t.Fatal(err)
			}
		}
		err := pool.QueryRow(w.ctx, `SELECT seq_tup_read FROM pg_stat_user_tables WHERE relname = 'entries'`).Scan(&rows)
		return must(w, rows, err)
	}
	for sql := range lookUps {
		read(sql)
	}
	w.exec(`INSERT INTO entries (river_id, post_id, version, fresh_at) SELECT $1::bigint, i, 1, i FROM generate_series(1000000, 1005000) i`, river)
	for sql := range lookUps {
		before := read(`SELECT 1`)
		if n := read(sql) - before; n != 0 {
			t.Errorf("reads %d entries one by one:\n%s", n, sql)
		}
	}
}
