package rivers

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"riverrun/timelines"
)

// emptied are the tables of rivers, in the order in which emptyOnce takes them.
var emptied = []string{"rivers", "folds", "entries", "rivers_timelines", "visits", "leases", "notice_clocks"}

// Statements that were planned before take the tables in the order of emptyOnce. Otherwise a request
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
	carry := func(s *Store, scope Scope) error {
		c, err := w.store.Comments.Create(w.ctx, timelines.NewComment{Author: bob.AccountID, Code: p.Code, Body: "so it is"})
		if err != nil {
			return err
		}
		return s.Distribute(w.ctx, []timelines.Touched{{PostID: c.PostID, Timelines: c.Touched}}, scope)
	}
	for name, ask := range map[string]func(*Store) error{
		"page":        func(s *Store) error { _, err := s.Visit(w.ctx, ann, home, Cursor{}); return err },
		"depth":       func(s *Store) error { _, err := s.remaining(w.ctx, home, page.River); return err },
		"notices":     func(s *Store) error { _, err := s.Notices(w.ctx, ann.AccountID); return err },
		"actor":       func(s *Store) error { return carry(s, Scope{Actor: bob.AccountID, Notices: true}) },
		"open":        func(s *Store) error { return carry(s, Scope{Open: true, Notices: true}) },
		"all":         func(s *Store) error { return carry(s, All) },
		"post":        func(s *Store) error { _, _, err := s.Unfold(w.ctx, ann, p.Code); return err },
		"entry":       func(s *Store) error { _, _, err := s.Entry(w.ctx, ann, home, p.PostID); return err },
		"pushed":      func(s *Store) error { _, err := s.Flush(w.ctx, []Watch{watch}, []int64{p.PostID}); return err },
		"first pages": func(s *Store) error { _, err := s.FirstPages(w.ctx, []Watch{watch}); return err },
		"lease":       func(s *Store) error { return s.Lease(w.ctx, []int64{watch.River}) },
		"search":      func(s *Store) error { _, err := s.BringUp(w.ctx, []Name{search}); return err },
		"readers":     func(s *Store) error { return s.inspectReaders(w.ctx, &Inspection{Name: home}) },
		"build": func(s *Store) error {
			built++
			n, err := s.Resolve(w.ctx, ann, Search, numbered(built), Fresh)
			if err == nil {
				_, err = s.Visit(w.ctx, ann, n, Cursor{})
			}
			return err
		},
	} {
		cfg := w.db.Secondary.Config()
		cfg.MaxConns = 1 // which knows its statements
		pool, err := pgxpool.NewWithConfig(w.ctx, cfg)
		t.Cleanup(must(w, pool, err).Close)
		s := Open(pool, w.store, slog.New(slog.DiscardHandler), DefaultOptions())
		for range 2 {
			must(w, 0, ask(s))
		}
		for i, table := range emptied {
			if held := w.holds(s, ask, table, emptied[i+1:]); len(held) > 0 {
				t.Errorf("%s: it waits for %s and holds %v", name, table, held)
			}
		}
	}
}

// holds locks a table while the store's one connection is asked something, and returns which of these others
// it holds while it waits for that table. If it holds the rivers, it returns none: emptyOnce takes no other table
// before it has the rivers.
func (w *town) holds(s *Store, ask func(*Store) error, table string, others []string) []string {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, 10*time.Second)
	defer cancel()
	var pid int
	must(w, 0, s.db.QueryRow(ctx, `SELECT pg_backend_pid()`).Scan(&pid))
	tx, err := w.db.Secondary.Begin(ctx)
	defer func() { _ = must(w, tx, err).Rollback(ctx) }() // it wrote nothing
	_, err = must(w, tx, err).Exec(ctx, `LOCK TABLE `+table)
	must(w, 0, err)
	asked := make(chan error, 1)
	go func() { asked <- ask(s) }()
	for waits := false; !waits && len(asked) == 0; {
		must(w, 0, tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_locks WHERE pid = $1 AND NOT granted)`, pid).Scan(&waits))
	}
	const early = `
		SELECT relation::regclass::text FROM pg_locks
		WHERE pid = $1 AND granted AND relation::regclass::text = ANY($2)
			AND NOT EXISTS (SELECT FROM pg_locks WHERE pid = $1 AND granted AND relation = 'rivers'::regclass)`
	rows, err := tx.Query(ctx, early, pid, others)
	held, err := pgx.CollectRows(must(w, rows, err), pgx.RowTo[string])
	must(w, 0, err)
	must(w, 0, tx.Rollback(ctx))
	must(w, 0, <-asked)
	return held
}
