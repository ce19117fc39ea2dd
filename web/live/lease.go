package live

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// A leaser keeps this node's leases. It counts the sockets that show a river, and one goroutine
// executes all statements, one after the other. So a river that is given up and leased again at
// once cannot end up without a lease, and a thousand sockets that come back together cost a few
// statements.
type leaser struct {
	rivers Rivers
	log    *slog.Logger
	wake   chan struct{}

	// mu guards the fields below. No statement runs while it is held.
	mu     sync.Mutex
	leased map[int64]*lease
	fresh  bool  // all leases are to be refreshed
	ended  error // set when run has returned
}

// A lease is that of one river. ready is closed when its first statement is done, and err is
// set before if that failed.
type lease struct {
	refs      int
	committed bool
	ready     chan struct{}
	err       error
}

func newLeaser(r Rivers, log *slog.Logger) *leaser {
	return &leaser{rivers: r, log: log, wake: make(chan struct{}, 1), leased: make(map[int64]*lease)}
}

// acquire returns when the river's lease is committed. A caller that gets no error calls
// release in the end.
func (l *leaser) acquire(ctx context.Context, river int64) error {
	l.mu.Lock()
	if l.ended != nil {
		l.mu.Unlock()
		return l.ended
	}
	it := l.leased[river]
	if it == nil {
		it = &lease{ready: make(chan struct{})}
		l.leased[river] = it
	}
	it.refs++
	l.mu.Unlock()
	nudge(l.wake)
	select {
	case <-it.ready:
		if it.err == nil {
			return nil
		}
		// A lease that failed is forgotten already, so nothing is to be released.
		return it.err
	case <-ctx.Done():
		// This is not release: the river may have another lease by now.
		l.mu.Lock()
		it.refs--
		l.mu.Unlock()
		nudge(l.wake)
		return ctx.Err()
	}
}

// release undoes acquire.
func (l *leaser) release(river int64) {
	l.mu.Lock()
	if it := l.leased[river]; it != nil {
		it.refs--
	}
	l.mu.Unlock()
	nudge(l.wake)
}

// refresh has all leases extended.
func (l *leaser) refresh() {
	l.mu.Lock()
	l.fresh = true
	l.mu.Unlock()
	nudge(l.wake)
}

func (l *leaser) run(ctx context.Context) {
	defer l.end(ctx)
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.wake:
		}
		// A round that was begun is finished, so that giveUp knows which leases are left.
		within, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaseTimeout)
		l.take(within)
		l.drop(within)
		cancel()
	}
}

// leaseTimeout bounds the statements of one round. A lease lasts much longer.
const leaseTimeout = 5 * time.Second

// take leases the rivers that are new, and all of them if the leases are to be refreshed.
func (l *leaser) take(ctx context.Context) {
	l.mu.Lock()
	var ids []int64
	for id, it := range l.leased {
		if it.refs > 0 && (l.fresh || !it.committed) {
			ids = append(ids, id)
		}
	}
	l.fresh = false
	l.mu.Unlock()
	if len(ids) == 0 {
		return
	}
	err := l.rivers.Lease(ctx, ids)
	if err != nil {
		l.log.WarnContext(ctx, "leasing open rivers", "rivers", len(ids), "error", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range ids {
		it := l.leased[id]
		switch {
		case it.committed: // it was to be refreshed; the next round tries again
		case err != nil:
			it.err = err
			close(it.ready)
			delete(l.leased, id)
		default:
			it.committed = true
			close(it.ready)
		}
	}
}

// drop gives up the leases of rivers that no socket shows any more. A river is forgotten before
// the statement, so that a socket that comes during it waits for a lease of its own, which the
// same goroutine takes afterwards.
func (l *leaser) drop(ctx context.Context) {
	l.mu.Lock()
	var ids []int64
	for id, it := range l.leased {
		if it.refs > 0 {
			continue
		}
		delete(l.leased, id)
		if it.committed {
			ids = append(ids, id)
		}
	}
	l.mu.Unlock()
	if len(ids) == 0 {
		return
	}
	// A lease that is not given up expires by itself.
	if err := l.rivers.Unlease(ctx, ids); err != nil {
		l.log.WarnContext(ctx, "giving up leases", "rivers", len(ids), "error", err)
	}
}

// end wakes those who wait for a lease that will not come.
func (l *leaser) end(ctx context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = context.Cause(ctx)
	for _, it := range l.leased {
		if !it.committed {
			it.err = l.ended
			close(it.ready)
		}
	}
}

// giveUp gives up all leases of this node. It is called after run has returned.
func (l *leaser) giveUp(ctx context.Context) error {
	l.mu.Lock()
	var ids []int64
	for id, it := range l.leased {
		if it.committed {
			ids = append(ids, id)
		}
	}
	clear(l.leased)
	l.mu.Unlock()
	if len(ids) == 0 {
		return nil
	}
	return l.rivers.Unlease(ctx, ids)
}

// nudge wakes the goroutine that receives from c, a channel of capacity one, and never waits. A
// wake-up that was not received yet is enough for both.
func nudge(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
