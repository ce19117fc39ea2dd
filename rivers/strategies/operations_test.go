package strategies_test

import (
	"testing"

	"riverrun/rivers/strategies"
	"riverrun/timelines"
)

// agrees compares the stored feeds of an aggregator with the primary store.
func (w *town) agrees(when string, a *strategies.Aggregator) {
	w.t.Helper()
	report, err := a.Check(w.ctx)
	for _, d := range must(w, report, err).Differences {
		w.t.Errorf("%s: %s", when, d)
	}
	if report.Feeds == 0 {
		w.t.Errorf("%s: no feed was compared", when)
	}
}

// A push that has read before an unfollow, and writes after it was worked, leaves no post of the
// account that was left.
func TestAPushDuringAnUnfollow(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	a := w.aggregators(100, 10)
	ann, bob, cat := w.person("ann"), w.person("bob"), w.person("cat")
	w.does(w.following(ann, "bob"))
	w.does(w.following(ann, "cat"))
	w.posts(bob, 3)
	old := w.posts(cat, 3)[0]
	w.same("filled", ann)
	for _, name := range []string{"a new post", "a bump"} {
		c := w.act(w.posting(cat, "pushed late"))
		if name == "a bump" {
			c = w.act(w.commenting(cat, old))
		}
		paused := strategies.PausedAt(w.ctx, strategies.AfterSnapshot, func() {
			w.does(named(w.store.Subscriptions.Unsubscribe, ann, "cat"))
		})
		must(w, 0, a.Apply(paused, strategies.Events(c)...))
		w.agrees(name, a)
		w.does(w.following(ann, "cat"))
		w.agrees(name+", followed again", a)
	}
}

// twoLikes has a post of somebody whom ann does not follow. Cat liked it before bob wrote
// as many posts as a feed holds, and bob liked it after that.
func (w *town) twoLikes(bob, cat, dan timelines.Viewer) {
	w.t.Helper()
	code := w.posts(dan, 1)[0]
	w.does(w.liking(cat, code))
	w.posts(bob, 12)
	w.does(w.liking(bob, code))
	w.posts(bob, 2)
}

// A follow may move a post below the end of a feed, because the earliest of all that lead to a post
// decides its place.
func TestAFollowMovesAPostBelowTheEnd(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	a := w.aggregators(6, 3)
	ann, bob, cat, dan := w.person("ann"), w.person("bob"), w.person("cat"), w.person("dan")
	w.does(w.following(ann, "bob"))
	w.twoLikes(bob, cat, dan)
	w.same("the later like leads to it", ann)
	w.does(w.following(ann, "cat"))
	w.agrees("the earlier like leads to it", a)
	w.same("the earlier like leads to it", ann)
	w.oneFeed()
}

// An unfollow may raise a post from there that the feed does not hold.
func TestAnUnfollowRaisesAPost(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	a := w.aggregators(6, 3)
	ann, bob, cat, dan := w.person("ann"), w.person("bob"), w.person("cat"), w.person("dan")
	w.does(w.following(ann, "bob"))
	w.does(w.following(ann, "cat"))
	w.twoLikes(bob, cat, dan)
	w.same("the earlier like leads to it", ann)
	w.does(named(w.store.Subscriptions.Unsubscribe, ann, "cat"))
	w.agrees("the later like leads to it", a)
	w.same("the later like leads to it", ann)
	w.oneFeed()
}

func (w *town) oneFeed() {
	w.t.Helper()
	if n := w.count(`SELECT count(*) FROM home_feeds`); n != 1 {
		w.t.Errorf("%d feeds, want the one that was filled first", n)
	}
}

// Following somebody with many posts fills a feed no deeper than it is to be.
func TestAFollowKeepsTheDepth(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	const depth, block = 6, 3
	a := w.aggregators(depth, block)
	ann, bob, cat := w.person("ann"), w.person("bob"), w.person("cat")
	w.does(w.following(ann, "bob"))
	w.posts(cat, 40)
	w.posts(bob, 2)
	w.same("a feed that holds all", ann)
	w.does(w.following(ann, "cat"))
	if n := w.count(`SELECT sum(cardinality(posts)) FROM home_feed_buckets`); n > 2*depth {
		t.Errorf("the feed holds %d posts, want at most %d", n, 2*depth)
	}
	w.agrees("followed", a)
	w.same("followed", ann)
	if n := w.count(operations); n != 0 {
		t.Errorf("%d operations are left, want none", n)
	}
}
