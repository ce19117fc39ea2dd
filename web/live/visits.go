package live

import (
	"context"
	"runtime"
	"sync"

	"riverrun/rivers"
	"riverrun/timelines"
)

// visits bound how many pages are visited at once, so that thousands of sockets that come back together
// wait here and not for the stores, each of whose questions has a time limit. Sockets that ask for the
// same page share a visit. One that is under way is not shared: it may have begun before the socket was
// registered, and would lack what came between the two. So those that come meanwhile share the next one.
type visits struct {
	slots chan struct{} // one is taken by each visit under way

	// mu guards the maps. It is held for moments only.
	mu              sync.Mutex
	underWay, await map[visitKey]*sharedVisit
}

// visitKey is what a visit answers for.
type visitKey struct {
	viewer timelines.Viewer
	name   rivers.Name
	before rivers.Cursor
	epoch  int64
}

// A sharedVisit is one visit. stretch and err are set before done is closed.
type sharedVisit struct {
	done    chan struct{}
	stretch *stretch
	err     error
	given   bool // up, as the socket that was to visit has ended
}

func newVisits() *visits {
	return &visits{
		slots:    make(chan struct{}, 8*runtime.GOMAXPROCS(0)),
		underWay: make(map[visitKey]*sharedVisit), await: make(map[visitKey]*sharedVisit),
	}
}

// do returns what a visit that begins after the call found.
func (q *visits) do(ctx context.Context, key visitKey, visit func() (*stretch, error)) (*stretch, error) {
	for {
		q.mu.Lock()
		one, before := q.await[key], q.underWay[key]
		first := one == nil
		if first {
			one = &sharedVisit{done: make(chan struct{})}
			q.await[key] = one
		}
		q.mu.Unlock()
		if first {
			q.make(ctx, key, one, before, visit)
			return one.stretch, one.err
		}
		select {
		case <-one.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if !one.given {
			return one.stretch, one.err
		}
	}
}

// make visits when its turn comes: after the one before, and when there is a slot.
func (q *visits) make(ctx context.Context, key visitKey, one, before *sharedVisit, visit func() (*stretch, error)) {
	one.given = true // stays if it panics
	defer close(one.done)
	if before != nil {
		select {
		case <-before.done:
		case <-ctx.Done():
		}
	}
	var slot chan<- struct{} = q.slots
	if ctx.Err() != nil {
		slot = nil
	}
	select {
	case slot <- struct{}{}:
		defer func() { <-q.slots }()
	case <-ctx.Done():
	}
	q.mu.Lock()
	delete(q.await, key)
	if one.err = ctx.Err(); one.err == nil {
		q.underWay[key] = one
	}
	q.mu.Unlock()
	if one.err != nil {
		return
	}
	defer func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		delete(q.underWay, key)
	}()
	one.stretch, one.err = visit()
	one.given = ctx.Err() != nil // then the error is this socket's alone
}
