package strategies_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"riverrun/rivers"
	"riverrun/rivers/strategies"
	"riverrun/timelines"
)

// stores are those of the town.
func (w *town) stores() strategies.Stores {
	return strategies.Stores{Primary: w.store, Rivers: w.rivers, Secondary: w.db.Secondary}
}

// count returns a number that a query of the secondary store counts.
func (w *town) count(query string, args ...any) (n int) {
	w.t.Helper()
	if err := w.db.Secondary.QueryRow(w.ctx, query, args...).Scan(&n); err != nil {
		w.t.Fatalf("%s: %v", query, err)
	}
	return n
}

func (w *town) exec(query string, args ...any) {
	w.t.Helper()
	if _, err := w.db.Secondary.Exec(w.ctx, query, args...); err != nil {
		w.t.Fatalf("%s: %v", query, err)
	}
}

// same fails unless the strategies show the viewers what the oracle says.
func (w *town) same(when string, viewers ...timelines.Viewer) {
	w.t.Helper()
	for name, s := range w.all {
		for _, d := range w.differences(s, viewers) {
			w.t.Errorf("%s: %s: %s", when, name, d)
		}
	}
}

var errCutOff = errors.New("cut off")

// changing is what happens while something else is under way, to a home of ann's with posts of
// bob.
var changing = []struct {
	what string
	do   func(w *town, ann, bob, cat timelines.Viewer, code string)
}{
	{"a post", func(w *town, _, bob, _ timelines.Viewer, _ string) { w.does(w.posting(bob, "pushed")) }},
	{"a bump", func(w *town, _, bob, _ timelines.Viewer, code string) { w.does(w.commenting(bob, code)) }},
	{"a deletion", func(w *town, _, bob, _ timelines.Viewer, code string) {
		w.does(named(w.store.Posts.Delete, bob, code))
	}},
	{"a like", func(w *town, _, bob, cat timelines.Viewer, _ string) {
		w.does(w.liking(bob, w.does(w.posting(cat, "liked")).Code))
	}},
	{"following", func(w *town, ann, _, cat timelines.Viewer, _ string) {
		w.does(w.posting(cat, "followed"))
		w.does(w.following(ann, "cat"))
	}},
	{"leaving", func(w *town, ann, _, _ timelines.Viewer, _ string) {
		w.does(named(w.store.Subscriptions.Unsubscribe, ann, "bob"))
	}},
	{"a level", func(w *town, _, bob, _ timelines.Viewer, _ string) { w.does(w.levelling(bob, "", timelines.Private)) }},
}

// A change that is made and applied while a feed is built is not lost, wherever the build
// stands (001 loses posts that are pushed while a cache is built).
func TestAPushDuringABuildIsNotLost(t *testing.T) {
	for i, c := range changing {
		for k, point := range []string{strategies.AfterSnapshot, strategies.BeforeSwap} {
			name := []string{"cache", "timed", "cache", "sized"}[(i+k)%2+i&2]
			t.Run(c.what+" "+point+" "+name, func(t *testing.T) {
				t.Parallel()
				w, ann, bob, cat, code := newChanging(t)
				s, met := w.all[name], false
				w.all = map[string]strategies.Strategy{name: s}
				ctx := strategies.PausedAt(w.ctx, point, func() {
					met = true
					c.do(w, ann, bob, cat, code)
				})
				if _, err := s.Page(ctx, ann, rivers.Cursor{}, 5); err != nil {
					t.Fatal(err)
				}
				if !met {
					t.Fatalf("no build came to %s", point)
				}
				w.same("after the build", ann)
				if n := w.count(`SELECT count(*) FROM home_feeds WHERE state = 'building'`); n != 0 {
					t.Errorf("%d feeds are left unfinished", n)
				}
				const most = `SELECT coalesce(max(cardinality(b.posts)), 0) FROM home_feed_buckets b
					JOIN home_feeds f ON f.id = b.feed_id WHERE f.state = 'live' AND f.strategy = 'cache'`
				if n := w.count(most); n > 7 {
					t.Errorf("the cache holds %d posts, want at most 7", n)
				}
			})
		}
	}
}

// newChanging is a town where ann follows bob, who wrote posts, the last with that code.
func newChanging(t *testing.T) (w *town, ann, bob, cat timelines.Viewer, code string) {
	w = newTown(t)
	ann, bob, cat = w.person("ann"), w.person("bob"), w.person("cat")
	w.act(w.following(ann, "bob"))
	for i := range 9 {
		code = w.act(w.posting(bob, fmt.Sprint(i))).Code
	}
	return w, ann, bob, cat, code
}

// A writer that is overtaken between its snapshot and its write does not bring an old state
// back, and one that looked up feeds before another was put in place loses nothing.
func TestWritersMayBeOvertaken(t *testing.T) {
	for i, c := range changing {
		for k, point := range []string{strategies.AfterLookup, strategies.AfterSnapshot} {
			name := []string{"timed", "sized", "cache"}[(i+k)%3]
			t.Run(c.what+" "+point+" "+name, func(t *testing.T) {
				t.Parallel()
				w, ann, bob, cat, code := newChanging(t)
				s, met := w.all[name], false
				w.all = map[string]strategies.Strategy{name: s}
				w.same("before", ann)
				late := w.act(w.commenting(ann, code))
				ctx := strategies.PausedAt(w.ctx, point, func() {
					met = true
					c.do(w, ann, bob, cat, code)
				})
				if err := s.Apply(ctx, strategies.Events(late)...); err != nil {
					t.Fatal(err)
				}
				if !met {
					t.Fatalf("no writer came to %s", point)
				}
				w.same("after", ann)
			})
		}
	}
}

// Feeds follow what their viewers follow (001 does not).
func TestFeedsFollowSubscriptions(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	ann, bob, cat := w.person("ann"), w.person("bob"), w.person("cat")
	for i := range 6 {
		w.act(w.posting(bob, fmt.Sprint(i)))
		shared := w.act(w.posting(cat, fmt.Sprint(i)))
		w.act(w.liking(bob, shared.Code))
	}
	w.same("nobody followed", ann)
	w.does(w.following(ann, "bob"))
	w.same("bob followed", ann)
	if got := len(w.oracle(ann)); got != 12 {
		t.Fatalf("ann sees %d posts, want bob's and what bob likes", got)
	}
	w.does(w.following(ann, "cat"))
	w.same("both followed", ann)
	w.does(named(w.store.Subscriptions.Unsubscribe, ann, "bob"))
	w.same("bob left", ann) // and what cat wrote stays
	if got := len(w.oracle(ann)); got != 6 {
		t.Fatalf("ann sees %d posts, want cat's", got)
	}
	w.does(named(w.store.Subscriptions.Unsubscribe, ann, "cat"))
	w.same("both left", ann)
}

// A push makes no feed: nobody has one who never had a page.
func TestAPushMakesNoFeed(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	ann, bob := w.person("ann"), w.person("bob")
	w.does(w.following(ann, "bob"))
	w.does(w.posting(bob, "one"))
	if n := w.count(`SELECT count(*) FROM home_feeds`); n != 0 {
		t.Errorf("%d feeds after a push, want none", n)
	}
	w.same("then read", ann)
	if n := w.count(`SELECT count(*) FROM home_feeds WHERE state = 'live'`); n != 4 {
		t.Errorf("%d feeds after the first read of ann, want one of each strategy", n)
	}
}

// A post that stands in very many timelines comes into feeds as others do.
func TestACrowdedPost(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	ann, bob := w.person("ann"), w.person("bob")
	w.act(w.following(ann, "bob"))
	code := w.act(w.posting(bob, "famous")).Code
	w.act(w.posting(bob, "newer"))
	w.same("before", ann)
	const crowd = `
		WITH made AS (INSERT INTO accounts (kind, name, title) SELECT 'user', 'ghost' || i, 'Ghost' FROM generate_series(1, 450) i RETURNING id),
			made_timelines AS (INSERT INTO timelines (kind, their_id, term, access) SELECT 'likes', id, '', 0 FROM made RETURNING id)
		INSERT INTO timeline_entries (timeline_id, post_id, entered_at, fresh_at, created_at)
		SELECT t.id, p.id, p.fresh_at + 1, p.fresh_at + 1, p.fresh_at FROM made_timelines t, posts p WHERE p.code = $1`
	if _, err := w.db.Primary.Exec(w.ctx, crowd, code); err != nil {
		t.Fatal(err)
	}
	w.does(w.commenting(ann, code))
	for _, b := range w.later.bumps {
		if err := w.store.Maintenance.BumpBlock(w.ctx, b); err != nil {
			t.Fatal(err)
		}
	}
	w.same("after a bump", ann)
	if got := w.oracle(ann); len(got) != 2 {
		t.Fatalf("ann sees %v", got)
	}
}

// Losing any table costs a fill (R7).
func TestAnyTableMayBeLost(t *testing.T) {
	for _, table := range []string{"clock", "home_feeds", "home_feed_buckets", "home_feed_posts", "entries"} {
		t.Run(table, func(t *testing.T) {
			t.Parallel()
			w := newTown(t)
			ann, bob := w.person("ann"), w.person("bob")
			w.act(w.following(ann, "bob"))
			for i := range 9 {
				w.act(w.posting(bob, fmt.Sprint(i)))
			}
			w.same("before", ann)
			w.exec(`TRUNCATE ` + table)
			w.does(w.posting(bob, "after"))
			w.same("after", ann)
		})
	}
}

// A fill that is cut off goes on where it ended, also when posts moved meanwhile.
func TestAFillGoesOn(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	ann, bob := w.person("ann"), w.person("bob")
	w.act(w.following(ann, "bob"))
	var codes []string
	for i := range 10 {
		codes = append(codes, w.act(w.posting(bob, fmt.Sprint(i))).Code)
	}
	for _, s := range []strategies.Filler{strategies.NewTimed(w.stores(), time.Millisecond), strategies.NewSized(w.stores(), 3)} {
		strategies.SetFillChunk(s, 4)
		ctx, cancel := context.WithCancelCause(w.ctx)
		chunks := 0
		paused := strategies.PausedEach(ctx, strategies.AfterSnapshot, func() {
			if chunks++; chunks == 2 {
				cancel(errCutOff)
			}
		})
		if err := s.Fill(paused, ann.AccountID); !errors.Is(err, context.Canceled) {
			t.Fatalf("a fill that is cut off: got %v", err)
		}
		for _, code := range []string{codes[0], codes[8]} {
			c := w.act(w.commenting(bob, code))
			if err := s.Apply(w.ctx, strategies.Events(c)...); err != nil {
				t.Fatal(err)
			}
		}
		chunks = 0
		paused = strategies.PausedEach(w.ctx, strategies.AfterSnapshot, func() { chunks++ })
		if err := s.Fill(paused, ann.AccountID); err != nil {
			t.Fatal(err)
		}
		if chunks == 0 || chunks >= 3 {
			t.Errorf("the second fill read %d chunks, want those that were left", chunks)
		}
		for _, d := range w.differences(s, []timelines.Viewer{ann}) {
			t.Error(d)
		}
		chunks = 0
		if err := s.Fill(paused, ann.AccountID); err != nil || chunks != 0 {
			t.Errorf("a fill of a feed that stands read %d chunks, and ended with %v", chunks, err)
		}
	}
}

// Expire removes what is out of use, and nothing that is in use.
func TestExpire(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	ann, bob := w.person("ann"), w.person("bob")
	w.act(w.following(ann, "bob"))
	var code string
	for i := range 9 {
		code = w.act(w.posting(bob, fmt.Sprint(i))).Code
	}
	w.same("before", ann, bob)
	w.does(named(w.store.Posts.Delete, bob, code))
	w.does(named(w.store.Subscriptions.Unsubscribe, ann, "bob"))
	w.does(w.following(ann, "bob"))
	expire := func() {
		t.Helper()
		for name, s := range w.all {
			if e, ok := s.(strategies.Expirer); ok {
				if err := e.Expire(w.ctx); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
		}
	}
	was := w.count(`SELECT count(*) FROM home_feeds WHERE state = 'retired'`)
	expire()
	if n := w.count(`SELECT count(*) FROM home_feeds WHERE state = 'retired'`); was == 0 || n != was {
		t.Errorf("%d of %d retired feeds are left, want all: a writer may be under way", n, was)
	}
	w.exec(`UPDATE home_feeds SET retired_at = retired_at - interval '1 hour' WHERE state = 'retired'`)
	w.exec(`UPDATE home_feed_posts SET removed_at = removed_at - interval '1 hour' WHERE removed_at IS NOT NULL`)
	expire()
	for _, left := range []string{
		`SELECT count(*) FROM home_feeds WHERE state = 'retired'`,
		`SELECT count(*) FROM home_feed_posts WHERE removed_at IS NOT NULL`,
		`SELECT count(*) FROM home_feed_posts WHERE feed_id NOT IN (SELECT id FROM home_feeds)`,
		`SELECT count(*) FROM home_feed_buckets WHERE feed_id NOT IN (SELECT id FROM home_feeds)`,
	} {
		if n := w.count(left); n != 0 {
			t.Errorf("%s: %d, want 0", left, n)
		}
	}
	w.same("after", ann, bob)
}
