package jobs

import (
	"context"
	"log/slog"
	"time"

	"riverrun/timelines/changes"
)

// relay moves the outbox to the log of changes, soon after each change that this node distributes, and from time to time.
// Nodes may do it at the same time: each shard is moved by one of them. A job would take as many statements as the move.
type relay struct {
	log   *slog.Logger
	store *changes.Store
	every time.Duration
	// moved is called after something was moved.
	moved func()

	woken  chan struct{} // holds one token when there may be something to move
	cancel context.CancelFunc
	done   chan struct{}
}

const (
	// relayTimeout bounds one run, after which the next one goes on.
	relayTimeout = time.Minute
	// gather is how long changes gather for one run, which waits for the disk.
	gather = 500 * time.Millisecond
)

func newRelay(store *changes.Store, every time.Duration, moved func(), log *slog.Logger) *relay {
	return &relay{store: store, every: every, moved: moved, log: log, woken: make(chan struct{}, 1)}
}

// wake has the outbox moved now.
func (r *relay) wake() {
	select {
	case r.woken <- struct{}{}:
	default:
	}
}

// start moves what there is, and then follows until stop.
func (r *relay) start(ctx context.Context) {
	ctx, r.cancel = context.WithCancel(context.WithoutCancel(ctx))
	r.done = make(chan struct{})
	go func() {
		defer close(r.done)
		tick := time.NewTicker(r.every)
		defer tick.Stop()
		for failed := 0; ; {
			if err := r.run(ctx); err == nil {
				failed = 0
			} else if failed++; failed&(failed-1) == 0 && ctx.Err() == nil { // as lookout
				r.log.WarnContext(ctx, "cannot move changes to their log", "tries", failed, "error", err)
			}
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			case <-r.woken:
				select {
				case <-ctx.Done():
					return
				case <-time.After(gather):
				}
			}
		}
	}()
}

func (r *relay) run(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, relayTimeout)
	defer cancel()
	n, err := r.store.RelayAll(ctx)
	if n > 0 {
		r.moved()
	}
	return err
}

// stop may be called without start.
func (r *relay) stop() {
	if r.cancel != nil {
		r.cancel()
		<-r.done
	}
}
