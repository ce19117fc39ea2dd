package jobs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	riverqueue "github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"

	"riverrun/jobs/fetch"
	"riverrun/jobs/stream"
	"riverrun/jobs/uploads"
	"riverrun/rivers"
	"riverrun/rivers/strategies"
	"riverrun/timelines"
	"riverrun/timelines/admin"
	"riverrun/timelines/blobs"
	"riverrun/timelines/bulk"
	"riverrun/timelines/changes"
	"riverrun/timelines/exports"
	"riverrun/timelines/hooks"
	"riverrun/timelines/leaving"
	"riverrun/timelines/publishing"
	"riverrun/timelines/scheduled"
	"riverrun/timelines/sources"
	"riverrun/timelines/sources/photos"
)

// Tiers brings changes to rivers; *tiers.Tiers implements it. Every method may be called
// twice for the same change.
type Tiers interface {
	// Distribute is Tier 1: the open rivers, then the bus. DistributeFirst also says whether
	// closed rivers are left to Tier 2; it does nothing if this process did all of that change.
	Distribute(ctx context.Context, touched []timelines.Touched) error
	DistributeFirst(ctx context.Context, touched []timelines.Touched, change uint64) (left bool, err error)
	// Follow is Tier 2: all live rivers still behind.
	Follow(ctx context.Context, touched []timelines.Touched) error
	// Spread retires the closed rivers that r concerns and returns the open ones.
	Spread(ctx context.Context, r timelines.Replace) ([]rivers.Stale, error)
	// KeepsHomes reports whether another strategy than rivers stores home feeds, and HomesStep
	// brings a change into them, a step further.
	KeepsHomes(ctx context.Context) (bool, error)
	HomesStep(ctx context.Context, from strategies.Progress, event timelines.Event) (next strategies.Progress, more bool, err error)
	// Carry is Tier 0, as after a request: it takes what a change returned.
	Carry(ctx context.Context, c timelines.Change, err error) (timelines.Change, error)
	// Rebuild rebuilds one of these.
	Rebuild(ctx context.Context, r rivers.Stale) error
}

// Timelines is what the jobs need of the primary store; timelines.Maintenance has it.
type Timelines interface {
	BumpBlock(ctx context.Context, u timelines.PendingBump) error
	UpkeepBlock(ctx context.Context) (more bool, err error)
	ExpireSessions(ctx context.Context, limit int) (int64, error)
	ExpireKeys(ctx context.Context, olderThan time.Duration) (int64, error)
	ExpireStrangers(ctx context.Context) error
	ExpireVisitorDrafts(ctx context.Context, age time.Duration, limit int) (int64, error)
	TrimAccessLog(ctx context.Context, olderThan time.Duration) (int64, error)
	ExpireLinks(ctx context.Context, limit int) (int64, error)
	ExpireFiles(ctx context.Context, olderThan time.Duration) (int64, error)
	AnyPostDue(ctx context.Context) (bool, error)
	PostsDue(ctx context.Context, after scheduled.Due, limit int) ([]scheduled.Due, error)
	PublishDue(ctx context.Context, d scheduled.Due) (c timelines.Change, published bool, err error)
	// ExpireListings makes listings expired whose last day is over, at most limit of them.
	ExpireListings(ctx context.Context, limit int) (c timelines.Change, more bool, err error)
}

// HomeFeeds is what the jobs need of stored home feeds; strategies.Expirer has it.
type HomeFeeds interface {
	// Expire removes those out of use.
	Expire(ctx context.Context) error
}

// Rivers is what the jobs need of the secondary store; *rivers.Store has it.
type Rivers interface {
	Expire(ctx context.Context) (rivers.Expired, error)
	// Told returns the people whose notifications these changes concern, and News how many
	// entries of somebody's notifications are unread, and when the latest event of them came.
	Told(ctx context.Context, touched []timelines.Touched) ([]int64, error)
	News(ctx context.Context, account int64) (n int, latest int64, err error)
}

// Defaults of Config.
const (
	DefaultNowWorkers      = 4
	DefaultRebuildWorkers  = 2
	DefaultLaterWorkers    = 2
	DefaultFetchCooldown   = 2 * time.Millisecond
	DefaultLaterCooldown   = 50 * time.Millisecond
	DefaultPollInterval    = 50 * time.Millisecond
	DefaultIdlePoll        = 5 * time.Second
	DefaultJobTimeout      = time.Minute
	DefaultRescueAfter     = 2 * time.Minute
	DefaultTakeOverEvery   = 2 * time.Second
	DefaultSoftStopTimeout = 10 * time.Second
	DefaultExpireEvery     = 5 * time.Minute
	DefaultHousekeepEvery  = time.Hour
	DefaultDueEvery        = dueEvery
)

// keepCompleted is how long a finished job stays in the table, for people who look for
// it. Each like adds one.
const keepCompleted = 10 * time.Minute

// Config says what to work and how. Zero durations and numbers mean the
// defaults.
type Config struct {
	// Pool is the primary database. Jobs opens connections of its own to it.
	Pool *pgxpool.Pool
	// Announcer is that of this process, nil if it announces nothing. This node looks for jobs of it that woke nobody
	// (seldomCooldown).
	Announcer *Announcer
	// Tiers, Rivers and Timelines do the work.
	Tiers     Tiers
	Rivers    Rivers
	Timelines Timelines
	// HomeFeeds are what other strategies than rivers store; nil: nothing.
	HomeFeeds HomeFeeds
	// Files are the uploads, and Blobs is where their content stands.
	Files uploads.Files
	// Links are what posts link to, and Fetch reads their pages; Stop closes it.
	Links Links
	Fetch *fetch.Client
	// Pushes are the browsers that get pushes about notifications. Site is the site's
	// address, which the makers of browsers may want to know.
	Pushes Pushes
	Site   string
	Blobs  blobs.Store
	// Sources are feeds from elsewhere.
	Sources *sources.Store
	// Staff are those in charge; some of what they do takes long.
	Staff *admin.Store
	// Changes is the log of changes that programs read.
	Changes *changes.Store
	// NATS is the address of a server of NATS to which the log is sent, as in nats://host:4222; empty: none.
	NATS string
	// Hooks are the webhooks that get the log, and Lines makes what they get.
	Hooks *hooks.Store
	Lines Lines
	// Exports are the archives that people ask for.
	Exports *exports.Store
	// Leaving deletes accounts.
	Leaving *leaving.Store
	// Bulk changes several posts of somebody at once.
	Bulk *bulk.Store
	// Callback is the address at which hubs of feeds reach the site (WebSub); empty: none is asked.
	Callback string
	Log      *slog.Logger
	// Metrics is where the metrics are registered until Stop; nil for nowhere.
	Metrics prometheus.Registerer
	// Counts is where the metrics are registered until Stop that ask the database whenever they are
	// collected; nil for nowhere.
	Counts prometheus.Registerer

	// NowWorkers and LaterWorkers are how many jobs of Tier 1 and of Tier 2 this
	// node works at a time, RebuildWorkers how many rebuilds of open rivers. Most of a
	// job's work is done by the database; the defaults keep two cores busy.
	NowWorkers     int
	RebuildWorkers int
	LaterWorkers   int
	// FetchCooldown is the least time between two fetches of Tier 1: a floor under
	// its latency, and a ceiling on the queue's load.
	FetchCooldown time.Duration
	// LaterCooldown is the same for Tier 2. The first change is followed at once, and all
	// changes within the cooldown together.
	LaterCooldown time.Duration
	// PollInterval is how often this node looks for jobs whose wake-up did not come (see
	// seldomCooldown) and for retries that are due, while it has work (see lookout). One
	// look is one statement for all queues.
	PollInterval time.Duration
	// IdlePollInterval is how often the workers of Tier 1 look by themselves, whether or not the
	// node has work; those of rebuilds look half as often, and those of the other queues a tenth. A job waits as long at most
	// if its notification is lost: when the connection that listens was lost, or when a change had
	// just woken the workers and was then rolled back. A change of a post does not wait
	// for that: its node does Tier 1 at once too (tiers).
	IdlePollInterval time.Duration
	// JobTimeout is when a job is cancelled and tried again, chores excepted.
	JobTimeout time.Duration
	// RescueAfter is when a job is given to another worker, because its own hangs or many
	// processes ended while they worked it (maxCrashes). It is greater than JobTimeout.
	RescueAfter time.Duration
	// TakeOverEvery is how often this node looks for jobs of dead nodes, with one statement.
	TakeOverEvery time.Duration
	// SoftStopTimeout is how long Stop lets running jobs finish before it cancels
	// them; a cancelled job goes back to the queue.
	SoftStopTimeout time.Duration
	// ExpireEvery and HousekeepEvery are the periods of the periodic jobs. One of the nodes
	// works them.
	ExpireEvery    time.Duration
	HousekeepEvery time.Duration
	// DueEvery is how often this node looks for sources that are to be fetched, and for posts that are to be
	// published, with one statement each.
	DueEvery time.Duration
}

func (c Config) withDefaults() Config {
	c.NowWorkers = cmp.Or(c.NowWorkers, DefaultNowWorkers)
	c.RebuildWorkers = cmp.Or(c.RebuildWorkers, DefaultRebuildWorkers)
	c.LaterWorkers = cmp.Or(c.LaterWorkers, DefaultLaterWorkers)
	c.FetchCooldown = cmp.Or(c.FetchCooldown, DefaultFetchCooldown)
	c.LaterCooldown = cmp.Or(c.LaterCooldown, DefaultLaterCooldown)
	c.PollInterval = cmp.Or(c.PollInterval, DefaultPollInterval)
	c.IdlePollInterval = cmp.Or(c.IdlePollInterval, DefaultIdlePoll)
	c.JobTimeout = cmp.Or(c.JobTimeout, DefaultJobTimeout)
	c.RescueAfter = cmp.Or(c.RescueAfter, DefaultRescueAfter)
	c.TakeOverEvery = cmp.Or(c.TakeOverEvery, DefaultTakeOverEvery)
	c.SoftStopTimeout = cmp.Or(c.SoftStopTimeout, DefaultSoftStopTimeout)
	c.ExpireEvery = cmp.Or(c.ExpireEvery, DefaultExpireEvery)
	c.HousekeepEvery = cmp.Or(c.HousekeepEvery, DefaultHousekeepEvery)
	c.DueEvery = cmp.Or(c.DueEvery, DefaultDueEvery)
	return c
}

// Jobs works the queue on one node. Several nodes share one queue.
//
// It has database connections of its own, with synchronous_commit off. The job itself is
// committed by its change; that it was fetched or finished need not be on disk before
// the next step, since a job whose end is lost in a crash of the database is worked
// again. Connections of its own also keep the workers from taking those of page views.
type Jobs struct {
	cfg    Config
	pool   *pgxpool.Pool
	client *riverqueue.Client[pgx.Tx]
	// later inserts what Tier 1 leaves to others. Its workers fetch once in LaterCooldown at most, so they are not
	// woken more often. This node works a job when it inserts another, so its next look (lookout) finds what was
	// inserted meanwhile.
	later *riverqueue.Client[pgx.Tx]
	// sources are Config.Sources over connections of their own, which pool has not.
	sources     *sources.Store
	sourcesPool *pgxpool.Pool
	alive       *presence
	lookout     *lookout
	due         *dueLook
	relay       *relay
	hooks       *hookSender
	stream      *stream.Sender // nil: none
	metrics     *metrics
	running     atomic.Bool
	// making holds one token while the picture of a card is made.
	making chan struct{}
	// makingLarge holds one token while an upload, or a picture of an item, is made.
	makingLarge chan struct{}
	// photos are the pictures of the items of sources.
	photos *photos.Store
	// authors has the counters of their posts.
	authors *publishing.Store
	// halvings of maxNotes; see there.
	halvings atomic.Int32

	stopMu  sync.Mutex // guards stopped; held while stopping
	stopped bool
}

// ErrNotRunning is returned by Ready before Start and after Stop.
var ErrNotRunning = errors.New("the job queue's workers are not running")

// New prepares the workers and registers the metrics. It does not touch the
// database. Stop must be called, whether or not Start was.
func New(cfg Config) (*Jobs, error) {
	cfg = cfg.withDefaults()
	if cfg.Pool == nil || cfg.Tiers == nil || cfg.Timelines == nil || cfg.Rivers == nil || cfg.Files == nil || cfg.Blobs == nil || cfg.Links == nil || cfg.Fetch == nil || cfg.Pushes == nil || cfg.Sources == nil || cfg.Staff == nil || cfg.Leaving == nil || cfg.Exports == nil || cfg.Changes == nil || cfg.Hooks == nil || cfg.Lines == nil || cfg.Log == nil {
		return nil, errors.New("jobs: Pool, Tiers, Rivers, Timelines, Files, Blobs, Links, Fetch, Pushes, Sources, Staff, Leaving, Exports, Changes, Hooks, Lines and Log must be set")
	}
	if cfg.PollInterval < cfg.FetchCooldown {
		return nil, fmt.Errorf("jobs: jobs are looked for every %v, but fetched every %v at most", cfg.PollInterval, cfg.FetchCooldown)
	}
	if cfg.RescueAfter <= cfg.JobTimeout {
		return nil, fmt.Errorf("jobs: a job is rescued after %v, before its timeout of %v", cfg.RescueAfter, cfg.JobTimeout)
	}
	pool, err := openPool(cfg)
	if err != nil {
		return nil, err
	}
	j := &Jobs{cfg: cfg, pool: pool, making: make(chan struct{}, 1), makingLarge: make(chan struct{}, 1)}
	j.photos, j.authors = cfg.Sources.On(pool).Photos(), publishing.Open(pool)
	if j.sourcesPool, err = openSources(cfg); err != nil {
		pool.Close()
		return nil, err
	}
	j.sources = cfg.Sources.On(j.sourcesPool)
	j.metrics = newMetrics(j)
	j.lookout = newLookout(pool, cfg.PollInterval, cfg.Log)
	if cfg.Announcer != nil {
		cfg.Announcer.lookout.Store(j.lookout)
	}
	if j.client, err = j.newClient(); err != nil {
		j.closePools()
		return nil, fmt.Errorf("jobs: %w", err)
	}
	if j.later, err = newInserter(newLibraryLog(cfg.Log), cfg.LaterCooldown); err != nil {
		j.closePools()
		return nil, fmt.Errorf("jobs: %w", err)
	}
	j.due = &dueLook{look: j.lookForAll, every: cfg.DueEvery, log: cfg.Log}
	if cfg.NATS != "" {
		if j.stream, err = stream.Open(cfg.NATS, cfg.Pool, cfg.Lines, cfg.Log); err != nil {
			j.closePools()
			return nil, fmt.Errorf("jobs: %w", err)
		}
	}
	j.hooks = newHookSender(cfg.Hooks, cfg.Lines, cfg.Fetch, cfg.DueEvery, cfg.Log)
	j.relay = newRelay(cfg.Changes, cfg.DueEvery, j.hooks.wake, cfg.Log)
	j.alive = &presence{
		config: pool.Config().ConnConfig, client: j.client.ID(), every: cfg.TakeOverEvery, log: cfg.Log, lookout: j.lookout,
	}
	if err := j.metrics.register(cfg.Metrics, cfg.Counts); err != nil {
		j.closePools()
		return nil, fmt.Errorf("jobs: %w", err)
	}
	return j, nil
}

func (j *Jobs) closePools() {
	j.sourcesPool.Close()
	j.pool.Close()
}

// workersConnections are one per worker, and some with which the queue listens, fetches, completes
// and elects.
func workersConnections(cfg Config) int {
	return cfg.NowWorkers + cfg.RebuildWorkers + cfg.LaterWorkers + 8 + fetchWorkers + pushWorkers + sourceWorkers + feedWorkers + photoWorkers + homesWorkers
}

// openPool returns the workers' own connections.
func openPool(cfg Config) (*pgxpool.Pool, error) {
	own := cfg.Pool.Config()
	own.ConnConfig.RuntimeParams["synchronous_commit"] = "off"
	maps.Copy(own.ConnConfig.RuntimeParams, soonGone) // what they hold must not outlive this node
	own.MinConns = 0
	own.MaxConns = int32(workersConnections(cfg))
	// The context is for MinConns only.
	pool, err := pgxpool.NewWithConfig(context.Background(), own)
	if err != nil {
		return nil, fmt.Errorf("jobs: %w", err)
	}
	return pool, nil
}

func (j *Jobs) newClient() (*riverqueue.Client[pgx.Tx], error) {
	cfg, log := j.cfg, j.cfg.Log
	workers := riverqueue.NewWorkers()
	riverqueue.AddWorker(workers, &distributeWorker{jobs: j})
	riverqueue.AddWorker(workers, &batchWorker{jobs: j})
	riverqueue.AddWorker(workers, &replaceWorker{jobs: j})
	riverqueue.AddWorker(workers, &rebuildWorker{jobs: j})
	riverqueue.AddWorker(workers, &homesWorker{jobs: j})
	riverqueue.AddWorker(workers, &bumpWorker{jobs: j})
	riverqueue.AddWorker(workers, &upkeepWorker{jobs: j})
	riverqueue.AddWorker(workers, &removalWorker{jobs: j})
	riverqueue.AddWorker(workers, &leaveWorker{jobs: j})
	riverqueue.AddWorker(workers, &bulkWorker{jobs: j})
	riverqueue.AddWorker(workers, &followWorker{jobs: j})
	riverqueue.AddWorker(workers, &expireWorker{jobs: j})
	riverqueue.AddWorker(workers, &lapseWorker{jobs: j})
	riverqueue.AddWorker(workers, &housekeepWorker{jobs: j})
	riverqueue.AddWorker(workers, &pictureWorker{jobs: j})
	riverqueue.AddWorker(workers, &sweepWorker{jobs: j})
	riverqueue.AddWorker(workers, &pageWorker{jobs: j})
	riverqueue.AddWorker(workers, &pushWorker{jobs: j})
	riverqueue.AddWorker(workers, &loadWorker{jobs: j})
	riverqueue.AddWorker(workers, &feedWorker{jobs: j})
	riverqueue.AddWorker(workers, &photosWorker{jobs: j})
	riverqueue.AddWorker(workers, &askedWorker{jobs: j})
	riverqueue.AddWorker(workers, &dueWorker{jobs: j})
	riverqueue.AddWorker(workers, &publishWorker{jobs: j})
	riverqueue.AddWorker(workers, &hubWorker{jobs: j})
	riverqueue.AddWorker(workers, &exportWorker{jobs: j})
	return riverqueue.NewClient(riverpgxv5.New(j.pool), &riverqueue.Config{
		Schema:            schema,
		Logger:            newLibraryLog(log),
		Queues:            queueConfigs(cfg),
		Workers:           workers,
		PeriodicJobs:      periodic(cfg),
		FetchCooldown:     cfg.FetchCooldown,
		FetchPollInterval: cfg.IdlePollInterval,
		// During a rolling deploy an old node leaves the jobs it does not know to
		// the new ones.
		FetchOnlyKnownKinds:         true,
		JobTimeout:                  cfg.JobTimeout,
		RescueStuckJobsAfter:        cfg.RescueAfter,
		SoftStopTimeout:             cfg.SoftStopTimeout,
		CompletedJobRetentionPeriod: keepCompleted,
		ErrorHandler:                &failures{log: log},
		Middleware:                  []rivertype.Middleware{&retry{log: log, metrics: j.metrics, lookout: j.lookout}},
	})
}

// queueConfigs returns the queues with their workers. Their polls are for jobs whose
// notification was lost (Config.IdlePollInterval).
func queueConfigs(cfg Config) map[string]riverqueue.QueueConfig {
	seldom := 10 * cfg.IdlePollInterval
	slow := func(workers int) riverqueue.QueueConfig {
		return riverqueue.QueueConfig{MaxWorkers: workers, FetchCooldown: cfg.LaterCooldown, FetchPollInterval: max(seldom, cfg.LaterCooldown)}
	}
	return map[string]riverqueue.QueueConfig{
		queueNow:      {MaxWorkers: cfg.NowWorkers},
		queueRebuild:  {MaxWorkers: cfg.RebuildWorkers, FetchPollInterval: 2 * cfg.IdlePollInterval},
		queueBatches:  {MaxWorkers: 1, FetchPollInterval: seldom},
		queueHomes:    slow(homesWorkers),
		queueLater:    slow(cfg.LaterWorkers),
		queueChores:   {MaxWorkers: 1, FetchPollInterval: seldom},
		queuePush:     slow(pushWorkers),
		queueFetch:    slow(fetchWorkers),
		queueSources:  slow(sourceWorkers),
		queueFeeds:    slow(feedWorkers),
		queuePhotos:   slow(photoWorkers),
		queuePictures: slow(1),
		queueExports:  slow(1),
	}
}

// Start begins to work jobs and returns when that is under way, or with an error
// if the queue's tables cannot be read. The end of ctx ends the starting only:
// jobs are worked until Stop. Start is called once.
func (j *Jobs) Start(ctx context.Context) error {
	if err := j.answers(ctx); err != nil {
		return fmt.Errorf("start jobs: %w", err)
	}
	if err := j.alive.start(ctx); err != nil {
		return fmt.Errorf("start jobs: %w", err)
	}
	j.lookout.start(ctx)
	if err := j.client.Start(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("start jobs: %w", err)
	}
	j.due.start(ctx)
	j.hooks.start(ctx)
	j.relay.start(ctx)
	if j.stream != nil {
		j.stream.Start(ctx)
	}
	j.running.Store(true)
	return nil
}

// Stop fetches no more jobs and waits for the running ones, as long as
// SoftStopTimeout; then it cancels them, which puts them back into the queue. So
// nothing is lost however a stop ends. It returns ctx's error if ctx ends
// before the last job does; then the connections stay until the process ends. It may be
// called twice, and without Start.
func (j *Jobs) Stop(ctx context.Context) error {
	j.stopMu.Lock()
	defer j.stopMu.Unlock()
	if j.stopped {
		return nil
	}
	j.running.Store(false)
	j.due.stop()
	j.relay.stop()
	j.hooks.stop()
	if j.stream != nil {
		j.stream.Stop()
	}
	if err := j.client.Stop(ctx); err != nil {
		// No time is left: cancel the jobs, which puts them back.
		return errors.Join(fmt.Errorf("stop jobs: %w", err), j.cancel())
	}
	j.stopped = true
	j.lookout.stop()
	// Jobs that did not end in time were put back: other nodes take them up.
	if err := j.lookout.look(ctx); err != nil {
		j.cfg.Log.WarnContext(ctx, "other nodes are not told of jobs that were put back", "error", err)
	}
	j.alive.stop() // after the last job
	j.metrics.unregister(j.cfg.Metrics, j.cfg.Counts)
	j.cfg.Fetch.Close()
	j.closePools()
	return nil
}

// cancel ends the running jobs' contexts and gives them a moment to return.
func (j *Jobs) cancel() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := j.client.StopAndCancel(ctx); err != nil {
		return fmt.Errorf("cancel jobs: %w", err)
	}
	return nil
}

// Ready reports whether jobs are worked and the queue's tables answer.
func (j *Jobs) Ready(ctx context.Context) error {
	if !j.running.Load() {
		return ErrNotRunning
	}
	return j.answers(ctx)
}

func (j *Jobs) answers(ctx context.Context) error {
	const query = `
		SELECT EXISTS (SELECT FROM queue.river_job WHERE id = 0)
		    OR EXISTS (SELECT FROM behind WHERE id = 0)`
	var never bool
	if err := j.pool.QueryRow(ctx, query).Scan(&never); err != nil {
		return fmt.Errorf("the job queue's tables: %w", err)
	}
	return nil
}
