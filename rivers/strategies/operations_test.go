package strategies_test

import (
	"testing"

	"riverrun/rivers/strategies"
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
