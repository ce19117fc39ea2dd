package strategies

import (
	"cmp"
	"context"
	"time"
)

// The points of the protocol, for tests.
const (
	AfterLookup   = string(afterLookup)
	AfterSnapshot = string(afterSnapshot)
	AfterBlock    = string(afterBlock)
	BeforeSwap    = string(beforeSwap)
	Waiting       = string(waiting)
)

// PausedAt returns a context in which fn is called at that point, once.
func PausedAt(ctx context.Context, at string, fn func()) context.Context {
	done := false
	return context.WithValue(ctx, pauseKey{}, func(p point) {
		if string(p) == at && !done {
			done = true
			fn()
		}
	})
}

// PeriodOf is the beginning of the period that a place falls in.
func PeriodOf(place, period int64) int64 { return (&periods{period}).low(place) }

// PausedEach returns a context in which fn is called at that point each time.
func PausedEach(ctx context.Context, at string, fn func()) context.Context {
	return context.WithValue(ctx, pauseKey{}, func(p point) {
		if string(p) == at {
			fn()
		}
	})
}

// SetFillChunk makes fills of a strategy read that many posts at once.
func SetFillChunk(s Strategy, n int) { storedOf(s).chunkSize = n }

// SetBatch makes pushes of a strategy write that many entries at once.
func SetBatch(s Strategy, n int) { storedOf(s).batch = n }

// SetWriteDeadline makes a strategy's writers late after that time; 0 is what it is otherwise.
func SetWriteDeadline(s Strategy, d time.Duration) { storedOf(s).within = cmp.Or(d, writeDeadline) }

// SetFillFor makes pages of a strategy wait that long for a fill.
func SetFillFor(s Strategy, d time.Duration) { storedOf(s).fillFor = d }

func storedOf(s Strategy) *stored {
	switch s := s.(type) {
	case Timed:
		return s.stored
	case Sized:
		return s.stored
	case *Cache:
		return s.stored
	}
	panic("a strategy that stores nothing")
}

// InBlocksOf has the aggregator work blocks of that many posts, and keep buckets of as many.
func (a *Aggregator) InBlocksOf(n int) *Aggregator {
	a.chunkSize, a.shape = n, &sizes{n}
	return a
}
