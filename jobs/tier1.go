package jobs

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	riverqueue "github.com/riverqueue/river"

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
	t := timelines.Touched{PostID: job.Args.PostID, Timelines: job.Args.Timelines}
	if err := w.jobs.cfg.Tiers.Distribute(ctx, []timelines.Touched{t}); err != nil {
		return fmt.Errorf("distribute post %d: %w", t.PostID, err)
	}
	w.jobs.metrics.applied(tier1, job.Args.At)
	told, err := w.jobs.cfg.Rivers.Told(ctx, []timelines.Touched{t})
	if err != nil {
		return fmt.Errorf("distribute post %d: %w", t.PostID, err)
	}
	return w.jobs.note(ctx, t, job.Args.At, told)
}

// note appends to behind, with a follow job. Browsers of the people told of the change are pushed
// to by jobs of their own.
func (j *Jobs) note(ctx context.Context, t timelines.Touched, changedAt int64, told []int64) error {
	const query = `
		INSERT INTO behind (post_id, changed_at, timelines)
		VALUES (@post_id, @changed_at, @timelines)`
	if t.Timelines == nil {
		t.Timelines = []int64{}
	}
	err := pgx.BeginFunc(ctx, j.pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, query, pgx.StrictNamedArgs{
			"post_id": t.PostID, "changed_at": changedAt, "timelines": t.Timelines,
		})
		if err != nil {
			return err
		}
		if _, err = j.client.InsertTx(ctx, tx, followArgs{}, nil); err != nil || len(told) == 0 {
			return err
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
		_, err = j.client.InsertManyTx(ctx, tx, params)
		return err
	})
	if err != nil {
		return fmt.Errorf("leave post %d to tier 2: %w", t.PostID, err)
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
	open, err := w.jobs.cfg.Tiers.Spread(ctx, job.Args.replace())
	if err != nil {
		return fmt.Errorf("replace rivers: %w", err)
	}
	if len(open) == 0 {
		return nil
	}
	params := make([]riverqueue.InsertManyParams, len(open))
	for i, r := range open {
		params[i].Args = rebuildArgsOf(r)
	}
	if _, err := w.jobs.client.InsertMany(ctx, params); err != nil {
		return fmt.Errorf("replace rivers: %w", err)
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
