package strategies

import (
	"context"

	"riverrun/rivers"
	"riverrun/timelines"
)

// Rivers is riverrun's own strategy, behind the interface of the others. 001 has none of its
// kind. The nearest is the cache: made on the first read, thrown away when idle, and filled
// from the primary store where somebody reads on below it. A river differs from 001's cache in
// these points. A push that lands while it is built is not lost, it follows what its viewer
// follows, it is read by anchor to any depth, and it links posts instead of holding them.
type Rivers struct {
	store *rivers.Store
}

// NewRivers returns the strategy over the rivers of a started store.
func NewRivers(store *rivers.Store) *Rivers { return &Rivers{store} }

// Page implements Strategy. Rivers have pages of one size: a longer one is made of several,
// and a shorter one is cut.
func (r *Rivers) Page(ctx context.Context, v timelines.Viewer, below rivers.Cursor, limit int) (Page, error) {
	if err := admit(v); err != nil {
		return Page{}, err
	}
	name := rivers.Name{UserID: v.AccountID, Kind: rivers.Home, Order: rivers.Fresh}
	var entries []Entry
	for {
		page, err := r.store.Visit(ctx, v, name, below)
		if err != nil {
			return Page{}, err
		}
		for _, it := range page.Items {
			entries = append(entries, Entry{it.PostID, it.Place})
		}
		short := len(page.Items) < rivers.PageSize
		if len(entries) > limit {
			return pageOf(entries, limit), nil
		}
		if !page.More || short || len(entries) == limit {
			return Page{Entries: entries, More: page.More, Next: page.Next}, nil
		}
		below = page.Next
	}
}

// Apply implements Strategy: it does at once what Tiers 1 and 2 do in turn. A change that
// narrows has been acknowledged by Tier 0.
func (r *Rivers) Apply(ctx context.Context, events ...timelines.Event) error {
	for _, e := range events {
		replace, ok := e.(timelines.Replace)
		if !ok {
			continue
		}
		if err := r.store.RefreshAccess(ctx); err != nil {
			return err
		}
		open, err := r.store.Spread(ctx, replace)
		if err != nil {
			return err
		}
		for _, stale := range open {
			if _, err := r.store.Rebuild(ctx, stale); err != nil {
				return err
			}
		}
	}
	return r.store.Distribute(ctx, sorted(events).touched, rivers.All)
}

// ApplyOwn implements Strategy: it does what Tier 0 does.
func (r *Rivers) ApplyOwn(ctx context.Context, actor int64, events ...timelines.Event) error {
	if err := r.store.Distribute(ctx, sorted(events).touched, rivers.Scope{Actor: actor}); err != nil {
		return err
	}
	for _, e := range events {
		if replace, ok := e.(timelines.Replace); ok && !replace.Everybody && replace.ViewerID == actor {
			if err := r.store.Retire(ctx, replace); err != nil {
				return err
			}
		}
	}
	return nil
}
