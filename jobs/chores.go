package jobs

import (
	"context"
	"fmt"
	"time"

	riverqueue "github.com/riverqueue/river"

	"riverrun/rivers"
	"riverrun/timelines"
)

// How long rows are kept after their use.
const (
	// keepKeys is how long a form may be sent again with the same key.
	keepKeys = 48 * time.Hour
	// keepAccessLog is longer than any node lives without reading the log.
	keepAccessLog = 7 * 24 * time.Hour
	// keepLoose is how long an upload waits for the post or comment that it is for.
	keepLoose = 7 * 24 * time.Hour
	// linksAtOnce is how many links one run of the sweep removes.
	linksAtOnce = 10_000
	// loadsAtOnce is how many loads of sources one statement removes.
	loadsAtOnce = 100
	// sessionsAtOnce is how many sessions one statement ends.
	sessionsAtOnce = 1000
	// listingsAtOnce is how many listings one transaction makes expired.
	listingsAtOnce = 200
	// leavingAtOnce is how many deletions of accounts one transaction begins.
	leavingAtOnce = 100
	// authorsChecked is how many people's counters are compared with their posts once a day.
	authorsChecked = 200
	// keepVisitorDrafts is how long a draft of somebody who is not signed in is kept after it was saved last.
	keepVisitorDrafts = 30 * 24 * time.Hour
	// visitorDraftsAtOnce is how many of them one statement removes.
	visitorDraftsAtOnce = 1000
	// choreTimeout bounds one run of a chore.
	choreTimeout = 10 * time.Minute
)

// periodic returns the chores' schedule. The queue's leader inserts them, on
// being elected and then in their period.
func periodic(cfg Config) []*riverqueue.PeriodicJob {
	return []*riverqueue.PeriodicJob{
		riverqueue.NewPeriodicJob(riverqueue.PeriodicInterval(cfg.ExpireEvery),
			func() (riverqueue.JobArgs, *riverqueue.InsertOpts) { return expireArgs{}, nil },
			&riverqueue.PeriodicJobOpts{ID: expireArgs{}.Kind(), RunOnStart: true}),
		riverqueue.NewPeriodicJob(riverqueue.PeriodicInterval(cfg.ExpireEvery),
			func() (riverqueue.JobArgs, *riverqueue.InsertOpts) { return lapseArgs{}, nil },
			&riverqueue.PeriodicJobOpts{ID: lapseArgs{}.Kind(), RunOnStart: true}),
		riverqueue.NewPeriodicJob(riverqueue.PeriodicInterval(cfg.HousekeepEvery),
			func() (riverqueue.JobArgs, *riverqueue.InsertOpts) { return housekeepArgs{}, nil },
			&riverqueue.PeriodicJobOpts{ID: housekeepArgs{}.Kind(), RunOnStart: true}),
		riverqueue.NewPeriodicJob(riverqueue.PeriodicInterval(cfg.HousekeepEvery),
			func() (riverqueue.JobArgs, *riverqueue.InsertOpts) { return sweepArgs{}, nil },
			&riverqueue.PeriodicJobOpts{ID: sweepArgs{}.Kind(), RunOnStart: true}),
	}
}

// expireWorker removes the rivers that nobody came back to, or that grew too deep, and the home
// feeds of other strategies that are out of use.
type expireWorker struct {
	riverqueue.WorkerDefaults[expireArgs]
	jobs *Jobs
}

// Timeout implements riverqueue.Worker.
func (w *expireWorker) Timeout(*riverqueue.Job[expireArgs]) time.Duration { return choreTimeout }

// Work implements riverqueue.Worker.
func (w *expireWorker) Work(ctx context.Context, _ *riverqueue.Job[expireArgs]) error {
	gone, err := w.jobs.cfg.Rivers.Expire(ctx)
	if gone != (rivers.Expired{}) {
		w.jobs.cfg.Log.InfoContext(ctx, "rivers expired", "rivers", gone.Rivers, "removed", gone.Removed,
			"entries", gone.Entries, "tombstones", gone.Tombstones, "folds", gone.Folds)
	}
	if err != nil {
		return fmt.Errorf("expire rivers: %w", err)
	}
	if w.jobs.cfg.HomeFeeds == nil {
		return nil
	}
	return w.jobs.cfg.HomeFeeds.Expire(ctx)
}

// lapseWorker makes listings expired whose last day is over.
type lapseWorker struct {
	riverqueue.WorkerDefaults[lapseArgs]
	jobs *Jobs
}

// Timeout implements riverqueue.Worker.
func (w *lapseWorker) Timeout(*riverqueue.Job[lapseArgs]) time.Duration { return choreTimeout }

// Work implements riverqueue.Worker.
func (w *lapseWorker) Work(ctx context.Context, _ *riverqueue.Job[lapseArgs]) error {
	for more := true; more; {
		var c timelines.Change
		var err error
		c, more, err = w.jobs.cfg.Timelines.ExpireListings(ctx, listingsAtOnce)
		_, err = w.jobs.cfg.Tiers.Carry(ctx, c, err)
		if err != nil {
			return fmt.Errorf("expire listings: %w", err)
		}
	}
	return nil
}

// housekeepWorker ends expired sessions and suspensions, begins deletions of accounts that are due, removes old links, keys,
// drafts of visitors, archives and log rows, and repairs counters of some authors.
type housekeepWorker struct {
	riverqueue.WorkerDefaults[housekeepArgs]
	jobs *Jobs
}

// Timeout implements riverqueue.Worker.
func (w *housekeepWorker) Timeout(*riverqueue.Job[housekeepArgs]) time.Duration { return choreTimeout }

// Work implements riverqueue.Worker.
func (w *housekeepWorker) Work(ctx context.Context, _ *riverqueue.Job[housekeepArgs]) error {
	store := w.jobs.cfg.Timelines
	var sessions int64
	for {
		n, err := store.ExpireSessions(ctx, sessionsAtOnce)
		if err != nil {
			return fmt.Errorf("expire sessions: %w", err)
		}
		sessions += n
		if n < sessionsAtOnce {
			break
		}
	}
	// Rows that were written without an announcement, by hand or in a batch.
	for more := true; more; {
		var err error
		if more, err = store.UpkeepBlock(ctx); err != nil {
			return fmt.Errorf("upkeep: %w", err)
		}
	}
	c, err := w.jobs.cfg.Staff.CleanUp(ctx)
	_, err = w.jobs.cfg.Tiers.Carry(ctx, c, err)
	if err != nil {
		return fmt.Errorf("clean up after the staff: %w", err)
	}
	for {
		n, err := w.jobs.cfg.Leaving.Due(ctx, leavingAtOnce)
		if err != nil {
			return err
		}
		if n < leavingAtOnce {
			break
		}
	}
	keys, err := store.ExpireKeys(ctx, keepKeys)
	if err != nil {
		return fmt.Errorf("expire keys: %w", err)
	}
	if err := store.ExpireStrangers(ctx); err != nil {
		return err
	}
	rows, err := store.TrimAccessLog(ctx, keepAccessLog)
	if err != nil {
		return fmt.Errorf("trim access log: %w", err)
	}
	var loads int64
	for {
		n, err := w.jobs.sources.CleanUp(ctx, loadsAtOnce)
		if err != nil {
			return err
		}
		if loads += n; n < loadsAtOnce {
			break
		}
	}
	var unsent int64
	for {
		n, err := store.ExpireVisitorDrafts(ctx, keepVisitorDrafts, visitorDraftsAtOnce)
		if err != nil {
			return err
		}
		if unsent += n; n < visitorDraftsAtOnce {
			break
		}
	}
	if err := w.jobs.cfg.Changes.Trim(ctx); err != nil {
		return err
	}
	archives, err := w.jobs.cfg.Exports.Expire(ctx)
	if err != nil {
		return err
	}
	if sessions+keys+rows+loads+unsent+archives > 0 {
		w.jobs.cfg.Log.InfoContext(ctx, "house kept", "sessions", sessions, "keys", keys, "access_log_rows", rows, "loads", loads, "visitor_drafts", unsent, "archives", archives)
	}
	return w.jobs.repairCounters(ctx)
}

// repairCounters repairs the counters of some authors, once a day. They change in the transactions that
// change the posts, so one that is wrong is a fault of ours.
func (j *Jobs) repairCounters(ctx context.Context) error {
	checked, wrong, err := j.authors.RepairSample(ctx, authorsChecked)
	for _, d := range wrong {
		j.cfg.Log.WarnContext(ctx, "a counter was wrong", "account", d.Author, "status", d.Status, "imported", d.Imported, "counted", d.Counted, "posts", d.Posts)
	}
	j.metrics.checked.Add(float64(checked))
	j.metrics.wrong.Add(float64(len(wrong)))
	return err
}
