package live

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"math"
	"slices"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/timelines/access"
	"riverrun/timelines/notices"
	"riverrun/timelines/snapshot"
)

// A stretch is a part of a river as it was read: the first page by a comparison, the page itself
// by a visit, or what follows one of those.
type stretch struct {
	page  *rivers.Page
	batch *batch
	// state is what a comparison read, nil of other stretches.
	state *firstPage
}

// A firstPage is all that the comparison of pages with the first page of their river depends on. Two that
// are equal find the same. So a page that did not differ and has done nothing since need not be compared
// with an equal one.
type firstPage struct {
	river  int64
	more   bool
	next   rivers.Cursor
	stamps uint64 // a hash of the entries' posts, places and stamps
	// The entries were decided by the viewer's sets, by the last change that may show on everybody's pages, as a
	// new name does, by the viewer's notifications, and by the comments that the viewer has read.
	sets      *access.Sets
	common    int64
	label     notices.Label
	readMarks uint64
}

// stateOf returns what a comparison with a page depends on, besides what the viewer has read.
func stateOf(p *rivers.Page, common int64) firstPage {
	var h maphash.Hash
	h.SetSeed(hashSeed)
	for i := range p.Items {
		maphash.WriteComparable(&h, positionOf(&p.Items[i]))
		maphash.WriteComparable(&h, p.Items[i].Stamp)
	}
	return firstPage{river: p.River, more: p.More, next: p.Next, stamps: h.Sum64(), sets: p.Sets, common: common, label: p.Label}
}

// isWhole reports whether the state says all that a comparison depends on. While the node does not
// remember what somebody has read, it does not.
func (f *firstPage) isWhole() bool { return f.readMarks != 0 || f.sets.AccountID == 0 }

// maxStretch is how many entries of its river a page is compared with. Further below, only
// changes of the entries that it shows are sent.
const maxStretch = maxEntries

// errReplaced says that the page is to be visited again, as its river was replaced between two
// statements. The page shows what was sent, so the next try has less to send.
var errReplaced = errors.New("river replaced while it was read")

// compare looks for changes that the bus or this hub lost.
func (v *shownPage) compare(ctx context.Context, f *stretch) error {
	if !v.before.Top() {
		return v.sync(ctx) // a first page says nothing about an older one
	}
	if f.page.Sets.Fingerprint() != v.fingerprint.people {
		return v.sync(ctx)
	}
	// A first page that was read before an entry went would bring the entry back.
	if f.page.River != v.river || v.stale(f.batch) || f.batch.began.Before(v.decidedAt) {
		return nil
	}
	// Only a visit says whether the viewer may see anything below the first page.
	if f.page.More && !v.more && len(v.shown) <= rivers.PageSize {
		return v.sync(ctx)
	}
	more, floor := v.more, v.floor
	differed, err := v.follow(ctx, f)
	if err != nil {
		return err
	}
	if !differed && v.more == more && v.floor == floor && !v.beyondFirst {
		v.same = f.state
	}
	now := v.fingerprint
	now.sets, now.clock = f.page.Sets, f.page.At.Clock()
	v.fingerprint = now
	v.socket.fingerprint.Store(&now)
	if marks := f.state.readMarks; marks != 0 {
		v.socket.readMarks.Store(marks)
	}
	if differed {
		v.socket.hub.metric.compared.WithLabelValues("healed").Inc()
	} else {
		v.socket.hub.metric.same.Inc()
	}
	return nil
}

// follow sends what the page lacks of its river, and reports whether anything differed. f is the
// first stretch of the river. An ok follows if something did, or if one is owed.
func (v *shownPage) follow(ctx context.Context, f *stretch) (differed bool, err error) {
	more := v.more
	differed, err = v.difference(ctx, f)
	v.owed = v.owed || differed || v.more != more
	if errors.Is(err, errReplaced) {
		v.socket.resync()
		return differed, nil
	}
	if err != nil {
		return differed, err
	}
	v.claimed = false
	if !v.owed {
		return differed, nil
	}
	v.owed = false
	return differed, v.sendOK(ctx)
}

// difference sends where the page differs from its river. f is the first stretch of the river.
// It reads on as far down as the page reaches, one page after the other, and sends of each what
// the page lacks or shows older. Then it inquires what became of the entries that it did not
// meet, and of those that were decided too long ago when their turn came: to read these alone
// takes less time than the whole page.
func (v *shownPage) difference(ctx context.Context, f *stretch) (differed bool, err error) {
	// A page that shows its whole river, and is longer than a first page, goes on showing all.
	whole := !v.more && len(v.shown) > rivers.PageSize
	v.beyondFirst = false
	met := make(map[int64]struct{}, len(v.shown))
	var late []int64
	var last rivers.Cursor // the position of the last of those met
	for first := true; ; first = false {
		items := f.page.Items
		if !whole {
			items = v.reached(items, met)
		}
		for i := range items {
			met[items[i].PostID], last = struct{}{}, positionOf(&items[i])
		}
		below := len(items) < len(f.page.Items) // the page does not reach further
		if !below {
			last = f.page.Next
		}
		sent, stale, err := v.entries(ctx, f.batch, f.page.Sets, items)
		differed, late = differed || sent, append(late, stale...)
		if err != nil {
			return differed, err
		}
		if first && (!v.more || v.floor.Top()) {
			v.floor = last // the river fit on a first page, or the client did not say where the page ends
			if low := v.lowestAbove(rivers.Cursor{Place: math.MinInt64}); !v.more && last.Above(low) {
				v.floor = low // it fit there before entries above its lowest ones came back
			}
		}
		if below || !f.page.More || !whole && !last.Above(v.floor) {
			v.more, v.floor = below || f.page.More, last
			break
		}
		if len(met) >= maxStretch {
			break
		}
		v.beyondFirst = true
		if f, err = v.below(ctx, f.page); err != nil {
			return differed, err
		}
		if f == nil {
			break
		}
	}
	for id := range v.shown {
		if _, ok := met[id]; !ok {
			late = append(late, id)
		}
	}
	v.beyondFirst = v.beyondFirst || len(late) > 0
	asked, err := v.inquire(ctx, late)
	return differed || asked, err
}

// reached returns the items of a stretch that are above the page's floor, and until a first page
// is full those below the floor too.
func (v *shownPage) reached(items []rivers.Item, met map[int64]struct{}) []rivers.Item {
	for i := range items {
		if len(met)+i >= rivers.PageSize && v.floor.Above(positionOf(&items[i])) {
			return items[:i]
		}
	}
	return items
}

// below reads the stretch of the river that follows a page. It returns nil if that cannot be read
// now.
func (v *shownPage) below(ctx context.Context, page *rivers.Page) (*stretch, error) {
	h := v.socket.hub
	next, err := h.cfg.Rivers.Visit(ctx, v.renderContext.Viewer, v.name, page.Next)
	if errors.Is(err, snapshot.ErrBroad) || errors.Is(err, rivers.ErrUnavailable) {
		return nil, nil // what was read before is still right
	}
	if err != nil {
		return nil, err
	}
	if next.Beyond && !v.socket.beyond.Load() {
		v.socket.beyond.Store(true) // from now on the socket is told of all posts, before they are read
		return nil, errReplaced
	}
	if next.River != v.river {
		return nil, errReplaced
	}
	if next.More && !page.Next.Above(next.Next) {
		return nil, nil // it would take too long to find any
	}
	v.visited = h.cfg.Now()
	v.decidedAt = v.visited
	return &stretch{page: next, batch: newBatch(h.cfg.Pages, next.Began)}, nil
}

// entries sends the entries that the page shows otherwise or lacks. late are the posts from the
// first one on that was decided too long ago to be sent.
func (v *shownPage) entries(ctx context.Context, b *batch, sets *access.Sets, items []rivers.Item) (differed bool, late []int64, err error) {
	tags, err := v.socket.hub.cfg.Pages.Tags(ctx, items, sets)
	if err != nil {
		return false, nil, err
	}
	for i := range items {
		v.recheck(&items[i], tags[i])
		sent, err := v.entry(ctx, b, sets, &items[i], true)
		if errors.Is(err, errStale) {
			for _, it := range items[i:] {
				late = append(late, it.PostID)
			}
			return differed, late, nil
		}
		if err != nil {
			return differed, nil, err
		}
		differed = differed || sent
	}
	return differed, nil, nil
}

// maxInVain is how often in a row nothing of what was read may be recent enough to be sent, until
// the client is asked to come back later.
const maxInVain = 3

// inquire reads some posts, and sends their present state. If a decision is too old when its
// turn comes, the post is read again.
func (v *shownPage) inquire(ctx context.Context, posts []int64) (differed bool, err error) {
	for inVain := 0; len(posts) > 0; {
		sent, late, err := v.inquireOnce(ctx, posts)
		differed = differed || sent
		if err != nil {
			return differed, err
		}
		if inVain++; len(late) < len(posts) {
			inVain = 0
		}
		if inVain == maxInVain {
			return differed, fmt.Errorf("%d entries could not be sent within %v of being read", len(late), v.socket.hub.cfg.StaleAfter)
		}
		posts = late
	}
	return differed, nil
}

func (v *shownPage) inquireOnce(ctx context.Context, posts []int64) (differed bool, late []int64, err error) {
	h := v.socket.hub
	slices.Sort(posts)
	w := v.watch
	w.Beyond = v.socket.beyond.Load()
	seen, err := h.cfg.Rivers.Flush(ctx, []rivers.Watch{w}, posts)
	if err != nil {
		return false, nil, err
	}
	v.visited = h.cfg.Now()
	v.decidedAt = v.visited
	switch {
	case seen[0].SignedOut:
		return false, nil, timelines.ErrSignedOut
	case seen[0].Closed:
		return false, nil, rivers.ErrNotFound
	case seen[0].Swapped:
		return false, nil, errReplaced
	}
	asked := make(map[int64]rivers.Stamp, len(posts))
	for _, id := range posts {
		asked[id] = rivers.Stamp{} // it is not in the river, unless the answer says more
	}
	for i := range seen[0].Items {
		delete(asked, seen[0].Items[i].PostID)
	}
	for _, g := range seen[0].Gone {
		asked[g.PostID] = g.Stamp
	}
	differed = len(asked) > 0
	for id, stamp := range asked {
		if err := v.gone(ctx, id, stamp); err != nil {
			return differed, nil, err
		}
	}
	b := newBatch(h.cfg.Pages, seen[0].Began)
	sent, late, err := v.entries(ctx, b, seen[0].Sets, seen[0].Items)
	return differed || sent, late, err
}

func positionOf(it *rivers.Item) rivers.Cursor {
	return rivers.Cursor{Place: it.Place, PostID: it.PostID}
}
