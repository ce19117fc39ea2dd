package jobs

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	riverqueue "github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"riverrun/timelines"
)

// Announcer puts jobs for a change's events into the queue within the change's
// own transaction. It implements timelines.Announcer, inserts only and starts
// nothing. It is safe for concurrent use.
type Announcer struct {
	client *riverqueue.Client[pgx.Tx]
	// seldom announces changes for whose jobs nobody waits.
	seldom *riverqueue.Client[pgx.Tx]
	// lookout is that of the workers of this process, nil without any; see Config.Announcer.
	lookout atomic.Pointer[lookout]
}

var _ timelines.Announcer = (*Announcer)(nil)

// NewAnnouncer returns an announcer. The queue's tables must have been made
// (Migrate) before it is used.
func NewAnnouncer(log *slog.Logger) (*Announcer, error) {
	client, err := newInserter(log, announceCooldown)
	if err != nil {
		return nil, fmt.Errorf("job queue: %w", err)
	}
	seldom, err := newInserter(log, seldomCooldown)
	if err != nil {
		return nil, fmt.Errorf("job queue: %w", err)
	}
	return &Announcer{client: client, seldom: seldom}, nil
}

// newInserter returns a client that inserts only. It wakes the workers of a queue once in a cooldown at most.
func newInserter(log *slog.Logger, cooldown time.Duration) (*riverqueue.Client[pgx.Tx], error) {
	return riverqueue.NewClient(riverpgxv5.New(nil), &riverqueue.Config{
		Schema:            schema,
		Logger:            log,
		FetchCooldown:     cooldown,
		FetchPollInterval: max(cooldown, riverqueue.FetchPollIntervalDefault), // it does not poll, but is checked
	})
}

// These are how long an announcer waits after it has woken a queue's workers before it
// wakes them again. The wake-up is a NOTIFY in the change's transaction. A transaction that
// notifies holds a lock of the whole server while it commits, so not every change of a busy
// node should. The fetch that the last wake-up caused finds most jobs that were inserted
// meanwhile. A job that is committed later, or after a wake-up that was rolled back (as when a
// change that lost a race is run again), waits for the next wake-up, or for a look of its node (Config.PollInterval). The
// process of a command has no workers that look: its jobs are found by the looks of a node that has worked one, or by a poll.
//
// A change of a post, such as a like, has its Tier 1 done by its node at once (tiers). Nobody waits for
// its job, and a wake-up for each would be a fetch for each. So the jobs of such changes are
// fetched together.
const (
	announceCooldown = riverqueue.FetchCooldownMin
	seldomCooldown   = DefaultPollInterval
)

// AnnounceTx inserts the jobs for events, all in one statement, and wakes the
// workers up when tx commits. Events about the same post become one job.
//
// The insert takes created_at and scheduled_at from the database's clock. The queue's
// COPY variant takes them from this node's clock; jobs of a node whose clock is fast
// would wait until the database's clock has caught up.
func (a *Announcer) AnnounceTx(ctx context.Context, tx pgx.Tx, events ...timelines.Event) error {
	params, err := insertParams(events, time.Now())
	if err != nil {
		return err
	}
	if len(params) == 0 {
		return nil
	}
	client := a.seldom
	if slices.ContainsFunc(events, isWaitedFor) {
		client = a.client
	}
	if _, err := client.InsertManyTx(ctx, tx, params); err != nil {
		return fmt.Errorf("announce: %w", err)
	}
	if l := a.lookout.Load(); l != nil {
		l.expect()
	}
	return nil
}

// isWaitedFor reports whether what an event asks for is done by its job alone.
func isWaitedFor(e timelines.Event) bool {
	_, touched := e.(timelines.Touched)
	return !touched
}

// batchPosts is how many posts of a batch one job brings to rivers. A job then takes
// far less than its timeout, even if a thousand pages are open that show all these
// posts.
const batchPosts = 200

// insertParams returns the jobs for events, in the order of the events.
func insertParams(events []timelines.Event, now time.Time) ([]riverqueue.InsertManyParams, error) {
	params := make([]riverqueue.InsertManyParams, 0, len(events))
	distributes := map[int64]int{} // post -> index in params
	for _, event := range events {
		switch e := event.(type) {
		case timelines.Touched:
			if i, ok := distributes[e.PostID]; ok {
				args := params[i].Args.(distributeArgs)
				args.Timelines = union(args.Timelines, e.Timelines)
				args.Unpushed = args.Unpushed && e.Unpushed
				params[i].Args = args
				continue
			}
			distributes[e.PostID] = len(params)
			params = append(params, riverqueue.InsertManyParams{Args: distributeArgs{
				PostID: e.PostID, Timelines: union(nil, e.Timelines), At: timelines.Micros(now), Change: e.Change, Unpushed: e.Unpushed,
			}})
		case timelines.TouchedBatch:
			for part := range slices.Chunk(e, batchPosts) {
				params = append(params, riverqueue.InsertManyParams{Args: batchArgs{Touched: touchedPosts(part), At: timelines.Micros(now)}})
			}
		case timelines.Replace:
			params = append(params, riverqueue.InsertManyParams{Args: replaceArgsOf(e)})
		case timelines.PendingBump:
			params = append(params, riverqueue.InsertManyParams{Args: bumpArgs{PostID: e.PostID, After: e.After}})
		case timelines.Upkeep:
			params = append(params, riverqueue.InsertManyParams{Args: upkeepArgs{}})
		case timelines.ReadPage:
			params = append(params, riverqueue.InsertManyParams{Args: pageArgs{LinkID: e.LinkID}})
		case timelines.SourceReady:
			params = append(params, riverqueue.InsertManyParams{Args: loadArgs{SourceID: e.SourceID}})
		case timelines.SourceDue:
			params = append(params, riverqueue.InsertManyParams{Args: askedArgs{SourceID: e.SourceID, Preview: e.Preview}})
		case timelines.RemovePosts:
			params = append(params, riverqueue.InsertManyParams{Args: removalArgs{AccountID: e.AccountID}})
		case timelines.MakeExport:
			params = append(params, riverqueue.InsertManyParams{Args: exportArgs{ID: e.ID}})
		case timelines.ChangeSeveral:
			params = append(params, riverqueue.InsertManyParams{Args: bulkArgs{ID: e.ID}})
		case timelines.Leave:
			params = append(params, riverqueue.InsertManyParams{Args: leaveArgs{AccountID: e.AccountID}})
		case timelines.Prepare:
			params = append(params, riverqueue.InsertManyParams{
				Args: pictureArgs{FileID: e.FileID}, InsertOpts: &riverqueue.InsertOpts{Priority: picturePriority(e.Waiting)},
			})
		default:
			return nil, fmt.Errorf("announce: no job for an event %T", event)
		}
	}
	return params, nil
}

// union returns the sorted distinct elements of both, in a new slice.
func union(a, b []int64) []int64 {
	all := append(slices.Clone(a), b...)
	slices.Sort(all)
	return slices.Compact(all)
}
