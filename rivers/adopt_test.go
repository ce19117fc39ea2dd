package rivers

import (
	"testing"

	"riverrun/timelines"
)

func (w *town) clock() timelines.Clock {
	w.t.Helper()
	c, err := w.rivers.clock(w.ctx)
	return must(w, c, err)
}

// A node that starts while a narrowing is acknowledged leaves clock and rivers as
// they are.
func TestStartBesideANarrowing(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	w.visit(ann, Home, "")
	before := w.clock()
	var narrowed timelines.Change
	ctx := pausedAt(w.ctx, betweenClocks, func() {
		c, err := w.store.Feeds.SetAccess(w.ctx, ann.AccountID, "", timelines.Private)
		narrowed = must(w, c, err)
		if err := w.rivers.PublishClock(w.ctx, c.Clock); err != nil {
			t.Fatal(err)
		}
	})
	second := w.node()
	if _, err := second.settle(ctx); err != nil {
		t.Fatal(err)
	}
	if got, want := w.clock(), (timelines.Clock{Epoch: before.Epoch, N: narrowed.Clock}); got != want {
		t.Errorf("clock %+v, want %+v", got, want)
	}
	w.drain()
}

// A primary store that goes back under a running node makes all rivers cold, and
// the node forgets folds newer than what is there now.
func TestThePrimaryGoesBack(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	c := w.post(ann, "as it was")
	page := w.visit(ann, User, "ann")
	before := w.clock()
	// These were done after the copy was taken: a number of the clock, and a version of the
	// post with its own fold.
	w.exec(`UPDATE clock SET n = n + 1`)
	late := *page.Items[0].Fold
	late.Version, late.Text.Body = late.Version+1, "as it never was"
	w.rivers.folds.put(&late, false)
	if err := w.rivers.catchUp(w.ctx); err != nil {
		t.Fatal(err)
	}
	if got := w.clock(); got.Epoch == before.Epoch || got.N != before.N {
		t.Errorf("clock %+v after %+v, want another epoch and the same number", got, before)
	}
	w.shows(w.visit(ann, User, "ann"), "as it was")
	if f := w.rivers.folds.get(w.clock().Epoch, c.PostID, 0, false); f == nil || f.Version != late.Version-1 {
		t.Errorf("remembered fold %+v, want version %d", f, late.Version-1)
	}
	w.sound()
}
