package tiers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/timelines/mutants"
)

// Tiers carries changes into rivers. It is safe for concurrent use.
type Tiers struct {
	primary *timelines.Store
	rivers  *rivers.Store
	bus     *Bus
	log     *slog.Logger
	metrics Metrics

	// soon is the bounded queue of Tier 1 work this node does at once. What does
	// not fit is left to its job.
	soon chan soonDone
	quit context.CancelFunc
	wg   sync.WaitGroup
}

// soonDone is a change whose Tier 1 this node does at once.
type soonDone struct {
	touched timelines.Touched
	at      time.Time // of the commit
}

// Metrics is told how long changes took to arrive. Implementations must be safe
// for concurrent use and quick.
type Metrics interface {
	// Applied: a change reached the rivers of a tier ("0", "1", "2") in that time.
	Applied(tier string, took time.Duration)
}

type noMetrics struct{}

func (noMetrics) Applied(string, time.Duration) {}

// Config is what Tiers needs.
type Config struct {
	Timelines *timelines.Store
	Rivers    *rivers.Store
	// Secondary is the pool of the secondary store, over which the bus runs.
	Secondary *pgxpool.Pool
	Log       *slog.Logger
	Metrics   Metrics // nil drops the figures
}

const (
	soonSize    = 1024
	soonWorkers = 2
	soonTimeout = time.Minute // as for the job that does the same
)

// New returns tiers that are not running yet: Act works, the bus and the
// background do with Start.
func New(c Config) *Tiers {
	if c.Metrics == nil {
		c.Metrics = noMetrics{}
	}
	return &Tiers{
		primary: c.Timelines,
		rivers:  c.Rivers,
		bus:     NewBus(c.Secondary, c.Rivers.Node(), c.Log),
		log:     c.Log,
		metrics: c.Metrics,
		soon:    make(chan soonDone, soonSize),
	}
}

// Start begins listening to the bus and doing Tier 1 work of this node's own
// changes.
func (t *Tiers) Start(ctx context.Context) error {
	if err := t.bus.Start(ctx); err != nil {
		return err
	}
	ctx, t.quit = context.WithCancel(context.WithoutCancel(ctx))
	for range soonWorkers {
		t.wg.Go(func() { t.work(ctx) })
	}
	return nil
}

// Stop ends the background work and waits for it. What was still queued is left
// to the jobs.
func (t *Tiers) Stop(ctx context.Context) error {
	if t.quit != nil {
		t.quit()
	}
	t.wg.Wait()
	return t.bus.Stop(ctx)
}

// Subscribe has fn called for every message on the bus, until cancel is called.
// fn must be quick and must not block.
func (t *Tiers) Subscribe(fn func(Message)) (cancel func()) { return t.bus.Subscribe(fn) }

// ErrBehind: the change is committed, but the rivers could not be told. Nothing
// is lost: its job completes it, and so does repeating the form with the same key.
var ErrBehind = errors.New("saved, but pages could not be brought up yet")

// Act makes a change and brings it into the actor's own rivers before it
// returns (Tier 0). Every write of a person goes through it. Errors of change
// are returned as they are; after the commit only ErrBehind is possible, and then no
// success may be shown.
func (t *Tiers) Act(ctx context.Context, change func(context.Context) (timelines.Change, error)) (timelines.Change, error) {
	c, err := change(ctx)
	if err != nil {
		return c, err
	}
	began := time.Now()
	// The change is committed: what follows from it does not depend on whether the
	// browser still waits, only on how long it was to wait at most.
	until, bounded := ctx.Deadline()
	if !bounded {
		until = began.Add(30 * time.Second)
	}
	ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), until)
	defer cancel()
	if err := t.tier0(ctx, c); err != nil {
		t.log.ErrorContext(ctx, "tier 0 failed", "error", err, "post_id", c.PostID, "clock", c.Clock)
		return c, fmt.Errorf("%w: %w", ErrBehind, err)
	}
	t.metrics.Applied("0", time.Since(began))
	if c.PostID != 0 {
		select {
		case t.soon <- soonDone{timelines.Touched{PostID: c.PostID, Timelines: c.Touched}, began}:
		default: // its job will
		}
	}
	if c.Clock != 0 || len(c.Replace) > 0 {
		t.bus.Publish(Message{Clock: c.Clock})
	}
	return c, nil
}

// tier0 runs also for a form whose key was seen: the first time may have failed
// between the commit and here.
func (t *Tiers) tier0(ctx context.Context, c timelines.Change) error {
	// The clock first: what follows may take its time, and only both together
	// acknowledge.
	if c.Clock != 0 && !mutants.On(mutants.ClockUnpublished) {
		if err := t.rivers.PublishClock(ctx, c.Clock); err != nil {
			return err
		}
	}
	if c.PostID != 0 && !mutants.On(mutants.RiversOfActor) {
		touched := []timelines.Touched{{PostID: c.PostID, Timelines: c.Touched}}
		if err := t.rivers.Distribute(ctx, touched, rivers.Scope{Actor: c.Actor}); err != nil {
			return err
		}
	}
	for _, r := range c.Replace {
		if !r.Everybody && r.ViewerID == c.Actor {
			if err := t.rivers.Retire(ctx, r); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *Tiers) work(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case first := <-t.soon:
			batch := []timelines.Touched{first.touched}
			for len(batch) < 100 && len(t.soon) > 0 {
				select {
				case more := <-t.soon:
					batch = append(batch, more.touched)
				default:
				}
			}
			// The oldest of them, whose way was longest.
			within, cancel := context.WithTimeout(ctx, soonTimeout)
			err := t.distribute(within, batch, first.at.UnixMicro())
			cancel()
			if err != nil && ctx.Err() == nil {
				t.log.WarnContext(ctx, "tier 1 left to its job", "error", err)
			}
		}
	}
}

// Distribute is Tier 1: rivers open in a browser, anywhere, follow the present
// state of these posts; then every node's hub is told.
func (t *Tiers) Distribute(ctx context.Context, touched []timelines.Touched) error {
	return t.distribute(ctx, touched, 0)
}

// distribute is Distribute of changes committed at that instant, 0 if that is not
// known, in microseconds.
func (t *Tiers) distribute(ctx context.Context, touched []timelines.Touched, at int64) error {
	if err := t.rivers.Distribute(ctx, touched, rivers.Scope{Open: true}); err != nil {
		return err
	}
	posts := make([]int64, len(touched))
	for i, x := range touched {
		posts[i] = x.PostID
	}
	t.bus.Publish(Message{Posts: posts, At: at})
	return nil
}

// Follow is Tier 2: all live rivers still behind follow, open or not, so that
// none is missed that opened or closed meanwhile. Hubs are told too: a river may
// have been opened after Tier 1 looked.
func (t *Tiers) Follow(ctx context.Context, touched []timelines.Touched) error {
	scope := rivers.All
	scope.Open = mutants.On(mutants.OpenRiversOnly)
	if err := t.rivers.Distribute(ctx, touched, scope); err != nil {
		return err
	}
	posts := make([]int64, len(touched))
	for i, x := range touched {
		posts[i] = x.PostID
	}
	t.bus.Publish(Message{Posts: posts})
	return nil
}

// Spread begins to make the rivers anew that a change of access or subscription
// concerns: it retires the closed ones and returns the open ones, each of which is to
// be rebuilt.
func (t *Tiers) Spread(ctx context.Context, r timelines.Replace) ([]rivers.Stale, error) {
	clock, err := t.raiseClock(ctx)
	if err != nil {
		return nil, err
	}
	open, err := t.rivers.Spread(ctx, r)
	if err != nil {
		return nil, err
	}
	t.bus.Publish(Message{Clock: clock})
	return open, nil
}

// Rebuild makes one open river anew that Spread returned, and tells the hubs.
func (t *Tiers) Rebuild(ctx context.Context, r rivers.Stale) error {
	swapped, err := t.rivers.Rebuild(ctx, r)
	if err != nil {
		return err
	}
	if swapped {
		t.bus.Publish(Message{Swapped: []rivers.Name{r.Name}})
	}
	return nil
}

// raiseClock publishes the primary store's access clock: who made a change may
// have died, or lost the secondary store, between the commit and Tier 0, and
// without the number nodes would go on deciding with the sets and levels they
// remember.
func (t *Tiers) raiseClock(ctx context.Context) (int64, error) {
	clock, _, err := t.primary.AccessClock(ctx)
	if err != nil {
		return 0, err
	}
	return clock, t.rivers.PublishClock(ctx, clock)
}
