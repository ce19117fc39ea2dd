package strategies

import (
	"context"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/timelines/access"
	"riverrun/timelines/snapshot"
)

// The names of the strategies, as an operator selects one.
const (
	NameRivers     = "rivers"
	NameRead       = "read"
	NameTimed      = "timed"
	NameSized      = "sized"
	NameCache      = "cache"
	NameAggregator = "aggregator"
)

// Names returns the names of all strategies, rivers first.
func Names() []string {
	return []string{NameRivers, NameRead, NameTimed, NameSized, NameCache, NameAggregator}
}

// New returns the strategy of that name with its usual periods and sizes. It returns nil for
// rivers, which need no other strategy, and for a name that is not among Names.
func New(name string, s Stores) Strategy {
	switch name {
	case NameRead:
		return NewRead(s.Primary, 0)
	case NameTimed:
		return NewTimed(s, 0)
	case NameSized:
		return NewSized(s, 0)
	case NameCache:
		return NewCache(s, NewRead(s.Primary, 0), 0, 0)
	case NameAggregator:
		return NewAggregator(s, NewRead(s.Primary, 0), 0)
	}
	return nil
}

// Homes serves the pages of rivers. A strategy may make the home pages in fresh order instead.
// It is safe for concurrent use.
//
// A home page of another strategy than rivers is not live: it is right when it is read, and a
// reload renews it. Homes of another order or mode are rivers, whatever the strategy.
type Homes struct {
	rivers   *rivers.Store
	strategy Strategy // nil: rivers
}

// NewHomes returns the pages of a store with the home pages of a strategy; nil means that those
// are rivers too.
func NewHomes(store *rivers.Store, s Strategy) *Homes { return &Homes{store, s} }

// Still reports whether the page of that name is not live, because the strategy makes it.
func (h *Homes) Still(n rivers.Name) bool {
	return h.strategy != nil && n.Kind == rivers.Home && n.Order == rivers.Fresh && n.Mode() == rivers.WithActivity
}

// Visit returns a page as rivers.Store.Visit does.
func (h *Homes) Visit(ctx context.Context, v timelines.Viewer, n rivers.Name, before rivers.Cursor) (*rivers.Page, error) {
	if !h.Still(n) {
		return h.rivers.Visit(ctx, v, n, before)
	}
	return h.rivers.Compose(ctx, v, n, before, func(ctx context.Context, below rivers.Cursor, limit int) (rivers.Chosen, error) {
		page, err := h.strategy.Page(ctx, v, below, limit)
		if err != nil {
			return rivers.Chosen{}, err
		}
		chosen := rivers.Chosen{More: page.More, Next: page.Next}
		for _, e := range page.Entries {
			chosen.Posts = append(chosen.Posts, snapshot.Placed(e))
		}
		return chosen, nil
	})
}

// Entry returns one entry of a page as rivers.Store.Entry does.
func (h *Homes) Entry(ctx context.Context, v timelines.Viewer, n rivers.Name, postID int64) (*rivers.Item, *access.Sets, error) {
	if !h.Still(n) {
		return h.rivers.Entry(ctx, v, n, postID)
	}
	return h.rivers.ComposeEntry(ctx, v, n, postID)
}
