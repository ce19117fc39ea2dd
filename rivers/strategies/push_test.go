package strategies_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"riverrun/rivers"
	"riverrun/rivers/strategies"
	"riverrun/timelines"
)

// newFollowed is a town where several people with feeds follow bob, whose posts are pushed in
// batches of two.
func newFollowed(t *testing.T, followers int) (w *town, s strategies.Strategy, bob timelines.Viewer, all []timelines.Viewer) {
	w = newTown(t)
	bob = w.person("bob")
	for i := range followers {
		v := w.person(fmt.Sprintf("fan%d", i))
		w.act(w.following(v, "bob"))
		all = append(all, v)
	}
	w.act(w.posting(bob, "before"))
	s = strategies.NewSized(w.stores(), 4)
	w.all = map[string]strategies.Strategy{"sized": s}
	w.same("before", append(all, bob)...)
	strategies.SetBatch(s, 2)
	return w, s, bob, all
}

// A push takes its followers in blocks, each with a deadline of its own. A block that was late is
// written again, and those before it are not.
func TestAPushInBlocks(t *testing.T) {
	t.Parallel()
	const followers = 7
	w, s, bob, all := newFollowed(t, followers)
	c := w.act(w.posting(bob, "pushed"))
	blocks := 0
	ctx := strategies.PausedEach(w.ctx, strategies.AfterSnapshot, func() {
		blocks++
		var within time.Duration
		if blocks == 2 { // so the third is late
			within = -time.Second
		}
		strategies.SetWriteDeadline(s, within)
	})
	if err := s.Apply(ctx, strategies.Events(c)...); err != nil {
		t.Fatal(err)
	}
	if want := (followers+1)/2 + 1; blocks != want {
		t.Errorf("%d blocks were read, want %d: one of them twice", blocks, want)
	}
	w.same("after", append(all, bob)...)
	gained := timelines.Replace{AccountID: bob.AccountID}
	if err := s.Apply(w.ctx, gained); err != nil {
		t.Fatal(err)
	}
	if n := w.count(`SELECT count(*) FROM home_feeds WHERE state <> 'retired'`); n != 0 {
		t.Errorf("%d feeds stand after bob gained a timeline, want none", n)
	}
}

// A push that is late each time ends with an error, and may be repeated.
func TestALatePushEnds(t *testing.T) {
	t.Parallel()
	w, s, bob, all := newFollowed(t, 3)
	c := w.act(w.posting(bob, "pushed"))
	strategies.SetWriteDeadline(s, -time.Second)
	if err := s.Apply(w.ctx, strategies.Events(c)...); !errors.Is(err, rivers.ErrUnavailable) {
		t.Errorf("a push that is always late: got %v, want %v", err, rivers.ErrUnavailable)
	}
	strategies.SetWriteDeadline(s, 0)
	w.apply(c)
	w.same("after", append(all, bob)...)
}

// A push to very many followers ends after some blocks, and the next step goes on below them.
func TestAPushInSteps(t *testing.T) {
	t.Parallel()
	const followers = 45
	w, s, bob, all := newFollowed(t, followers)
	c := w.act(w.posting(bob, "pushed"))
	var next strategies.Progress
	steps, blocks := 0, 0
	ctx := strategies.PausedEach(w.ctx, strategies.AfterSnapshot, func() { blocks++ })
	for more := true; more; steps++ {
		var err error
		if next, more, err = s.(strategies.Stepper).ApplyStep(ctx, next, strategies.Events(c)[0]); err != nil {
			t.Fatal(err)
		}
		if more && steps == 2 {
			t.Fatal("a third step, want two")
		}
	}
	if steps != 2 || blocks > followers/2+3 {
		t.Errorf("%d steps read %d blocks, want 2, and no follower twice", steps, blocks)
	}
	w.same("after", append(all, bob)...)
}
