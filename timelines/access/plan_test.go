package access_test

import (
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"riverrun/timelines/access"
)

// A node whose plans were made while the site was small finds timelines by index steps when a load
// has made thousands, also before the server has counted its rows.
func TestTimelinesOfAGrownSite(t *testing.T) {
	w := newTown(t)
	ann := w.user("ann")
	config := w.Pool().Config()
	config.MaxConns = 1 // one connection has the plans, and counts what it reads
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	w.must(err)
	t.Cleanup(pool.Close)
	read := func() (rows int64) {
		_, err := pool.Exec(t.Context(), `SELECT pg_stat_force_next_flush()`)
		w.must(err)
		w.must(pool.QueryRow(t.Context(), `SELECT seq_tup_read FROM pg_stat_user_tables WHERE relname = 'timelines'`).Scan(&rows))
		return rows
	}
	store := open(pool)
	ask := func() {
		c := access.New(store) // it remembers nothing yet
		_, err := c.Levels(t.Context(), []int64{ann.FeedID})
		w.must(err)
		_, err = c.Timelines(t.Context(), []int64{ann.FeedID})
		w.must(err)
	}
	ask()
	_, err = pool.Exec(t.Context(), `INSERT INTO timelines (kind, their_id) SELECT 'post', generate_series(1000000, 1005000)`)
	w.must(err)
	before := read()
	ask()
	if n := read() - before; n != 0 {
		t.Errorf("reads %d timelines one by one", n)
	}
}
