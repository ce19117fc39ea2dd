package api

import (
	"context"
	"reflect"
	"sync"
	"time"

	"riverrun/timelines/changes"
)

// lookEvery is how often a node looks for the end of the log while somebody waits for it.
const lookEvery = 500 * time.Millisecond

// maxWaiting is how many calls of one account may wait at a time: each keeps a connection and its memory.
const maxWaiting = 20

// follower lets calls wait for the log. While some wait it looks where the log ends, once for all of them.
type follower struct {
	log  *changes.Store
	stop context.CancelFunc
	ctx  context.Context

	mu      sync.Mutex    // guards the fields below
	waiting map[int64]int // how many calls, of each account that has any
	looking bool          // look runs
	end     int64
	moved   chan struct{} // closed when end has moved
	running sync.WaitGroup
}

func newFollower(log *changes.Store) *follower {
	f := &follower{log: log, waiting: map[int64]int{}, moved: make(chan struct{})}
	f.ctx, f.stop = context.WithCancel(context.Background())
	return f
}

func (f *follower) close() {
	f.stop()
	f.running.Wait()
}

// wait returns when the log has something after a number, or after some time. The error is a *tooManyError if the account has
// maxWaiting calls that wait.
func (f *follower) wait(ctx context.Context, account, after int64, most time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	f.mu.Lock()
	if f.waiting[account] == maxWaiting {
		f.mu.Unlock()
		return &tooManyError{time.Second}
	}
	if f.waiting[account]++; !f.looking && f.ctx.Err() == nil {
		f.looking = true
		f.running.Go(f.look)
	}
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		if f.waiting[account]--; f.waiting[account] == 0 {
			delete(f.waiting, account)
		}
		f.mu.Unlock()
	}()
	for {
		f.mu.Lock()
		there, moved := f.end > after, f.moved
		f.mu.Unlock()
		if there {
			return nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return nil // nothing came
		case <-f.ctx.Done():
			return nil
		}
	}
}

// look looks for the end of the log until nobody waits.
func (f *follower) look() {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		b, err := f.log.Bounds(f.ctx) // an error shows to those who read
		f.mu.Lock()
		if err == nil && b.Last != f.end {
			f.end = b.Last
			close(f.moved)
			f.moved = make(chan struct{})
		}
		f.looking = len(f.waiting) > 0 && f.ctx.Err() == nil
		goesOn := f.looking
		f.mu.Unlock()
		if !goesOn {
			return
		}
		select {
		case <-f.ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func typeOf[T any]() reflect.Type { return reflect.TypeFor[T]() }
