package tiers

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"riverrun/timelines"
)

// A job lets its node finish what it has in hand of the same posts, and does not wait for others, for
// what begins later, or longer than it has patience.
func TestAJobWaitsForItsNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h inHand
		first, second := h.begin(1), h.begin(1)
		waited := make(chan time.Duration, 1)
		wait := func(ctx context.Context, posts ...int64) {
			go func() {
				began := time.Now()
				h.wait(ctx, posts)
				waited <- time.Since(began)
			}()
			synctest.Wait()
		}
		wait(t.Context(), 2, 3)
		if d := <-waited; d != 0 {
			t.Errorf("waited %v for other posts", d)
		}
		wait(t.Context(), 3, 1)
		later := h.begin(1)
		first()
		first()
		synctest.Wait()
		select {
		case <-waited:
			t.Error("did not wait for the second")
		default:
		}
		second()
		<-waited
		wait(t.Context(), 1)
		if d := <-waited; d != patience {
			t.Errorf("waited %v for what never ends, want %v", d, patience)
		}
		ctx, cancel := context.WithCancel(t.Context())
		wait(ctx, 1)
		cancel()
		<-waited
		later()
		if len(h.posts) != 0 {
			t.Errorf("remembers %v", h.posts)
		}
	})
}

// A finished change is one change of one post in these timelines. It is forgotten in the end.
func TestFinishedChanges(t *testing.T) {
	var h inHand
	touched := timelines.Touched{PostID: 7, Timelines: []int64{1, 2}}
	h.finished(5, touched, false)
	h.finished(6, touched, true)
	for _, c := range []struct {
		what    string
		change  uint64
		touched timelines.Touched
		want    bool
	}{
		{"itself", 5, touched, true},
		{"another change", 7, touched, false},
		{"no change in particular", 0, touched, false},
		{"another post", 5, timelines.Touched{PostID: 8, Timelines: []int64{1, 2}}, false},
		{"other timelines", 5, timelines.Touched{PostID: 7, Timelines: []int64{1, 3}}, false},
		{"fewer", 5, timelines.Touched{PostID: 7}, false},
	} {
		if got, left := h.isFinished(c.change, c.touched); got != c.want || left {
			t.Errorf("%s: finished %t, left %t, want %t, false", c.what, got, left, c.want)
		}
	}
	if is, left := h.isFinished(6, touched); !is || !left {
		t.Errorf("one that closed rivers miss: finished %t, left %t, want both", is, left)
	}
	for i := range uint64(2 * remembered) {
		h.finished(100+i, touched, false)
	}
	first, _ := h.isFinished(5, touched)
	last, _ := h.isFinished(100+remembered, touched)
	if first || !last || len(h.did) != remembered {
		t.Errorf("remembers %d changes, want the last %d", len(h.did), remembered)
	}
}
