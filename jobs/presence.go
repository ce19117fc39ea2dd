package jobs

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
)

// presence is a node's sign of life: a shared advisory lock of the primary database,
// its key made of the node's name in the job queue, held by a connection that does
// nothing else. When the process ends, however it ends, the kernel closes the
// connection and PostgreSQL gives the lock up. A job that is running under a name
// without a lock is a dead node's; each node looks for such jobs now and then, and when
// it starts, and puts them back into their queue, where its lookout finds them.
//
// A node that starts again has another name (it contains the time of the start), so
// that the jobs of its own former process are a dead node's too.
//
// A living node can look dead for a moment: while PostgreSQL restarts, or when this one
// connection is lost. Its jobs may then be worked twice. That does no harm (see the
// package's comment), whichever of the two ends first: the queue takes the result of a
// job only while the job is running, and a job that was put back is worked once more. To
// make this rare, a node notices the loss of the connection at once, takes the lock
// again before it does anything else, and then gives the others a whole interval to do
// the same.
//
// A process that hangs without ending keeps its lock. Its jobs are left to the queue's
// own rescuer (Config.RescueAfter).
//
// Rejected: a table of heartbeats, which needs a write per node and interval, a clock,
// and a bound long enough for a node that is only slow.
type presence struct {
	config *pgx.ConnConfig
	client string // the node's name in the job queue
	every  time.Duration
	log    *slog.Logger
	// lookout is told of what was put back.
	lookout *lookout

	cancel context.CancelFunc
	done   chan struct{}
}

// maxCrashes is how many processes may have ended while they worked a job that is still
// put back at once. A job with more crashes may be their cause, for example by taking all
// the memory, and must not end one node after the other as fast as they start. It is left
// to the queue's rescuer, whose pauses grow each time. Attempts count crashes alone (see
// retry).
const maxCrashes = 5

// takeOverTimeout bounds one search for jobs of dead nodes, and one try to connect. A
// connection whose statement takes longer is closed, which releases the lock.
const takeOverTimeout = 30 * time.Second

// soonGone is timelines.SoonGone.
var soonGone = timelines.SoonGone

// start takes the lock, puts back the jobs of dead nodes, and goes on doing so until
// stop. The lock must be held before the node fetches its first job.
func (p *presence) start(ctx context.Context) error {
	conn, err := p.enter(ctx)
	if err != nil {
		return err
	}
	if err := p.takeOver(ctx, conn); err != nil {
		leave(conn)
		return err
	}
	ctx, p.cancel = context.WithCancel(context.WithoutCancel(ctx))
	p.done = make(chan struct{})
	go func() {
		defer close(p.done)
		p.run(ctx, conn)
	}()
	return nil
}

// stop releases the lock: no job may run here any more. It may be called without start.
func (p *presence) stop() {
	if p.cancel != nil {
		p.cancel()
		<-p.done
	}
}

func (p *presence) run(ctx context.Context, conn *pgx.Conn) {
	for {
		p.wait(ctx, conn)
		var err error
		if ctx.Err() == nil && !conn.IsClosed() {
			err = p.takeOver(ctx, conn)
		}
		switch {
		case ctx.Err() != nil:
			leave(conn)
			return
		case conn.IsClosed():
			p.log.WarnContext(ctx, "connection lost that says that this node lives", "error", err)
			if conn = p.enterAgain(ctx); conn == nil {
				return
			}
		case err != nil:
			p.log.WarnContext(ctx, "cannot look for jobs of dead nodes", "error", err)
		}
	}
}

// wait returns after an interval, with jitter, or as soon as the connection is lost.
// Nobody notifies this connection: to wait for a notification is to watch it.
func (p *presence) wait(ctx context.Context, conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(ctx, p.every+rand.N(p.every/10+1))
	defer cancel()
	for ctx.Err() == nil && !conn.IsClosed() {
		_, _ = conn.WaitForNotification(ctx) // the end of ctx, or the connection's
	}
}

// enter connects and takes the lock. The lock is a shared one: if a connection is lost
// and the server has not noticed, the next one need not wait for it.
func (p *presence) enter(ctx context.Context) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, takeOverTimeout)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, p.config.Copy())
	if err != nil {
		return nil, fmt.Errorf("connect to say that this node lives: %w", err)
	}
	const lock = `SELECT pg_advisory_lock_shared(hashtextextended(@client, 0))`
	if _, err := conn.Exec(ctx, lock, pgx.StrictNamedArgs{"client": p.client}); err != nil {
		leave(conn)
		return nil, fmt.Errorf("say that this node lives: %w", err)
	}
	return conn, nil
}

// enterAgain tries until the lock is held again; nil when ctx ended first.
func (p *presence) enterAgain(ctx context.Context) *pgx.Conn {
	for tries := 1; ; tries++ {
		conn, err := p.enter(ctx)
		if err == nil {
			return conn
		}
		if ctx.Err() == nil && tries&(tries-1) == 0 {
			p.log.WarnContext(ctx, "this node seems dead to others", "tries", tries, "error", err)
		}
		timer := time.NewTimer(min(pauseAfter(tries), p.every))
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-timer.C:
		}
	}
}

// leave closes the connection, which releases the lock.
func leave(conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = conn.Close(ctx) // it is closed either way
}

// takeOver puts the jobs of dead nodes back into their queues. They keep their
// scheduled_at and so come before what is newer. A worker takes a lock before it fetches its first
// job, and the locks are read later than the snapshot that shows the job is taken: a
// living node's lock is seen.
//
// There are no more running jobs than workers, and the index for fetching begins with the
// state.
const takeOver = `
	WITH alive AS (
		SELECT (classid::bigint << 32) | objid::bigint AS key FROM pg_locks
		WHERE locktype = 'advisory' AND objsubid = 1 AND granted
			AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
	), dead AS (
		SELECT id FROM queue.river_job
		WHERE state = 'running' AND attempt <= @crashes
			AND hashtextextended(attempted_by[cardinality(attempted_by)], 0) <> ALL (ARRAY(SELECT key FROM alive))
		ORDER BY id FOR UPDATE SKIP LOCKED
	)
	UPDATE queue.river_job j SET state = 'available' FROM dead WHERE j.id = dead.id
	RETURNING j.attempted_by[cardinality(j.attempted_by)]`

func (p *presence) takeOver(ctx context.Context, conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, takeOverTimeout)
	defer cancel()
	rows, err := conn.Query(ctx, takeOver, pgx.StrictNamedArgs{"crashes": maxCrashes})
	if err != nil {
		return fmt.Errorf("put back jobs of dead nodes: %w", err)
	}
	of, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("put back jobs of dead nodes: %w", err)
	}
	if len(of) > 0 {
		p.lookout.expect()
		slices.Sort(of)
		p.log.InfoContext(ctx, "jobs of dead nodes were put back", "jobs", len(of), "nodes", slices.Compact(of))
	}
	return nil
}
