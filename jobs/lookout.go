package jobs

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// lookout looks for due jobs of all queues often while this node has work, and not at all while
// it has none.
//
// Workers learn of a new job by a notification at its commit. Some jobs become due without one:
// a failed job whose pause has passed (retry), a job of a dead node (presence), and a job that
// was announced just after another one had woken the workers (seldomCooldown). Each of
// these follows upon work or a change within moments, so looking is needed only then: often at first, then less
// and less often. The queue's own polls find what is left, as when a notification is lost: see
// Config.IdlePollInterval.
//
// One statement looks at all queues, and notifies the workers of those that have a due job, on
// every node. Rejected: polls of each queue that are as frequent; eleven idle queues made fifty
// statements a second.
type lookout struct {
	pool  *pgxpool.Pool
	every time.Duration
	log   *slog.Logger

	wake chan struct{} // holds one token when last has moved

	mu   sync.Mutex // guards last
	last time.Time  // when a job began, ended or became due

	cancel context.CancelFunc
	done   chan struct{}
}

const (
	// lookOn is how long a node goes on looking after a job began, ended or became due. In the first
	// second it looks at each interval; from then on a look waits for a fifth of the time that has
	// passed.
	// A transaction that takes longer to commit is found by a poll.
	lookOn    = 10 * time.Second
	lookOften = time.Second
	// lookTimeout bounds one look.
	lookTimeout = 10 * time.Second
)

func newLookout(pool *pgxpool.Pool, every time.Duration, log *slog.Logger) *lookout {
	return &lookout{pool: pool, every: every, log: log, wake: make(chan struct{}, 1)}
}

// expect has the node look for some time, as jobs may become due now.
func (l *lookout) expect() {
	l.mu.Lock()
	l.last = time.Now()
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// expectIn is expect after that time. After stop it does nothing.
func (l *lookout) expectIn(d time.Duration) { time.AfterFunc(d, l.expect) }

// pause returns how long the next look waits after the last one, and whether there is one.
func (l *lookout) pause() (pause time.Duration, looks bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	passed := time.Since(l.last)
	if passed < lookOften {
		return 0, true
	}
	return passed / 5, passed < lookOn
}

// start begins to look, until stop.
func (l *lookout) start(ctx context.Context) {
	ctx, l.cancel = context.WithCancel(context.WithoutCancel(ctx))
	l.done = make(chan struct{})
	go func() {
		defer close(l.done)
		l.run(ctx)
	}()
}

// stop may be called without start.
func (l *lookout) stop() {
	if l.cancel != nil {
		l.cancel()
		<-l.done
	}
}

func (l *lookout) run(ctx context.Context) {
	failed := 0
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
			return
		case <-l.wake:
		}
		tick, looked := time.NewTicker(l.every), time.Time{}
		for {
			select {
			case <-ctx.Done():
				tick.Stop()
				return
			case <-tick.C:
			}
			pause, looks := l.pause()
			if !looks {
				break
			}
			if time.Since(looked) < pause {
				continue
			}
			looked = time.Now()
			err := l.look(ctx)
			if err == nil {
				failed = 0
				continue
			}
			l.expect() // what became due meanwhile is found once the store answers
			// Failures 1, 2, 4, 8, ... of an outage tell enough.
			if failed++; failed&(failed-1) == 0 && ctx.Err() == nil {
				l.log.WarnContext(ctx, "cannot look for due jobs", "tries", failed, "error", err)
			}
		}
		tick.Stop()
	}
}

// wakeWorkers notifies as the queue itself does at an insert. Within a state the index for
// fetching is ordered by queue and priority; the order keeps the server to it. The connections
// have synchronous_commit off, so the lock that a NOTIFY takes is held for microseconds.
const wakeWorkers = `
	SELECT pg_notify('` + schema + `.river_insert', json_build_object('queue', one)::text)
	FROM unnest(@queues::text[]) AS one,
		LATERAL (
			SELECT FROM queue.river_job
			WHERE state = 'available' AND queue = one AND scheduled_at <= now()
			ORDER BY priority, scheduled_at LIMIT 1
		) AS due`

// look wakes the workers of the queues that have a due job.
func (l *lookout) look(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	if _, err := l.pool.Exec(ctx, wakeWorkers, pgx.StrictNamedArgs{"queues": queues}); err != nil {
		return fmt.Errorf("look for due jobs: %w", err)
	}
	return nil
}
