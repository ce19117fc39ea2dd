package strategies_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"riverrun/rivers"
	"riverrun/rivers/strategies"
	"riverrun/timelines"
)

// aggregators makes the aggregator the only strategy of a town.
func (w *town) aggregators(depth, block int) *strategies.Aggregator {
	a := strategies.NewAggregator(w.stores(), strategies.NewRead(w.store, 0), depth).InBlocksOf(block)
	w.all = map[string]strategies.Strategy{"aggregator": a}
	return a
}

func (w *town) posts(by timelines.Viewer, n int) (codes []string) {
	w.t.Helper()
	for i := range n {
		codes = append(codes, w.does(w.posting(by, fmt.Sprint("number ", i))).Code)
	}
	return codes
}

const operations = `SELECT count(*) FROM home_feed_operations`

// A follow that is cut off after a block, as by kill -9, goes on where it ended: with the next change of
// the feed, or with Expire. The feed stays the same one.
func TestAFollowIsCutOff(t *testing.T) {
	t.Parallel()
	again := func(w *town, a *strategies.Aggregator, c timelines.Change) error {
		return a.Apply(w.ctx, strategies.Events(c)...)
	}
	expire := func(w *town, a *strategies.Aggregator, _ timelines.Change) error { return a.Expire(w.ctx) }
	for _, cut := range []struct {
		name        string
		after, left int // blocks, operations
		goOn        func(w *town, a *strategies.Aggregator, c timelines.Change) error
	}{
		{"the job is worked again", 5, 1, again},
		{"expire", 5, 1, expire},
		{"the job is worked again from the beginning", 2, 2, again},
	} {
		t.Run(cut.name, func(t *testing.T) {
			t.Parallel()
			w := newTown(t)
			a := w.aggregators(100, 3)
			ann, bob, cat := w.person("ann"), w.person("bob"), w.person("cat")
			w.does(w.following(ann, "bob"))
			w.posts(bob, 4)
			w.posts(cat, 10)
			w.same("before", ann)
			feed := w.count(`SELECT count(*) FROM home_feeds WHERE state = 'live'`)
			c := w.act(w.following(ann, "cat"))
			killed, kill := context.WithCancel(w.ctx)
			blocks := 0
			err := a.Apply(strategies.PausedEach(killed, strategies.AfterBlock, func() {
				if blocks++; blocks == cut.after {
					kill()
				}
			}), strategies.Events(c)...)
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("a killed follow: %v", err)
			}
			if n := w.count(operations); n != cut.left {
				t.Errorf("%d operations are left, want %d", n, cut.left)
			}
			if n := w.count(`SELECT count(*) FROM home_feed_operations WHERE place < 9223372036854775807`); n != 1 {
				t.Error("the operation does not say how far it is")
			}
			must(w, 0, cut.goOn(w, w.aggregators(100, 3), c)) // another process
			if n := w.count(operations); n != 0 {
				t.Errorf("%d operations are left, want none", n)
			}
			w.same("after", ann)
			if n := w.count(`SELECT count(*) FROM home_feeds`); n != feed {
				t.Errorf("%d feeds, want the one from before", n)
			}
		})
	}
}

// However follows and unfollows arrive, and however many work them at once, a feed ends as its viewer
// follows then.
func TestFollowsAndUnfollowsAtOnce(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	a := w.aggregators(100, 3)
	ann, bob, cat := w.person("ann"), w.person("bob"), w.person("cat")
	w.posts(cat, 12)
	w.does(w.following(ann, "bob"))
	for _, code := range w.posts(bob, 12)[:4] {
		w.does(w.liking(cat, code)) // both lead to these
	}
	w.same("before", ann)
	var changes []timelines.Change
	for range 3 {
		changes = append(changes, w.act(w.following(ann, "cat")), w.act(named(w.store.Subscriptions.Unsubscribe, ann, "bob")),
			w.act(w.following(ann, "bob")), w.act(named(w.store.Subscriptions.Unsubscribe, ann, "cat")))
	}
	changes = append(changes, w.act(w.following(ann, "cat")))
	var working sync.WaitGroup
	for i := range changes {
		working.Go(func() {
			if err := a.Apply(w.ctx, strategies.Events(changes[len(changes)-1-i])...); err != nil {
				t.Error(err)
			}
		})
	}
	working.Wait()
	w.same("both followed", ann)
	w.does(named(w.store.Subscriptions.Unsubscribe, ann, "cat"))
	w.same("one left", ann)
	if n := w.count(operations); n != 0 {
		t.Errorf("%d operations are left, want none", n)
	}
}

// A post that fell off the end of a feed is not lifted when another event would bring it in.
func TestAnOldPostIsNotLiftedAgain(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	a := w.aggregators(5, 5)
	ann, bob, cat := w.person("ann"), w.person("bob"), w.person("cat")
	w.does(w.following(ann, "bob"))
	w.does(w.following(ann, "cat"))
	old := w.posts(bob, 1)[0]
	w.posts(bob, 20)
	w.same("filled", ann)
	top := func() int64 {
		page, err := a.Page(w.ctx, ann, rivers.Cursor{}, 1)
		return must(w, page, err).Entries[0].PostID
	}
	before := top()
	w.does(w.liking(cat, old))
	if now := top(); now != before {
		t.Errorf("the like lifted post %d above post %d", now, before)
	}
	w.same("liked", ann)
}

// An event about a post that a feed holds at the same place writes no bucket.
func TestAnEventAboutAPostThatIsThere(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	w.aggregators(100, 10)
	ann, bob, cat := w.person("ann"), w.person("bob"), w.person("cat")
	w.does(w.following(ann, "bob"))
	w.does(w.following(ann, "cat"))
	code := w.posts(bob, 3)[0]
	w.same("filled", ann)
	const buckets = `SELECT sum(xmin::text::bigint) FROM home_feed_buckets`
	before := w.count(buckets)
	w.does(w.liking(cat, code))
	if now := w.count(buckets); now != before {
		t.Error("a like of a post that the feed holds wrote a bucket")
	}
	w.same("liked", ann)
}

// A feed that grew past twice its depth is dropped, and the next reader fills one.
func TestAnAggregatorThatGrew(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	a := w.aggregators(4, 4)
	ann, bob := w.person("ann"), w.person("bob")
	w.does(w.following(ann, "bob"))
	w.posts(bob, 4)
	w.same("filled", ann)
	w.posts(bob, 12)
	w.same("grown", ann)
	must(w, 0, a.Expire(w.ctx))
	if n := w.count(`SELECT count(*) FROM home_feeds WHERE state = 'live'`); n != 0 {
		t.Errorf("%d feeds are live, want none", n)
	}
	w.same("filled again", ann)
}

// A follow brings in a post whose place comes of a like by somebody else that was taken back.
func TestAFollowFindsPostsByPlacesOfOthers(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	w.aggregators(100, 3)
	ann, bob, eve, zed := w.person("ann"), w.person("bob"), w.person("eve"), w.person("zed")
	w.does(w.following(ann, "eve"))
	w.posts(eve, 5)
	code := w.posts(zed, 1)[0]
	w.does(w.liking(eve, code))
	w.does(named(w.store.Posts.Unlike, eve, code))
	w.does(w.liking(bob, code))
	w.same("before", ann)
	w.does(w.following(ann, "bob"))
	w.same("after", ann)
}
