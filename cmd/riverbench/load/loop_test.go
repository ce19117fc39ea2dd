package load

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int64
		ran, err := Closed(t.Context(), 4, time.Second, func(ctx context.Context, i int) error {
			calls.Add(1)
			if err := pause(ctx, 100*time.Millisecond); err != nil || i != 7 {
				return err
			}
			return ErrBusy
		})
		if err != nil || calls.Load() != 40 || len(ran.Times) != 39 || ran.Busy != 1 || ran.Calls() != 40 || ran.Took != time.Second {
			t.Errorf("got %d calls, %d times, %d busy in %v (%v), want 40, 39 and 1 in a second", calls.Load(), len(ran.Times), ran.Busy, ran.Took, err)
		}
		if got := ran.Times.Milliseconds(0.5); got != 100 {
			t.Errorf("p50: got %v ms, want 100", got)
		}
	})
}

// A site that stands still for a while pays for each request that was due meanwhile.
func TestOpenCountsFromWhenACallWasDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		took, err := Open(t.Context(), 10, 2*time.Second, func(ctx context.Context, _ int) error {
			return pause(ctx, time.Until(begin.Add(time.Second))) // it stands still for a second
		})
		if err != nil || len(took) != 20 {
			t.Fatalf("got %d calls (%v), want 20", len(took), err)
		}
		if got := took[len(took)-1]; got != time.Second {
			t.Errorf("the longest: got %v, want 1s", got)
		}
	})
}

func TestAnErrorEndsALoop(t *testing.T) {
	wrong := errors.New("wrong")
	fail := func(context.Context, int) error { return wrong }
	if _, err := Closed(t.Context(), 2, time.Hour, fail); !errors.Is(err, wrong) {
		t.Errorf("Closed: got %v, want %v", err, wrong)
	}
	if _, err := Open(t.Context(), 1000, time.Hour, fail); !errors.Is(err, wrong) {
		t.Errorf("Open: got %v, want %v", err, wrong)
	}
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
