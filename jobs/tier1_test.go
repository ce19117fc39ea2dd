package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"riverrun/rivers"
	"riverrun/timelines"
)

// TestFailureIsTriedAgain lets a distribute fail, panic, run out of time, and succeed: it must
// not use up attempts, nor fill its row with errors.
func TestFailureIsTriedAgain(t *testing.T) {
	pool := prepare(t)
	var tries atomic.Int32
	followed := make(chan []timelines.Touched, 1)
	c := &calls{
		distribute: func(ctx context.Context, _ timelines.Touched) error {
			switch tries.Add(1) {
			case 1:
				return errors.New("the rivers' database is away")
			case 2:
				panic("a fault of ours")
			case 3:
				<-ctx.Done()
				return ctx.Err()
			}
			return nil
		},
		follow: func(_ context.Context, touched []timelines.Touched) error {
			followed <- touched
			return nil
		},
	}
	cfg := config(t, pool, c)
	cfg.JobTimeout = time.Second
	start(t, cfg)
	announce(t, pool, timelines.Touched{PostID: 5, Timelines: []int64{1, 2}})

	want := []timelines.Touched{{PostID: 5, Timelines: []int64{1, 2}}}
	if diff := cmp.Diff(want, receive(t, "tier 2", followed)); diff != "" {
		t.Errorf("followed (-want +got):\n%s", diff)
	}
	if got := tries.Load(); got != 4 {
		t.Errorf("tries: got %d, want 4", got)
	}
	await(t, "the job to be completed", func() bool {
		return count(t, pool, `SELECT count(*) FROM queue.river_job WHERE kind = 'distribute' AND state = 'completed'`) == 1
	})
	var attempt, failures, snoozes int
	err := pool.QueryRow(t.Context(), `
		SELECT attempt, coalesce(cardinality(errors), 0), (metadata->>'snoozes')::int
		FROM queue.river_job WHERE kind = 'distribute'`).Scan(&attempt, &failures, &snoozes)
	if err != nil {
		t.Fatal(err)
	}
	if attempt != 1 || failures != 0 || snoozes != 3 {
		t.Errorf("got attempt %d, %d errors in the row, %d snoozes; want 1, 0, 3", attempt, failures, snoozes)
	}
}

// TestReplaceIsCalledAfterTheCommit: a build may begin while the change's
// transaction is open; Spread must be called later than that.
func TestReplaceIsCalledAfterTheCommit(t *testing.T) {
	pool := prepare(t)
	var committed atomic.Bool
	replaced := make(chan timelines.Replace, 1)
	c := &calls{spread: func(_ context.Context, r timelines.Replace) ([]rivers.Stale, error) {
		if !committed.Load() {
			t.Error("Spread was called before the change was committed")
		}
		replaced <- r
		return nil, nil
	}}
	start(t, config(t, pool, c))

	want := timelines.Replace{ViewerID: 12, Kinds: []string{"home", "list"}, TheirIDs: []int64{3, 14}, Tx: 77}
	err := pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
		if err := announcer(t).AnnounceTx(t.Context(), tx, want); err != nil {
			return err
		}
		// Another change wakes the workers up: they must look past this one's job.
		announce(t, pool, timelines.PendingBump{PostID: probe})
		await(t, "the workers to look", func() bool {
			return count(t, pool, `SELECT count(*) FROM queue.river_job WHERE kind = 'bump' AND state = 'available'`) == 0
		})
		committed.Store(true)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, receive(t, "the replace", replaced)); diff != "" {
		t.Errorf("replace (-want +got):\n%s", diff)
	}
}

// A job from before Replace could name pages is of all of them.
func TestReplaceArgsOfBefore(t *testing.T) {
	for _, r := range []timelines.Replace{
		{ViewerID: 12, Kinds: []string{"home"}},
		{Everybody: true},
		{ViewerID: 12, Kinds: []string{"list"}, TheirIDs: []int64{3, 14}, Tx: 77},
	} {
		was := fmt.Sprintf(`{"viewer_id":%d,"everybody":%t,"kinds":["%s"]}`, r.ViewerID, r.Everybody, strings.Join(r.Kinds, `","`))
		var args replaceArgs
		if err := json.Unmarshal([]byte(was), &args); err != nil || args.replace().TheirIDs != nil {
			t.Errorf("%s: got %+v, %v; want every page", was, args, err)
		}
		now, err := json.Marshal(replaceArgsOf(r))
		if err != nil || strings.Contains(string(now), "their_ids") != (r.TheirIDs != nil) {
			t.Errorf("%+v is encoded as %s, %v", r, now, err)
		}
		args = replaceArgs{}
		if err := json.Unmarshal(now, &args); err != nil || !cmp.Equal(args.replace(), r) {
			t.Errorf("%s: got %+v, %v; want %+v", now, args.replace(), err, r)
		}
	}
}

func TestBumpIsPassedOn(t *testing.T) {
	pool := prepare(t)
	bumps := make(chan timelines.PendingBump, 1)
	c := &calls{bump: func(_ context.Context, u timelines.PendingBump) error {
		bumps <- u
		return nil
	}}
	start(t, config(t, pool, c))
	want := timelines.PendingBump{PostID: 6, After: 4500}
	announce(t, pool, want)
	if got := receive(t, "the bump", bumps); got != want {
		t.Errorf("bumped %v, want %v", got, want)
	}
}

// TestLaterDoesNotStarveNow holds every worker of Tier 2 while Tier 1 goes on.
func TestLaterDoesNotStarveNow(t *testing.T) {
	pool := prepare(t)
	held, release := make(chan struct{}, 10), make(chan struct{})
	distributed := make(chan int64, 100)
	c := &calls{
		distribute: func(_ context.Context, touched timelines.Touched) error {
			distributed <- touched.PostID
			return nil
		},
		follow: func(context.Context, []timelines.Touched) error {
			held <- struct{}{}
			<-release
			return nil
		},
	}
	cfg := config(t, pool, c)
	cfg.LaterWorkers, cfg.NowWorkers = 1, 1
	start(t, cfg)
	// Before stop, which waits for it.
	t.Cleanup(func() { close(release) })

	announce(t, pool, timelines.Touched{PostID: 1})
	receive(t, "tier 1", distributed)
	receive(t, "tier 2 to be held", held)
	for post := int64(2); post < 40; post++ {
		announce(t, pool, timelines.Touched{PostID: post})
		receive(t, "tier 1 while tier 2 is held", distributed)
	}
}

// A replace is a job for each open river, whosever they are: none waits for another,
// and one that fails keeps none from what the change opened.
func TestReplaceIsAJobForEachOpenRiver(t *testing.T) {
	pool := prepare(t)
	var open []rivers.Stale
	for user := range int64(3) {
		for page := range int64(5) {
			n := rivers.Name{UserID: user, Kind: rivers.User, TheirID: page, Term: "весна", Order: rivers.Created}
			open = append(open, rivers.Stale{Name: n, Tx: 1234567})
		}
	}
	failing, failures := open[0], make(chan bool, 1000)
	rebuilt := make(chan rivers.Stale, 100)
	c := &calls{
		spread: func(context.Context, timelines.Replace) ([]rivers.Stale, error) { return open, nil },
		rebuild: func(_ context.Context, n rivers.Stale) error {
			if n == failing {
				failures <- true
				return errors.New("it does not answer")
			}
			rebuilt <- n
			return nil
		},
	}
	start(t, config(t, pool, c))
	announce(t, pool, timelines.Replace{ViewerID: 0})
	got := map[rivers.Stale]int{}
	for range open[1:] {
		got[receive(t, "a river to be rebuilt", rebuilt)]++
	}
	for _, n := range open[1:] {
		if got[n] != 1 {
			t.Errorf("%+v was rebuilt %d times, want once", n, got[n])
		}
	}
	for range 2 {
		receive(t, "the failing one to be tried again", failures)
	}
}

// However many rivers are being rebuilt, a like waits for none of them.
func TestRebuildsHoldNothingUp(t *testing.T) {
	pool := prepare(t)
	held, release := make(chan struct{}, 100), make(chan struct{})
	distributed := make(chan int64, 100)
	c := &calls{
		spread: func(context.Context, timelines.Replace) ([]rivers.Stale, error) { return make([]rivers.Stale, 20), nil },
		rebuild: func(context.Context, rivers.Stale) error {
			held <- struct{}{}
			<-release
			return nil
		},
		distribute: func(_ context.Context, touched timelines.Touched) error {
			distributed <- touched.PostID
			return nil
		},
	}
	cfg := config(t, pool, c)
	cfg.NowWorkers, cfg.RebuildWorkers = 1, 2
	start(t, cfg)
	t.Cleanup(func() { close(release) }) // before stop, which waits for it
	announce(t, pool, timelines.Replace{Everybody: true})
	for range cfg.RebuildWorkers {
		receive(t, "a rebuild to be held", held)
	}
	announce(t, pool, timelines.Touched{PostID: 1})
	receive(t, "tier 1 while rivers are rebuilt", distributed)
}
