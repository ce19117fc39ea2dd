package strategies_test

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"riverrun/rivers"
	"riverrun/rivers/strategies"
	"riverrun/timelines"
)

// No statement of a page, a push or a fill reads a whole table, however many feeds of others
// stand.
func TestNoTableIsReadWhole(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	ann, bob := w.person("ann"), w.person("bob")
	w.person("cat")
	w.act(w.following(ann, "bob"))
	for i := range 12 {
		w.act(w.posting(bob, fmt.Sprint(i)))
	}
	const strangers = 3000
	for _, query := range []string{
		`INSERT INTO home_feeds (id, viewer_id, epoch, setting, strategy, state)
			SELECT i, 1000000 + i, c.epoch, 1, s, 'live' FROM clock c, generate_series(1, $1::int) i, unnest(ARRAY['timed']) s`,
		`INSERT INTO home_feed_buckets (feed_id, low_place, low_post, posts, places)
			SELECT i, k, 0, ARRAY[k], ARRAY[k] FROM generate_series(1, $1::int) i, generate_series(1, 2) k`,
		`INSERT INTO home_feed_posts (feed_id, post_id, version, place)
			SELECT i, k, 1, k FROM generate_series(1, $1::int) i, generate_series(1, 2) k`,
	} {
		w.exec(query, strangers)
	}
	const crowd = `
		WITH made AS (INSERT INTO accounts (kind, name, title) SELECT 'user', 'ghost' || i, 'Ghost' FROM generate_series(1, $1::int) i RETURNING id),
			made_timelines AS (INSERT INTO timelines (kind, their_id, term, access) SELECT 'likes', id, '', 0 FROM made RETURNING id, their_id),
			follow AS (INSERT INTO subscriptions (subscriber_id, account_id)
				SELECT id, other FROM (SELECT id, lag(id) OVER (ORDER BY id) AS other FROM made) m WHERE other IS NOT NULL)
		INSERT INTO timeline_entries (timeline_id, post_id, entered_at, fresh_at, created_at)
		SELECT t.id, p.id, 1, 1, 1 FROM made_timelines t, (SELECT id FROM posts LIMIT 1) p`
	if _, err := w.db.Primary.Exec(w.ctx, crowd, strangers); err != nil {
		t.Fatal(err)
	}
	changes := []timelines.Change{w.act(w.posting(bob, "pushed")), w.act(w.following(ann, "cat"))}
	for _, pool := range []*pgxpool.Pool{w.db.Primary, w.db.Secondary} {
		if _, err := pool.Exec(w.ctx, `ANALYZE`); err != nil {
			t.Fatal(err)
		}
		for _, conn := range pool.AcquireAllIdle(w.ctx) { // and what they counted so far is known
			_, err := conn.Exec(w.ctx, `SELECT pg_stat_force_next_flush()`)
			conn.Release()
			must(w, 0, err)
		}
	}
	// The strategies have connections of their own to each store, which can be asked what they
	// counted. An operation of the aggregator holds one while its block takes another.
	alone := func(address string, connections int32) *pgxpool.Pool {
		t.Helper()
		config, err := pgxpool.ParseConfig(address)
		must(w, config, err).MaxConns = connections
		pool, err := pgxpool.NewWithConfig(w.ctx, config)
		t.Cleanup(must(w, pool, err).Close)
		return pool
	}
	primaryPool := alone(w.db.PrimaryURL, 1)
	stores := strategies.Stores{
		Primary: timelines.Open(primaryPool, w.later, timelines.DefaultOptions()), Rivers: w.rivers, Secondary: alone(w.db.SecondaryURL, 2),
	}
	w.all = map[string]strategies.Strategy{
		"timed": strategies.NewTimed(stores, 0),
		"sized": strategies.NewSized(stores, 3),
		"cache": strategies.NewCache(stores, strategies.NewRead(stores.Primary, 0), 7, 0),

		"aggregator": strategies.NewAggregator(stores, strategies.NewRead(stores.Primary, 0), 7),
	}
	read := func(pool *pgxpool.Pool, tables ...string) map[string]int {
		t.Helper()
		for _, conn := range pool.AcquireAllIdle(w.ctx) {
			_, err := conn.Exec(w.ctx, `SELECT pg_stat_force_next_flush()`)
			conn.Release()
			must(w, 0, err)
		}
		const query = `SELECT relname, seq_scan FROM pg_stat_user_tables WHERE relname = ANY($1)`
		rows, err := pool.Query(w.ctx, query, tables)
		scans := map[string]int{}
		var table string
		var n int
		_, err = pgx.ForEachRow(must(w, rows, err), []any{&table, &n}, func() error { scans[table] = n; return nil })
		must(w, 0, err)
		if len(scans) != len(tables) {
			t.Fatalf("got %v, want figures of %v", scans, tables)
		}
		return scans
	}
	primary := []string{"timelines", "timeline_entries", "subscriptions"}
	secondary := []string{"home_feeds", "home_feed_buckets", "home_feed_posts"}
	beforePrimary, beforeSecondary := read(primaryPool, primary...), read(stores.Secondary, secondary...)
	pages := func() {
		t.Helper()
		for name, s := range w.all {
			if _, err := walk(w.ctx, s, ann, rivers.Cursor{}, 5); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
	pages()
	for range 7 { // a plan for any arguments is made at the sixth time
		for _, c := range changes {
			w.apply(c)
		}
		pages()
	}
	for _, s := range w.all {
		if err := s.Apply(w.ctx, timelines.Replace{AccountID: bob.AccountID}, timelines.Replace{Everybody: true}); err != nil {
			t.Fatal(err)
		}
		if err := s.(strategies.Expirer).Expire(w.ctx); err != nil {
			t.Fatal(err)
		}
	}
	for table, n := range read(stores.Secondary, secondary...) {
		if n != beforeSecondary[table] {
			t.Errorf("%s was read whole %d times", table, n-beforeSecondary[table])
		}
	}
	for table, n := range read(primaryPool, primary...) {
		if n != beforePrimary[table] {
			t.Errorf("%s was read whole %d times", table, n-beforePrimary[table])
		}
	}
}
