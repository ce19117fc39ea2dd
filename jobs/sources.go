package jobs

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	riverqueue "github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	loads "riverrun/jobs/sources"
	"riverrun/timelines/sources"
)

const (
	// sourceWorkers is how many sources a node loads at a time, and feedWorkers how many it fetches.
	sourceWorkers = 2
	feedWorkers   = 8
	// loadTimeout and feedTimeout bound the loads of a source, and one fetch.
	loadTimeout = 6 * time.Hour
	feedTimeout = 35 * time.Minute
	// hostTurn is how long a worker goes on with the sources of one host. Then others come, as previews.
	hostTurn = 20 * time.Second
	// dueEvery is how often sources are looked for that are due, or stand still, dueAtOnce how many of
	// each. No more wait for a fetch: they would be due again before their turn.
	dueEvery  = 5 * time.Second
	dueAtOnce = 100
	// A load yields while a change that people made has waited for yieldBehind and is not on pages
	// yet. It yields for yieldMost at most before each batch, since it must end some time.
	yieldBehind = 500 * time.Millisecond
	yieldLook   = 100 * time.Millisecond
	yieldMost   = 10 * time.Second
)

// sourcesConnections are one per load and fetch, and two for looks at them.
const sourcesConnections = sourceWorkers + feedWorkers + 2

// openSources opens connections that only loads and fetches use. Each holds a connection from its
// beginning to its end, and pages must not wait for that connection. Their writes are durable, and
// their locks do not outlive this node.
func openSources(cfg Config) (*pgxpool.Pool, error) {
	own := cfg.Pool.Config()
	maps.Copy(own.ConnConfig.RuntimeParams, soonGone)
	own.MinConns, own.MaxConns = 0, sourcesConnections
	pool, err := pgxpool.NewWithConfig(context.Background(), own) // the context is for MinConns only
	if err != nil {
		return nil, fmt.Errorf("jobs: %w", err)
	}
	return pool, nil
}

// loadWorker works the waiting loads of a source. If somebody else does, it stops: that process also
// works the loads that come meanwhile.
type loadWorker struct {
	riverqueue.WorkerDefaults[loadArgs]
	jobs *Jobs
}

// Timeout implements riverqueue.Worker.
func (w *loadWorker) Timeout(*riverqueue.Job[loadArgs]) time.Duration { return loadTimeout }

// Work implements riverqueue.Worker.
func (w *loadWorker) Work(ctx context.Context, job *riverqueue.Job[loadArgs]) error {
	cfg, source := w.jobs.cfg, job.Args.SourceID
	run := loads.Runner{Sources: w.jobs.sources, Blobs: cfg.Blobs, Carry: cfg.Tiers.Carry, Yield: w.jobs.yield, Log: cfg.Log}
	for {
		err := run.Run(ctx, source)
		if errors.Is(err, sources.ErrBusy) {
			return nil
		}
		held := errors.Is(err, loads.ErrHeld)
		if err != nil && !held {
			return err
		}
		if err := w.jobs.picture(ctx); err != nil || held {
			return err
		}
		if more, err := w.jobs.sources.Pending(ctx, source); err != nil || !more {
			return err
		}
	}
}

// yield returns when pages are up to what people did, or after a time.
func (j *Jobs) yield(ctx context.Context) error { return yield(ctx, j.pool) }

// feedWorker fetches a source by its link. One that fails here, as the disk is full, is due again
// some minutes later.
type feedWorker struct {
	riverqueue.WorkerDefaults[feedArgs]
	jobs *Jobs
}

// Timeout implements riverqueue.Worker.
func (w *feedWorker) Timeout(*riverqueue.Job[feedArgs]) time.Duration { return feedTimeout }

// Work implements riverqueue.Worker.
func (w *feedWorker) Work(ctx context.Context, job *riverqueue.Job[feedArgs]) error {
	return w.jobs.fetch(ctx, job.Args.SourceID)
}

func (j *Jobs) fetcher() loads.Fetcher {
	return loads.Fetcher{Sources: j.sources, Blobs: j.cfg.Blobs, Client: j.cfg.Fetch, Log: j.cfg.Log}
}

// fetch fetches a source that was claimed, and goes on with those of its host that are due, one after the other.
func (j *Jobs) fetch(ctx context.Context, source int64) error {
	for began := time.Now(); ; {
		o, err := j.fetcher().Fetch(ctx, source)
		switch {
		case errors.Is(err, sources.ErrNotFound):
			return nil // paused or removed
		case errors.Is(err, sources.ErrBusy), errors.Is(err, sources.ErrStale):
			// It is being fetched, perhaps as it was before it was changed, or was changed just now.
			return j.sources.Again(ctx, source, dueEvery)
		case err != nil || o.Postponed || time.Since(began) > hostTurn:
			return err
		}
		next, wait, err := j.sources.ClaimNext(ctx, source)
		if err != nil || next == 0 {
			return err
		}
		source = next
		gap := time.NewTimer(wait)
		select {
		case <-gap.C:
		case <-ctx.Done(): // it is due again some minutes later
			gap.Stop()
			return ctx.Err()
		}
	}
}

// dueWorker has those sources fetched that are due, those loaded whose loads stand still, and pictures of
// items fetched that wait. It tells people of sources that ask or have come to a stop.
type dueWorker struct {
	riverqueue.WorkerDefaults[dueArgs]
	jobs *Jobs
}

// Work implements riverqueue.Worker.
func (w *dueWorker) Work(ctx context.Context, _ *riverqueue.Job[dueArgs]) error {
	var wait int
	const waiting = `SELECT count(*) FROM queue.river_job WHERE state = 'available' AND queue = @queue`
	if err := w.jobs.pool.QueryRow(ctx, waiting, pgx.StrictNamedArgs{"queue": queueFeeds}).Scan(&wait); err != nil {
		return fmt.Errorf("count sources that wait: %w", err)
	}
	due, err := w.jobs.sources.Claim(ctx, max(dueAtOnce-wait, 0))
	if err != nil {
		return err
	}
	stalled, err := w.jobs.sources.Stalled(ctx, dueAtOnce)
	if err != nil {
		return err
	}
	var all []riverqueue.InsertManyParams
	for _, id := range due {
		all = append(all, riverqueue.InsertManyParams{Args: feedArgs{SourceID: id}})
	}
	for _, id := range stalled {
		all = append(all, riverqueue.InsertManyParams{Args: loadArgs{SourceID: id}, InsertOpts: &riverqueue.InsertOpts{UniqueOpts: onceAtATime}})
	}
	hubs, err := w.jobs.hubsDue(ctx)
	if err != nil {
		return err
	}
	all = append(all, hubs...)
	if len(all) > 0 {
		if _, err := w.jobs.client.InsertMany(ctx, all); err != nil {
			return fmt.Errorf("have sources fetched: %w", err)
		}
	}
	if err := w.jobs.picture(ctx); err != nil {
		return err
	}
	if err := w.jobs.tellOfSources(ctx); err != nil {
		return err
	}
	_, err = w.jobs.sources.ExpireHosts(ctx, dueAtOnce)
	return err
}

// tellOfSources tells people of their sources that ask or have come to a stop, or do no more.
func (j *Jobs) tellOfSources(ctx context.Context) error {
	c, err := j.sources.TellAll(ctx)
	_, err = j.cfg.Tiers.Carry(ctx, c, err)
	return err
}

// onceAtATime keeps a load that stands still from being put into the queue again while it waits there.
var onceAtATime = riverqueue.UniqueOpts{ByArgs: true, ByState: []rivertype.JobState{
	rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRetryable, rivertype.JobStateRunning, rivertype.JobStateScheduled,
}}

// loadArgs is a timelines.SourceReady.
type loadArgs struct {
	SourceID int64 `json:"source_id"`
}

func (loadArgs) Kind() string { return "load" }

func (loadArgs) InsertOpts() riverqueue.InsertOpts {
	return riverqueue.InsertOpts{Queue: queueSources, MaxAttempts: unlimited}
}

type feedArgs struct {
	SourceID int64 `json:"source_id"`
}

func (feedArgs) Kind() string { return "feed" }

func (feedArgs) InsertOpts() riverqueue.InsertOpts {
	return riverqueue.InsertOpts{Queue: queueFeeds, Priority: 2, MaxAttempts: 1}
}

// dueArgs belongs to a job that a node inserts when it finds something due (lookForDue).
type dueArgs struct{}

func (dueArgs) Kind() string { return "due" }

func (dueArgs) InsertOpts() riverqueue.InsertOpts {
	// Not behind slow servers, and not before changes.
	return riverqueue.InsertOpts{Queue: queueNow, Priority: 3, MaxAttempts: 1}
}
