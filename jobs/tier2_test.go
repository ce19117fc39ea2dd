package jobs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"riverrun/timelines"
)

const (
	countNotes   = `SELECT count(*) FROM behind`
	countFollows = `SELECT count(*) FROM queue.river_job WHERE kind = 'follow' AND state IN ('available', 'running', 'retryable', 'scheduled')`
)

// TestFollowsTogether changes one post two hundred times while Tier 2 is busy:
// it must be brought up once, not two hundred times.
func TestFollowsTogether(t *testing.T) {
	const changes = 200
	pool := prepare(t)
	release := make(chan struct{})
	held := make(chan struct{}, 1)
	followed := make(chan []timelines.Touched, 2*changes)
	var started atomic.Int32
	c := &calls{follow: func(_ context.Context, touched []timelines.Touched) error {
		if started.Add(1) == 1 {
			held <- struct{}{}
			<-release
		}
		followed <- touched
		return nil
	}}
	cfg := config(t, pool, c)
	cfg.LaterWorkers = 1
	j := start(t, cfg)

	announce(t, pool, timelines.Touched{PostID: 1})
	receive(t, "tier 2 to be held", held)
	var want []int64
	for i := range int64(changes) {
		announce(t, pool, timelines.Touched{PostID: 2, Timelines: []int64{i % 10}})
		want = union(want, []int64{i % 10})
	}
	await(t, "all notes", func() bool {
		// The account that is being followed is deleted, but the deletion is not
		// committed yet.
		return count(t, pool, countNotes) == changes+1
	})
	close(release)

	calls := [][]timelines.Touched{receive(t, "the held call", followed), receive(t, "the call for all others", followed)}
	wantCalls := [][]timelines.Touched{{{PostID: 1}}, {{PostID: 2, Timelines: want}}}
	if diff := cmp.Diff(wantCalls, calls); diff != "" {
		t.Errorf("calls of Follow (-want +got):\n%s", diff)
	}
	await(t, "the queue to be empty", func() bool { return count(t, pool, countFollows) == 0 })
	if n := count(t, pool, countNotes); n != 0 {
		t.Errorf("notes left: %d", n)
	}
	if n := len(followed); n != 0 {
		t.Errorf("%d more calls of Follow", n)
	}
	// Those that found nothing to do were mostly not even run.
	if n := count(t, pool, `SELECT count(*) FROM queue.river_job WHERE kind = 'follow'`); n > changes/4 {
		t.Errorf("follow jobs that ran: got %d for %d changes", n, changes)
	}
	stop(t, j)
}

// TestTwoNodesFollow lets two nodes with two workers each empty a long table,
// while calls fail now and then. Each note has a timeline of its own, so what
// was followed can be counted: all of it, and nothing twice in successful calls.
func TestTwoNodesFollow(t *testing.T) {
	const notes = 1700 // more than three batches
	pool := prepare(t)
	var succeeded recorder[[]int64]
	var n atomic.Int32
	c := &calls{follow: func(_ context.Context, touched []timelines.Touched) error {
		if n.Add(1)%2 == 1 {
			return errors.New("now and then")
		}
		var all []int64
		for i, post := range touched {
			if i > 0 && touched[i-1].PostID >= post.PostID {
				t.Errorf("posts out of order: %d before %d", touched[i-1].PostID, post.PostID)
			}
			all = append(all, post.Timelines...)
		}
		succeeded.add(all)
		return nil
	}}
	fill := `INSERT INTO behind (post_id, changed_at, timelines)
		SELECT n % 50, 0, ARRAY[n] FROM generate_series(1, $1) AS n ORDER BY random()`
	if _, err := pool.Exec(t.Context(), fill, notes); err != nil {
		t.Fatal(err)
	}
	start(t, config(t, pool, c))
	start(t, config(t, pool, c))
	for post := range int64(4) {
		announce(t, pool, timelines.Touched{PostID: post})
	}
	await(t, "all notes to be followed", func() bool {
		return count(t, pool, countNotes) == 0 && count(t, pool, countFollows) == 0 &&
			count(t, pool, `SELECT count(*) FROM queue.river_job WHERE kind = 'distribute' AND state <> 'completed'`) == 0
	})
	got := slices.Concat(succeeded.all()...)
	slices.Sort(got)
	want := make([]int64, notes)
	for i := range want {
		want[i] = int64(i + 1)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("timelines followed (-want +got):\n%s", diff)
	}
}

// TestNothingIsLeftToTier2: where Tier 1 brought all rivers up, it leaves no note and no job.
func TestNothingIsLeftToTier2(t *testing.T) {
	pool := prepare(t)
	worked := make(chan struct{}, 1)
	c := &calls{complete: true, distribute: func(context.Context, timelines.Touched) error {
		worked <- struct{}{}
		return nil
	}}
	start(t, config(t, pool, c))
	announce(t, pool, timelines.Touched{PostID: 1})
	receive(t, "tier 1", worked)
	await(t, "the job is done", func() bool {
		return count(t, pool, `SELECT count(*) FROM queue.river_job WHERE kind = 'distribute' AND state = 'completed'`) == 1
	})
	if n, m := count(t, pool, countNotes), count(t, pool, `SELECT count(*) FROM queue.river_job WHERE kind = 'follow'`); n != 0 || m != 0 {
		t.Errorf("%d notes and %d jobs, want none", n, m)
	}
}

// TestCrashWhileFollowingKeepsTheNotes cancels a follow in the middle, as the
// end of its process would: the notes must be there for the next one.
func TestCrashWhileFollowingKeepsTheNotes(t *testing.T) {
	pool := prepare(t)
	ctx, crash := context.WithCancel(t.Context())
	c := &calls{follow: func(ctx context.Context, _ []timelines.Touched) error {
		crash()
		<-ctx.Done()
		return nil // the work is done, but its end is never committed
	}}
	j, err := New(config(t, pool, c))
	if err != nil {
		t.Fatal(err)
	}
	defer stop(t, j)
	want := timelines.Touched{PostID: 3, Timelines: []int64{4}}
	if err := j.note(t.Context(), []timelines.Touched{want}, 0, true, nil); err != nil {
		t.Fatal(err)
	}
	if n, err := j.follow(ctx, maxNotes); err == nil {
		t.Fatalf("follow: got %d and no error, want one", n)
	}
	// The server finds out a moment later, and until then others pass the notes over.
	if n := count(t, pool, `SELECT count(*) FROM (SELECT FROM behind FOR UPDATE) released`); n != 1 {
		t.Fatalf("%d notes after the crash, want 1", n)
	}
	c.follow = func(_ context.Context, touched []timelines.Touched) error {
		if diff := cmp.Diff([]timelines.Touched{want}, touched); diff != "" {
			t.Errorf("followed after the crash (-want +got):\n%s", diff)
		}
		return nil
	}
	if n, err := j.follow(t.Context(), maxNotes); n != 1 || err != nil {
		t.Errorf("follow after the crash: got %d, %v, want 1 note", n, err)
	}
	if n := count(t, pool, countNotes); n != 0 {
		t.Errorf("notes left: %d", n)
	}
}

// TestFollowersDoNotWaitForEachOther holds one follow with its batch: the next
// must take the rest meanwhile.
func TestFollowersDoNotWaitForEachOther(t *testing.T) {
	const rest = 100
	pool := prepare(t)
	held, release := make(chan struct{}), make(chan struct{})
	var started atomic.Int32
	c := &calls{follow: func(context.Context, []timelines.Touched) error {
		if started.Add(1) == 1 {
			close(held)
			<-release
		}
		return nil
	}}
	j, err := New(config(t, pool, c))
	if err != nil {
		t.Fatal(err)
	}
	defer stop(t, j)
	fill := `INSERT INTO behind (post_id, changed_at, timelines) SELECT n, 0, '{}' FROM generate_series(1, $1) AS n`
	if _, err := pool.Exec(t.Context(), fill, maxNotes+rest); err != nil {
		t.Fatal(err)
	}
	ended := make(chan int)
	go func() {
		n, err := j.follow(t.Context(), maxNotes)
		if err != nil {
			t.Errorf("the held follow: %v", err)
		}
		ended <- n
	}()
	receive(t, "the first follow to be held", held)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	n, err := j.follow(ctx, maxNotes)
	if n != rest || err != nil {
		t.Errorf("the second follow: got %d notes, %v; want %d", n, err, rest)
	}
	close(release)
	if n := receive(t, "the first follow", ended); n != maxNotes {
		t.Errorf("the first follow: got %d notes, want %d", n, maxNotes)
	}
}

// TestABatchTooLargeIsDivided gives calls for more than some posts more to do than
// their time allows: smaller ones follow until all are done, and then larger ones
// again.
func TestABatchTooLargeIsDivided(t *testing.T) {
	const most = 3
	pool := prepare(t)
	var largest atomic.Int32
	c := &calls{follow: func(ctx context.Context, touched []timelines.Touched) error {
		if len(touched) > most {
			<-ctx.Done()
			return ctx.Err()
		}
		largest.Store(max(largest.Load(), int32(len(touched))))
		return nil
	}}
	fill := `INSERT INTO behind (post_id, changed_at, timelines) SELECT n, 0, '{}' FROM generate_series(1, $1) AS n`
	if _, err := pool.Exec(t.Context(), fill, 20*most); err != nil {
		t.Fatal(err)
	}
	cfg := config(t, pool, c)
	cfg.JobTimeout = 200 * time.Millisecond
	j := start(t, cfg)
	// Halved so often, it takes fifteen at once: two steps away, each of them a
	// try that runs out of time and a pause.
	j.halvings.Store(5)
	announce(t, pool, timelines.Touched{PostID: 1})
	await(t, "all notes to be followed", func() bool {
		return count(t, pool, countNotes) == 0 && count(t, pool, countFollows) == 0
	})
	if got := largest.Load(); got == 0 || got > most {
		t.Errorf("followed %d posts at once, want 1 to %d", got, most)
	}
	stop(t, j)
	for range 20 {
		j.adapt(j.notesAtOnce(), 0, false)
	}
	if got := j.notesAtOnce(); got != maxNotes {
		t.Errorf("takes %d notes when all succeeds, want %d", got, maxNotes)
	}
}

// wakes counts how often a pool wakes the workers of Tier 2 with an insert.
type wakes struct{ atomic.Int32 }

func (w *wakes) TraceQueryStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceQueryStartData) context.Context {
	if strings.Contains(d.SQL, "PGNotifyMany") && strings.Contains(fmt.Sprint(d.Args...), `"`+queueLater+`"`) {
		w.Add(1)
	}
	return ctx
}

func (w *wakes) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// Changes that leave rivers to Tier 2 wake its workers once in a cooldown, as these fetch no more often.
func TestTier2IsWokenOnceInACooldown(t *testing.T) {
	const changes = 20
	pool := prepare(t)
	woken := &wakes{}
	traced := pool.Config()
	traced.ConnConfig.Tracer = woken
	own, err := pgxpool.NewWithConfig(t.Context(), traced)
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	cfg := config(t, pool, &calls{})
	cfg.Pool, cfg.LaterCooldown = own, time.Hour
	start(t, cfg)
	for post := range int64(changes) {
		announce(t, pool, timelines.Touched{PostID: post + 1})
	}
	await(t, "all jobs of Tier 1", func() bool {
		return count(t, pool, `SELECT count(*) FROM queue.river_job WHERE kind = 'distribute' AND state = 'completed'`) == changes
	})
	if n := woken.Load(); n != 1 {
		t.Errorf("%d changes woke the workers %d times, want once", changes, n)
	}
}
