package web

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"riverrun/timelines"
	"riverrun/timelines/signins"
)

const (
	// usedEvery is how often a session's use is noted, and flushEvery how often what was noted is
	// written.
	usedEvery  = time.Hour
	flushEvery = time.Minute
	// maxUsed is how many sessions are remembered. One that is forgotten is written once more.
	maxUsed = 50_000
)

// used notes when sessions are used, and writes that from time to time with one statement for all.
// A page costs none. It is safe for concurrent use.
type used struct {
	store *signins.Store
	log   *slog.Logger

	mu      sync.Mutex // guards what follows
	known   *simplelru.LRU[timelines.Session, time.Time]
	pending map[timelines.Session]time.Time

	cancel context.CancelFunc
	done   chan struct{}
}

func newUsed(store *signins.Store, log *slog.Logger) *used {
	known, err := simplelru.NewLRU[timelines.Session, time.Time](maxUsed, nil)
	if err != nil {
		panic(err) // only a size below one is refused
	}
	return &used{store: store, log: log, known: known, pending: map[timelines.Session]time.Time{}}
}

// note notes that a session is used now.
func (u *used) note(s timelines.Session, now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if last, ok := u.known.Get(s); ok && now.Sub(last) < usedEvery {
		return
	}
	u.known.Add(s, now)
	u.pending[s] = now
}

// start begins to write, until stop.
func (u *used) start(ctx context.Context) {
	ctx, u.cancel = context.WithCancel(context.WithoutCancel(ctx))
	u.done = make(chan struct{})
	go func() {
		defer close(u.done)
		tick := time.NewTicker(flushEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if err := u.flush(ctx); err != nil && ctx.Err() == nil {
					u.log.WarnContext(ctx, "the use of sessions was not noted", "error", err)
				}
			}
		}
	}()
}

// stop ends the writing and writes what is left. It may be called without start.
func (u *used) stop(ctx context.Context) error {
	if u.cancel == nil {
		return nil
	}
	u.cancel()
	<-u.done
	return u.flush(ctx)
}

func (u *used) flush(ctx context.Context) error {
	u.mu.Lock()
	pending := u.pending
	u.pending = map[timelines.Session]time.Time{}
	u.mu.Unlock()
	if len(pending) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	return u.store.Used(ctx, pending) // what fails is noted again within the hour
}
