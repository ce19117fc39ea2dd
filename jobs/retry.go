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

// Pauses before a failed job is tried again. Each is twice the one before, up to the
// longest. That is no longer than the queue's scheduler interval: within the interval a
// job waits in its queue, where this node's lookout finds it; a longer pause needs a
// leader.
const (
	firstPause   = 100 * time.Millisecond
	longestPause = 5 * time.Second
)

// retry is the middleware of every job. A job that must succeed is tried until it
// does: retry turns a failure, or a panic, into a snooze.
//
// The queue's own retries cannot promise that. They count each attempt, and the last
// one allowed discards the job. A discarded distribute job leaves a river wrong until
// somebody changes the post again. They also append each error to the job's row; an
// outage of an hour would add thousands of errors to every waiting row. A snooze gives
// the attempt back and keeps only a count. So attempts count crashes in the middle of
// a job, and 32,767 of them are allowed.
//
// Periodic jobs (MaxAttempts 1) just fail.
type retry struct {
	riverqueue.MiddlewareDefaults
	log     *slog.Logger
	metrics *metrics
	lookout *lookout
}

// Work implements rivertype.WorkerMiddleware.
func (a *retry) Work(ctx context.Context, job *rivertype.JobRow, do func(context.Context) error) error {
	periodic := job.MaxAttempts == 1 // changes nothing that others wait for
	if !periodic {
		a.lookout.expect()
	}
	err := a.work(ctx, job, do)
	if !periodic {
		a.lookout.expect()
	}
	if waits, ok := errors.AsType[*rivertype.JobSnoozeError](err); ok {
		a.lookout.expectIn(waits.Duration)
	}
	return err
}

func (a *retry) work(ctx context.Context, job *rivertype.JobRow, do func(context.Context) error) error {
	begin := time.Now()
	err := recovered(ctx, do)
	if err == nil {
		a.metrics.took(job.Kind, time.Since(begin))
		return nil
	}
	if _, waits := errors.AsType[*rivertype.JobSnoozeError](err); waits {
		return err // the job chose its time, and did not fail
	}
	if ctx.Err() != nil {
		// The node stops: an error that wraps the cancellation puts the job back into the
		// queue as if it had not been fetched.
		return errors.Join(err, ctx.Err())
	}
	a.metrics.failed(job.Kind)
	if job.MaxAttempts == 1 {
		return err
	}
	tries := snoozes(job) + 1
	pause := pauseAfter(tries)
	// An outage fails many jobs many times. Failures 1, 2, 4, 8, ... tell enough.
	level := slog.LevelDebug
	if tries&(tries-1) == 0 {
		level = slog.LevelWarn
	}
	a.log.Log(ctx, level, "job failed, will be tried again", "kind", job.Kind, "job_id", job.ID,
		"args", string(job.EncodedArgs), "tries", tries, "pause", pause, "error", err)
	return riverqueue.JobSnooze(pause)
}

// recovered calls do and turns a panic into an error.
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
	// Metadata in another form counts as none: only the pause depends on it.
	if err := json.Unmarshal(job.Metadata, &metadata); err != nil {
		return 0
	}
	return metadata.Snoozes
}

// pauseAfter returns the pause after the tries-th failure, with jitter, so that
// jobs that failed together do not come back together.
func pauseAfter(tries int) time.Duration {
	pause := longestPause
	if doublings := tries - 1; doublings < 10 {
		pause = min(firstPause<<doublings, longestPause)
	}
	return pause/2 + rand.N(pause/2)
}

// failures logs the failures that retry does not handle: those of periodic jobs, and
// jobs that cannot be decoded.
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
