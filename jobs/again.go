package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime/debug"
	"time"

	riverqueue "github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
)

// Pauses before a failed job is tried again: doubled each time, up to the
// longest. The longest is no more than the queue's scheduler interval: up to
// there a job waits in its queue and any node's workers find it; beyond, it would
// need a leader.
const (
	firstPause   = 100 * time.Millisecond
	longestPause = 5 * time.Second
)

// again stands around every job and makes sure that one which must succeed is
// tried until it does: a failure, or a panic, becomes a snooze.
//
// The queue's own way, an error with a retry policy, cannot promise that: each
// attempt is counted, the last one allowed discards the job, and a discarded
// distribute is a river that stays wrong until somebody changes the post again.
// Also each error is appended to the job's row, which an hour's outage of the
// rivers' database would make grow to thousands of entries in every row waiting.
// A snooze gives the attempt back and keeps only a count. So attempts count
// crashes in the middle of a job alone, and of those 32,767 are allowed.
//
// Chores, which come round by themselves (MaxAttempts 1), just fail.
type again struct {
	riverqueue.MiddlewareDefaults
	log     *slog.Logger
	metrics *metrics
}

// Work implements rivertype.WorkerMiddleware.
func (a *again) Work(ctx context.Context, job *rivertype.JobRow, do func(context.Context) error) error {
	begin := time.Now()
	err := recovered(ctx, do)
	if err == nil {
		a.metrics.took(job.Kind, time.Since(begin))
		return nil
	}
	if ctx.Err() != nil {
		// Stopping: an error that wraps the cancellation puts the job back into the
		// queue as if it had not been fetched.
		return errors.Join(err, ctx.Err())
	}
	a.metrics.failed(job.Kind)
	if job.MaxAttempts == 1 {
		return err
	}
	tries := snoozes(job) + 1
	pause := pauseAfter(tries)
	// An outage fails many jobs many times: 1, 2, 4, 8, ... tell enough.
	level := slog.LevelDebug
	if tries&(tries-1) == 0 {
		level = slog.LevelWarn
	}
	a.log.Log(ctx, level, "job failed, will be tried again", "kind", job.Kind, "job_id", job.ID,
		"args", string(job.EncodedArgs), "tries", tries, "pause", pause, "error", err)
	return riverqueue.JobSnooze(pause)
}

// recovered calls do and makes an error of a panic.
func recovered(ctx context.Context, do func(context.Context) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return do(ctx)
}

// snoozes returns how often the job has failed before.
func snoozes(job *rivertype.JobRow) int {
	var metadata struct {
		Snoozes int `json:"snoozes"`
	}
	// Metadata that is not the queue's own counts as none: it decides a pause only.
	if err := json.Unmarshal(job.Metadata, &metadata); err != nil {
		return 0
	}
	return metadata.Snoozes
}

// pauseAfter returns the pause after the tries-th failure, with jitter, so that
// what failed together does not come back together.
func pauseAfter(tries int) time.Duration {
	pause := longestPause
	if doublings := tries - 1; doublings < 10 {
		pause = min(firstPause<<doublings, longestPause)
	}
	return pause/2 + rand.N(pause/2)
}

// failures logs the failures that again does not see or does not mend: chores,
// and jobs that cannot be decoded.
type failures struct{ log *slog.Logger }

// HandleError implements riverqueue.ErrorHandler.
func (f *failures) HandleError(ctx context.Context, job *rivertype.JobRow, err error) *riverqueue.ErrorHandlerResult {
	f.log.ErrorContext(ctx, "job failed", "kind", job.Kind, "job_id", job.ID, "attempt", job.Attempt,
		"max_attempts", job.MaxAttempts, "args", string(job.EncodedArgs), "error", err)
	return nil
}

// HandlePanic implements riverqueue.ErrorHandler.
func (f *failures) HandlePanic(ctx context.Context, job *rivertype.JobRow, value any, trace string) *riverqueue.ErrorHandlerResult {
	f.log.ErrorContext(ctx, "job panicked", "kind", job.Kind, "job_id", job.ID, "attempt", job.Attempt,
		"max_attempts", job.MaxAttempts, "args", string(job.EncodedArgs), "panic", fmt.Sprint(value), "trace", trace)
	return nil
}
