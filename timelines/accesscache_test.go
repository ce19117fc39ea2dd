package timelines

import (
	"context"
	"testing"
)

// A load counts when it ends, not only when it begins: what a statement under way has
// yet to read may be newer than what is decided meanwhile, and is in the cache when that
// is put together.
func TestALoadCountsWhenItEnds(t *testing.T) {
	for what, load := range map[string]func(ctx context.Context, c *AccessCache, ann Account) error{
		"sets": func(ctx context.Context, c *AccessCache, ann Account) error {
			return second(c.Sets(ctx, ann.ID))
		},
		"levels": func(ctx context.Context, c *AccessCache, ann Account) error {
			return second(c.Gates(ctx, []int64{ann.FeedID}))
		},
		"sub-feeds": func(ctx context.Context, c *AccessCache, ann Account) error {
			return second(c.Subfeeds(ctx, []int64{ann.ID}))
		},
		"accounts": func(ctx context.Context, c *AccessCache, ann Account) error {
			return second(c.Accounts(ctx, []int64{ann.ID}))
		},
	} {
		t.Run(what, func(t *testing.T) {
			w := newTown(t)
			ann := w.user("ann")
			c := NewAccessCache(w.Store)
			held := w.hold()
			_, err := held.Exec(t.Context(), `LOCK TABLE timelines, subfeeds, accounts, excluded IN ACCESS EXCLUSIVE MODE`)
			w.must(err)
			loaded := during(func() error { return load(t.Context(), c, ann) })
			w.waitBlocked(1)
			_, underway := c.Label()
			w.must(held.Rollback(t.Context()))
			w.must(loaded())
			if _, ended := c.Label(); ended == underway {
				t.Errorf("counts %d loads while it is under way and when it ended", ended)
			}
		})
	}
}

// A node that finds any number missing in the log, be it the first, the last or
// one between, forgets everything: it cannot know what stood there (R4).
func TestAdvanceOverATrimmedLog(t *testing.T) {
	for at, name := range []string{"first", "between", "last"} {
		t.Run(name, func(t *testing.T) {
			w := newTown(t)
			people := []Account{w.user("ann"), w.user("bob"), w.user("cat")}
			narrowed := people[at].FeedID
			c := NewAccessCache(w.Store)
			n := w.clock()
			w.must(c.Advance(t.Context(), Clock{Epoch: 1, N: n}))
			level := func() Level {
				g, err := c.Gates(t.Context(), []int64{narrowed})
				w.must(err)
				return g.Level(narrowed)
			}
			w.same("level before", level(), Public)
			for _, p := range people {
				w.setAccess(p, "", Private)
			}
			w.exec(`DELETE FROM access_log WHERE n = $1`, n+int64(at)+1)
			w.same("level the cache remembers", level(), Public)
			w.must(c.Advance(t.Context(), Clock{Epoch: 1, N: w.clock()}))
			w.same("level after", level(), Private)
		})
	}
}
