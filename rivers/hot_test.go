package rivers

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// A like writes the entries of viewers whose view of the post it changes. It changes no
// indexed column, and their pages have room, so that it writes no index: each update is
// heap-only (HOT).
func TestALikeWritesNoIndexOfEntries(t *testing.T) {
	w := newTown(t)
	// There must be one connection: the server gets each connection's counts only from time
	// to time, or when that is asked to tell.
	config := w.db.Secondary.Config()
	config.MaxConns = 1
	pool, err := pgxpool.NewWithConfig(w.ctx, config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	w.db.Secondary = pool
	w.rivers = w.node()

	ann, bob := w.person("ann"), w.person("bob")
	w.told(w.follow(ann, "bob"))
	const posts = 20
	var codes []string
	for i := range posts {
		codes = append(codes, w.post(bob, numbered(i)).Code)
	}
	w.drain()
	w.visit(ann, Home, "")
	w.visit(ann, User, "bob")
	updates := func() (all, hot int) {
		t.Helper()
		w.exec(`SELECT pg_stat_force_next_flush()`)
		const query = `SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'entries'`
		if err := pool.QueryRow(w.ctx, query).Scan(&all, &hot); err != nil {
			t.Fatal(err)
		}
		return all, hot
	}
	before, _ := updates()
	for _, code := range codes {
		w.like(ann, code)
	}
	w.drain()
	for _, code := range codes {
		w.unlike(ann, code)
	}
	w.drain()
	all, hot := updates()
	if want := before + 4*posts; all != want || hot != want {
		t.Errorf("%d updates of entries, %d of them heap-only; want %d and all", all, hot, want)
	}
	w.sound()
}

// Old tombstones are found without reading the younger ones or the live entries.
func TestOldTombstonesAreFoundByTheirAge(t *testing.T) {
	w := newTown(t)
	w.exec(`INSERT INTO entries (river_id, post_id, version, fresh_at, deleted)
		SELECT 1, i, 1, i, i % 10 = 0 FROM generate_series(1, 20000) i`)
	w.exec(`UPDATE entries SET updated_at = updated_at - interval '1 hour' WHERE post_id <= 50`)
	w.exec(`ANALYZE entries`)
	const old = 5 // looked at to be found, and to be deleted
	args := pgx.StrictNamedArgs{"keep": keep, "batch": expireBatch}
	if got := w.explained(removeTombstones, args).looksAt("entries"); got > 2*old {
		t.Errorf("%d entries looked at, want %d twice", got, old)
	}
	if got := w.count(`SELECT count(*) FROM entries`); got != 20000-old {
		t.Errorf("%d entries left, want %d", got, 20000-old)
	}
}
