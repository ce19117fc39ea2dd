package strategies

import "context"

// point is a named place in the protocol where a test can hold everything else.
type point string

const (
	afterLookup   point = "after-lookup"   // a writer has looked up feeds
	afterSnapshot point = "after-snapshot" // a writer or a builder has read the primary store
	afterBlock    point = "after-block"    // a block of an operation is stored, its end is not
	beforeSwap    point = "before-swap"    // a builder has stored all
	waiting       point = "waiting"        // a reader waits for another's build
)

type pauseKey struct{}

// pause calls the function that a test put into the context. It does nothing otherwise.
func pause(ctx context.Context, at point) {
	if fn, ok := ctx.Value(pauseKey{}).(func(point)); ok {
		fn(at)
	}
}
