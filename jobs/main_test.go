package jobs

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"go.uber.org/goleak"

	"riverrun/jobs/fetch"
	"riverrun/migrations/testdb"
	"riverrun/rivers"
	"riverrun/rivers/lines"
	"riverrun/rivers/strategies"
	"riverrun/tiers"
	"riverrun/timelines"
	"riverrun/timelines/admin"
	"riverrun/timelines/blobs"
	"riverrun/timelines/changes"
	"riverrun/timelines/exports"
	"riverrun/timelines/hooks"
	"riverrun/timelines/leaving"
	"riverrun/timelines/scheduled"
	"riverrun/timelines/sources"
)

// The jobs get these in production.
var (
	_ Tiers     = (*tiers.Tiers)(nil)
	_ Rivers    = (*rivers.Store)(nil)
	_ Timelines = timelines.Maintenance{}
)

func TestMain(m *testing.M) { testdb.Main(m) }

// patience is how long a test waits for what must come; only a failing test
// waits that long.
const patience = 20 * time.Second

// calls is a Tiers, a Rivers and a Timelines whose every method is a function of the test;
// a missing one does nothing.
type calls struct {
	probed     atomic.Bool // a job for the post probe was worked
	distribute func(context.Context, timelines.Touched) error
	follow     func(context.Context, []timelines.Touched) error
	spread     func(context.Context, timelines.Replace) ([]rivers.Stale, error)
	rebuild    func(context.Context, rivers.Stale) error
	homes      func(context.Context, strategies.Progress, timelines.Event) (strategies.Progress, bool, error) // nil: none are stored
	bump       func(context.Context, timelines.PendingBump) error
	upkeep     func(context.Context) (bool, error)
	expire     func(context.Context) error
	listings   func(limit int) (timelines.Change, bool, error)
	sessions   func(limit int) (int64, error)
	keys       func(time.Duration) (int64, error)
	log        func(time.Duration) (int64, error)
	unsent     func(age time.Duration, limit int) (int64, error) // drafts of visitors
	posts      *timelines.Maintenance                            // has the scheduled posts; nil: there are none
	publish    func(scheduled.Due) error                         // its error comes before that of posts
	complete   bool                                              // Tier 1 leaves nothing to Tier 2
}

func (c *calls) AnyPostDue(ctx context.Context) (bool, error) {
	if c.posts == nil {
		return false, nil
	}
	return c.posts.AnyPostDue(ctx)
}

func (c *calls) PostsDue(ctx context.Context, after scheduled.Due, limit int) ([]scheduled.Due, error) {
	return c.posts.PostsDue(ctx, after, limit)
}

func (c *calls) PublishDue(ctx context.Context, d scheduled.Due) (timelines.Change, bool, error) {
	if c.publish != nil {
		if err := c.publish(d); err != nil {
			return timelines.Change{}, false, err
		}
	}
	return c.posts.PublishDue(ctx, d)
}

func (c *calls) Distribute(ctx context.Context, touched []timelines.Touched) error {
	if c.distribute == nil {
		return nil
	}
	for _, t := range touched {
		if err := c.distribute(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

// DistributeFirst leaves closed rivers to Tier 2, unless complete is set.
func (c *calls) DistributeFirst(ctx context.Context, touched []timelines.Touched, _ uint64) (left bool, err error) {
	return !c.complete, c.Distribute(ctx, touched)
}

func (c *calls) KeepsHomes(context.Context) (bool, error) { return c.homes != nil, nil }

func (c *calls) HomesStep(ctx context.Context, from strategies.Progress, e timelines.Event) (next strategies.Progress, more bool, err error) {
	return c.homes(ctx, from, e)
}

func (c *calls) Follow(ctx context.Context, touched []timelines.Touched) error {
	if c.follow == nil {
		return nil
	}
	return c.follow(ctx, touched)
}

func (c *calls) Spread(ctx context.Context, r timelines.Replace) ([]rivers.Stale, error) {
	if c.spread == nil {
		return nil, nil
	}
	return c.spread(ctx, r)
}

func (c *calls) Rebuild(ctx context.Context, r rivers.Stale) error {
	if c.rebuild == nil {
		return nil
	}
	return c.rebuild(ctx, r)
}

// Carry does nothing.
func (c *calls) Carry(_ context.Context, change timelines.Change, err error) (timelines.Change, error) {
	return change, err
}

// ReadOn says that nobody may know of anything.
func (c *calls) ReadOn(_ context.Context, _ lines.Reader, after int64, _ int) ([]lines.Line, int64, error) {
	return nil, after, nil
}

// Told and News say that nobody is told of anything.
func (c *calls) Told(context.Context, []timelines.Touched) ([]int64, error) { return nil, nil }

func (c *calls) News(context.Context, int64) (n int, latest int64, err error) { return 0, 0, nil }

func (c *calls) ExpireLinks(context.Context, int) (int64, error) { return 0, nil }

func (c *calls) ExpireListings(_ context.Context, limit int) (timelines.Change, bool, error) {
	if c.listings == nil {
		return timelines.Change{}, false, nil
	}
	return c.listings(limit)
}

func (c *calls) ExpireFiles(context.Context, time.Duration) (int64, error) { return 0, nil }

func (c *calls) BumpBlock(ctx context.Context, u timelines.PendingBump) error {
	if u.PostID == probe {
		c.probed.Store(true)
		return nil
	}
	if c.bump == nil {
		return nil
	}
	return c.bump(ctx, u)
}

func (c *calls) UpkeepBlock(ctx context.Context) (bool, error) {
	if c.upkeep == nil {
		return false, nil
	}
	return c.upkeep(ctx)
}

func (c *calls) Expire(ctx context.Context) (rivers.Expired, error) {
	if c.expire == nil {
		return rivers.Expired{}, nil
	}
	return rivers.Expired{Rivers: 1}, c.expire(ctx)
}

func (c *calls) ExpireSessions(_ context.Context, limit int) (int64, error) {
	if c.sessions == nil {
		return 0, nil
	}
	return c.sessions(limit)
}

func (c *calls) ExpireStrangers(context.Context) error { return nil }

func (c *calls) ExpireVisitorDrafts(_ context.Context, age time.Duration, limit int) (int64, error) {
	if c.unsent == nil {
		return 0, nil
	}
	return c.unsent(age, limit)
}

func (c *calls) ExpireKeys(_ context.Context, olderThan time.Duration) (int64, error) {
	if c.keys == nil {
		return 0, nil
	}
	return c.keys(olderThan)
}

func (c *calls) TrimAccessLog(_ context.Context, olderThan time.Duration) (int64, error) {
	if c.log == nil {
		return 0, nil
	}
	return c.log(olderThan)
}

// quiet is for tests in which an error is wanted.
var quiet = slog.New(slog.DiscardHandler)

// probe is a post that does not exist.
const probe = -1

// never is a poll interval that makes a test depend on wake-ups alone.
const never = time.Hour

// prepare returns a migrated primary database. Goroutines started later must
// have ended when the test ends.
func prepare(t testing.TB) *pgxpool.Pool {
	t.Helper()
	pool := testdb.New(t).Primary
	if err := Migrate(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	before := goleak.IgnoreCurrent()
	// After a write that took long, pgx reads an idle connection in the background until the server's next answer.
	reads := goleak.IgnoreAnyFunction("github.com/jackc/pgx/v5/pgconn/internal/bgreader.(*BGReader).bgRead")
	t.Cleanup(func() { goleak.VerifyNone(t, before, reads) })
	return pool
}

// config returns a configuration that calls c.
func config(t testing.TB, pool *pgxpool.Pool, c *calls) Config {
	t.Helper()
	store, err := blobs.Location{}.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	client, err := fetch.New(fetch.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	open := timelines.Open(pool, nil, timelines.DefaultOptions())
	return Config{
		Pool:      pool,
		Tiers:     c,
		Timelines: c,
		Rivers:    c,
		Files:     open.Files,
		Links:     open.Links,
		Fetch:     client,
		Pushes:    open.Pushes,
		Sources:   sources.Open(open),
		Staff:     admin.Open(open),
		Changes:   changes.Open(open, 0),
		Hooks:     hooks.Open(open),
		Lines:     c,
		Exports:   exports.Open(open),
		Leaving:   leaving.Open(open),
		Blobs:     store,
		Log:       slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelError})),
	}
}

// start starts a node and stops it when the test ends.
func start(t testing.TB, cfg Config) *Jobs {
	t.Helper()
	j, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, j) })
	if err := j.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	// Start returns before the workers listen; a test that counts on wake-ups
	// needs them to. A probe that is worked says so for its queue.
	c := cfg.Tiers.(*calls)
	await(t, "the workers to listen", func() bool {
		if c.probed.Load() {
			return true
		}
		announce(t, cfg.Pool, timelines.PendingBump{PostID: probe})
		return false
	})
	return j
}

func stop(t testing.TB, j *Jobs) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := j.Stop(ctx); err != nil {
		t.Errorf("Stop: %v", err)
	}
}

// announce commits the events as one change.
func announce(t testing.TB, pool *pgxpool.Pool, events ...timelines.Event) {
	t.Helper()
	a := announcer(t)
	err := pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
		return a.AnnounceTx(t.Context(), tx, events...)
	})
	if err != nil {
		t.Fatalf("announce %v: %v", events, err)
	}
}

func announcer(t testing.TB) *Announcer {
	t.Helper()
	a, err := NewAnnouncer(quiet)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// count runs a query of one number.
func count(t testing.TB, pool *pgxpool.Pool, query string, args ...any) int {
	t.Helper()
	var n int
	// Not the test's context: it has ended when cleanups run.
	if err := pool.QueryRow(context.Background(), query, args...).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

// await waits until a state is reached.
func await(t testing.TB, what string, reached func() bool) {
	t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !reached() {
		select {
		case <-deadline:
			t.Fatalf("waited %v in vain for %s", patience, what)
		case <-tick.C:
		}
	}
}

// receive waits for a value.
func receive[T any](t testing.TB, what string, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(patience):
		t.Fatalf("waited %v in vain for %s", patience, what)
		panic("not reached")
	}
}

// recorder collects values from many goroutines.
type recorder[T any] struct {
	mu   sync.Mutex // guards seen
	seen []T
}

func (r *recorder[T]) add(v T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = append(r.seen, v)
}

func (r *recorder[T]) all() []T {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.seen)
}
