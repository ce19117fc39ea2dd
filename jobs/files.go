package jobs

import (
	"context"
	"fmt"
	"time"

	riverqueue "github.com/riverqueue/river"

	"riverrun/jobs/uploads"
	"riverrun/timelines/files"
)

const (
	// pictureTimeout bounds the job of one picture: its decoding, and the time of the store. It is
	// shorter than DefaultRescueAfter, so that the job ends by itself and is tried again.
	pictureTimeout = uploads.Timeout + 70*time.Second
	// pictureCrashes is how many processes may end while they make a picture before it counts as
	// one that cannot be read. An error and the job's own timeout, as by a store that does not
	// answer, are not counted (retry), and are tried again for as long as it takes.
	pictureCrashes = 3
)

// pictureWorker makes an upload a picture (package uploads).
type pictureWorker struct {
	riverqueue.WorkerDefaults[pictureArgs]
	jobs *Jobs
}

// Timeout implements riverqueue.Worker.
func (w *pictureWorker) Timeout(*riverqueue.Job[pictureArgs]) time.Duration { return pictureTimeout }

// Work implements riverqueue.Worker.
func (w *pictureWorker) Work(ctx context.Context, job *riverqueue.Job[pictureArgs]) error {
	cfg := w.jobs.cfg
	maker := uploads.Maker{Files: cfg.Files, Blobs: cfg.Blobs, Carry: cfg.Tiers.Carry, Log: cfg.Log}
	if job.Attempt > pictureCrashes {
		return maker.GiveUp(ctx, job.Args.FileID)
	}
	// A picture of an item may be under way.
	done, err := w.jobs.large(ctx)
	if err != nil {
		return err
	}
	defer done()
	return maker.Make(ctx, job.Args.FileID)
}

// pictureArgs is a timelines.Prepare.
type pictureArgs struct {
	FileID int64 `json:"file_id"`
}

func (pictureArgs) Kind() string { return "picture" }

func (pictureArgs) InsertOpts() riverqueue.InsertOpts {
	return riverqueue.InsertOpts{Queue: queuePictures, MaxAttempts: unlimited}
}

// sweepWorker removes the blobs that nothing refers to.
type sweepWorker struct {
	riverqueue.WorkerDefaults[sweepArgs]
	jobs *Jobs
}

// Timeout implements riverqueue.Worker.
func (w *sweepWorker) Timeout(*riverqueue.Job[sweepArgs]) time.Duration { return choreTimeout }

// Work implements riverqueue.Worker.
func (w *sweepWorker) Work(ctx context.Context, _ *riverqueue.Job[sweepArgs]) error {
	cfg := w.jobs.cfg
	loose, err := cfg.Timelines.ExpireFiles(ctx, keepLoose)
	if err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	links, err := cfg.Timelines.ExpireLinks(ctx, linksAtOnce)
	if err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	n, err := files.Sweep(ctx, cfg.Pool, cfg.Blobs, time.Now().Add(-files.Grace))
	if loose+links > 0 || n > 0 {
		cfg.Log.InfoContext(ctx, "files swept", "never_attached", loose, "links", links, "blobs", n)
	}
	if err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	return nil
}

// sweepArgs belongs to a periodic job, like expireArgs.
type sweepArgs struct{}

func (sweepArgs) Kind() string { return "sweep" }

func (sweepArgs) InsertOpts() riverqueue.InsertOpts {
	return riverqueue.InsertOpts{Queue: queueChores, MaxAttempts: 1}
}
