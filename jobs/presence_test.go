package jobs

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"riverrun/timelines"
)

const countUndone = `SELECT count(*) FROM queue.river_job WHERE kind = 'distribute' AND finalized_at IS NULL`

// held is a node with a single worker for tier 1, which says so when it works and then
// waits to be released.
type held struct {
	*Jobs
	working chan struct{}
	release chan struct{}
}

// startHeld starts one that looks for jobs of dead nodes that often.
func startHeld(t *testing.T, pool *pgxpool.Pool, every time.Duration) *held {
	t.Helper()
	h := &held{working: make(chan struct{}, 10), release: make(chan struct{})}
	cfg := config(t, pool, &calls{distribute: func(context.Context, timelines.Touched) error {
		h.working <- struct{}{}
		<-h.release
		return nil
	}})
	cfg.NowWorkers, cfg.TakeOverEvery, cfg.IdlePollInterval = 1, every, never
	h.Jobs = start(t, cfg)
	t.Cleanup(func() { // before it is stopped
		select {
		case <-h.release:
		default:
			close(h.release)
		}
	})
	return h
}

// die does to the node what its end would do to its sign of life. Its running job goes on
// until it is released, but it has no worker to fetch more. The server notices some time after the
// connection is closed.
func (h *held) die(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	h.alive.stop()
	const lives = `SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND (classid::bigint << 32) | objid::bigint = hashtextextended($1, 0)
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
	await(t, "the lock to be given up", func() bool { return count(t, pool, lives, h.alive.client) == 0 })
}

// A dead node's job is worked by another soon, a living one's is not.
func TestADeadNodesJobIsTakenUp(t *testing.T) {
	pool := prepare(t)
	a := startHeld(t, pool, 0)
	announce(t, pool, timelines.Touched{PostID: 1})
	receive(t, "the job to be worked", a.working)
	b := startHeld(t, pool, 0)
	look(t, b)
	if len(b.working) > 0 {
		t.Fatal("a living node's job was taken")
	}

	a.die(t, pool)
	died := time.Now()
	receive(t, "the job to be worked by another", b.working)
	took := time.Since(died)
	t.Logf("it was taken up after %v", took)
	if took > 5*time.Second {
		t.Errorf("it was taken up after %v", took)
	}

	// It was not dead after all: what it does at last harms nobody.
	close(a.release)
	await(t, "the job to be done", func() bool { return count(t, pool, countUndone) == 0 })
	close(b.release)
	stop(t, b.Jobs)
	if n := count(t, pool, countUndone); n != 0 {
		t.Errorf("%d jobs undone", n)
	}
}

// look has a node look for jobs of dead ones now.
func look(t *testing.T, h *held) {
	t.Helper()
	conn, err := h.alive.enter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer leave(conn)
	if err := h.alive.takeOver(t.Context(), conn); err != nil {
		t.Fatal(err)
	}
}

// A node that starts takes up at once what its former process left.
func TestANodeThatStartsTakesUpWhatItLeft(t *testing.T) {
	pool := prepare(t)
	before := startHeld(t, pool, never)
	announce(t, pool, timelines.Touched{PostID: 1})
	receive(t, "the job to be worked", before.working)
	before.die(t, pool)
	again := make(chan struct{}, 1)
	cfg := config(t, pool, &calls{distribute: func(context.Context, timelines.Touched) error {
		again <- struct{}{}
		return nil
	}})
	cfg.TakeOverEvery = never
	start(t, cfg)
	receive(t, "the job to be worked again", again)
}

// A node that lost the connection that says it lives takes another at once.
func TestALostSignOfLifeIsGivenAgain(t *testing.T) {
	pool := prepare(t)
	a := startHeld(t, pool, never)
	announce(t, pool, timelines.Touched{PostID: 1})
	receive(t, "the job to be worked", a.working)
	const pids = `SELECT coalesce(min(pid), 0) FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ShareLock'
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
	was := count(t, pool, pids)
	if was == 0 {
		t.Fatal("no lock is held")
	}
	if count(t, pool, `SELECT pg_terminate_backend($1)::int`, was) != 1 {
		t.Fatal("the connection was not ended")
	}
	await(t, "the lock to be held again", func() bool {
		is := count(t, pool, pids)
		return is != 0 && is != was
	})
	b := startHeld(t, pool, never)
	look(t, b)
	if n := count(t, pool, `SELECT count(*) FROM queue.river_job WHERE kind = 'distribute' AND state = 'running' AND attempt = 1`); n != 1 {
		t.Error("a living node's job was taken")
	}
}

// A node that stops lives until its last job has ended.
func TestAStoppingNodesJobIsNotTaken(t *testing.T) {
	pool := prepare(t)
	a, b := startHeld(t, pool, never), startHeld(t, pool, never)
	announce(t, pool, timelines.Touched{PostID: 1})
	stopping, other := a, b
	select {
	case <-a.working:
	case <-b.working:
		stopping, other = b, a
	case <-time.After(patience):
		t.Fatal("nobody works the job")
	}
	stopped := make(chan struct{})
	go func() {
		stop(t, stopping.Jobs)
		close(stopped)
	}()
	await(t, "the stop to begin", func() bool { return stopping.Ready(t.Context()) != nil })
	look(t, other)
	close(stopping.release)
	receive(t, "the stop", stopped)
	if n := len(other.working) + count(t, pool, countUndone); n != 0 {
		t.Error("a stopping node's job was taken")
	}
}

// A job that several processes died of, as it seems, is left to the rescuer.
func TestAJobThatNodesDieOfIsLeft(t *testing.T) {
	pool := prepare(t)
	_, err := pool.Exec(t.Context(), `
		INSERT INTO queue.river_job (args, kind, queue, max_attempts, state, attempt, attempted_at, attempted_by)
		SELECT '{}', 'strange', 'now', 1000, 'running', attempt, now(), '{here,gone}'
		FROM generate_series(1, $1 + 1) AS attempt`, maxCrashes)
	if err != nil {
		t.Fatal(err)
	}
	look(t, startHeld(t, pool, never))
	for state, want := range map[string]int{"available": maxCrashes, "running": 1} {
		if got := count(t, pool, `SELECT count(*) FROM queue.river_job WHERE kind = 'strange' AND state::text = $1`, state); got != want {
			t.Errorf("jobs %s: got %d, want %d", state, got, want)
		}
	}
}

// Locks of a machine that is gone are free within seconds.
func TestConnectionsOfAMachineThatIsGoneEndSoon(t *testing.T) {
	pool := prepare(t)
	j, err := New(config(t, pool, &calls{}))
	if err != nil {
		t.Fatal(err)
	}
	defer stop(t, j)
	// On a socket of the same machine they have no values, but were asked for.
	const asked = `SELECT count(*) FROM pg_settings WHERE name LIKE 'tcp\_%' AND source = 'client'`
	if got := count(t, j.pool, asked); got != len(soonGone) {
		t.Errorf("%d settings of the workers' connections were asked for, want %d", got, len(soonGone))
	}
	conn, err := j.alive.enter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer leave(conn)
	var got int
	if err := conn.QueryRow(t.Context(), asked).Scan(&got); err != nil || got != len(soonGone) {
		t.Errorf("%d settings of the sign of life's connection were asked for (%v), want %d", got, err, len(soonGone))
	}
}
