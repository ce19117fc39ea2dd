package load

import (
	"context"
	"sync"
	"time"
)

// Closed calls do from this many loops at once until the time is over. When a call returns, its loop
// begins with the next number. It returns how long the calls took and how long all of it took. The
// first error ends it.
func Closed(ctx context.Context, loops int, during time.Duration, do func(ctx context.Context, i int) error) (Times, time.Duration, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		wait sync.WaitGroup
		took = make([][]time.Duration, loops)
	)
	begin := time.Now()
	for loop := range loops {
		wait.Go(func() {
			for i := loop; time.Since(begin) < during && ctx.Err() == nil; i += loops {
				from := time.Now()
				if err := do(ctx, i); err != nil {
					cancel(err)
					return
				}
				took[loop] = append(took[loop], time.Since(from))
			}
		})
	}
	wait.Wait()
	return sorted(took...), time.Since(begin), context.Cause(ctx)
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
	return sorted(took), context.Cause(ctx)
}
