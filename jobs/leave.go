package jobs

import (
	"context"
	"fmt"

	riverqueue "github.com/riverqueue/river"
)

// leaveWorker does one part of the deletion of an account, and inserts the job of the next. A crash in
// between repeats the step, which is harmless.
type leaveWorker struct {
	riverqueue.WorkerDefaults[leaveArgs]
	jobs *Jobs
}

// Work implements riverqueue.Worker.
func (w *leaveWorker) Work(ctx context.Context, job *riverqueue.Job[leaveArgs]) error {
	cfg := w.jobs.cfg
	more, err := cfg.Leaving.Step(ctx, job.Args.AccountID, cfg.Tiers.Carry, cfg.Tiers.Distribute)
	if err == nil && more {
		_, err = w.jobs.client.Insert(ctx, job.Args, nil)
	}
	if err != nil {
		return fmt.Errorf("delete account %d: %w", job.Args.AccountID, err)
	}
	return nil
}
