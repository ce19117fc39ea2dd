package load

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// ErrBusy says that the site refused a request because it has too much to do (503).
var ErrBusy = errors.New("the site is busy")

// Ran is what calls came to.
type Ran struct {
	// Times are those of the calls that succeeded.
	Times Times
	// Busy is how many calls ended with ErrBusy.
	Busy int
	// Took is how long all of it took.
	Took time.Duration
}

// PerSecond is how many calls succeeded in a second.
func (r Ran) PerSecond() float64 { return float64(len(r.Times)) / r.Took.Seconds() }

// Calls is how many calls there were.
func (r Ran) Calls() int { return len(r.Times) + r.Busy }

// Closed calls do from this many loops at once until the time is over. When a call returns, its loop
// begins with the next number. The first error but ErrBusy ends it.
func Closed(ctx context.Context, loops int, during time.Duration, do func(ctx context.Context, i int) error) (Ran, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		wait sync.WaitGroup
		took = make([][]time.Duration, loops)
		busy atomic.Int64
	)
	begin := time.Now()
	for loop := range loops {
		wait.Go(func() {
			for i := loop; time.Since(begin) < during && ctx.Err() == nil; i += loops {
				from := time.Now()
				switch err := do(ctx, i); {
				case errors.Is(err, ErrBusy):
					busy.Add(1)
				case err != nil:
					cancel(err)
					return
				default:
					took[loop] = append(took[loop], time.Since(from))
				}
			}
		})
	}
	wait.Wait()
	return Ran{Times: Sorted(took...), Busy: int(busy.Load()), Took: time.Since(begin)}, context.Cause(ctx)
}

// Open calls do at a steady rate, whether or not earlier calls have returned, until the time is over.
// A call's time counts from the moment at which it was due, so that a site that falls behind is not
// spared. The first error ends it.
func Open(ctx context.Context, perSecond float64, during time.Duration, do func(ctx context.Context, i int) error) (Times, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		wait sync.WaitGroup
		mu   sync.Mutex // guards took
		took []time.Duration
	)
	begin := time.Now()
	every := time.Duration(float64(time.Second) / perSecond)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for i := 0; ; i++ {
		due := begin.Add(time.Duration(i) * every)
		if due.Sub(begin) >= during {
			break
		}
		timer.Reset(time.Until(due))
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		if ctx.Err() != nil {
			break
		}
		wait.Go(func() {
			if err := do(ctx, i); err != nil {
				cancel(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			took = append(took, time.Since(due))
		})
	}
	wait.Wait()
	return Sorted(took), context.Cause(ctx)
}
