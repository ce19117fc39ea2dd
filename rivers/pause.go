package rivers

import "context"

// Named points between the steps of the protocol. A test puts a function into
// the context and holds one writer there while another passes, so that every
// interleaving can be made to happen; nothing else uses them.
const (
	afterLookup    = "after-lookup"
	afterRegister  = "after-register"
	afterSnapshot  = "after-snapshot"
	afterEntries   = "after-entries"
	betweenClocks  = "between-clocks"
	betweenReads   = "between-reads"
	beforeDeciding = "before-deciding"
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

// Steps of the protocol that a test can take out, to show that the promise it
// keeps falls with it.
const (
	stepBuilding   = "writers see rivers being built"
	stepStamps     = "a write applies only if its stamp is greater"
	stepTombstones = "what a river does not hold leaves a tombstone"
	stepTrims      = "an extension is void if the river was trimmed meanwhile"
)

type withoutKey struct{}

func without(ctx context.Context, step string) context.Context {
	return context.WithValue(ctx, withoutKey{}, step)
}

func takenOut(ctx context.Context, step string) bool {
	return ctx.Value(withoutKey{}) == step
}
