package strategies

import "context"

// The points of the protocol, for tests.
const (
	AfterLookup   = string(afterLookup)
	AfterSnapshot = string(afterSnapshot)
	BeforeSwap    = string(beforeSwap)
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
func SetFillChunk(s Strategy, n int) {
	switch s := s.(type) {
	case Timed:
		s.chunkSize = n
	case Sized:
		s.chunkSize = n
	}
}
