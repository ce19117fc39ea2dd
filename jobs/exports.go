package jobs

import (
	"context"
	"errors"
	"fmt"
	"time"

	riverqueue "github.com/riverqueue/river"

	"riverrun/jobs/archives"
	"riverrun/timelines/exports"
)

const (
	// exportTimeout bounds one attempt.
	exportTimeout = 6 * time.Hour
	// exportCrashes is how many processes may end while they make an archive, and exportTries how often
	// it may fail, before its owner is told that it cannot be made. Each attempt reads everything anew.
	exportCrashes = 3
	exportTries   = 10
)

// exportWorker makes an archive. A crash in between repeats all of it.
type exportWorker struct {
	riverqueue.WorkerDefaults[exportArgs]
	jobs *Jobs
}

// Timeout implements riverqueue.Worker.
func (w *exportWorker) Timeout(*riverqueue.Job[exportArgs]) time.Duration { return exportTimeout }

// Work implements riverqueue.Worker.
func (w *exportWorker) Work(ctx context.Context, job *riverqueue.Job[exportArgs]) error {
	cfg, id := w.jobs.cfg, job.Args.ID
	if job.Attempt > exportCrashes {
		return w.giveUp(ctx, id, errors.New("processes ended while they made it"))
	}
	err := archives.Maker{Exports: cfg.Exports, Blobs: cfg.Blobs, Log: cfg.Log}.Make(ctx, id)
	if err != nil && ctx.Err() == nil && snoozes(job.JobRow) >= exportTries {
		return w.giveUp(ctx, id, err)
	}
	return err
}

func (w *exportWorker) giveUp(ctx context.Context, id int64, cause error) error {
	if err := w.jobs.cfg.Exports.Fail(ctx, id); err != nil {
		if errors.Is(err, exports.ErrGone) {
			return nil
		}
		return fmt.Errorf("%w, after: %w", err, cause)
	}
	w.jobs.cfg.Log.ErrorContext(ctx, "an archive cannot be made", "export", id, "error", cause)
	return nil
}

// exportArgs is a timelines.MakeExport.
type exportArgs struct {
	ID int64 `json:"id"`
}

func (exportArgs) Kind() string { return "export" }

func (exportArgs) InsertOpts() riverqueue.InsertOpts {
	return riverqueue.InsertOpts{Queue: queueExports, MaxAttempts: unlimited}
}
