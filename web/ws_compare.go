package web

import (
	"context"
	"errors"
	"slices"

	"riverrun/rivers"
	"riverrun/timelines"
)

// A front is a stretch of a river as it was read: its first page by a comparison, the page
// itself by a visit, or what follows one of those.
type front struct {
	page  *rivers.Page
	batch *batch
}

// maxStretch is how many entries of its river a page is compared with. Below that it is
// told only what becomes of the entries it shows.
const maxStretch = maxEntries

// errAgain: the page is to be read again. This reader is so slow that what was decided is
// too old to be sent, or the river was replaced between two statements. What was sent is
// shown, so the next try has less to send.
var errAgain = errors.New("decided too long ago")

// compare looks for what the bus or this hub lost.
func (v *view) compare(ctx context.Context, f *front) error {
	if !v.before.Top() {
		return v.sync(ctx) // a first page says nothing about an older one
	}
	if f.page.Sets.Sight() != v.sight.people {
		return v.sync(ctx)
	}
	// A front read before an entry went would bring it back.
	if f.page.River != v.river || v.stale(f.batch) || f.batch.began.Before(v.settled) {
		return nil
	}
	// Of what is below a front it is not known whether the viewer may see any: a visit says.
	if f.page.More && !v.more && len(v.shown) <= rivers.PageSize {
		return v.sync(ctx)
	}
	differed, err := v.follow(ctx, f)
	if err != nil {
		return err
	}
	result := "same"
	if differed {
		result = "healed"
	}
	v.socket.hub.metric.compared.WithLabelValues(result).Inc()
	return nil
}

// follow brings the page in line with its river, of which f is the first stretch, and
// reports whether anything differed. Then an ok is sent, and where one is owed.
func (v *view) follow(ctx context.Context, f *front) (differed bool, err error) {
	more := v.more
	differed, err = v.difference(ctx, f)
	v.owed = v.owed || differed || v.more != more
	if errors.Is(err, errAgain) {
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

// difference sends what the page shows otherwise than its river, of which f is the first
// stretch. It reads on as far down as the page reaches, one page after the other, and of
// each sends what is lacking or shown older. Then it asks what has become of those entries
// that it did not meet.
func (v *view) difference(ctx context.Context, f *front) (differed bool, err error) {
	// A page that shows its whole river goes on doing so, if it is longer than a first one.
	whole := !v.more && len(v.shown) > rivers.PageSize
	met := make(map[int64]struct{}, len(v.shown))
	for first := true; ; first = false {
		last, more, sent, err := v.take(ctx, f, whole, met)
		differed = differed || sent
		if err != nil {
			return differed, err
		}
		if first && (!v.more || v.floor.Top()) {
			v.floor = last // it fit on a first page, or the client did not say where it ends
		}
		if !more || !whole && !last.Above(v.floor) {
			v.more, v.floor = more, last
			break
		}
		if len(met) >= maxStretch {
			break
		}
		if f, err = v.below(ctx, f.page); err != nil {
			return differed, err
		}
		if f == nil {
			break
		}
	}
	asked, err := v.inquireRest(ctx, met)
	return differed || asked, err
}

// take sends of a stretch what the page lacks or shows older, down to the page's floor;
// until a first page is full, below it too. It returns the last entry met, and whether
// there is more below that.
func (v *view) take(ctx context.Context, f *front, whole bool, met map[int64]struct{}) (last rivers.Cursor, more, differed bool, err error) {
	for i := range f.page.Items {
		it := &f.page.Items[i]
		at := placeOf(it)
		if !whole && len(met) >= rivers.PageSize && v.floor.Above(at) {
			return last, true, differed, nil
		}
		if v.stale(f.batch) {
			return last, true, differed, errAgain
		}
		met[it.PostID], last = struct{}{}, at
		v.recheck(it, f.page.Sets)
		sent, err := v.entry(ctx, f.batch, f.page.Sets, it, true)
		if err != nil {
			return last, true, differed, err
		}
		differed = differed || sent
	}
	return f.page.Next, f.page.More, differed, nil
}

// below reads the stretch of the river that follows one. Nil: it cannot be read now.
func (v *view) below(ctx context.Context, page *rivers.Page) (*front, error) {
	h := v.socket.hub
	began := h.cfg.now()
	next, err := h.cfg.rivers.Visit(ctx, v.look.viewer, v.name, page.Next)
	if errors.Is(err, timelines.ErrBroad) || errors.Is(err, rivers.ErrUnavailable) {
		return nil, nil // what was read holds all the same
	}
	if err != nil {
		return nil, err
	}
	if next.Beyond && !v.socket.beyond.Load() {
		v.socket.beyond.Store(true) // told of all posts before they are read
		return nil, errAgain
	}
	if next.River != v.river {
		return nil, errAgain
	}
	if next.More && !page.Next.Above(next.Next) {
		return nil, nil // it would take too long to find any
	}
	v.visited = h.cfg.now()
	v.settled = v.visited
	return &front{page: next, batch: newBatch(h.cfg.pages, began, v.visited)}, nil
}

// inquireRest asks what has become of those entries shown that were not met.
func (v *view) inquireRest(ctx context.Context, met map[int64]struct{}) (differed bool, err error) {
	var rest []int64
	for id := range v.shown {
		if _, ok := met[id]; !ok {
			rest = append(rest, id)
		}
	}
	if len(rest) == 0 {
		return false, nil
	}
	return v.inquire(ctx, rest)
}

// inquire reads shown posts by name and sends what has become of them.
func (v *view) inquire(ctx context.Context, posts []int64) (differed bool, err error) {
	h := v.socket.hub
	slices.Sort(posts)
	w := v.watch
	w.Beyond = v.socket.beyond.Load()
	began := h.cfg.now()
	seen, err := h.cfg.rivers.Flush(ctx, []rivers.Watch{w}, posts)
	if err != nil {
		return false, err
	}
	v.visited = h.cfg.now()
	v.settled = v.visited
	switch {
	case seen[0].SignedOut:
		return false, timelines.ErrSignedOut
	case seen[0].Closed:
		return false, rivers.ErrNotFound
	case seen[0].Swapped:
		return false, errAgain
	}
	b := newBatch(h.cfg.pages, began, v.settled)
	asked := make(map[int64]rivers.Stamp, len(posts))
	for _, id := range posts {
		asked[id] = rivers.Stamp{} // not in the river, as far as it says nothing else
	}
	for i := range seen[0].Items {
		it := &seen[0].Items[i]
		delete(asked, it.PostID)
		v.recheck(it, seen[0].Sets)
		sent, err := v.entry(ctx, b, seen[0].Sets, it, true)
		if err != nil {
			return false, err
		}
		differed = differed || sent
	}
	for _, g := range seen[0].Gone {
		asked[g.PostID] = g.Stamp
	}
	for id, stamp := range asked {
		if err := v.gone(ctx, id, stamp); err != nil {
			return false, err
		}
		differed = true
	}
	return differed, nil
}

func placeOf(it *rivers.Item) rivers.Cursor {
	return rivers.Cursor{Place: it.Place, PostID: it.PostID}
}
