package web

import (
	"context"
	"errors"
	"slices"

	"riverrun/rivers"
	"riverrun/timelines"
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
	differed, err := v.difference(ctx, f)
	if err != nil {
		return err
	}
	now := v.sight
	now.sets, now.at = f.page.Sets, f.page.At.Clock()
	v.sight = now
	v.socket.sight.Store(&now)
	result := "same"
	if differed {
		result = "healed"
	}
	v.socket.hub.metric.compared.WithLabelValues(result).Inc()
	return nil
}

// difference sends what the page shows otherwise than f: entries it lacks or
// shows older, then what has become of those it shows and f does not. The latter
// are read now: f may be older than they are. So is what of f grew too old meanwhile,
// by its name, which takes less time than the whole page.
func (v *view) difference(ctx context.Context, f *front) (differed bool, err error) {
	differed, rest, err := v.entries(ctx, f.batch, f.page.Sets, f.page.Items)
	if err != nil {
		return differed, err
	}
	on := make(map[int64]struct{}, len(f.page.Items))
	for i := range f.page.Items {
		on[f.page.Items[i].PostID] = struct{}{}
	}
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

// entries sends those entries that the page shows otherwise. late are the rest, from the
// first on that was decided too long ago to be sent.
func (v *view) entries(ctx context.Context, b *batch, sets *timelines.Sets, items []rivers.Item) (differed bool, late []int64, err error) {
	veils, err := v.socket.hub.cfg.pages.veils(ctx, items, sets)
	if err != nil {
		return false, nil, err
	}
	for i := range items {
		v.recheck(&items[i], veils[i])
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

// inquire reads posts by name and sends what has become of them: again and again while
// some of it is too old when its turn comes.
func (v *view) inquire(ctx context.Context, posts []int64) (differed bool, err error) {
	for len(posts) > 0 {
		sent, late, err := v.inquireOnce(ctx, posts)
		differed = differed || sent
		if err != nil {
			return differed, err
		}
		posts = late
	}
	return differed, nil
}

func (v *view) inquireOnce(ctx context.Context, posts []int64) (differed bool, late []int64, err error) {
	h := v.socket.hub
	slices.Sort(posts)
	w := v.watch
	w.Beyond = v.socket.beyond.Load()
	seen, err := h.cfg.rivers.Flush(ctx, []rivers.Watch{w}, posts)
	if err != nil {
		return false, nil, err
	}
	v.visited = h.cfg.now()
	v.settled = v.visited
	switch {
	case seen[0].SignedOut:
		return false, nil, timelines.ErrSignedOut
	case seen[0].Closed:
		return false, nil, rivers.ErrNotFound
	case seen[0].Swapped:
		v.socket.resync()
		return false, nil, nil
	}
	asked := make(map[int64]rivers.Stamp, len(posts))
	for _, id := range posts {
		asked[id] = rivers.Stamp{} // not in the river, as far as it says nothing else
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
	b := newBatch(h.cfg.pages, seen[0].Began)
	sent, late, err := v.entries(ctx, b, seen[0].Sets, seen[0].Items)
	return differed || sent, late, err
}
