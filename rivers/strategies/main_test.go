package strategies_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/migrations/testdb"
	"riverrun/rivers"
	"riverrun/rivers/strategies"
	"riverrun/tiers"
	"riverrun/timelines"
)

func TestMain(m *testing.M) {
	testdb.Main(m)
}

// town is a small place with people, and with every strategy over the same two stores.
type town struct {
	t      testing.TB
	ctx    context.Context
	db     *testdb.DB
	store  *timelines.Store
	rivers *rivers.Store
	tiers  *tiers.Tiers
	// all are the strategies under test, by name.
	all map[string]strategies.Strategy
	// later are the events that changes leave to jobs and that no Change tells of.
	later *later
}

// later implements timelines.Announcer.
type later struct {
	mu     sync.Mutex // guards what follows
	bumps  []timelines.PendingBump
	upkeep bool
}

func (l *later) AnnounceTx(_ context.Context, _ pgx.Tx, events ...timelines.Event) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range events {
		switch e := e.(type) {
		case timelines.PendingBump:
			l.bumps = append(l.bumps, e)
		case timelines.Upkeep:
			l.upkeep = true
		}
	}
	return nil
}

func newTown(t testing.TB) *town {
	t.Helper()
	w := &town{t: t, ctx: context.Background(), db: testdb.New(t), later: &later{}}
	o := timelines.DefaultOptions()
	o.HashCost.Memory, o.HashCost.Iterations = 64, 1
	w.store = timelines.Open(w.db.Primary, w.later, o)
	log := slog.New(slog.DiscardHandler)
	w.rivers = rivers.Open(w.db.Secondary, w.store, log, rivers.Options{Depth: 40, GraceHome: 24 * time.Hour, Grace: 6 * time.Hour})
	if err := w.rivers.Start(w.ctx); err != nil {
		t.Fatalf("start rivers: %v", err)
	}
	t.Cleanup(func() {
		if err := w.rivers.Stop(w.ctx); err != nil {
			t.Errorf("stop rivers: %v", err)
		}
	})
	w.tiers = tiers.New(tiers.Config{Timelines: w.store, Rivers: w.rivers, Secondary: w.db.Secondary, Log: log})
	w.all = w.everyStrategy()
	return w
}

func must[T any](w *town, v T, err error) T {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
	return v
}

func (w *town) person(name string) timelines.Viewer {
	w.t.Helper()
	a, err := w.store.Accounts.SignUp(w.ctx, timelines.SignUp{Name: name, Password: "long enough " + name})
	return timelines.Viewer{AccountID: must(w, a, err).ID}
}

func (w *town) group(owner timelines.Viewer, name string, level timelines.Level) {
	w.t.Helper()
	a, _, err := w.store.Groups.Create(w.ctx, timelines.NewGroup{Actor: owner.AccountID, Name: name, Title: name, Access: level})
	must(w, a, err)
}

// act makes a change and acknowledges it, which applies it to no strategy yet. It must
// succeed.
func (w *town) act(change func(context.Context) (timelines.Change, error)) timelines.Change {
	w.t.Helper()
	c, err := change(w.ctx)
	c, err = w.tiers.Carry(w.ctx, c, err)
	return must(w, c, err)
}

// apply brings a change into every strategy.
func (w *town) apply(c timelines.Change) {
	w.t.Helper()
	for name, s := range w.all {
		if err := s.Apply(w.ctx, strategies.Events(c)...); err != nil {
			w.t.Fatalf("%s: apply: %v", name, err)
		}
	}
}

// does is act and apply.
func (w *town) does(change func(context.Context) (timelines.Change, error)) timelines.Change {
	w.t.Helper()
	c := w.act(change)
	w.apply(c)
	return c
}

func (w *town) posting(v timelines.Viewer, body string, to ...string) func(context.Context) (timelines.Change, error) {
	return func(ctx context.Context) (timelines.Change, error) {
		return w.store.Posts.Create(ctx, timelines.NewPost{Author: v.AccountID, Body: body, To: to})
	}
}

func (w *town) commenting(v timelines.Viewer, code string) func(context.Context) (timelines.Change, error) {
	return func(ctx context.Context) (timelines.Change, error) {
		return w.store.Comments.Create(ctx, timelines.NewComment{Author: v.AccountID, Code: code, Body: "well"})
	}
}

func (w *town) liking(v timelines.Viewer, code string) func(context.Context) (timelines.Change, error) {
	return func(ctx context.Context) (timelines.Change, error) { return w.store.Posts.Like(ctx, v.AccountID, code) }
}

func (w *town) following(v timelines.Viewer, name string) func(context.Context) (timelines.Change, error) {
	return func(ctx context.Context) (timelines.Change, error) {
		c, _, err := w.store.Subscriptions.Subscribe(ctx, v.AccountID, name)
		return c, err
	}
}

// named is a change of an actor about an account.
func named(set func(context.Context, int64, string) (timelines.Change, error), v timelines.Viewer, name string) func(context.Context) (timelines.Change, error) {
	return func(ctx context.Context) (timelines.Change, error) { return set(ctx, v.AccountID, name) }
}

// reader is a change of who reads an actor's feed or sub-feed.
func reader(set func(context.Context, int64, string, string) (timelines.Change, error), v timelines.Viewer, slug, name string) func(context.Context) (timelines.Change, error) {
	return func(ctx context.Context) (timelines.Change, error) { return set(ctx, v.AccountID, slug, name) }
}

func (w *town) levelling(v timelines.Viewer, group string, level timelines.Level) func(context.Context) (timelines.Change, error) {
	return func(ctx context.Context) (timelines.Change, error) {
		return w.store.Feeds.SetAccess(ctx, v.AccountID, group, level)
	}
}

// walk reads a home feed page by page from a place to its end.
func walk(ctx context.Context, s strategies.Strategy, v timelines.Viewer, below rivers.Cursor, limit int) ([]strategies.Entry, error) {
	var all []strategies.Entry
	for {
		page, err := s.Page(ctx, v, below, limit)
		if err != nil {
			return nil, err
		}
		if n := len(page.Entries); n > limit || page.More && n < limit {
			return nil, fmt.Errorf("a page of %d entries, more %v, want %d", n, page.More, limit)
		}
		all = append(all, page.Entries...)
		if !page.More {
			return all, nil
		}
		below = page.Next
	}
}

// differences says where a strategy's pages are not what the oracle says, for pages of
// several sizes, from the top and from several places on.
func (w *town) differences(s strategies.Strategy, viewers []timelines.Viewer) (found []string) {
	w.t.Helper()
	for _, v := range viewers {
		want := w.oracle(v)
		for _, pages := range []struct{ from, limit int }{{0, 9}, {len(want) / 2, 25}, {len(want), 3}} {
			var below rivers.Cursor
			if pages.from > 0 {
				below = rivers.Cursor{Place: want[pages.from-1].Place, PostID: want[pages.from-1].PostID}
			}
			got, err := walk(w.ctx, s, v, below, pages.limit)
			if err != nil {
				w.t.Fatalf("account %d, %+v: %v", v.AccountID, pages, err)
			}
			if !slices.Equal(got, want[pages.from:]) {
				found = append(found, fmt.Sprintf("account %d, %+v: got %v, want %v", v.AccountID, pages, got, want[pages.from:]))
			}
		}
	}
	return found
}

// leaks says which posts a strategy shows that the oracle's feed does not hold now.
func (w *town) leaks(s strategies.Strategy, viewers []timelines.Viewer) (found []string) {
	w.t.Helper()
	for _, v := range viewers {
		got, err := walk(w.ctx, s, v, rivers.Cursor{}, 5)
		if err != nil {
			w.t.Fatalf("account %d: %v", v.AccountID, err)
		}
		allowed := map[int64]bool{}
		for _, e := range w.oracle(v) {
			allowed[e.PostID] = true
		}
		for _, e := range got {
			if !allowed[e.PostID] {
				found = append(found, fmt.Sprintf("account %d still sees post %d", v.AccountID, e.PostID))
			}
		}
	}
	return found
}

// oracle is a viewer's home feed, computed from the tables in the plainest way. It shares
// nothing with the code under test.
func (w *town) oracle(v timelines.Viewer) []strategies.Entry {
	w.t.Helper()
	const query = `
		WITH opened AS (
			SELECT g.id FROM timelines g WHERE CASE g.access
				WHEN 0 THEN true
				WHEN 1 THEN NOT EXISTS (SELECT FROM excluded x WHERE x.timeline_id = g.id AND x.account_id = $1)
				ELSE EXISTS (SELECT FROM readers r WHERE r.timeline_id = g.id AND r.account_id = $1) END
		), banned AS (
			SELECT banned_id AS id FROM bans WHERE account_id = $1 UNION SELECT account_id FROM bans WHERE banned_id = $1
		), home AS (
			SELECT t.id, t.kind, t.their_id FROM timelines t
			WHERE (t.gate_id IS NULL OR t.gate_id IN (SELECT id FROM opened)) AND (
				t.their_id = $1 AND t.kind IN ('feed', 'subfeed', 'likes', 'comments', 'eyes', 'directs', 'discussions')
				OR t.kind IN ('feed', 'subfeed', 'likes', 'comments', 'group')
					AND t.their_id IN (SELECT account_id FROM subscriptions WHERE subscriber_id = $1 AND in_home))
		)
		SELECT p.id, greatest(p.fresh_at, min(e.entered_at))
		FROM home h JOIN timeline_entries e ON e.timeline_id = h.id JOIN posts p ON p.id = e.post_id
		WHERE p.deleted_at IS NULL AND p.decisive && ARRAY(SELECT id FROM opened) AND p.author_id NOT IN (SELECT id FROM banned)
		GROUP BY p.id
		HAVING bool_or(NOT e.withdrawn AND (h.kind NOT IN ('likes', 'comments') OR h.their_id NOT IN (SELECT id FROM banned)))
		ORDER BY 2 DESC, 1 DESC`
	rows, err := w.db.Primary.Query(w.ctx, query, v.AccountID)
	all, err := pgx.CollectRows(must(w, rows, err), pgx.RowToStructByPos[strategies.Entry])
	return must(w, all, err)
}

// expected reports whether an actor may run into the error.
func expected(err error) bool {
	var invalid *timelines.InvalidError
	return errors.Is(err, timelines.ErrNotFound) || errors.Is(err, timelines.ErrForbidden) || errors.As(err, &invalid)
}
