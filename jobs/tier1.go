package jobs

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	riverqueue "github.com/riverqueue/river"

	"riverrun/rivers/strategies"
	"riverrun/timelines"
	"riverrun/timelines/push"
)

// distributeWorker is Tier 1: it brings one changed post to the open rivers and
// leaves a note for Tier 2.
//
// The note and the job that reads it are committed before the distribute job
// counts as done. A crash in between repeats the job and doubles the note, which
// is harmless; so the job's completion need not stand in the same transaction,
// and the queue may complete jobs in batches.
type distributeWorker struct {
	riverqueue.WorkerDefaults[distributeArgs]
	jobs *Jobs
}

// Work implements riverqueue.Worker.
func (w *distributeWorker) Work(ctx context.Context, job *riverqueue.Job[distributeArgs]) error {
	t := timelines.Touched{PostID: job.Args.PostID, Timelines: job.Args.Timelines, Unpushed: job.Args.Unpushed}
	applied := func() { w.jobs.metrics.applied(tier1, job.Args.At) }
	if err := w.jobs.distribute(ctx, []timelines.Touched{t}, job.Args.Change, job.Args.At, applied); err != nil {
		return fmt.Errorf("distribute post %d: %w", t.PostID, err)
	}
	return nil
}

// batchWorker is Tier 1 of many posts at once. The lag of Tier 1 is that of what people do, so
// batches are not measured with it.
type batchWorker struct {
	riverqueue.WorkerDefaults[batchArgs]
	jobs *Jobs
}

// Work implements riverqueue.Worker.
func (w *batchWorker) Work(ctx context.Context, job *riverqueue.Job[batchArgs]) error {
	if err := w.jobs.distribute(ctx, job.Args.Touched, 0, job.Args.At, func() {}); err != nil {
		return fmt.Errorf("distribute a batch of %d posts: %w", len(job.Args.Touched), err)
	}
	return nil
}

// distribute is Tier 1 of these posts, which were changed at changedAt, by the change of that name if they
// are one. It calls applied when open rivers have followed.
func (j *Jobs) distribute(ctx context.Context, touched []timelines.Touched, change uint64, changedAt int64, applied func()) error {
	left, err := j.cfg.Tiers.DistributeFirst(ctx, touched, change)
	if err != nil {
		return err
	}
	applied()
	if !left {
		j.metrics.applied(tier2, changedAt)
	}
	j.relay.wake()
	told, err := j.cfg.Rivers.Told(ctx, slices.DeleteFunc(slices.Clone(touched), func(t timelines.Touched) bool { return t.Unpushed }))
	if err != nil {
		return err
	}
	return j.note(ctx, touched, changedAt, left, told)
}

// note appends to behind, with a follow job, if rivers are left to Tier 2, and inserts a job for stored home feeds. Browsers of
// the people told of the change are pushed to by jobs of their own.
func (j *Jobs) note(ctx context.Context, touched []timelines.Touched, changedAt int64, left bool, told []int64) error {
	const query = `
		INSERT INTO behind (post_id, changed_at, timelines)
		SELECT n.post_id, @changed_at, n.timelines::bigint[] FROM unnest(@posts::bigint[], @timelines::text[]) AS n (post_id, timelines)`
	posts, of := make([]int64, len(touched)), make([]string, len(touched))
	for i, t := range touched {
		posts[i], of[i] = t.PostID, "{"+string(ids(t.Timelines).append(nil))+"}"
	}
	pushes := false
	keepsHomes, err := j.cfg.Tiers.KeepsHomes(ctx)
	if err != nil {
		return err
	}
	if !left && !keepsHomes && len(told) == 0 {
		return nil
	}
	if !left && !keepsHomes {
		if any, err := push.Any(ctx, j.pool, told); err != nil || !any {
			return err
		}
	}
	err = pgx.BeginFunc(ctx, j.pool, func(tx pgx.Tx) error {
		var next []riverqueue.InsertManyParams
		if left {
			_, err := tx.Exec(ctx, query, pgx.StrictNamedArgs{"posts": posts, "changed_at": changedAt, "timelines": of})
			if err != nil {
				return err
			}
			next = append(next, riverqueue.InsertManyParams{Args: followArgs{}})
		}
		if keepsHomes {
			next = append(next, riverqueue.InsertManyParams{Args: homesArgs{Touched: touched}})
		}
		if len(next) > 0 {
			if _, err := j.later.InsertManyTx(ctx, tx, next); err != nil {
				return err
			}
		}
		if len(told) == 0 {
			return nil
		}
		due, err := push.Want(ctx, tx, told)
		if err != nil || len(due) == 0 {
			return err
		}
		params := make([]riverqueue.InsertManyParams, len(due))
		for i, account := range due {
			params[i] = riverqueue.InsertManyParams{
				Args: pushArgs{AccountID: account}, InsertOpts: &riverqueue.InsertOpts{ScheduledAt: time.Now().Add(pushDelay)},
			}
		}
		pushes = true
		_, err = j.client.InsertManyTx(ctx, tx, params)
		return err
	})
	if err != nil {
		return fmt.Errorf("leave it to tier 2: %w", err)
	}
	if pushes {
		j.lookout.expectIn(pushDelay)
	}
	return nil
}

// replaceWorker begins to rebuild rivers that a change of access or subscription
// invalidated. Each open one becomes a job, so that no job grows with the number of
// viewers or of their pages, and a failure repeats the work for one river only. A river
// that several changes invalidated, or one replace that is worked twice, is rebuilt once.
type replaceWorker struct {
	riverqueue.WorkerDefaults[replaceArgs]
	jobs *Jobs
}

// Work implements riverqueue.Worker.
func (w *replaceWorker) Work(ctx context.Context, job *riverqueue.Job[replaceArgs]) error {
	replace := job.Args.replace()
	open, err := w.jobs.cfg.Tiers.Spread(ctx, replace)
	if err != nil {
		return fmt.Errorf("replace rivers: %w", err)
	}
	var params []riverqueue.InsertManyParams
	for _, r := range open {
		params = append(params, riverqueue.InsertManyParams{Args: rebuildArgsOf(r)})
	}
	keepsHomes, err := w.jobs.cfg.Tiers.KeepsHomes(ctx)
	if err != nil {
		return err
	}
	if keepsHomes {
		params = append(params, riverqueue.InsertManyParams{Args: homesArgs{Replace: &job.Args}})
	}
	if len(params) == 0 {
		return nil
	}
	if _, err := w.jobs.client.InsertMany(ctx, params); err != nil {
		return fmt.Errorf("replace rivers: %w", err)
	}
	return nil
}

// homesWorker brings a change into stored home feeds, a step further. The step inserts the job of
// the next. A crash in between repeats the step, which is harmless.
type homesWorker struct {
	riverqueue.WorkerDefaults[homesArgs]
	jobs *Jobs
}

// homesWorkers is how many steps a node works at once.
const homesWorkers = 2

// Work implements riverqueue.Worker.
func (w *homesWorker) Work(ctx context.Context, job *riverqueue.Job[homesArgs]) error {
	args := job.Args
	next, more, err := w.jobs.cfg.Tiers.HomesStep(ctx, strategies.Progress{Account: args.Account, Follower: args.Follower}, args.event())
	if err == nil && more {
		args.Account, args.Follower = next.Account, next.Follower
		_, err = w.jobs.client.Insert(ctx, args, nil)
	}
	if err != nil {
		return fmt.Errorf("bring a change into home feeds: %w", err)
	}
	return nil
}

// rebuildWorker rebuilds one river.
type rebuildWorker struct {
	riverqueue.WorkerDefaults[rebuildArgs]
	jobs *Jobs
}

// Work implements riverqueue.Worker.
func (w *rebuildWorker) Work(ctx context.Context, job *riverqueue.Job[rebuildArgs]) error {
	r := job.Args.stale()
	if err := w.jobs.cfg.Tiers.Rebuild(ctx, r); err != nil {
		return fmt.Errorf("rebuild a river of kind %s: %w", r.Name.Kind, err)
	}
	return nil
}

// bumpWorker makes one block of a post's rows in filter timelines follow its
// freshness. The block inserts its own distribute job and that of the next block.
type bumpWorker struct {
	riverqueue.WorkerDefaults[bumpArgs]
	jobs *Jobs
}

// Work implements riverqueue.Worker.
func (w *bumpWorker) Work(ctx context.Context, job *riverqueue.Job[bumpArgs]) error {
	u := timelines.PendingBump{PostID: job.Args.PostID, After: job.Args.After}
	if err := w.jobs.cfg.Timelines.BumpBlock(ctx, u); err != nil {
		return fmt.Errorf("bump post %d after timeline %d: %w", u.PostID, u.After, err)
	}
	return nil
}

// upkeepWorker updates one block of the flags of posts whose feed changed its level.
// The block inserts the job of the next.
type upkeepWorker struct {
	riverqueue.WorkerDefaults[upkeepArgs]
	jobs *Jobs
}

// Work implements riverqueue.Worker.
func (w *upkeepWorker) Work(ctx context.Context, _ *riverqueue.Job[upkeepArgs]) error {
	if _, err := w.jobs.cfg.Timelines.UpkeepBlock(ctx); err != nil {
		return fmt.Errorf("upkeep: %w", err)
	}
	return nil
}
