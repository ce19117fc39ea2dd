package jobs

import (
	"context"
	"fmt"

	riverqueue "github.com/riverqueue/river"
)

// removalWorker removes one block of what an account wrote, and inserts the job of the next. A crash
// in between repeats the step, which is harmless.
type removalWorker struct {
	riverqueue.WorkerDefaults[removalArgs]
	jobs *Jobs
}

// Work implements riverqueue.Worker.
func (w *removalWorker) Work(ctx context.Context, job *riverqueue.Job[removalArgs]) error {
	cfg := w.jobs.cfg
	more, err := cfg.Staff.RemovalStep(ctx, job.Args.AccountID, cfg.Tiers.Carry, cfg.Tiers.Distribute)
	if err == nil && more {
		_, err = w.jobs.client.Insert(ctx, job.Args, nil)
	}
	if err != nil {
		return fmt.Errorf("remove posts of account %d: %w", job.Args.AccountID, err)
	}
	return nil
}
