package strategies

import (
	"context"
	"fmt"
	"sync"
	"time"

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

// keepsFeeds reports whether the strategy of that name stores feeds that changes must come into.
func keepsFeeds(name string) bool { return name != NameRivers && name != NameRead }

// Homes makes the home pages of one process of a site by the strategy that its operator selected.
// All other pages are rivers. It is safe for concurrent use.
//
// A home page of another strategy than rivers is not live: it is right when it is read, and a
// reload renews it. Homes of another order or mode are rivers, whatever the strategy.
//
// The processes of a site must all have the same strategy, as each brings changes into feeds. The
// last call of Select counts. A process that still has another strategy reads its home pages
// from the primary store, and leaves changes to the others.
type Homes struct {
	stores   Stores
	name     string
	strategy Strategy // nil: rivers
	read     *Read

	// mu guards the fields below: whether the site keeps feeds, as it was asked then.
	mu    sync.Mutex
	keeps bool
	asked time.Time
}

// NewHomes returns the home pages by the strategy of that name, one of Names.
func NewHomes(name string, s Stores) *Homes {
	return &Homes{stores: s, name: name, strategy: New(name, s), read: NewRead(s.Primary, 0)}
}

// Still reports whether the page of that name is not live, because another strategy than rivers
// makes it.
func (h *Homes) Still(n rivers.Name) bool {
	return h.strategy != nil && n.Kind == rivers.Home && n.Order == rivers.Fresh && n.Mode() == rivers.WithActivity
}

// Visit returns a page as rivers.Store.Visit does.
func (h *Homes) Visit(ctx context.Context, v timelines.Viewer, n rivers.Name, before rivers.Cursor) (*rivers.Page, error) {
	if !h.Still(n) {
		return h.stores.Rivers.Visit(ctx, v, n, before)
	}
	return h.stores.Rivers.Compose(ctx, v, n, before, func(ctx context.Context, below rivers.Cursor, limit int) (rivers.Chosen, error) {
		page, err := h.page(ctx, v, below, limit)
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

// page is the strategy's Page. Feeds that other processes bring no changes into are not read.
func (h *Homes) page(ctx context.Context, v timelines.Viewer, below rivers.Cursor, limit int) (Page, error) {
	if keepsFeeds(h.name) {
		selected, err := h.selected(ctx)
		if err != nil {
			return Page{}, err
		}
		if selected != h.name {
			return h.read.Page(ctx, v, below, limit)
		}
	}
	return h.strategy.Page(ctx, v, below, limit)
}

// selected returns the name of the site's strategy. After a loss of the secondary store, which has
// lost all feeds too, that is the strategy of the first process to ask.
func (h *Homes) selected(ctx context.Context) (string, error) {
	name, err := Selected(ctx, h.stores.Secondary)
	if err != nil || name != "" {
		return name, err
	}
	if err := selectFirst(ctx, h.stores.Secondary, h.name); err != nil {
		return "", err
	}
	return Selected(ctx, h.stores.Secondary)
}

// Entry returns one entry of a page as rivers.Store.Entry does.
func (h *Homes) Entry(ctx context.Context, v timelines.Viewer, n rivers.Name, postID int64) (*rivers.Item, *access.Sets, error) {
	if !h.Still(n) {
		return h.stores.Rivers.Entry(ctx, v, n, postID)
	}
	return h.stores.Rivers.ComposeEntry(ctx, v, n, postID)
}

// remembered is how long a process remembers whether the site keeps feeds. Select waits so long.
const remembered = time.Second

// Keeps reports whether changes must come into stored feeds of the site by ApplyStep. Each change asks it,
// so it asks the store once a second.
func (h *Homes) Keeps(ctx context.Context) (bool, error) {
	if keepsFeeds(h.name) {
		return true, nil // ApplyStep finds out if others do not
	}
	h.mu.Lock()
	keeps, fresh := h.keeps, time.Since(h.asked) < remembered
	h.mu.Unlock()
	if fresh {
		return keeps, nil
	}
	asked := time.Now() // before the answer, which is no newer
	selected, err := h.selected(ctx)
	if err != nil {
		return false, err
	}
	keeps = keepsFeeds(selected)
	h.mu.Lock()
	defer h.mu.Unlock()
	if asked.After(h.asked) {
		h.keeps, h.asked = keeps, asked
	}
	return keeps, nil
}

// ApplyOwn brings the actor's own change into their feed, before it is answered. See Strategy.
func (h *Homes) ApplyOwn(ctx context.Context, actor int64, events ...timelines.Event) error {
	if h.strategy == nil {
		return nil
	}
	return h.strategy.ApplyOwn(ctx, actor, events...)
}

// ApplyStep brings a change into all feeds of the site, a step further. See Stepper. It returns an
// error in a process that has another strategy than the site, and does nothing if that stores no feeds.
func (h *Homes) ApplyStep(ctx context.Context, from Progress, event timelines.Event) (next Progress, more bool, err error) {
	selected, err := h.selected(ctx)
	if err != nil || !keepsFeeds(selected) {
		return next, false, err
	}
	stepper, ok := h.strategy.(Stepper)
	if selected != h.name || !ok {
		return next, false, fmt.Errorf("this process makes home pages by %q, and the one that started last by %q: start all with the same RIVERRUN_HOME", h.name, selected)
	}
	return stepper.ApplyStep(ctx, from, event)
}

// Expire removes stored feeds that are out of use, and all of other strategies than the site's. See
// Expirer.
func (h *Homes) Expire(ctx context.Context) error {
	selected, err := h.selected(ctx)
	if err != nil {
		return err
	}
	for _, name := range Names() {
		if keepsFeeds(name) && name != selected {
			if err := newStored(h.stores, name, 0, nil, nil).retireAll(ctx, 0); err != nil {
				return err
			}
		}
	}
	if e, ok := h.strategy.(Expirer); ok {
		return e.Expire(ctx)
	}
	return NewTimed(h.stores, 0).Expire(ctx) // it removes what all strategies have retired
}

// Check compares the feeds that the strategy stores with the primary store. See Checker. It
// reports that there are none if the strategy stores no feeds.
func (h *Homes) Check(ctx context.Context) (report Report, stores bool, err error) {
	checker, stores := h.strategy.(Checker)
	if !stores {
		return report, false, nil
	}
	report, err = checker.Check(ctx)
	return report, true, err
}
