package jobs

import (
	"context"
	"fmt"

	riverqueue "github.com/riverqueue/river"
)

// bulkWorker changes one block of the posts that somebody changes at once, and inserts the job of the next. A
// crash in between repeats the block, which is harmless.
type bulkWorker struct {
	riverqueue.WorkerDefaults[bulkArgs]
	jobs *Jobs
}

// Work implements riverqueue.Worker.
func (w *bulkWorker) Work(ctx context.Context, job *riverqueue.Job[bulkArgs]) error {
	more, err := w.jobs.cfg.Bulk.Step(ctx, job.Args.ID, w.jobs.cfg.Tiers.Carry)
	if err == nil && more {
		_, err = w.jobs.client.Insert(ctx, job.Args, nil)
	}
	if err != nil {
		return fmt.Errorf("change several posts: %w", err)
	}
	return nil
}

// bulkArgs is a timelines.ChangeSeveral.
type bulkArgs struct {
	ID int64 `json:"id"`
}

func (bulkArgs) Kind() string { return "bulk" }

func (bulkArgs) InsertOpts() riverqueue.InsertOpts {
	return riverqueue.InsertOpts{Queue: queueBatches, Priority: priorityUpkeep, MaxAttempts: unlimited}
}
