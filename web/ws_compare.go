package web

import (
	"context"
	"errors"
	"slices"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/timelines/mutants"
)

// A front is a river's first page as a comparison read it.
type front struct {
	page  *rivers.Page
	batch *batch
}

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
	// That there is more below a first page says nothing of a longer one; and of one that
	// is not, there may be more that its viewer does not see: then each turn looks again.
	if v.more != f.page.More && (v.more || len(v.shown) <= len(f.page.Items)) {
		return v.sync(ctx)
	}
	if mutants.On(mutants.Uncompared) {
		return nil
	}
	differed, err := v.difference(ctx, f)
	if errors.Is(err, errStale) {
		v.socket.resync()
		return nil
	}
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

// difference sends what the page shows otherwise than f: entries it lacks or
// shows older, then what has become of those it shows and f does not. The latter
// are read now: f may be older than they are.
func (v *view) difference(ctx context.Context, f *front) (differed bool, err error) {
	for i := range f.page.Items {
		if v.stale(f.batch) {
			return differed, errStale
		}
		v.recheck(&f.page.Items[i], f.page.Sets)
		sent, err := v.entry(ctx, f.batch, f.page.Sets, &f.page.Items[i], true)
		if err != nil {
			return false, err
		}
		differed = differed || sent
	}
	on := make(map[int64]struct{}, len(f.page.Items))
	for i := range f.page.Items {
		on[f.page.Items[i].PostID] = struct{}{}
	}
	var rest []int64
	for id := range v.shown {
		if _, ok := on[id]; !ok {
			rest = append(rest, id)
		}
	}
	if len(rest) == 0 {
		return differed, nil
	}
	more, err := v.inquire(ctx, rest)
	return differed || more, err
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
		v.socket.resync()
		return false, nil
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
