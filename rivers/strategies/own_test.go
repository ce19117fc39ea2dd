package strategies_test

import (
	"fmt"
	"slices"
	"testing"

	"riverrun/rivers"
	"riverrun/rivers/strategies"
	"riverrun/timelines"
)

// Before a change is answered ApplyOwn brings it into the actor's own feed (R3), and into nobody
// else's.
func TestMyOwnChangeIsInMyFeed(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	ann, bob, cat := w.person("ann"), w.person("bob"), w.person("cat")
	w.act(w.following(ann, "bob"))
	w.act(w.following(bob, "ann"))
	var code string
	for i := range 9 {
		code = w.act(w.posting(bob, fmt.Sprint(i))).Code
	}
	liked := w.act(w.posting(cat, "liked")).Code
	w.same("before", ann, bob)
	of := func(s strategies.Strategy, v timelines.Viewer) []strategies.Entry {
		t.Helper()
		all, err := walk(w.ctx, s, v, rivers.Cursor{}, 9)
		return must(w, all, err)
	}
	own := func(what string, c timelines.Change) {
		t.Helper()
		for name, s := range w.all {
			var was []strategies.Entry
			if _, stored := s.(strategies.Expirer); stored {
				was = of(s, bob)
			}
			if err := s.ApplyOwn(w.ctx, ann.AccountID, strategies.Events(c)...); err != nil {
				t.Fatalf("%s: %s: %v", what, name, err)
			}
			for _, d := range w.differences(s, []timelines.Viewer{ann}) {
				t.Errorf("%s: %s: %s", what, name, d)
			}
			if was != nil && !slices.Equal(of(s, bob), was) {
				t.Errorf("%s: %s: the feed of another changed too", what, name)
			}
		}
		w.apply(c)
		w.same("after "+what, ann, bob)
	}
	c := w.act(w.posting(ann, "my own"))
	own("a post", c)
	own("a deletion", w.act(named(w.store.Posts.Delete, ann, c.Code)))
	own("a comment", w.act(w.commenting(ann, code)))
	own("a like", w.act(w.liking(ann, liked)))
	own("a like withdrawn", w.act(named(w.store.Posts.Unlike, ann, liked)))
	own("a private post", w.act(w.posting(ann, "to a sub-feed", "ann/private")))
	own("following", w.act(w.following(ann, "cat")))
	own("leaving", w.act(named(w.store.Subscriptions.Unsubscribe, ann, "bob")))
}

// One's own follow is brought into a feed before the answer and again by its job. The job changes
// nothing then.
func TestMyOwnFollowIsFilledOnce(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	ann, bob := w.person("ann"), w.person("bob")
	w.act(w.posting(bob, "one"))
	w.same("before", ann)
	c := w.act(w.following(ann, "bob"))
	const made = `SELECT count(*) FROM home_feeds WHERE strategy = $1`
	for _, name := range []string{"timed", "sized", "aggregator"} {
		s := w.all[name]
		if err := s.ApplyOwn(w.ctx, ann.AccountID, strategies.Events(c)...); err != nil {
			t.Fatal(err)
		}
		if found := w.differences(s, []timelines.Viewer{ann}); len(found) > 0 {
			t.Errorf("%s: %v", name, found)
		}
		before := w.count(made, name)
		if err := s.Apply(w.ctx, strategies.Events(c)...); err != nil {
			t.Fatal(err)
		}
		if n := w.count(made, name); n != before {
			t.Errorf("%s: the job made %d feeds, want none", name, n-before)
		}
	}
}
