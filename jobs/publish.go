package jobs

import (
	"context"
	"errors"
	"fmt"
	"time"

	riverqueue "github.com/riverqueue/river"

	"riverrun/timelines/scheduled"
)

// publishArgs belongs to a job that a node inserts when it finds a post whose time has come (lookForPosts).
type publishArgs struct{}

func (publishArgs) Kind() string { return "publish" }

func (publishArgs) InsertOpts() riverqueue.InsertOpts {
	// Not before changes. One that fails is not tried again: the next look does its work.
	return riverqueue.InsertOpts{Queue: queueNow, Priority: 3, MaxAttempts: 1}
}

// lookForPosts has scheduled posts published, if any is due. Nodes look at the same time, and one job is enough.
func (j *Jobs) lookForPosts(ctx context.Context) error {
	due, err := j.cfg.Timelines.AnyPostDue(ctx)
	if err != nil || !due {
		return err
	}
	if _, err := j.client.Insert(ctx, publishArgs{}, &riverqueue.InsertOpts{UniqueOpts: onceAtATime}); err != nil {
		return fmt.Errorf("have posts published: %w", err)
	}
	return nil
}

// postsAtOnce is how many posts that are due the job holds in memory.
const postsAtOnce = 20

// publishWorker publishes scheduled posts that are due, the oldest first, each in a transaction of its own.
type publishWorker struct {
	riverqueue.WorkerDefaults[publishArgs]
	jobs *Jobs
}

// Work implements riverqueue.Worker.
func (w *publishWorker) Work(ctx context.Context, _ *riverqueue.Job[publishArgs]) error {
	var after scheduled.Due
	var failed []error
	for {
		due, err := w.jobs.cfg.Timelines.PostsDue(ctx, after, postsAtOnce)
		if err != nil {
			return errors.Join(append(failed, err)...)
		}
		for _, after = range due {
			// One that fails does not hold up those after it.
			if err := w.jobs.publish(ctx, after); err != nil {
				failed = append(failed, fmt.Errorf("publish scheduled post %s: %w", after.Post.Code, err))
			}
		}
		if len(due) < postsAtOnce || ctx.Err() != nil {
			return errors.Join(failed...)
		}
	}
}

// publish publishes one post as a request does.
func (j *Jobs) publish(ctx context.Context, d scheduled.Due) error {
	c, published, err := j.cfg.Timelines.PublishDue(ctx, d)
	_, err = j.cfg.Tiers.Carry(ctx, c, err)
	if published {
		j.metrics.overdue.Observe(max(0, time.Since(d.DueAt).Seconds()))
	}
	return err
}
