package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	riverqueue "github.com/riverqueue/river"
)

// dueLook asks from time to time whether something is due for sources, or a post is to be published, with one
// statement each, and has a job do it then. Rejected: a periodic job that asks, as those of the chores. It makes a dozen
// statements each time, also on a site that has no sources.
type dueLook struct {
	// look asks, and inserts the job.
	look  func(context.Context) error
	every time.Duration
	log   *slog.Logger

	cancel context.CancelFunc
	done   chan struct{}
}

// start looks at once, and then until stop.
func (l *dueLook) start(ctx context.Context) {
	ctx, l.cancel = context.WithCancel(context.WithoutCancel(ctx))
	l.done = make(chan struct{})
	go func() {
		defer close(l.done)
		tick := time.NewTicker(l.every)
		defer tick.Stop()
		for failed := 0; ; {
			if err := l.lookOnce(ctx); err == nil {
				failed = 0
			} else if failed++; failed&(failed-1) == 0 && ctx.Err() == nil { // as lookout
				l.log.WarnContext(ctx, "cannot look for what is due", "tries", failed, "error", err)
			}
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}()
}

func (l *dueLook) lookOnce(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	return l.look(ctx)
}

// stop may be called without start.
func (l *dueLook) stop() {
	if l.cancel != nil {
		l.cancel()
		<-l.done
	}
}

// lookForAll looks for everything that is due. One look that fails does not keep the other from being tried.
func (j *Jobs) lookForAll(ctx context.Context) error {
	return errors.Join(j.lookForPosts(ctx), j.lookForDue(ctx))
}

// lookForDue has a job do what is due for sources, if anything is. Nodes look at the same time, and one
// job is enough.
func (j *Jobs) lookForDue(ctx context.Context) error {
	due, err := j.sources.AnyDue(ctx)
	if err != nil || !due {
		return err
	}
	if _, err := j.client.Insert(ctx, dueArgs{}, &riverqueue.InsertOpts{UniqueOpts: onceAtATime}); err != nil {
		return fmt.Errorf("have sources fetched: %w", err)
	}
	return nil
}
