package tiers_test

import (
	"cmp"
	"context"
	"log/slog"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"riverrun/migrations/testdb"
	"riverrun/rivers"
	"riverrun/tiers"
	"riverrun/timelines"
)

func TestMain(m *testing.M) {
	testdb.Main(m)
}

// town is a small place to test in: both stores, nodes over them, and a queue
// that keeps the events of every change until somebody works it.
type town struct {
	t     testing.TB
	ctx   context.Context
	db    *testdb.DB
	queue *queue
	// store is for setting things up, beside all nodes.
	store *timelines.Store
	// depth is to what depth new nodes keep home feeds and lists; 0: the default.
	depth int
	// few is how many entries of rivers new nodes write before their tier (rivers.Options); 0: none.
	few int
}

// options are such that few people make a post one of the best, and sign up fast.
var options = func() timelines.Options {
	o := timelines.DefaultOptions()
	o.BestOf, o.MostFaved = 3, 2
	o.HashCost.Memory, o.HashCost.Iterations = 64, 1
	return o
}()

func newTown(t testing.TB) *town {
	t.Helper()
	w := &town{t: t, ctx: context.Background(), db: testdb.New(t)}
	w.queue = newQueue(t, w.db.Primary)
	w.store = timelines.Open(w.db.Primary, w.queue, options)
	return w
}

// node is one process: stores, rivers and tiers of its own over the same two
// databases, with pools of its own.
type node struct {
	secondary *pgxpool.Pool
	store     *timelines.Store
	rivers    *rivers.Store
	tiers     *tiers.Tiers
	// stop ends the node; it may be called twice.
	stop func()
}

// quiet is a node whose tiers were not started: Carry works, nothing is done in
// the background and nothing is heard on the bus.
func (w *town) quiet() *node {
	w.t.Helper()
	n := &node{secondary: testdb.Open(w.t, w.db.SecondaryURL)}
	log := slog.New(slog.DiscardHandler)
	n.store = timelines.Open(testdb.Open(w.t, w.db.PrimaryURL), w.queue, options)
	n.rivers = rivers.Open(n.secondary, n.store, log, rivers.Options{Depth: w.depth, Few: cmp.Or(w.few, -1), GraceHome: 24 * time.Hour, Grace: 6 * time.Hour})
	if err := n.rivers.Start(w.ctx); err != nil {
		w.t.Fatalf("start rivers: %v", err)
	}
	n.tiers = tiers.New(tiers.Config{Timelines: n.store, Rivers: n.rivers, Secondary: n.secondary, Log: log})
	stopped := false
	n.stop = func() {
		if stopped {
			return
		}
		stopped = true
		if err := n.tiers.Stop(w.ctx); err != nil {
			w.t.Errorf("stop tiers: %v", err)
		}
		if err := n.rivers.Stop(w.ctx); err != nil {
			w.t.Errorf("stop rivers: %v", err)
		}
	}
	w.t.Cleanup(n.stop)
	return n
}

// node is a whole node, running.
func (w *town) node() *node {
	w.t.Helper()
	n := w.quiet()
	if err := n.tiers.Start(w.ctx); err != nil {
		w.t.Fatalf("start tiers: %v", err)
	}
	return n
}

func must[T any](w *town, v T, err error) T {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
	return v
}

// passwordOf is what person signs up with.
func passwordOf(name string) string { return "long enough " + name }

func (w *town) person(name string) timelines.Viewer {
	w.t.Helper()
	a, err := w.store.Accounts.SignUp(w.ctx, timelines.SignUp{Name: name, Password: passwordOf(name)})
	return timelines.Viewer{AccountID: must(w, a, err).ID}
}

// group makes a group before there are rivers to tell.
func (w *town) group(owner timelines.Viewer, name string, level timelines.Level) timelines.Account {
	w.t.Helper()
	a, _, err := w.store.Groups.Create(w.ctx, timelines.NewGroup{
		Actor: owner.AccountID, Name: name, Title: name, Access: level,
	})
	return must(w, a, err)
}

// act makes a change through Tier 0 of a node, which must succeed.
func (w *town) act(n *node, change func(context.Context) (timelines.Change, error)) timelines.Change {
	w.t.Helper()
	c, err := change(w.ctx)
	c, err = n.tiers.Carry(w.ctx, c, err)
	return must(w, c, err)
}

func (w *town) post(n *node, v timelines.Viewer, body string, to ...string) timelines.Change {
	w.t.Helper()
	return w.act(n, func(ctx context.Context) (timelines.Change, error) {
		return n.store.Posts.Create(ctx, timelines.NewPost{Author: v.AccountID, Body: body, To: to})
	})
}

func (w *town) comment(n *node, v timelines.Viewer, code, body string) timelines.Change {
	w.t.Helper()
	return w.act(n, func(ctx context.Context) (timelines.Change, error) {
		return n.store.Comments.Create(ctx, timelines.NewComment{Author: v.AccountID, Code: code, Body: body})
	})
}

func (w *town) like(n *node, v timelines.Viewer, code string) timelines.Change {
	w.t.Helper()
	return w.act(n, func(ctx context.Context) (timelines.Change, error) { return n.store.Posts.Like(ctx, v.AccountID, code) })
}

func (w *town) unlike(n *node, v timelines.Viewer, code string) timelines.Change {
	w.t.Helper()
	return w.act(n, func(ctx context.Context) (timelines.Change, error) {
		return n.store.Posts.Unlike(ctx, v.AccountID, code)
	})
}

func (w *town) remove(n *node, v timelines.Viewer, code string) timelines.Change {
	w.t.Helper()
	return w.act(n, func(ctx context.Context) (timelines.Change, error) {
		return n.store.Posts.Delete(ctx, v.AccountID, code)
	})
}

func (w *town) follow(n *node, v timelines.Viewer, name string) timelines.Change {
	w.t.Helper()
	return w.act(n, func(ctx context.Context) (timelines.Change, error) {
		c, requested, err := n.store.Subscriptions.Subscribe(ctx, v.AccountID, name)
		if requested {
			w.t.Errorf("%s asks first", name)
		}
		return c, err
	})
}

func (w *town) leave(n *node, v timelines.Viewer, name string) timelines.Change {
	w.t.Helper()
	return w.act(n, func(ctx context.Context) (timelines.Change, error) {
		return n.store.Subscriptions.Unsubscribe(ctx, v.AccountID, name)
	})
}

func (w *town) ban(n *node, v timelines.Viewer, name string) timelines.Change {
	w.t.Helper()
	return w.act(n, func(ctx context.Context) (timelines.Change, error) { return n.store.Bans.Ban(ctx, v.AccountID, name) })
}

func (w *town) setAccess(n *node, v timelines.Viewer, group string, level timelines.Level) timelines.Change {
	w.t.Helper()
	return w.act(n, func(ctx context.Context) (timelines.Change, error) {
		return n.store.Feeds.SetAccess(ctx, v.AccountID, group, level)
	})
}

func (w *town) move(n *node, v timelines.Viewer, code string, to ...string) timelines.Change {
	w.t.Helper()
	return w.act(n, func(ctx context.Context) (timelines.Change, error) {
		return n.store.Posts.Revise(ctx, v.AccountID, code, timelines.Revision{To: to})
	})
}

func (w *town) takeOut(n *node, v timelines.Viewer, code, group string) timelines.Change {
	w.t.Helper()
	return w.act(n, func(ctx context.Context) (timelines.Change, error) {
		return n.store.Posts.RemoveFromGroup(ctx, v.AccountID, code, group)
	})
}

func (w *town) setReader(n *node, v timelines.Viewer,
	set func(ctx context.Context, actor int64, slug, name string) (timelines.Change, error), slug, name string,
) timelines.Change {
	w.t.Helper()
	return w.act(n, func(ctx context.Context) (timelines.Change, error) { return set(ctx, v.AccountID, slug, name) })
}

func (w *town) name(n *node, v timelines.Viewer, kind rivers.Kind, of string) rivers.Name {
	w.t.Helper()
	name, err := n.rivers.Resolve(w.ctx, v, kind, of, rivers.Fresh)
	return must(w, name, err)
}

func (w *town) visit(n *node, v timelines.Viewer, kind rivers.Kind, of string) *rivers.Page {
	w.t.Helper()
	p, err := n.rivers.Visit(w.ctx, v, w.name(n, v, kind, of), rivers.Cursor{})
	return must(w, p, err)
}

// shows compares what a page shows, from its top, by the posts' bodies.
func (w *town) shows(p *rivers.Page, want ...string) {
	w.t.Helper()
	var got []string
	for _, it := range p.Items {
		got = append(got, it.Fold.Text.Body)
	}
	if !slices.Equal(got, want) {
		w.t.Errorf("%s page of account %d: got %q, want %q", p.Name.Kind, p.Name.UserID, got, want)
	}
}

// sound checks all live rivers against rebuilt ones, as one node sees them.
func (w *town) sound(n *node, when string) {
	w.t.Helper()
	r, err := n.rivers.Check(w.ctx)
	if err != nil {
		w.t.Fatalf("%s: check: %v", when, err)
	}
	for i, d := range r.Differences {
		if i == 10 {
			w.t.Errorf("%s: and %d differences more", when, len(r.Differences)-i)
			break
		}
		w.t.Errorf("%s: check: %v", when, d)
	}
	for _, wrong := range w.miscounted() {
		w.t.Errorf("%s: counters: %s", when, wrong)
	}
}

// miscounted says which counters of authors are not what a recount of their posts gives (G11), where a post does
// not have the status of its listing, and whose totals lack something of their closed listings (G22).
func (w *town) miscounted() (wrong []string) {
	w.t.Helper()
	const recount = `
		SELECT format('account %s, status %s, imported %s: counted %s, posts %s', author_id, status, imported, sum(counted), sum(posts))
		FROM (
			SELECT author_id, status, imported, posts AS counted, 0 AS posts FROM author_counters
			UNION ALL
			SELECT author_id, status, imported, 0, 1 FROM posts WHERE deleted_at IS NULL
		) both_sides
		GROUP BY author_id, status, imported HAVING sum(counted) <> sum(posts)
		UNION ALL
		SELECT format('post %s has the status %s, its listing is %s', p.id, p.status, l.state)
		FROM posts p JOIN listings l ON l.post_id = p.id
		WHERE p.status IN (0, 3, 4) AND p.status <> CASE l.state WHEN 'active' THEN 0 WHEN 'expired' THEN 3 ELSE 4 END
		UNION ALL
		SELECT format('account %s closed %s listings for %s, its totals are %s and %s', a.author_id, a.closed, a.paid, t.closed, t.earned)
		FROM (
			SELECT p.author_id, count(*) AS closed, coalesce(sum(l.sold_price), 0) AS paid
			FROM posts p JOIN listings l ON l.post_id = p.id WHERE l.state = 'closed' GROUP BY 1
		) a CROSS JOIN LATERAL (
			SELECT coalesce(sum(value) FILTER (WHERE total = 'closed'), 0) AS closed, coalesce(sum(value) FILTER (WHERE total = 'earned'), 0) AS earned
			FROM author_totals t WHERE t.author_id = a.author_id
		) t WHERE a.closed > t.closed OR a.paid > t.earned`
	rows, err := w.db.Primary.Query(w.ctx, recount)
	if err == nil {
		wrong, err = pgx.CollectRows(rows, pgx.RowTo[string])
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return wrong
}

func (w *town) execPrimary(query string, args ...any) {
	w.t.Helper()
	if _, err := w.db.Primary.Exec(w.ctx, query, args...); err != nil {
		w.t.Fatalf("%s: %v", query, err)
	}
}

func (w *town) execSecondary(query string, args ...any) {
	w.t.Helper()
	if _, err := w.db.Secondary.Exec(w.ctx, query, args...); err != nil {
		w.t.Fatalf("%s: %v", query, err)
	}
}

func (w *town) countSecondary(query string, args ...any) int {
	w.t.Helper()
	var n int
	if err := w.db.Secondary.QueryRow(w.ctx, query, args...).Scan(&n); err != nil {
		w.t.Fatalf("%s: %v", query, err)
	}
	return n
}

// chance is a source that is the same each time.
func (w *town) chance() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

// quick makes a person who never signs in: no password costs its time.
func (w *town) quick(name string) timelines.Viewer {
	w.t.Helper()
	w.people(name, 0)
	a, err := w.store.Accounts.ByName(w.ctx, name)
	return timelines.Viewer{AccountID: must(w, a, err).ID}
}

// people makes accounts as an import does: name itself, or, if some number is
// wanted, name and a number.
func (w *town) people(name string, number int) {
	w.t.Helper()
	w.execPrimary(`
		WITH made AS (
			INSERT INTO accounts (kind, name, title)
			SELECT 'user', n, n FROM (
				SELECT $1 WHERE $2 = 0 UNION ALL SELECT $1 || i FROM generate_series(1, $2) i) x(n)
			RETURNING id
		)
		INSERT INTO timelines (kind, their_id, term, access, writers)
		SELECT k, id, CASE k WHEN 'subfeed' THEN 'private' ELSE '' END, CASE WHEN k IN ('feed', 'likes', 'comments') THEN 0 ELSE 2 END,
			CASE k WHEN 'directs' THEN 'anyone' ELSE '' END
		FROM made, unnest(ARRAY['feed', 'subfeed', 'eyes', 'directs', 'likes', 'comments', 'discussions', 'faves', 'mentions', 'notifications']) k`, name, number)
	w.execPrimary(`
		WITH gates AS (
			UPDATE timelines t SET gate_id = g.id, base = t.kind IN ('feed', 'subfeed', 'eyes', 'directs')
			FROM timelines g
			WHERE t.gate_id IS NULL AND t.their_id <> 0 AND t.kind NOT IN ('group', 'post')
				AND g.their_id = t.their_id
				AND g.kind = CASE WHEN t.kind IN ('likes', 'comments') THEN 'feed' ELSE t.kind END
			RETURNING t.id, t.kind, t.their_id
		)
		INSERT INTO readers (timeline_id, account_id)
		SELECT id, their_id FROM gates WHERE kind NOT IN ('likes', 'comments')`)
}
