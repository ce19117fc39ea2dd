package tiers_test

import (
	"context"
	"errors"
	"slices"

	"riverrun/rivers"
	"riverrun/timelines"
)

// openPages are pages open in browsers, of a node of their own, which nobody asks for a
// page any more: what it must know of a change it finds out itself when it brings
// something to them.
type openPages struct {
	*node
	// called says what they are in messages.
	called string
	// compared: they are compared with their rivers, as happens from time to time, and no
	// post is brought to them.
	compared bool
	pages    []*openPage
	asked    bool
}

type openPage struct {
	what  string // which of its viewer's pages it is
	watch rivers.Watch
	// shows is what it was brought of the post; stale that it is to be loaded again,
	// which says nothing.
	shows *rivers.Item
	stale bool
}

// open opens a page, in place of the same one if it is open, and returns what of the
// post stands on it.
func (o *openPages) open(s *town, v timelines.Viewer, what string, kind rivers.Kind, of string, post int64) *rivers.Item {
	s.t.Helper()
	o.pages = slices.DeleteFunc(o.pages, func(p *openPage) bool { return p.what == what && p.watch.Viewer == v })
	name, err := o.rivers.Resolve(s.ctx, v, kind, of, rivers.Fresh)
	var page *rivers.Page
	if err == nil {
		page, err = o.rivers.Visit(s.ctx, v, name, rivers.Cursor{})
	}
	if err != nil {
		if !errors.Is(err, rivers.ErrForbidden) && !errors.Is(err, rivers.ErrNotFound) {
			s.t.Fatalf("open %s of %q: %v", kind, of, err)
		}
		return nil
	}
	o.pages = append(o.pages, &openPage{what: what, watch: rivers.Watch{Viewer: v, Name: name, River: page.River}})
	return itemOf(page.Items, post)
}

func itemOf(items []rivers.Item, post int64) *rivers.Item {
	if i := slices.IndexFunc(items, func(it rivers.Item) bool { return it.PostID == post }); i >= 0 {
		return &items[i]
	}
	return nil
}

// ask brings the post to all pages at once, or compares them. Searches come last: to
// be brought up they ask how late it is.
func (o *openPages) ask(ctx context.Context, post int64) error {
	o.asked = true
	for _, search := range []bool{false, true} {
		var pages []*openPage
		var watches []rivers.Watch
		for _, p := range o.pages {
			if (p.watch.Name.Kind == rivers.Search) == search {
				pages, watches = append(pages, p), append(watches, p.watch)
			}
		}
		if o.compared {
			firsts, err := o.rivers.FirstPages(ctx, watches)
			if err != nil {
				return err
			}
			for i, first := range firsts {
				if pages[i].stale = first == nil; first != nil {
					pages[i].shows = itemOf(first.Items, post)
				}
			}
			continue
		}
		seen, err := o.rivers.Flush(ctx, watches, []int64{post})
		if err != nil {
			return err
		}
		for i, is := range seen {
			pages[i].stale, pages[i].shows = is.Swapped, itemOf(is.Items, post)
		}
	}
	return nil
}

// bring adds to all what of the post the viewer's pages are brought, the first time it
// is called by asking.
func (o *openPages) bring(s *town, all map[string]*rivers.Item, v timelines.Viewer, post int64) {
	s.t.Helper()
	if !o.asked {
		if err := o.ask(s.ctx, post); err != nil {
			s.t.Fatalf("%s: %v", o.called, err)
		}
	}
	for _, p := range o.pages {
		if p.watch.Viewer == v && !p.stale {
			all[o.called+", "+p.what] = p.shows
		}
	}
}
