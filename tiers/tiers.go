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
	"riverrun/rivers/strategies"
	"riverrun/timelines"
	"riverrun/timelines/reads"
)

// Tiers carries changes into rivers. It is safe for concurrent use.
type Tiers struct {
	primary *timelines.Store
	rivers  *rivers.Store
	home    *strategies.Homes // nil: rivers alone
	bus     *Bus
	log     *slog.Logger
	metrics Metrics

	inHand inHand

	// soon is the bounded queue of the Tier 1 work that this node does at once. Work that
	// does not fit is left to its job.
	soon chan soonDone
	quit context.CancelFunc
	wg   sync.WaitGroup
}

// soonDone is a change whose Tier 1 this node does at once.
type soonDone struct {
	touched timelines.Touched
	change  uint64    // its name
	at      time.Time // of the commit
	end     func()    // says that it is done with
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
	// Home makes home pages and is told of each change; nil: rivers make them.
	Home *strategies.Homes
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

// New returns tiers that are not running yet: Carry works, while the bus and the
// background work begin with Start.
func New(c Config) *Tiers {
	if c.Metrics == nil {
		c.Metrics = noMetrics{}
	}
	return &Tiers{
		primary: c.Timelines,
		rivers:  c.Rivers,
		home:    c.Home,
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

// Stop ends the background work and waits for it. Work that is still queued is left to
// the jobs.
func (t *Tiers) Stop(ctx context.Context) error {
	if t.quit != nil {
		t.quit()
	}
	t.wg.Wait()
	return t.bus.Stop(ctx)
}

// Subscribe calls fn for every message on the bus until cancel is called. fn must be
// quick and must not block.
func (t *Tiers) Subscribe(fn func(Message)) (cancel func()) { return t.bus.Subscribe(fn) }

// PublishSeen tells all nodes how far people have read. It does not block.
func (t *Tiers) PublishSeen(marks []reads.Mark) { t.bus.Publish(Message{Seen: marks}) }

// ErrBehind: the change is committed, but it could not be brought into rivers yet.
// Nothing is lost: its job completes it, and so does the same form sent again with the
// same key.
var ErrBehind = errors.New("saved, but pages could not be brought up yet")

// Carry brings a change into the actor's own rivers, and home feed, before it returns (Tier 0). It takes
// what the change returned: if err is not nil, there is no change, and Carry returns both as they are. It does
// the same with a change that has nothing to carry. Otherwise only ErrBehind is possible, and then no success may be shown.
//
// Every change goes through it, in the next statement: the change is committed, and if something returned in
// between, the actor's pages would not show it. A test holds that (cmd/riverrun/carried_test.go).
func (t *Tiers) Carry(ctx context.Context, c timelines.Change, err error) (timelines.Change, error) {
	if err != nil || isEmpty(c) {
		return c, err
	}
	began := time.Now()
	// The change is committed. The rest goes on even if the browser no longer waits, but
	// no longer than its deadline.
	until, bounded := ctx.Deadline()
	if !bounded {
		until = began.Add(30 * time.Second)
	}
	ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), until)
	defer cancel()
	end := t.inHand.begin(c.PostID)
	defer func() { end() }()
	done, err := t.tier0(ctx, c)
	if err != nil {
		t.log.ErrorContext(ctx, "tier 0 failed", "error", err, "post_id", c.PostID, "clock", c.Clock)
		return c, fmt.Errorf("%w: %w", ErrBehind, err)
	}
	t.metrics.Applied("0", time.Since(began))
	// The jobs of the rewritten posts may have told browsers before the actor's rivers followed.
	m, touched := Message{Clock: c.Clock, Posts: postsOf(c.Rewritten)}, timelines.Touched{PostID: c.PostID, Timelines: c.Touched}
	finished := c.PostID != 0 && done
	if finished {
		m.Posts, m.At = append(m.Posts, c.PostID), began.UnixMicro()
	} else if c.PostID != 0 {
		select {
		case t.soon <- soonDone{touched, c.Name, began, end}:
			end = func() {}
		default: // its job will, or has told browsers before the actor's rivers followed
			m.Posts = append(m.Posts, c.PostID)
		}
	}
	if len(m.Posts) > 0 || c.Clock != 0 || len(c.Replace) > 0 {
		t.bus.Publish(m)
	}
	if finished {
		t.inHand.finished(c.Name, touched, false)
	}
	return c, nil
}

// isEmpty reports whether a change has nothing that rivers, home feeds or the access clock could follow.
func isEmpty(c timelines.Change) bool {
	return c.PostID == 0 && c.Clock == 0 && len(c.Rewritten) == 0 && len(c.Replace) == 0
}

// tier0 also runs for a form whose key was seen before: the first time may have failed
// between the commit and here. done says that no river misses the change.
func (t *Tiers) tier0(ctx context.Context, c timelines.Change) (done bool, err error) {
	// The clock comes first, since the rest may take long. The change is acknowledged only
	// after both.
	if c.Clock != 0 {
		if err := t.rivers.PublishClock(ctx, c.Clock); err != nil {
			return false, err
		}
	}
	own := rivers.Scope{Actor: c.Actor, Notices: true}
	if c.PostID != 0 {
		touched := []timelines.Touched{{PostID: c.PostID, Timelines: c.Touched}}
		left, err := t.rivers.DistributeFirst(ctx, touched, own)
		if err != nil {
			return false, err
		}
		done = !left
	}
	if err := t.rivers.Distribute(ctx, c.Rewritten, own); err != nil {
		return false, err
	}
	for _, r := range c.Replace {
		if !r.Everybody && r.ViewerID == c.Actor {
			if err := t.rivers.Retire(ctx, r); err != nil {
				return false, err
			}
		}
	}
	if t.home == nil {
		return done, nil
	}
	return done, t.home.ApplyOwn(ctx, c.Actor, strategies.Events(c)...)
}

func (t *Tiers) work(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case first := <-t.soon:
			all, batch := []soonDone{first}, []timelines.Touched{first.touched}
			for len(batch) < 100 && len(t.soon) > 0 {
				select {
				case more := <-t.soon:
					all, batch = append(all, more), append(batch, more.touched)
				default:
				}
			}
			// The lag is that of the oldest change.
			within, cancel := context.WithTimeout(ctx, soonTimeout)
			left, err := t.distribute(within, batch, rivers.Scope{Open: true}, first.at.UnixMicro())
			cancel()
			for _, one := range all {
				if err == nil {
					t.inHand.finished(one.change, one.touched, left)
				}
				one.end()
			}
			if err != nil && ctx.Err() == nil {
				t.log.WarnContext(ctx, "tier 1 left to its job", "error", err)
			}
		}
	}
}

// Distribute is Tier 1: it brings the rivers that are open in a browser, on any node, to
// the present state of these posts, and then tells every node's hub. It also raises the notice
// clocks once more, as the node of the change may have died before it did.
func (t *Tiers) Distribute(ctx context.Context, touched []timelines.Touched) error {
	_, err := t.DistributeFirst(ctx, touched, 0)
	return err
}

// DistributeFirst is Distribute. It reports whether closed rivers are left to Tier 2: where few
// miss the change, they follow at once. It lets this node finish what it does for these posts. If this node has done
// Tier 1 of the change of that name then, it does nothing again: a river that was opened since is brought up by
// Tier 2, or shows the change as its page was made. 0 is no change in particular.
func (t *Tiers) DistributeFirst(ctx context.Context, touched []timelines.Touched, change uint64) (left bool, err error) {
	t.inHand.wait(ctx, postsOf(touched))
	if len(touched) == 1 {
		if is, left := t.inHand.isFinished(change, touched[0]); is {
			t.bus.repeat(Message{Posts: postsOf(touched)}) // our own hub has heard it
			return left, nil
		}
	}
	return t.distribute(ctx, touched, rivers.Scope{Open: true, Notices: true}, 0)
}

// distribute does Tier 1 of changes committed at that instant, 0 if that is not known, in
// microseconds.
func (t *Tiers) distribute(ctx context.Context, touched []timelines.Touched, scope rivers.Scope, at int64) (left bool, err error) {
	left, err = t.rivers.DistributeFirst(ctx, touched, scope)
	if err != nil {
		return false, err
	}
	t.bus.Publish(Message{Posts: postsOf(touched), At: at})
	return left, nil
}

func postsOf(touched []timelines.Touched) []int64 {
	posts := make([]int64, len(touched))
	for i, x := range touched {
		posts[i] = x.PostID
	}
	return posts
}

// KeepsHomes reports whether changes must come into stored home feeds by HomesStep.
func (t *Tiers) KeepsHomes(ctx context.Context) (bool, error) {
	if t.home == nil {
		return false, nil
	}
	return t.home.Keeps(ctx)
}

// HomesStep brings a committed change into the site's stored home feeds, a step further. See
// strategies.Homes.
func (t *Tiers) HomesStep(ctx context.Context, from strategies.Progress, event timelines.Event) (next strategies.Progress, more bool, err error) {
	if t.home == nil {
		return next, false, nil
	}
	return t.home.ApplyStep(ctx, from, event)
}

// Follow is Tier 2: it brings all live rivers to the present state of these posts, open
// or not, so that it misses none that opened or closed meanwhile. It tells the hubs too:
// a river may have been opened after Tier 1 looked.
func (t *Tiers) Follow(ctx context.Context, touched []timelines.Touched) error {
	if err := t.rivers.Distribute(ctx, touched, rivers.All); err != nil {
		return err
	}
	t.bus.Publish(Message{Posts: postsOf(touched)})
	return nil
}

// Spread begins to replace the rivers that a change of access or subscription concerns.
// It retires the closed ones and returns the open ones. Each of these must be rebuilt.
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

// Rebuild rebuilds an open river that Spread returned, and tells the hubs.
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

// Remake rebuilds a river because somebody who runs the site asked for it, and tells the hubs. Errors are
// those of rivers.Store.
func (t *Tiers) Remake(ctx context.Context, n rivers.Name) error {
	if err := t.rivers.Remake(ctx, n); err != nil {
		return err
	}
	t.bus.Publish(Message{Swapped: []rivers.Name{n}})
	return nil
}

// raiseClock publishes the primary store's access clock. A node may have died, or lost
// the secondary store, between the commit of its change and Tier 0. Without the number,
// nodes would go on deciding with the sets and levels they remember.
func (t *Tiers) raiseClock(ctx context.Context) (int64, error) {
	clock, err := t.primary.AccessClock(ctx)
	if err != nil {
		return 0, err
	}
	return clock, t.rivers.PublishClock(ctx, clock)
}
