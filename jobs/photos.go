package jobs

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	riverqueue "github.com/riverqueue/river"

	items "riverrun/jobs/photos"
)

const (
	// photoWorkers is how many hosts a node asks for pictures at a time. It waits, mostly.
	photoWorkers = 3
	// photosTimeout bounds one run: it begins nothing after three minutes.
	photosTimeout = 10 * time.Minute
)

// photosWorker fetches pictures of items from one host.
type photosWorker struct {
	riverqueue.WorkerDefaults[photosArgs]
	jobs *Jobs
}

// Timeout implements riverqueue.Worker.
func (w *photosWorker) Timeout(*riverqueue.Job[photosArgs]) time.Duration { return photosTimeout }

// Work implements riverqueue.Worker.
func (w *photosWorker) Work(ctx context.Context, job *riverqueue.Job[photosArgs]) error {
	cfg := w.jobs.cfg
	fetcher := items.Fetcher{
		Photos: w.jobs.photos, Blobs: cfg.Blobs, Client: cfg.Fetch, Carry: cfg.Tiers.Carry, Turn: w.jobs.turn, Log: cfg.Log,
	}
	return fetcher.Run(ctx, job.Args.Host)
}

// picture has the hosts asked that have pictures of items which are due. Each is in the queue once.
func (j *Jobs) picture(ctx context.Context) error {
	due, err := j.photos.Due(ctx, dueAtOnce)
	if err != nil || len(due) == 0 {
		return err
	}
	all := make([]riverqueue.InsertManyParams, len(due))
	for i, host := range due {
		all[i] = riverqueue.InsertManyParams{Args: photosArgs{Host: host}}
	}
	if _, err := j.client.InsertMany(ctx, all); err != nil {
		return fmt.Errorf("have pictures fetched: %w", err)
	}
	return nil
}

// turn returns when a picture of an item may be made: pages are up to what people did, no upload waits, as far as
// that comes in time, and no other large picture is being made on this node.
func (j *Jobs) turn(ctx context.Context) (done func(), err error) {
	if err := j.yield(ctx); err != nil {
		return nil, err
	}
	const query = `SELECT EXISTS (SELECT FROM queue.river_job WHERE state = 'available' AND queue = @queue)`
	err = waitWhile(ctx, func() (wait bool, err error) {
		if err := j.pool.QueryRow(ctx, query, pgx.StrictNamedArgs{"queue": queuePictures}).Scan(&wait); err != nil {
			return false, fmt.Errorf("look for uploads that wait: %w", err)
		}
		return wait, nil
	})
	if err != nil {
		return nil, err
	}
	return j.large(ctx)
}

// large returns when no other large picture is being made on this node: their memory must not add up.
func (j *Jobs) large(ctx context.Context) (done func(), err error) {
	select {
	case j.makingLarge <- struct{}{}:
		return func() { <-j.makingLarge }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// photosArgs names a host, as it is counted (package hosts). Each is in the queue once.
type photosArgs struct {
	Host string `json:"host"`
}

func (photosArgs) Kind() string { return "photos" }

func (photosArgs) InsertOpts() riverqueue.InsertOpts {
	return riverqueue.InsertOpts{Queue: queuePhotos, MaxAttempts: 1, UniqueOpts: onceAtATime}
}
