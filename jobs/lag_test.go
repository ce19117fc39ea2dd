package jobs

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"riverrun/migrations/testdb"
	"riverrun/timelines"
)

func isBehind(t testing.TB, pool *pgxpool.Pool, than time.Duration) bool {
	t.Helper()
	is, err := Behind(t.Context(), pool, than)
	if err != nil {
		t.Fatal(err)
	}
	return is
}

// A change that tier 2 has still to bring to closed rivers.
func TestBehindCountsNotes(t *testing.T) {
	t.Parallel()
	pool := prepareParallel(t)
	if isBehind(t, pool, 0) {
		t.Error("behind with nothing behind")
	}
	for _, age := range []time.Duration{time.Minute, time.Second} {
		_, err := pool.Exec(t.Context(), `INSERT INTO behind (post_id, changed_at, timelines) VALUES (1, $1, '{}')`,
			time.Now().Add(-age).UnixMicro())
		if err != nil {
			t.Fatal(err)
		}
	}
	for than, want := range map[time.Duration]bool{time.Second: true, 50 * time.Second: true, 2 * time.Minute: false} {
		if got := isBehind(t, pool, than); got != want {
			t.Errorf("behind by more than %v: got %t, want %t", than, got, want)
		}
	}
}

// A change that no distribute job has brought to the end: it waits, it fails, it runs, or
// it is left by a node that died.
func TestBehindCountsUndoneJobs(t *testing.T) {
	t.Parallel()
	pool := prepareParallel(t)
	const aged = `UPDATE queue.river_job SET created_at = now() - interval '10 seconds', state = $1, scheduled_at = now() + $2 WHERE finalized_at IS NULL`
	// Only a distribute job puts anybody behind.
	announce(t, pool, timelines.PendingBump{PostID: 1}, timelines.Upkeep{}, timelines.Replace{Everybody: true})
	if _, err := pool.Exec(t.Context(), aged, "available", time.Duration(0)); err != nil {
		t.Fatal(err)
	}
	if isBehind(t, pool, time.Second) {
		t.Error("behind with no distribute job")
	}
	for _, event := range []timelines.Event{timelines.Touched{PostID: 1}, timelines.TouchedBatch{{PostID: 1}}} {
		announce(t, pool, event)
		if isBehind(t, pool, 5*time.Second) {
			t.Error("behind by 5s with a job that is new")
		}
		for state, due := range map[string]time.Duration{"available": 3 * time.Second, "running": 0, "retryable": time.Minute, "scheduled": time.Minute} {
			if _, err := pool.Exec(t.Context(), aged, state, due); err != nil {
				t.Fatal(err)
			}
			if !isBehind(t, pool, 5*time.Second) || isBehind(t, pool, time.Minute) {
				t.Errorf("a job of 10s that is %s does not count as that", state)
			}
		}
		if _, err := pool.Exec(t.Context(), `UPDATE queue.river_job SET state = 'completed', finalized_at = now()`); err != nil {
			t.Fatal(err)
		}
	}
	if isBehind(t, pool, 0) {
		t.Error("behind when all is done")
	}
}

// No change is between its job and its note.
func TestBehindMissesNothingOnTheWay(t *testing.T) {
	pool := prepare(t)
	var follows, notes int
	followed := make(chan struct{}, 1)
	step := func(where string) {
		if is, err := Behind(t.Context(), pool, 0); err != nil || !is {
			t.Errorf("not behind %s (%v)", where, err)
		}
	}
	c := &calls{
		distribute: func(context.Context, timelines.Touched) error {
			if notes++; notes == 1 {
				step("while it is distributed")
				return errors.New("once more")
			}
			step("while it is distributed again")
			return nil
		},
		follow: func(context.Context, []timelines.Touched) error {
			if follows++; follows == 1 {
				step("while it is followed")
				return errors.New("once more")
			}
			step("while it is followed again")
			followed <- struct{}{}
			return nil
		},
	}
	start(t, config(t, pool, c))
	announce(t, pool, timelines.Touched{PostID: 1})
	for done := false; !done; {
		select {
		case <-followed:
			done = true
		default:
			// The follow may have ended between the question and here.
			if !isBehind(t, pool, 0) && len(followed) == 0 {
				t.Fatal("not behind on the way")
			}
		}
	}
	await(t, "all to be done", func() bool { return !isBehind(t, pool, 0) })
}

// prepareParallel is prepare for a test that starts no node.
func prepareParallel(t testing.TB) *pgxpool.Pool {
	t.Helper()
	pool := testdb.New(t).Primary
	if err := Migrate(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	return pool
}

// The questions asked of the jobs' table every other second, and when a page is opened,
// read the undone jobs and not the many that are done, of the past day.
func TestUndoneJobsAreFoundAmongMany(t *testing.T) {
	t.Parallel()
	pool := prepareParallel(t)
	_, err := pool.Exec(t.Context(), `
		INSERT INTO queue.river_job (args, kind, queue, priority, max_attempts, state, created_at, finalized_at, attempt, attempted_by)
		SELECT '{}', 'distribute', 'now', 1, 1000, 'completed', made, made, 1, '{gone}'
		FROM generate_series(1, 50000) AS n, LATERAL (SELECT now() - n * interval '1.5 seconds') AS at (made)`)
	if err != nil {
		t.Fatal(err)
	}
	questions := map[string]struct {
		sql  string
		args pgx.StrictNamedArgs
	}{
		"behind":   {behind, pgx.StrictNamedArgs{"queues": []string{queueNow, queueBatches}, "priority": priorityDistribute, "than": time.Second}},
		"takeOver": {takeOver, pgx.StrictNamedArgs{"crashes": maxCrashes}},
	}
	for _, counted := range []string{"before the rows were counted", "after"} {
		for name, q := range questions {
			rows, err := pool.Query(t.Context(), `EXPLAIN `+q.sql, q.args)
			if err != nil {
				t.Fatal(err)
			}
			lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
			if err != nil {
				t.Fatal(err)
			}
			plan := strings.Join(lines, "\n")
			if !strings.Contains(plan, "river_job_prioritized_fetching_index") || strings.Contains(plan, "Seq Scan on river_job") {
				t.Errorf("%s, %s:\n%s", name, counted, plan)
			}
		}
		if _, err := pool.Exec(t.Context(), `ANALYZE queue.river_job, behind`); err != nil {
			t.Fatal(err)
		}
	}
}
