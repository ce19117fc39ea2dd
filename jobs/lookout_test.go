package jobs

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"riverrun/rivers/strategies"
	"riverrun/timelines"
)

// A node that has nothing to do asks for jobs less than once a second, all its queues together, and
// no job waits for longer than 50 seconds because its notification was lost.
func TestIdleQueuesArePolledSeldom(t *testing.T) {
	cfg := Config{}.withDefaults()
	each := queueConfigs(cfg)
	var perSecond float64
	for _, queue := range queues {
		q, ok := each[queue]
		if !ok {
			t.Errorf("nobody works the queue %s", queue)
			continue
		}
		every := q.FetchPollInterval
		if every == 0 {
			every = cfg.IdlePollInterval
		}
		perSecond += float64(time.Second) / float64(every)
		if most := 50 * time.Second; every > most {
			t.Errorf("queue %s: a job whose notification was lost waits %v, want %v at most", queue, every, most)
		}
	}
	if len(each) != len(queues) {
		t.Errorf("%d queues are worked, want %d", len(each), len(queues))
	}
	if perSecond > 1 {
		t.Errorf("idle queues are polled %.2f times a second, want once at most", perSecond)
	}
	if most := 5 * time.Second; cfg.IdlePollInterval > most {
		t.Errorf("Tier 1 polls every %v, want %v at most", cfg.IdlePollInterval, most)
	}
}

// silently inserts a job without a notification, as one that is lost. It stands in a queue that no
// periodic job wakes.
func silently(ctx context.Context, pool *pgxpool.Pool, post int64) error {
	const query = `
		INSERT INTO queue.river_job (kind, args, queue, priority, max_attempts, state)
		VALUES ('bump', jsonb_build_object('post_id', $1::bigint, 'after', 0), 'batches', 3, 32767, 'available')`
	_, err := pool.Exec(ctx, query, post)
	return err
}

// bumped returns calls that send what is bumped.
func bumped() (*calls, <-chan int64) {
	posts := make(chan int64, 10)
	return &calls{bump: func(_ context.Context, u timelines.PendingBump) error {
		posts <- u.PostID
		return nil
	}}, posts
}

// The queue's own polls find a job whose notification was lost.
func TestALostNotification(t *testing.T) {
	pool := prepare(t)
	c, posts := bumped()
	cfg := config(t, pool, c)
	cfg.PollInterval, cfg.IdlePollInterval = never, 20*time.Millisecond
	start(t, cfg)
	if err := silently(t.Context(), pool, 7); err != nil {
		t.Fatal(err)
	}
	if got := receive(t, "the job without a notification", posts); got != 7 {
		t.Errorf("got post %d, want 7", got)
	}
}

// A change that commits just after another had woken the workers notifies nobody. The node that
// works the other one's job finds it, though its queues are not polled.
func TestANodeThatWorksLooks(t *testing.T) {
	pool := prepare(t)
	c, posts := bumped()
	c.distribute = func(ctx context.Context, touched timelines.Touched) error {
		if touched.PostID == 2 {
			return nil
		}
		return silently(ctx, pool, 7)
	}
	cfg := config(t, pool, c)
	cfg.IdlePollInterval = never
	start(t, cfg)
	announce(t, pool, timelines.TouchedBatch{{PostID: 2}})
	// Until then the queue looks by itself: at its start, and when its only worker is free again.
	await(t, "the queue to be at rest", func() bool {
		return count(t, pool, `SELECT count(*) FROM queue.river_job WHERE queue = 'batches' AND state = 'completed'`) == 1
	})
	announce(t, pool, timelines.Touched{PostID: 1})
	if got := receive(t, "the job without a notification", posts); got != 7 {
		t.Errorf("got post %d, want 7", got)
	}
}

// A failed job is tried again after its pause, though its queue is not polled.
func TestAPauseEndsWithoutPolls(t *testing.T) {
	pool := prepare(t)
	tries := make(chan int, 10)
	n := 0
	c := &calls{distribute: func(context.Context, timelines.Touched) error {
		n++
		tries <- n
		if n < 3 {
			return errors.New("not yet")
		}
		return nil
	}}
	cfg := config(t, pool, c)
	cfg.IdlePollInterval, cfg.Log = never, quiet
	start(t, cfg)
	announce(t, pool, timelines.TouchedBatch{{PostID: 1}}) // no periodic job wakes its queue
	for want := 1; want <= 3; want++ {
		if got := receive(t, "a try", tries); got != want {
			t.Errorf("got try %d, want %d", got, want)
		}
	}
}

// Jobs of all queues that changes insert are fetched at their commit, without any poll or look.
func TestEachQueueIsWoken(t *testing.T) {
	pool := prepare(t)
	stored := &calls{homes: func(context.Context, strategies.Progress, timelines.Event) (next strategies.Progress, more bool, err error) {
		return next, false, nil
	}}
	cfg := config(t, pool, stored)
	cfg.PollInterval, cfg.IdlePollInterval, cfg.Log = never, never, quiet
	start(t, cfg)
	announce(t, pool, timelines.Touched{PostID: 1}, timelines.TouchedBatch{{PostID: 2}}, timelines.Replace{ViewerID: 3},
		timelines.ReadPage{LinkID: 4}, timelines.SourceReady{SourceID: 5}, timelines.SourceDue{SourceID: 6}, timelines.Prepare{FileID: 7})
	const woken = `SELECT count(DISTINCT queue) FROM queue.river_job WHERE attempt > 0 AND queue = ANY($1)`
	want := []string{queueNow, queueBatches, queueFetch, queueSources, queueFeeds, queuePictures, queueHomes}
	await(t, "a job of each queue to be fetched", func() bool { return count(t, pool, woken, want) == len(want) })
	for _, queue := range want {
		if !slices.Contains(queues, queue) {
			t.Errorf("a look does not ask for the queue %s", queue)
		}
	}
}

// Where nothing is due for sources, a look is one statement and makes no job. If something is, it makes
// one job, however many nodes look.
func TestALookForDueSources(t *testing.T) {
	pool := prepare(t)
	cfg := config(t, pool, &calls{})
	j, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	look := func(want int) {
		t.Helper()
		if err := j.lookForDue(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := count(t, pool, `SELECT count(*) FROM queue.river_job WHERE kind = 'due'`); got != want {
			t.Errorf("%d jobs for what is due, want %d", got, want)
		}
	}
	look(0)
	if _, err := pool.Exec(t.Context(), `INSERT INTO fetch_hosts (host, next_at) VALUES ('old.example', now() - interval '2 days')`); err != nil {
		t.Fatal(err)
	}
	look(1)
	look(1)
}
