package tiers

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
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
