package rivers

import (
	"log/slog"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"riverrun/timelines"
)

// emptied are the tables of rivers, in the order in which emptyOnce takes them.
var emptied = []string{"rivers", "folds", "entries", "rivers_timelines", "visits", "leases", "notice_clocks"}

// Statements take the tables in the order of emptyOnce, also those that were planned before. Otherwise a request
// and a node that empties the store could wait for each other.
func TestTablesAreTakenInOneOrder(t *testing.T) {
	w := newTown(t)
	ann, bob := w.person("ann"), w.person("bob")
	w.follow(ann, "bob")
	p := w.post(bob, "hello")
	w.drain()
	page := w.visit(ann, Home, "")
	home, search, built := page.Name, w.visit(ann, Search, "hello").Name, 0
	watch := Watch{Viewer: ann, Name: home, River: page.River}
	w.visit(ann, Notifications, "")
	check := func(err error) { must(w, 0, err) }
	carry := func(s *Store, scope Scope) error {
		c := w.comment(bob, p.Code, "so it is")
		return s.Distribute(w.ctx, []timelines.Touched{{PostID: c.PostID, Timelines: c.Touched}}, scope)
	}
	asks := []struct {
		name string
		ask  func(*Store) error
	}{
		{"page", func(s *Store) error { _, err := s.Visit(w.ctx, ann, home, Cursor{}); return err }},
		{"notices", func(s *Store) error { _, err := s.Notices(w.ctx, ann.AccountID); return err }},
		{"actor", func(s *Store) error { return carry(s, Scope{Actor: bob.AccountID, Notices: true}) }},
		{"open", func(s *Store) error { return carry(s, Scope{Open: true, Notices: true}) }},
		{"all", func(s *Store) error { return carry(s, All) }},
		{"post", func(s *Store) error { _, _, err := s.Unfold(w.ctx, ann, p.Code); return err }},
		{"pushed", func(s *Store) error { _, err := s.Flush(w.ctx, []Watch{watch}, []int64{p.PostID}); return err }},
		{"first pages", func(s *Store) error { _, err := s.FirstPages(w.ctx, []Watch{watch}); return err }},
		{"lease", func(s *Store) error { return s.Lease(w.ctx, []int64{watch.River}) }},
		{"expire", func(s *Store) error { _, err := s.Expire(w.ctx); return err }},
		{"search", func(s *Store) error { _, err := s.BringUp(w.ctx, []Name{search}); return err }},
		{"build", func(s *Store) error {
			built++
			_, err := s.Visit(w.ctx, ann, w.name(ann, Search, numbered(built)), Cursor{})
			return err
		}},
		{"entry", func(s *Store) error { _, _, err := s.Entry(w.ctx, ann, home, p.PostID); return err }},
	}
	for _, mode := range []string{"force_custom_plan", "force_generic_plan"} {
		for _, a := range asks {
			cfg := w.db.Secondary.Config()
			cfg.ConnConfig.RuntimeParams["plan_cache_mode"] = mode
			cfg.MaxConns = 1 // which knows its statements
			pool, err := pgxpool.NewWithConfig(w.ctx, cfg)
			t.Cleanup(must(w, pool, err).Close)
			s := Open(pool, w.store, slog.New(slog.DiscardHandler), DefaultOptions())
			pid := 0
			check(pool.QueryRow(w.ctx, `SELECT pg_backend_pid()`).Scan(&pid))
			for range 2 {
				check(a.ask(s))
			}
			for i, table := range emptied {
				tx, err := w.db.Secondary.Begin(w.ctx)
				_, err = must(w, tx, err).Exec(w.ctx, `LOCK TABLE `+table)
				check(err)
				asked := make(chan error, 1)
				go func() { asked <- a.ask(s) }()
				for waits := false; !waits && len(asked) == 0; {
					check(tx.QueryRow(w.ctx, `SELECT EXISTS (SELECT FROM pg_locks WHERE pid = $1 AND NOT granted)`, pid).Scan(&waits))
				}
				// Whatever holds the rivers is waited for before any other table is taken.
				const early = `
					SELECT relation::regclass::text FROM pg_locks
					WHERE pid = $1 AND granted AND relation::regclass::text = ANY($2)
						AND NOT EXISTS (SELECT FROM pg_locks WHERE pid = $1 AND granted AND relation = 'rivers'::regclass)`
				rows, err := tx.Query(w.ctx, early, pid, emptied[i+1:])
				held, err := pgx.CollectRows(must(w, rows, err), pgx.RowTo[string])
				check(err)
				check(tx.Rollback(w.ctx))
				check(<-asked)
				if len(held) > 0 {
					t.Errorf("%s, %s: it waits for %s and holds %v", a.name, mode, table, held)
				}
			}
		}
	}
}
