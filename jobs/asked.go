package jobs

import (
	"context"
	"errors"
	"time"

	riverqueue "github.com/riverqueue/river"

	"riverrun/timelines/sources"
)

// askedWorker fetches a source that somebody has just added, or asked to be fetched or previewed. Its
// job is no promise: a source is due besides, and is found by a node that looks.
type askedWorker struct {
	riverqueue.WorkerDefaults[askedArgs]
	jobs *Jobs
}

// previewPatience is how long a preview waits for a host that asked to be left alone.
const previewPatience = 5 * time.Minute

// Timeout implements riverqueue.Worker.
func (w *askedWorker) Timeout(*riverqueue.Job[askedArgs]) time.Duration { return feedTimeout }

// Work implements riverqueue.Worker.
func (w *askedWorker) Work(ctx context.Context, job *riverqueue.Job[askedArgs]) error {
	source := job.Args.SourceID
	if job.Args.Preview {
		return w.preview(ctx, source)
	}
	claimed, err := w.jobs.sources.ClaimDue(ctx, source)
	if err != nil || !claimed {
		return err
	}
	return w.jobs.fetch(ctx, source)
}

// preview fetches what a source would change. While it or its host is asked by somebody else, the
// preview waits. It waits some minutes if the host asked for them, but ends if it asked for more.
func (w *askedWorker) preview(ctx context.Context, source int64) error {
	o, err := w.jobs.fetcher().Preview(ctx, source)
	switch {
	case errors.Is(err, sources.ErrNotFound): // it was paused or removed
	case errors.Is(err, sources.ErrBusy), errors.Is(err, sources.ErrStale):
		return riverqueue.JobSnooze(sources.HostGap)
	case err != nil:
		return err
	case o.Postponed && o.After > previewPatience:
		return w.jobs.sources.EndPreview(ctx, source, sources.TooOften)
	case o.Postponed:
		return riverqueue.JobSnooze(max(o.After, sources.HostGap))
	}
	return w.jobs.sources.EndPreview(ctx, source, o.Problem)
}

// askedArgs is a timelines.SourceDue.
type askedArgs struct {
	SourceID int64 `json:"source_id"`
	Preview  bool  `json:"preview,omitempty"`
}

func (askedArgs) Kind() string { return "asked" }

func (askedArgs) InsertOpts() riverqueue.InsertOpts {
	return riverqueue.InsertOpts{Queue: queueFeeds, Priority: 1, MaxAttempts: unlimited}
}
