package jobs

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"riverrun/timelines"
	"riverrun/timelines/scheduled"
)

// TestScheduledPosts (G4): two nodes publish each post once, soon after its time, and one that cannot be
// published does not hold up those after it.
func TestScheduledPosts(t *testing.T) {
	pool := prepare(t)
	store := timelines.Open(pool, nil, timelines.DefaultOptions())
	ann, err := store.Accounts.SignUp(t.Context(), timelines.SignUp{Name: "ann", Title: "Ann", Password: "a long enough one"})
	if err != nil {
		t.Fatal(err)
	}
	const n = 3*postsAtOnce + 1
	if _, err := pool.Exec(t.Context(), `DELETE FROM strangers`); err != nil { // they may write few posts an hour
		t.Fatal(err)
	}
	for i := range n {
		_, err := store.Posts.Schedule(t.Context(), timelines.NewPost{Author: ann.ID, Body: fmt.Sprint("post ", i)}, timelines.When{At: time.Now().Add(time.Hour), Zone: "UTC"})
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := pool.Exec(t.Context(), `UPDATE scheduled_posts SET destinations = '{nobody-here}' WHERE body = 'post 0'`); err != nil {
		t.Fatal(err)
	}
	registry := prometheus.NewRegistry()
	for node := range 2 {
		cfg := config(t, pool, &calls{posts: &store.Maintenance})
		cfg.DueEvery = 100 * time.Millisecond
		if node == 0 {
			cfg.Metrics = registry
		}
		start(t, cfg)
	}
	if _, err := pool.Exec(t.Context(), `UPDATE scheduled_posts SET due_at = now() + (saved_at - (SELECT min(saved_at) FROM scheduled_posts))`); err != nil {
		t.Fatal(err)
	}
	count := func(query string) (n int) {
		t.Helper()
		if err := pool.QueryRow(t.Context(), query).Scan(&n); err != nil {
			t.Error(err)
		}
		return n
	}
	await(t, "all posts", func() bool { return count(`SELECT count(*) FROM scheduled_posts WHERE failed_at IS NULL`) == 0 })
	if got := count(`SELECT count(DISTINCT body) FROM posts`); got != n-1 || count(`SELECT count(*) FROM posts`) != n-1 {
		t.Errorf("%d posts with %d texts, want %d", count(`SELECT count(*) FROM posts`), got, n-1)
	}
	if got := count(`SELECT count(*) FROM scheduled_posts WHERE problem = 'to_unknown'`); got != 1 {
		t.Errorf("%d could not be published, want 1", got)
	}
	all, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range all {
		if family.GetName() == "riverrun_scheduled_lag_seconds" {
			return
		}
	}
	t.Error("no metric says how late posts are published")
}

// TestFaultHoldsNothingUp (G4): a fault at one post does not keep those after it from being published, and that post is
// tried again.
func TestFaultHoldsNothingUp(t *testing.T) {
	pool := prepare(t)
	store := timelines.Open(pool, nil, timelines.DefaultOptions())
	ann, err := store.Accounts.SignUp(t.Context(), timelines.SignUp{Name: "ann", Title: "Ann", Password: "a long enough one"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		_, err := store.Posts.Schedule(t.Context(), timelines.NewPost{Author: ann.ID, Body: fmt.Sprint("post ", i)}, timelines.When{At: time.Now().Add(time.Hour), Zone: "UTC"})
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := pool.Exec(t.Context(), `UPDATE scheduled_posts SET due_at = now() - interval '1 minute' * (3 - right(body, 1)::int)`); err != nil {
		t.Fatal(err)
	}
	var repaired atomic.Bool
	cfg := config(t, pool, &calls{posts: &store.Maintenance, publish: func(d scheduled.Due) error {
		if d.Body == "post 0" && !repaired.Load() {
			return errors.New("a fault of the first")
		}
		return nil
	}})
	cfg.DueEvery, cfg.Log = 100*time.Millisecond, quiet // the fault is wanted
	start(t, cfg)
	published := func(n int) func() bool {
		return func() bool { return count(t, pool, `SELECT count(*) FROM posts`) == n }
	}
	await(t, "the posts after the first", published(2))
	repaired.Store(true)
	await(t, "the first post", published(3))
}
