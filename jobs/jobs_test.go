package jobs

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"riverrun/timelines"
)

// TestStopWaits stops a node while a job runs: Stop must return only after it.
func TestStopWaits(t *testing.T) {
	pool := prepare(t)
	running, release := make(chan struct{}), make(chan struct{})
	var done atomic.Bool
	c := &calls{distribute: func(context.Context, timelines.Touched) error {
		close(running)
		<-release
		done.Store(true)
		return nil
	}}
	j := start(t, config(t, pool, c))
	announce(t, pool, timelines.Touched{PostID: 1})
	receive(t, "the job to run", running)

	stopped := make(chan bool)
	go func() {
		stop(t, j)
		stopped <- done.Load()
	}()
	await(t, "the stop to begin", func() bool { return errors.Is(j.Ready(t.Context()), ErrNotRunning) })
	close(release)
	if !receive(t, "Stop", stopped) {
		t.Error("Stop returned while a job was running")
	}
	if n := count(t, pool, `SELECT count(*) FROM queue.river_job WHERE kind = 'distribute' AND state = 'completed'`); n != 1 {
		t.Errorf("completed jobs after Stop: got %d, want 1", n)
	}
	// Tier 2's note was left, for the node that runs next.
	if n := count(t, pool, countNotes) + count(t, pool, `SELECT count(*) FROM queue.river_job WHERE kind = 'follow' AND state = 'completed'`); n == 0 {
		t.Error("the change was not handed to tier 2")
	}
}

// TestStopPutsBackWhatDoesNotEnd stops a node whose job never ends by itself:
// the next node must get the job, with all its attempts.
func TestStopPutsBackWhatDoesNotEnd(t *testing.T) {
	pool := prepare(t)
	running := make(chan struct{}, 1)
	c := &calls{distribute: func(ctx context.Context, _ timelines.Touched) error {
		running <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	}}
	cfg := config(t, pool, c)
	cfg.SoftStopTimeout = 10 * time.Millisecond
	first := start(t, cfg)
	announce(t, pool, timelines.Touched{PostID: 1})
	receive(t, "the job to run", running)
	stop(t, first)

	var state string
	var attempt int
	err := pool.QueryRow(t.Context(), `SELECT state, attempt FROM queue.river_job WHERE kind = 'distribute'`).Scan(&state, &attempt)
	if err != nil {
		t.Fatal(err)
	}
	if state != "available" || attempt != 0 {
		t.Errorf("job after a stop: got %s, attempt %d; want available, 0", state, attempt)
	}
	worked := make(chan struct{})
	start(t, config(t, pool, &calls{distribute: func(context.Context, timelines.Touched) error {
		close(worked)
		return nil
	}}))
	receive(t, "the next node to work the job", worked)
}

// TestStopGivesUp has no time to stop: Stop must say so, and a later one finish.
func TestStopGivesUp(t *testing.T) {
	pool := prepare(t)
	running, release := make(chan struct{}), make(chan struct{})
	c := &calls{distribute: func(context.Context, timelines.Touched) error {
		close(running)
		<-release // deaf to its context
		return nil
	}}
	j := start(t, config(t, pool, c))
	announce(t, pool, timelines.Touched{PostID: 1})
	receive(t, "the job to run", running)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := j.Stop(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Stop without time: got %v, want %v", err, context.Canceled)
	}
	close(release)
	stop(t, j)
	stop(t, j) // and once more, for nothing
}

func TestReady(t *testing.T) {
	pool := prepare(t)
	j, err := New(config(t, pool, &calls{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, j) })
	if err := j.Ready(t.Context()); !errors.Is(err, ErrNotRunning) {
		t.Errorf("Ready before Start: got %v, want %v", err, ErrNotRunning)
	}
	if err := j.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := j.Ready(t.Context()); err != nil {
		t.Errorf("Ready after Start: %v", err)
	}
	if _, err := pool.Exec(t.Context(), `ALTER TABLE behind RENAME TO before`); err != nil {
		t.Fatal(err)
	}
	if err := j.Ready(t.Context()); err == nil || errors.Is(err, ErrNotRunning) {
		t.Errorf("Ready without a table: got %v, want the database's error", err)
	}
	stop(t, j)
	if err := j.Ready(t.Context()); !errors.Is(err, ErrNotRunning) {
		t.Errorf("Ready after Stop: got %v, want %v", err, ErrNotRunning)
	}
}

func TestStartNeedsTheTables(t *testing.T) {
	pool := prepare(t)
	if _, err := pool.Exec(t.Context(), `DROP SCHEMA queue CASCADE`); err != nil {
		t.Fatal(err)
	}
	j, err := New(config(t, pool, &calls{}))
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Start(t.Context()); err == nil {
		t.Error("Start without the queue's tables: got no error")
	}
	stop(t, j)
}

func TestNewRefuses(t *testing.T) {
	pool := prepare(t)
	whole := config(t, pool, &calls{})
	for name, spoil := range map[string]func(*Config){
		"no pool":                 func(c *Config) { c.Pool = nil },
		"no tiers":                func(c *Config) { c.Tiers = nil },
		"no leaving":              func(c *Config) { c.Leaving = nil },
		"no log":                  func(c *Config) { c.Log = nil },
		"rescue before timeout":   func(c *Config) { c.RescueAfter = c.JobTimeout + 1; c.JobTimeout = time.Hour },
		"poll faster than fetch":  func(c *Config) { c.PollInterval, c.FetchCooldown = time.Millisecond, time.Second },
		"a negative worker count": func(c *Config) { c.NowWorkers = -1 },
	} {
		cfg := whole
		spoil(&cfg)
		if j, err := New(cfg); err == nil {
			t.Errorf("%s: got no error", name)
			stop(t, j)
		}
	}
}

func TestChores(t *testing.T) {
	pool := prepare(t)
	expired, kept := make(chan struct{}, 10), make(chan struct{}, 10)
	sessions := []int64{sessionsAtOnce, sessionsAtOnce, 3}
	unsent := 3 // batches of drafts of visitors, the last one empty
	c := &calls{
		expire: func(context.Context) error {
			expired <- struct{}{}
			return errors.New("a chore that fails is not tried again")
		},
		sessions: func(limit int) (int64, error) {
			if len(sessions) == 0 {
				return 0, nil
			}
			n := sessions[0]
			sessions = sessions[1:]
			return n, nil
		},
		unsent: func(age time.Duration, limit int) (int64, error) {
			if age != 30*24*time.Hour { // as long as the browser keeps the cookie
				t.Errorf("drafts of visitors are kept for %v", age)
			}
			if unsent--; unsent == 0 {
				return 0, nil
			}
			return int64(limit), nil
		},
		log: func(olderThan time.Duration) (int64, error) {
			if olderThan < 24*time.Hour {
				t.Errorf("the access log is trimmed to %v", olderThan)
			}
			kept <- struct{}{}
			return 0, nil
		},
	}
	cfg := config(t, pool, c)
	cfg.Log = quiet // the failure is wanted
	j := start(t, cfg)
	receive(t, "rivers to be expired", expired)
	receive(t, "the house to be kept", kept)
	await(t, "the chores to end", func() bool {
		return count(t, pool, `SELECT count(*) FROM queue.river_job
			WHERE kind = 'expire' AND state = 'discarded' OR kind = 'housekeep' AND state = 'completed'`) == 2
	})
	stop(t, j)
	if len(sessions) != 0 {
		t.Errorf("batches of sessions left: %d", len(sessions))
	}
	if unsent != 0 {
		t.Errorf("batches of drafts of visitors left: %d", unsent)
	}
}

func TestMetrics(t *testing.T) {
	pool := prepare(t)
	registry := prometheus.NewRegistry()
	followed := make(chan struct{}, 1)
	c := &calls{follow: func(context.Context, []timelines.Touched) error {
		followed <- struct{}{}
		return nil
	}}
	cfg := config(t, pool, c)
	cfg.Metrics, cfg.Counts = registry, registry
	j := start(t, cfg)
	if second, err := New(cfg); err == nil {
		t.Error("registering the same metrics twice: got no error")
		stop(t, second)
	}
	announce(t, pool, timelines.Touched{PostID: 1})
	receive(t, "tier 2", followed)
	for _, tier := range []string{tier1, tier2} {
		await(t, "the lag of tier "+tier, func() bool { return gathered(t, registry, "riverrun_tier_lag_seconds", tier) == 1 })
	}
	if got := gathered(t, registry, "riverrun_jobs_waiting", queueNow); got < 0 {
		t.Error("riverrun_jobs_waiting is missing")
	}
	if got := gathered(t, registry, "riverrun_behind_notes", ""); got != 0 {
		t.Errorf("riverrun_behind_notes: got %v, want 0", got)
	}
	stop(t, j)
	if families, err := registry.Gather(); err != nil || len(families) != 0 {
		t.Errorf("metrics after Stop: got %d families, %v; want none", len(families), err)
	}
}

// gathered returns a metric's value, or how many values a histogram has; -1 if
// there is no such metric.
func gathered(t *testing.T, registry *prometheus.Registry, name, label string) float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() != name {
			continue
		}
		for _, m := range family.GetMetric() {
			labels := m.GetLabel()
			if label != "" && (len(labels) == 0 || labels[0].GetValue() != label) {
				continue
			}
			if h := m.GetHistogram(); h != nil {
				return float64(h.GetSampleCount())
			}
			if c := m.GetCounter(); c != nil {
				return c.GetValue()
			}
			return m.GetGauge().GetValue()
		}
	}
	return -1
}

// TestOwnConnections: what the workers commit need not wait for the disk, what
// people commit must; so the pool given is left as it is.
func TestOwnConnections(t *testing.T) {
	pool := prepare(t)
	j, err := New(config(t, pool, &calls{}))
	if err != nil {
		t.Fatal(err)
	}
	defer stop(t, j)
	var ours string
	if err := j.pool.QueryRow(t.Context(), `SHOW synchronous_commit`).Scan(&ours); err != nil {
		t.Fatal(err)
	}
	if ours != "off" {
		t.Errorf("synchronous_commit of the workers' connections: got %s, want off", ours)
	}
	if _, set := pool.Config().ConnConfig.RuntimeParams["synchronous_commit"]; set {
		t.Error("synchronous_commit was set on the caller's pool")
	}
}

func TestPauses(t *testing.T) {
	var bounds []time.Duration
	for tries := 1; tries <= 2000; tries++ {
		pause := pauseAfter(tries)
		if pause < firstPause/2 || pause > longestPause {
			t.Fatalf("pause after %d tries: %v", tries, pause)
		}
		if tries <= 8 {
			bounds = append(bounds, pause)
		}
	}
	// A pause is between half and all of its step, so every other one must grow.
	for i := 2; i < 6; i++ {
		if bounds[i] <= bounds[i-2] {
			t.Errorf("pauses do not grow: %v", bounds)
		}
	}
}
