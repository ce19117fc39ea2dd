package rivers

import "context"

// These are named points between the steps of the protocol. A test puts a function into the
// context and lets one writer pause there while another passes, so that it can make every
// interleaving happen. Nothing else uses them.
const (
	afterLookup    = "after-lookup"
	beforeRegister = "before-register"
	afterRegister  = "after-register"
	beforeMark     = "before-mark"
	afterSnapshot  = "after-snapshot"
	afterEntries   = "after-entries"
	betweenClocks  = "between-clocks"
	betweenReads   = "between-reads"
	beforeDeciding = "before-deciding"
	afterClock     = "after-clock"
)

type pauseKey struct{}

func withPause(ctx context.Context, at func(point string)) context.Context {
	return context.WithValue(ctx, pauseKey{}, at)
}

func pause(ctx context.Context, point string) {
	if at, ok := ctx.Value(pauseKey{}).(func(string)); ok {
		at(point)
	}
}
