package rivers

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"riverrun/migrations/testdb"
	"riverrun/timelines"
)

// town is a small place to test in: both stores, people by name, and the events of every
// change in the order of their commits. A test may hand them to Distribute as the jobs
// would, or not.
type town struct {
	t      testing.TB
	ctx    context.Context
	db     *testdb.DB
	store  *timelines.Store
	rivers *Store

	mu     sync.Mutex // guards events
	events []timelines.Event
	// within, if set, runs in the transaction of the next change that announces.
	within func()
}

// AnnounceTx implements timelines.Announcer.
func (w *town) AnnounceTx(_ context.Context, _ pgx.Tx, events ...timelines.Event) error {
	w.mu.Lock()
	w.events = append(w.events, events...)
	within := w.within
	w.within = nil
	w.mu.Unlock()
	if within != nil {
		within()
	}
	return nil
}

func newTown(t testing.TB) *town {
	t.Helper()
	w := &town{t: t, ctx: context.Background(), db: testdb.New(t)}
	options := timelines.DefaultOptions()
	options.HashCost.Memory, options.HashCost.Iterations = 64, 1 // people sign up fast
	w.store = timelines.Open(w.db.Primary, w, options)
	w.rivers = w.node()
	return w
}

// node starts another node over the same stores.
func (w *town) node() *Store {
	w.t.Helper()
	s := Open(w.db.Secondary, w.store, slog.New(slog.DiscardHandler), DefaultOptions())
	if err := s.Start(w.ctx); err != nil {
		w.t.Fatalf("start rivers: %v", err)
	}
	w.t.Cleanup(func() {
		if err := s.Stop(context.Background()); err != nil {
			w.t.Errorf("stop rivers: %v", err)
		}
	})
	return s
}

func must[T any](w *town, v T, err error) T {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
	return v
}

// person signs somebody up without the cost of a password hash.
func (w *town) person(name string) timelines.Viewer {
	w.t.Helper()
	a, err := w.store.Accounts.SignUp(w.ctx, timelines.SignUp{Name: name, Title: name, Password: "long enough " + name})
	return timelines.Viewer{AccountID: must(w, a, err).ID}
}

func (w *town) group(owner timelines.Viewer, name string, level timelines.Level) timelines.Account {
	w.t.Helper()
	a, _, err := w.store.Groups.Create(w.ctx, timelines.NewGroup{Actor: owner.AccountID, Name: name, Title: name, Access: level})
	return must(w, a, err)
}

func (w *town) follow(who timelines.Viewer, name string) timelines.Change {
	w.t.Helper()
	c, requested, err := w.store.Subscriptions.Subscribe(w.ctx, who.AccountID, name)
	if requested {
		w.t.Fatalf("%s asks first", name)
	}
	return must(w, c, err)
}

func (w *town) post(who timelines.Viewer, body string, to ...string) timelines.Change {
	w.t.Helper()
	c, err := w.store.Posts.Create(w.ctx, timelines.NewPost{Author: who.AccountID, Body: body, To: to})
	return must(w, c, err)
}

func (w *town) comment(who timelines.Viewer, code, body string) timelines.Change {
	w.t.Helper()
	c, err := w.store.Comments.Create(w.ctx, timelines.NewComment{Author: who.AccountID, Code: code, Body: body})
	return must(w, c, err)
}

func (w *town) like(who timelines.Viewer, code string) timelines.Change {
	w.t.Helper()
	c, err := w.store.Posts.Like(w.ctx, who.AccountID, code)
	return must(w, c, err)
}

func (w *town) unlike(who timelines.Viewer, code string) timelines.Change {
	w.t.Helper()
	c, err := w.store.Posts.Unlike(w.ctx, who.AccountID, code)
	return must(w, c, err)
}

func (w *town) remove(who timelines.Viewer, code string) timelines.Change {
	w.t.Helper()
	c, err := w.store.Posts.Delete(w.ctx, who.AccountID, code)
	return must(w, c, err)
}

// drain does what the jobs would do with the events so far: Tier 2 for posts, replacing for
// access changes, and blocks of bumps.
func (w *town) drain() {
	w.t.Helper()
	for {
		w.mu.Lock()
		events := w.events
		w.events = nil
		w.mu.Unlock()
		if len(events) == 0 {
			return
		}
		for _, e := range events {
			var err error
			switch e := e.(type) {
			case timelines.Touched:
				err = w.rivers.Distribute(w.ctx, []timelines.Touched{e}, All)
			case timelines.TouchedBatch:
				err = w.rivers.Distribute(w.ctx, e, All)
			case timelines.Replace:
				_, err = w.replace(e)
			case timelines.PendingBump:
				err = w.store.Maintenance.BumpBlock(w.ctx, e)
			case timelines.Upkeep:
				_, err = w.store.Maintenance.UpkeepBlock(w.ctx)
			}
			if err != nil {
				w.t.Fatalf("distribute %#v: %v", e, err)
			}
		}
	}
}

// replace does what the jobs of a Replace do, and returns the names of the rebuilt rivers.
func (w *town) replace(r timelines.Replace) ([]Name, error) {
	open, err := w.rivers.Spread(w.ctx, r)
	if err != nil {
		return nil, err
	}
	var names []Name
	for _, r := range open {
		if _, err := w.rivers.Rebuild(w.ctx, r); err != nil {
			return nil, err
		}
		names = append(names, r.Name)
	}
	return names, nil
}

// forget drops the events so far: their jobs never run.
func (w *town) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = nil
}

func (w *town) name(v timelines.Viewer, kind Kind, of string) Name {
	w.t.Helper()
	n, err := w.rivers.Resolve(w.ctx, v, kind, of, Fresh)
	return must(w, n, err)
}

func (w *town) visit(v timelines.Viewer, kind Kind, of string) *Page {
	w.t.Helper()
	p, err := w.rivers.Visit(w.ctx, v, w.name(v, kind, of), Cursor{})
	return must(w, p, err)
}

// bodies returns the texts on a page, from its top.
func bodies(p *Page) []string {
	var all []string
	for _, it := range p.Items {
		all = append(all, it.Fold.Text.Body)
	}
	return all
}

func (w *town) shows(p *Page, want ...string) {
	w.t.Helper()
	if got := bodies(p); !slices.Equal(got, want) {
		w.t.Errorf("%s page: got %q, want %q", p.Name.Kind, got, want)
	}
}

// sound checks all rivers against rebuilt ones.
func (w *town) sound() {
	w.t.Helper()
	w.soundAt("check")
}

func (w *town) soundAt(when string) {
	w.t.Helper()
	r, err := w.rivers.Check(w.ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, d := range r.Differences {
		w.t.Errorf("%s: %v", when, d)
	}
}

func (w *town) count(query string, args ...any) int {
	w.t.Helper()
	var n int
	if err := w.db.Secondary.QueryRow(w.ctx, query, args...).Scan(&n); err != nil {
		w.t.Fatal(err)
	}
	return n
}

func (w *town) exec(query string, args ...any) {
	w.t.Helper()
	if _, err := w.db.Secondary.Exec(w.ctx, query, args...); err != nil {
		w.t.Fatal(err)
	}
}

func (w *town) execPrimary(query string, args ...any) {
	w.t.Helper()
	if _, err := w.db.Primary.Exec(w.ctx, query, args...); err != nil {
		w.t.Fatal(err)
	}
}

func numbered(n int) string { return fmt.Sprintf("post %03d", n) }
