package tiers_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/timelines/kinds"
)

// reader looks at random pages of one node, one after the other, and checks
// what must be true at any moment.
type reader struct {
	*workload
	node *node
	rng  *rand.Rand
	// seen is the stamp each entry was last shown at (R2).
	seen   map[pair]rivers.Stamp // river, post
	leased []int64
}

func (r *reader) fail(format string, args ...any) { r.t.Errorf("reader: "+format, args...) }

// look visits a random page of a random viewer, perhaps going down from it, and
// opens or closes it, or asks as a hub does.
func (r *reader) look() {
	var v timelines.Viewer
	if k := r.rng.IntN(len(r.people) + 1); k > 0 {
		v = timelines.Viewer{AccountID: r.people[k-1].id}
	}
	name, err := r.randomName(v)
	if err != nil {
		if !expected(err) {
			r.fail("resolve: %v", err)
		}
		return
	}
	at := rivers.Cursor{}
	for range 1 + r.rng.IntN(8) {
		since := r.board.since()
		page, err := r.node.rivers.Visit(r.ctx, v, name, at)
		if err != nil {
			if !expected(err) {
				r.fail("visit %+v: %v", name, err)
			}
			return
		}
		r.heed(v, name, page.River, page.Items, since, fmt.Sprintf("visit %+v below %+v", name, at))
		for i, it := range page.Items {
			if i > 0 && !below(it, page.Items[i-1]) || !at.Top() && i == 0 && !belowCursor(it, at) {
				r.fail("visit %+v: entry %d (post %d at %d) is not below the one before", name, i, it.PostID, it.Place)
			}
		}
		switch r.rng.IntN(12) {
		case 0, 1, 2:
			if err := r.node.rivers.Lease(r.ctx, []int64{page.River}); err != nil {
				r.fail("lease: %v", err)
			}
			r.leased = append(r.leased, page.River)
		case 3:
			if err := r.node.rivers.Unlease(r.ctx, r.leased); err != nil {
				r.fail("unlease: %v", err)
			}
			r.leased = nil
		case 4:
			if err := r.node.rivers.Freshen(r.ctx, name); err != nil {
				r.fail("freshen %+v: %v", name, err)
			}
		case 5, 6:
			r.flush(v, name, page)
		}
		if !page.More {
			return
		}
		at = page.Next
	}
}

// flush asks as a hub does, of the page's posts and one other.
func (r *reader) flush(v timelines.Viewer, name rivers.Name, page *rivers.Page) {
	var posts []int64
	for _, it := range page.Items {
		posts = append(posts, it.PostID)
	}
	if c := r.board.pick(r.rng, anyCard); c != nil {
		posts = append(posts, c.id)
	}
	since := r.board.since()
	seen, err := r.node.rivers.Flush(r.ctx, []rivers.Watch{{Viewer: v, Name: name, River: page.River}}, posts)
	if err != nil {
		r.fail("flush %+v: %v", name, err)
		return
	}
	r.heed(v, name, page.River, seen[0].Items, since, fmt.Sprintf("flush %+v", name))
	for _, g := range seen[0].Gone {
		r.stamp(page.River, g.PostID, g.Stamp, "gone from a flush")
	}
}

// heed checks R2 and R4 of what was shown.
func (r *reader) heed(v timelines.Viewer, name rivers.Name, river int64, items []rivers.Item, since int64, what string) {
	leaks := r.board.leaks(v, name.Kind, items, since)
	if name.Kind == rivers.Search {
		leaks = append(leaks, r.hits(v, name, items, since)...)
	}
	for _, l := range leaks {
		r.fail("R4: %s: %s", what, l)
	}
	for _, it := range items {
		r.stamp(river, it.PostID, it.Stamp, what)
	}
}

func (r *reader) stamp(river, post int64, s rivers.Stamp, what string) {
	key := pair{river, post}
	if was, ok := r.seen[key]; ok && (s.Entry < was.Entry || s.Fold < was.Fold) {
		r.fail("R2: %s: post %d in river %d at %+v, was at %+v", what, post, river, s, was)
	}
	r.seen[key] = s
}

func below(it, above rivers.Item) bool {
	return belowCursor(it, rivers.Cursor{Place: above.Place, PostID: above.PostID})
}

func belowCursor(it rivers.Item, at rivers.Cursor) bool {
	return it.Place < at.Place || it.Place == at.Place && it.PostID < at.PostID
}

// randomName resolves a random page for the viewer, as its address would.
func (r *reader) randomName(v timelines.Viewer) (rivers.Name, error) {
	order := rivers.Fresh
	if r.rng.IntN(4) == 0 {
		order = rivers.Created
	}
	pages := append(rivers.Kinds(), // some more often than others
		rivers.Home, rivers.Home, rivers.Everything, rivers.Hashtag, rivers.Subfeed, rivers.Search, rivers.Search)
	kind := pages[r.rng.IntN(len(pages))]
	of := ""
	switch kind {
	case rivers.List:
		of = listSlugs[r.rng.IntN(len(listSlugs))]
	case rivers.User, rivers.Likes, rivers.Comments:
		of = r.people[r.rng.IntN(len(r.people))].name
		if r.rng.IntN(5) == 0 {
			of = ghostPrefix + "1"
		}
	case rivers.Subfeed:
		of = r.people[r.rng.IntN(len(r.people))].name + "/" + []string{kinds.PrivateTerm, "photos"}[r.rng.IntN(2)]
	case rivers.Search:
		of = searches[r.rng.IntN(len(searches))].text
	case rivers.Group:
		of = r.groups[r.rng.IntN(len(r.groups))]
	case rivers.Everything, rivers.Best, rivers.MostFaved:
		of = langs[r.rng.IntN(len(langs))]
	case rivers.Hashtag:
		of = tags[r.rng.IntN(len(tags))]
	case rivers.Post:
		if c := r.board.pick(r.rng, anyCard); c != nil {
			of = c.code
		}
	}
	n, err := r.node.rivers.Resolve(r.ctx, v, kind, of, order)
	if err == nil && kind.HasModes() && r.rng.IntN(3) == 0 {
		n = n.In(rivers.FriendsOnly)
	}
	return n, err
}

// expected are the answers which a page or a change may rightly get while
// others change things meanwhile.
func expected(err error) bool {
	var invalid *timelines.InvalidError
	for _, e := range []error{
		rivers.ErrForbidden, rivers.ErrNotFound, rivers.ErrSignInNeeded, timelines.ErrNotFound, timelines.ErrForbidden,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	return errors.As(err, &invalid) && slices.Contains([]string{
		"to_forbidden", "to_unknown", "reader_self", "to_eyes", "slug_taken", "subfeed_full",
		"member_none", "admin_last", "admin_demote", "member_remove", "name_unknown",
		"list_taken", "list_unknown", "member_unknown", "listing_none", "listing_closed", "listing_place", "to_closed",
	}, invalid.Code)
}
