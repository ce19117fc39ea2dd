package strategies

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/timelines/snapshot"
)

// Stores are both stores, for strategies that store feeds.
type Stores struct {
	Primary   *timelines.Store
	Rivers    *rivers.Store // keeps the secondary store's epoch
	Secondary *pgxpool.Pool
	// Texts, if set, has each feed hold a copy of the texts of its posts, as the embedded content of
	// 001 does; pages bring them then. It is for riverbench, which measures what that costs. No site
	// can select it: an edit moves no post, so it reaches no copy.
	Texts Texts
}

// Texts returns what posts say, by id. It is asked again whenever a post is written into feeds.
type Texts func(ctx context.Context, sn *snapshot.Snapshot, posts []int64) (map[int64]string, error)

// stored are the feeds of one strategy that stores them: fan-out on write. It is safe for
// concurrent use.
//
// A feed is a row of home_feeds, the buckets that its pages are read from, and a row for each post
// that says where it stands. 001 has only the buckets: its posts never move and never leave.
// Here they do, so a writer must find the bucket that holds a post. The rejected way is an
// index of the posts in the arrays of the buckets (GIN). Each write of a bucket would write all
// its posts into it anew.
//
// The invariant: a feed that is live, of the store's epoch, holds at and above its floor all
// posts that its viewer's home river would hold, as of the last change applied. One feed of
// each strategy and viewer is live, and one may be building beside it. A row of home_feeds is the
// lock of everything below it: whoever writes buckets or posts of a feed holds its row, taken
// in the order of ids, and finds the row not retired.
type stored struct {
	Stores
	shape
	strategy string
	setting  int64         // a feed of another setting is filled anew
	keep     int           // how many posts a feed keeps, in one bucket; 0: all
	depth    int           // how many posts a feed is filled with, at least; 0: all
	idle     time.Duration // how long a feed is kept that nobody reads
	rest     *Read         // serves what feeds do not hold
	// chunkSize, batch, within and fillFor are chunkSize, batch, writeDeadline and fillFor. Tests set them lower.
	chunkSize, batch int
	within, fillFor  time.Duration
}

// writeDeadline is how long after its look-up a writer may still write, and keptFor how long
// rows are kept that a late writer could revive.
const (
	writeDeadline = 60 * time.Second
	keptFor       = 10 * time.Minute
)

// feedIdle is how long a whole feed is kept that nobody reads, and buildIdle how long one is that
// nobody goes on filling.
const (
	feedIdle  = 30 * 24 * time.Hour
	buildIdle = time.Hour
)

// chunkSize is how many posts Fill reads and writes at once, batch how many entries a push.
// Other writers of the same feeds wait no longer than that takes.
const (
	chunkSize = 1000
	batch     = 1000
)

// fillFor is how long somebody waits while their feed is filled, which is some two thousand posts. The
// first pages that follow go on with the fill of a larger one. Until it is whole, pages come from the
// primary store.
const fillFor = 500 * time.Millisecond

// retries bound how often a page or a fill starts again because others were faster.
const retries = 20

func newStored(s Stores, strategy string, setting int64, sh shape, rest *Read) *stored {
	if s.Texts != nil {
		setting = -setting // a feed with texts is another one
	}
	return &stored{Stores: s, shape: sh, strategy: strategy, setting: setting, chunkSize: chunkSize, batch: batch, within: writeDeadline, fillFor: fillFor, idle: feedIdle, rest: rest}
}

// newID returns a random, positive 63-bit number.
func newID() int64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand crashes the program instead
	return int64(binary.BigEndian.Uint64(b[:])>>1 | 1)
}

// name are the arguments by which a viewer's feeds are found.
func (s *stored) name(viewer int64) pgx.StrictNamedArgs {
	return pgx.StrictNamedArgs{"viewer": viewer, "strategy": s.strategy}
}

// raw is what one statement returned of a feed.
type raw struct {
	id      int64
	floor   Entry
	stale   bool // the time of its last visit
	buckets []*bucket
}

// readFeed returns the live feed of a viewer with the next buckets that reach below a place,
// or nil if there is none.
func (s *stored) readFeed(ctx context.Context, viewer int64, below rivers.Cursor, buckets int) (*raw, error) {
	const query = `
		SELECT f.id, f.floor_place, f.floor_post, f.visited_at < clock_timestamp() - interval '1 minute',
			b.low_place, b.low_post, b.posts, b.places, b.texts
		FROM clock c
		JOIN home_feeds f ON f.viewer_id = @viewer AND f.strategy = @strategy AND f.state = 'live'
			AND f.epoch = c.epoch AND f.setting = @setting
		LEFT JOIN LATERAL (
			SELECT low_place, low_post, posts, places, texts FROM home_feed_buckets
			WHERE feed_id = f.id AND (low_place, low_post) < (@place::bigint, @post::bigint)
			ORDER BY low_place DESC, low_post DESC LIMIT @buckets) b ON true
		ORDER BY b.low_place DESC, b.low_post DESC`
	args := s.name(viewer)
	args["setting"], args["place"], args["post"], args["buckets"] = s.setting, below.Place, below.PostID, buckets
	rows, err := s.Secondary.Query(ctx, query, args)
	if err != nil {
		return nil, fmt.Errorf("read feed: %w", err)
	}
	var found *raw
	var r raw
	var low [2]*int64
	var posts, places []int64
	var texts []string
	dest := []any{&r.id, &r.floor.Place, &r.floor.PostID, &r.stale, &low[0], &low[1], &posts, &places, &texts}
	_, err = pgx.ForEachRow(rows, dest, func() error {
		if found == nil {
			found = &raw{id: r.id, floor: r.floor, stale: r.stale}
		}
		if low[0] != nil {
			found.buckets = append(found.buckets, newBucket(r.id, Entry{Place: *low[0], PostID: *low[1]}, posts, places, texts))
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read feed: %w", err)
	}
	return found, nil
}

// bottom is a place below all posts.
var bottom = Entry{Place: math.MinInt64, PostID: math.MinInt64}

// read reads a page below a place. A viewer without a feed gets one.
func (s *stored) read(ctx context.Context, v timelines.Viewer, below rivers.Cursor, limit int) (*reading, error) {
	if err := admit(v); err != nil {
		return nil, err
	}
	top := below.Top()
	if top {
		below = rivers.Cursor{Place: math.MaxInt64, PostID: math.MaxInt64}
	}
	for range retries {
		p := &reading{stored: s, viewer: v, top: top, from: below, at: below, limit: limit}
		again, err := p.read(ctx)
		if err != nil {
			return nil, err
		}
		if !again {
			return p, nil
		}
	}
	return &reading{stored: s, viewer: v, unfilled: true}, nil // it keeps vanishing
}

// reading is a page that is being read.
type reading struct {
	*stored
	viewer   timelines.Viewer
	top      bool          // it is the first page
	from     rivers.Cursor // where the page begins
	limit    int
	feed     int64            // of what was read so far
	at       rivers.Cursor    // where to read on
	pending  []Entry          // read and not yet decided
	decided  rivers.Cursor    // the last place that was
	times    int              // how often was decided
	entries  []Entry          // seen by the viewer
	texts    map[int64]string // of what was read, if feeds embed them
	short    bool             // the page ends before it is full
	finished bool             // it ends where the feed ends
	unfilled bool             // there is no feed yet, so nothing was read
	floor    Entry            // of the feed
}

// read reads on until the page is full or the feed ends. It reports whether the page must
// begin again, because another feed was put in place of the one it was read from. Each
// statement after the first reads twice as many buckets: periods may have one post each, and
// pages may have few posts that their viewer may still see.
func (p *reading) read(ctx context.Context) (again bool, err error) {
	for buckets := 2; ; buckets *= 2 {
		f, err := p.readFeed(ctx, p.viewer.AccountID, p.at, buckets)
		if err != nil {
			return false, err
		}
		if f == nil {
			return p.begin(ctx)
		}
		if p.feed != 0 && p.feed != f.id {
			return true, nil
		}
		if p.feed, p.floor = f.id, f.floor; f.stale {
			if err := p.visited(ctx, f.id); err != nil {
				return false, err
			}
		}
		for _, b := range f.buckets {
			for _, e := range b.entries {
				if below(e, p.at) && !above(f.floor, e) {
					p.pending = append(p.pending, e)
				}
			}
			if p.texts == nil {
				p.texts = b.texts
			} else {
				maps.Copy(p.texts, b.texts)
			}
		}
		ends := len(f.buckets) < buckets
		if full, err := p.decide(ctx, ends); err != nil || full {
			return false, err
		}
		if ends {
			p.finished = true
			return false, nil
		}
		p.at = f.buckets[len(f.buckets)-1].low.cursor()
	}
}

// begin fills the feed of a first page, and reports whether it is whole. Further pages are not
// kept waiting.
func (p *reading) begin(ctx context.Context) (whole bool, err error) {
	if p.top {
		whole, err = p.fill(ctx, p.viewer.AccountID, 0, time.Now().Add(p.fillFor))
		if errors.Is(err, rivers.ErrUnavailable) { // others are faster, or it is too slow
			whole, err = false, nil
		}
	}
	p.unfilled = !whole
	return whole, err
}

// decide adds to the page what the viewer sees of the entries that were read, until it is
// full. It waits for twice as many as it decided last, so that a few statements decide a page
// whatever the buckets are. all says that no more entries follow. The session is asked about
// even if nothing is there to decide.
func (p *reading) decide(ctx context.Context, all bool) (full bool, err error) {
	for {
		n := (p.limit + 1) << min(p.times, patience)
		if len(p.pending) < n && (!all || len(p.pending) == 0 && p.times > 0) {
			return false, nil
		}
		if p.times >= patience && p.decided.Place < p.from.Place {
			p.short = true
			return true, nil
		}
		some := p.pending[:min(n, len(p.pending))]
		err = p.Primary.InSnapshot(ctx, func(sn *snapshot.Snapshot) error {
			seen, err := shown(ctx, sn, p.viewer, some)
			p.entries = append(p.entries, seen...)
			return err
		})
		if err != nil {
			return false, err
		}
		p.times++
		if p.pending = p.pending[len(some):]; len(some) > 0 {
			p.decided = some[len(some)-1].cursor()
		}
		if len(p.entries) > p.limit {
			return true, nil
		}
	}
}

// page is what was read. The last post that was decided may be one that the viewer must not
// know of, so the place of a short page's end is a coarser one.
func (p *reading) page() Page {
	page := pageOf(p.entries, p.limit)
	page.Texts = p.texts
	if p.short {
		page.More, page.Next = true, rivers.NextBelow(p.decided.Place+1, p.from)
	}
	return page
}

// below reports whether an entry stands strictly below a place, above whether a stands above
// b.
func below(e Entry, c rivers.Cursor) bool { return above(Entry{c.PostID, c.Place}, e) }

func above(a, b Entry) bool {
	return a.Place > b.Place || a.Place == b.Place && a.PostID > b.PostID
}

func (s *stored) visited(ctx context.Context, feed int64) error {
	const query = `UPDATE home_feeds SET visited_at = clock_timestamp() WHERE id = @id`
	if _, err := s.Secondary.Exec(ctx, query, pgx.StrictNamedArgs{"id": feed}); err != nil {
		return fmt.Errorf("keep visit: %w", err)
	}
	return nil
}

// Page implements Strategy. It reads from the primary store what is below the feed's floor, and
// all of it until the feed is filled.
func (s *stored) Page(ctx context.Context, v timelines.Viewer, below rivers.Cursor, limit int) (Page, error) {
	p, err := s.read(ctx, v, below, limit)
	if err != nil {
		return Page{}, err
	}
	if p.unfilled {
		return s.rest.Page(ctx, v, below, limit)
	}
	left := limit + 1 - len(p.entries)
	if !p.finished || left <= 0 || p.floor == bottom {
		return p.page(), nil
	}
	at := p.from
	if floor := p.floor.cursor(); at.Above(floor) {
		at = floor
	}
	rest, err := s.rest.Page(ctx, v, at, left)
	if err != nil {
		return Page{}, err
	}
	page := pageOf(append(p.entries, rest.Entries...), limit)
	page.Texts = p.texts
	if !page.More {
		page.More, page.Next = rest.More, rest.Next
	}
	return page, nil
}

// Apply implements Strategy. Feeds of viewers who now follow, leave or read other people are
// filled anew, and the old feed serves until that is done. Where a change concerns the
// followers of an account, or everybody, their feeds are dropped instead, and the next reader
// of each fills it. A feed comes into being by its viewer alone: nothing is pushed to those
// who have none.
func (s *stored) Apply(ctx context.Context, events ...timelines.Event) error {
	c := sorted(events)
	if err := s.dropped(ctx, c); err != nil {
		return err
	}
	if err := s.replaceAll(ctx, c.viewers); err != nil {
		return err
	}
	return s.push(ctx, c.touched)
}

// dropped drops the feeds of accounts and their followers, or of everybody.
func (s *stored) dropped(ctx context.Context, c changes) error {
	return inSteps(func(from Progress) (Progress, bool, error) { return s.dropStep(ctx, c, from) })
}

// dropStep is one step of dropped.
func (s *stored) dropStep(ctx context.Context, c changes, from Progress) (next Progress, more bool, err error) {
	if from == (Progress{}) {
		if c.everybody {
			if err := s.retireAll(ctx, c.tx); err != nil {
				return next, false, err
			}
		}
		if err := s.retire(ctx, c.accounts, c.tx); err != nil {
			return next, false, err
		}
	}
	return s.followers(ctx, c.accounts, from, s.batch, func(_ int64, followers []int64) error { return s.retire(ctx, followers, c.tx) })
}

// ApplyStep implements Stepper.
func (s *stored) ApplyStep(ctx context.Context, from Progress, event timelines.Event) (next Progress, more bool, err error) {
	return s.step(ctx, from, event, s.replaceAll)
}

// step is ApplyStep of a strategy that brings feeds to what their viewers follow now by replace. An
// event concerns followers in one way only, so Progress need not say in which.
func (s *stored) step(ctx context.Context, from Progress, event timelines.Event, replace func(context.Context, []ofViewer) error) (next Progress, more bool, err error) {
	c := sorted([]timelines.Event{event})
	if len(c.touched) > 0 {
		return s.pushStep(ctx, c.touched, from)
	}
	if err := replace(ctx, c.viewers); err != nil {
		return next, false, err
	}
	return s.dropStep(ctx, c, from)
}

// ApplyOwn implements Strategy. A post that the actor did something to is read in all its
// timelines, whichever were touched. The feeds of others are left to Apply.
func (s *stored) ApplyOwn(ctx context.Context, actor int64, events ...timelines.Event) error {
	c := sorted(events)
	others := func(v ofViewer) bool { return v.viewer != actor }
	until := time.Now().Add(s.fillFor)
	if err := s.replace(ctx, slices.DeleteFunc(c.viewers, others), until); err != nil {
		return err
	}
	return s.pushOwn(ctx, actor, c.touched)
}

// pushOwn brings the present state of posts into the actor's own feed.
func (s *stored) pushOwn(ctx context.Context, actor int64, changed []timelines.Touched) error {
	for touched := range slices.Chunk(changed, s.batch) {
		var pairs snapshot.ViewerPairs
		for _, t := range touched {
			pairs.Add(t.PostID, actor)
		}
		if err := s.pushPairs(ctx, pairs); err != nil {
			return err
		}
	}
	return nil
}

// replaceAll is replace without an end.
func (s *stored) replaceAll(ctx context.Context, changed []ofViewer) error {
	return s.replace(ctx, changed, time.Time{})
}

// replace brings the feeds of viewers to what their homes are now. A cache is only dropped, and so
// is a feed whose fill did not end in time: another call or its viewer's pages go on with that.
func (s *stored) replace(ctx context.Context, changed []ofViewer, until time.Time) error {
	if len(changed) == 0 {
		return nil
	}
	var viewers []int64
	for _, c := range changed {
		viewers = append(viewers, c.viewer)
	}
	if s.keep > 0 {
		return s.retire(ctx, viewers, 0)
	}
	feeds, err := s.lookUp(ctx, viewers)
	if err != nil {
		return err
	}
	for _, c := range changed {
		if len(feeds.of[c.viewer]) == 0 {
			continue
		}
		if c.tx == 0 {
			if c.tx, err = s.Primary.TxNow(ctx); err != nil {
				return err
			}
		}
		whole, err := s.fill(ctx, c.viewer, c.tx, until)
		if err != nil && (until.IsZero() || !errors.Is(err, rivers.ErrUnavailable)) {
			return err
		}
		if !whole {
			if err := s.retire(ctx, []int64{c.viewer}, c.tx); err != nil {
				return err
			}
		}
	}
	return nil
}
