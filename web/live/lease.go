package live

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// A leaser keeps this node's leases: it counts who shows a river, and one
// goroutine does all statements, one after the other. So a river given up and
// taken again at once cannot end without a lease, and a thousand sockets that
// come back together cost a few statements.
type leaser struct {
	rivers Rivers
	log    *slog.Logger
	wake   chan struct{}

	// mu guards the fields below; no statement runs under it.
	mu     sync.Mutex
	leased map[int64]*lease
	fresh  bool  // all leases are to be refreshed
	ended  error // set when run has returned
}

// A lease is one river's. ready is closed when its first statement is done,
// with err set if that failed.
type lease struct {
	refs      int
	committed bool
	ready     chan struct{}
	err       error
}

func newLeaser(r Rivers, log *slog.Logger) *leaser {
	return &leaser{rivers: r, log: log, wake: make(chan struct{}, 1), leased: make(map[int64]*lease)}
}

// hold returns once the river's lease is committed. Whoever gets nil calls
// release when done.
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
		// A failed lease has been forgotten; there is nothing to release.
		return it.err
	case <-ctx.Done():
		// Not release: under this id may stand another lease by now.
		l.mu.Lock()
		it.refs--
		l.mu.Unlock()
		nudge(l.wake)
		return ctx.Err()
	}
}

// release gives up what hold gave.
func (l *leaser) release(river int64) {
	l.mu.Lock()
	if it := l.leased[river]; it != nil {
		it.refs--
	}
	l.mu.Unlock()
	nudge(l.wake)
}

// refresh has all leases prolonged.
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
		// What was begun is ended, so that whoever stops the hub knows what is left.
		within, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaseTimeout)
		l.take(within)
		l.drop(within)
		cancel()
	}
}

// leaseTimeout bounds the statements of one round; a lease lasts much longer.
const leaseTimeout = 5 * time.Second

// take leases what is new, and everything if that is due.
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
		case it.committed: // a refreshment; the next one tries again
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

// drop gives up what nobody shows any more. The river is forgotten before the
// statement, so that whoever comes during it waits for a lease of its own,
// which the same goroutine takes afterwards.
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
	// A lease left behind runs out by itself.
	if err := l.rivers.Unlease(ctx, ids); err != nil {
		l.log.WarnContext(ctx, "giving up leases", "rivers", len(ids), "error", err)
	}
}

// end lets nobody wait for a lease that will not come.
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

// giveUp drops all leases of this node, after run has returned.
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

// nudge wakes whoever listens on c, a channel of capacity one, without waiting:
// a wake-up that has not been heard yet is enough for both.
func nudge(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
