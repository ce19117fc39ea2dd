package rivers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
)

// maintenance does from time to time what no request should wait for. It raises the access clock if a
// node died between the commit of a narrowing and its acknowledgement, and notices that the primary
// store was restored (look). Beside that, it writes the visits of rivers, and what people read of their
// notifications, many at once, so that a visit costs no statement of its own, and it has lost tables
// made again (keep).
type maintenance struct {
	store *Store

	lastUse atomic.Int64 // when a page was served or followed, in nanoseconds

	// mu guards seen.
	mu   sync.Mutex
	seen map[int64]struct{}

	// restoring says that the beginning of a restore was logged, but not its end. Only looks uses it.
	restoring bool

	quit chan struct{}
	done chan struct{}
	once sync.Once
}

// maintainEvery is far below any grace. catchUpEvery is how soon other devices learn what a
// person has read, and how soon a node finds out that the primary store was restored. A node that
// served no page and followed none for idleAfter takes idleTurns as long.
const (
	maintainEvery = 5 * time.Second
	catchUpEvery  = time.Second
	idleAfter     = 10 * time.Second
	idleTurns     = 3
)

func newMaintenance(s *Store) *maintenance {
	return &maintenance{store: s, seen: map[int64]struct{}{}, quit: make(chan struct{})}
}

// visited notes a visit.
func (k *maintenance) visited(river int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.seen[river] = struct{}{}
}

func (k *maintenance) start() {
	k.done = make(chan struct{})
	looked := make(chan struct{}, 1)
	var both sync.WaitGroup
	both.Go(func() { k.look(looked) })
	both.Go(func() { k.keep(looked) })
	go func() {
		defer close(k.done)
		both.Wait()
	}()
}

// look looks at the clock from time to time, and says so when it has succeeded. It does nothing else,
// since a restore must be noticed however long other work takes.
func (k *maintenance) look(looked chan<- struct{}) {
	second := time.NewTicker(catchUpEvery)
	defer second.Stop()
	for skipped := 0; ; {
		select {
		case <-k.quit:
			return
		case <-second.C:
		}
		if skipped++; skipped < idleTurns && k.idle() {
			continue
		}
		skipped = 0
		ctx, cancel := context.WithTimeout(context.Background(), maintainEvery)
		if k.looks(ctx) {
			select {
			case looked <- struct{}{}:
			default: // the last look is not answered yet
			}
		}
		cancel()
	}
}

// used notes that a page is served or followed.
func (k *maintenance) used() { k.lastUse.Store(time.Now().UnixNano()) }

// idle reports whether nobody was here in the last seconds.
func (k *maintenance) idle() bool {
	return time.Since(time.Unix(0, k.lastUse.Load())) > idleAfter && len(k.store.notices.Pending()) == 0
}

// looks looks once, and reports whether it has succeeded. A restore may take long, so only its beginning
// and its end are logged.
func (k *maintenance) looks(ctx context.Context) bool {
	err := k.store.catchUp(ctx)
	switch log := k.store.log; {
	case err == nil && k.restoring:
		log.WarnContext(ctx, "the primary store was restored from a copy, rivers are made anew")
		k.restoring = false
	case errors.Is(err, timelines.ErrRestoring) && !k.restoring:
		log.WarnContext(ctx, "the primary store is being restored, rivers are removed", "error", err)
		k.restoring = true
	case err != nil && !errors.Is(err, timelines.ErrRestoring):
		log.ErrorContext(ctx, "access clock not kept", "error", err)
	}
	return err == nil
}

// keep does the other work. It writes what people have read only after a look: the ids may mean other
// posts since.
func (k *maintenance) keep(looked <-chan struct{}) {
	tick := time.NewTicker(maintainEvery)
	defer tick.Stop()
	for {
		select {
		case <-k.quit:
			return
		case <-looked:
			ctx, cancel := context.WithTimeout(context.Background(), maintainEvery)
			if err := k.store.writeReads(ctx); err != nil {
				k.store.log.ErrorContext(ctx, "read notifications not kept", "error", err)
			}
			cancel()
		case <-tick.C:
			ctx, cancel := context.WithTimeout(context.Background(), maintainEvery)
			// Tables come first: without them everything else fails, and no epoch is adopted.
			err := k.store.opts.Restore(ctx)
			if err == nil {
				err = k.flush(ctx)
			}
			if err != nil {
				k.store.log.ErrorContext(ctx, "visits not kept", "error", err)
			}
			cancel()
		}
	}
}

func (k *maintenance) stop(ctx context.Context) error {
	k.once.Do(func() { close(k.quit) })
	if k.done != nil {
		select {
		case <-k.done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if k.done != nil {
		// The write-ahead log reached as far as this when the node stopped. A node that cannot say
		// so stops all the same.
		if _, err := k.store.settle(ctx); err != nil {
			k.store.log.WarnContext(ctx, "access clock not kept", "error", err)
		}
	}
	return errors.Join(k.flush(ctx), k.store.writeReads(ctx))
}

// catchUp settles the store: it raises the access clock, in case a number drawn in the primary
// store was never published, and finds out whether that store has gone back under running
// nodes. Nothing waits for such a number, because the narrowing was not acknowledged. It brings
// this node's caches there, so that it forgets in time what was lost.
func (s *Store) catchUp(ctx context.Context) error {
	at, err := s.settle(ctx)
	if err != nil {
		return err
	}
	return s.advance(ctx, at)
}

// flush writes the visits noted since the last time. If that fails, it keeps them for the
// next time.
func (k *maintenance) flush(ctx context.Context) error {
	k.mu.Lock()
	seen := k.seen
	k.seen = map[int64]struct{}{}
	k.mu.Unlock()
	if len(seen) == 0 {
		return nil
	}
	const query = `
		INSERT INTO visits (river_id, visited_at)
		SELECT id, clock_timestamp() FROM unnest(@rivers::bigint[]) id ORDER BY id
		ON CONFLICT (river_id) DO UPDATE SET visited_at = excluded.visited_at`
	_, err := k.store.db.Exec(ctx, query, pgx.StrictNamedArgs{"rivers": slices.Collect(maps.Keys(seen))})
	if err != nil {
		k.mu.Lock()
		maps.Copy(k.seen, seen)
		k.mu.Unlock()
		return fmt.Errorf("write visits: %w", err)
	}
	return nil
}
