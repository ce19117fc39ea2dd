package rivers

import (
	"context"
	"slices"
	"time"

	"riverrun/timelines"
	"riverrun/timelines/access"
	"riverrun/timelines/notices"
	"riverrun/timelines/snapshot"
)

// Chosen is a part of a home feed that was not chosen by a river, newest first.
type Chosen struct {
	Posts []snapshot.Placed
	// More: older posts exist, or may exist. Next is where they begin.
	More bool
	Next Cursor
}

// Choose returns the next part of a home feed below a place, of at most limit posts. It may
// return fewer, even none, though there are more.
type Choose func(ctx context.Context, below Cursor, limit int) (Chosen, error)

// maxChoices is how often one page asks for posts, each time for twice as many as before.
const maxChoices = 4

// Compose returns a page of the home feed n with the posts that choose returns, at the places
// that it says. Their entries are computed and decided as those of the home's river would be,
// and no river is made. So what the viewer may not see, or hides, is left out even if it was
// chosen (R4). Nothing is stored but folds that are missing or outdated.
//
// Each page reads the home's list of timelines and the states of its posts from the primary
// store, so it takes the longer the more its viewer follows. Page.River is 0.
//
// A page may come out short, even empty, though older entries exist, if its viewer may see little
// of what was chosen. More and Next say how to go on.
//
// Errors: those of choose, ErrSignInNeeded, ErrForbidden, timelines.ErrSignedOut.
func (s *Store) Compose(ctx context.Context, v timelines.Viewer, n Name, before Cursor, choose Choose) (*Page, error) {
	r := visit{store: s, viewer: v, name: n, before: before, at: before, page: &Page{Name: n}}
	decided := before
	for choices := 0; ; {
		again, more, err := r.compose(ctx, choose, (PageSize+1)<<choices, &decided)
		if err != nil {
			return nil, err
		}
		if again {
			choices, decided = 0, before
			if err := r.restart(); err != nil {
				return nil, err
			}
			continue
		}
		if !more {
			return r.page, nil
		}
		if choices++; choices == maxChoices {
			r.page.More, r.page.Next = true, r.goesOn()
			return r.page, nil
		}
	}
}

// goesOn returns where a page goes on that ended before it was full. It names the moment of a post
// of others only if no coarser one comes on, and stands above no entry of the page.
func (r *visit) goesOn() Cursor {
	next := NextBelow(r.at.Place, r.before)
	if next.Place < r.at.Place && (r.before.Top() || r.at.Place < r.before.Place) {
		next = r.at // more posts may stand at its place
	}
	if n := len(r.page.Items); n > 0 {
		if last := (Cursor{Place: r.page.Items[n-1].Place, PostID: r.page.Items[n-1].PostID}); next.Above(last) {
			return last
		}
	}
	return next
}

// compose adds to the page what its viewer may see of the next posts that are chosen below the last
// one that was decided. Posts above it are chosen again where a part ended at a coarser moment, or
// where they moved meanwhile. again says that access changed meanwhile, so that the page must begin
// again, and more that the page is not full and goes on.
func (r *visit) compose(ctx context.Context, choose Choose, limit int, decided *Cursor) (again, more bool, err error) {
	d, err := r.store.beginDecision(ctx, r.viewer, r.name)
	if err != nil {
		return false, false, err
	}
	if r.page.Began.IsZero() {
		r.page.Began, r.page.Sets, r.page.Label, r.clock = d.began, d.sets, d.label, d.clock
	}
	if d.clock != r.clock {
		return true, false, nil
	}
	chosen, err := choose(ctx, r.at, limit)
	if err != nil {
		return false, false, err
	}
	posts := slices.DeleteFunc(chosen.Posts, func(p snapshot.Placed) bool {
		return !decided.Above(Cursor{Place: p.Place, PostID: p.PostID})
	})
	items, err := r.store.composed(ctx, r.name, d, posts)
	if err != nil {
		return false, false, err
	}
	r.page.At = Moment{d.clock, r.store.loads()}
	if ok, err := r.store.consistent(ctx, d.clock, d.loads, true); err != nil || !ok {
		return true, false, err
	}
	if n := len(posts); n > 0 {
		*decided = Cursor{Place: posts[n-1].Place, PostID: posts[n-1].PostID}
	}
	if r.page.add(items) || !chosen.More {
		return false, false, nil
	}
	r.at = chosen.Next
	return false, true, nil
}

// ComposeEntry returns the entry of one post in the home feed n as its viewer may see it now, and
// the sets it was decided with. It is Store.Entry for a home feed that Compose serves. ErrNotFound
// means that the feed does not hold the post.
func (s *Store) ComposeEntry(ctx context.Context, v timelines.Viewer, n Name, postID int64) (*Item, *access.Sets, error) {
	for range maxOvertaken {
		d, err := s.beginDecision(ctx, v, n)
		if err != nil {
			return nil, nil, err
		}
		items, err := s.composed(ctx, n, d, []snapshot.Placed{{PostID: postID}})
		if err != nil {
			return nil, nil, err
		}
		ok, err := s.consistent(ctx, d.clock, d.loads, true)
		switch {
		case err != nil:
			return nil, nil, err
		case ok && len(items) == 0:
			return nil, nil, ErrNotFound
		case ok:
			return &items[0], d.sets, nil
		}
	}
	return nil, nil, errOvertaken
}

// beginning is what a decision that reads no river begins with.
type beginning struct {
	began time.Time // when its first statement was sent
	loads uint64    // how much the caches had loaded before that
	clock timelines.Clock
	label notices.Label
	sets  *access.Sets
}

// beginDecision reads the clocks before anything of the primary store, so that a narrowing
// acknowledged by then is known (R4).
func (s *Store) beginDecision(ctx context.Context, v timelines.Viewer, n Name) (beginning, error) {
	d := beginning{began: time.Now(), loads: s.loads()}
	raw, err := s.readPage(ctx, n, Cursor{}, 0) // of a river, if one is left over, no entry
	if err != nil {
		return d, err
	}
	d.clock, d.label = raw.clock, raw.label()
	d.sets, err = s.admit(ctx, v, n, raw.clock)
	return d, err
}

// composed computes and decides the entries of these posts, which are not stored. A post without
// a place stands where its river's entry would. Folds come from memory or from the store, as for
// a stored page.
func (s *Store) composed(ctx context.Context, n Name, d beginning, posts []snapshot.Placed) ([]Item, error) {
	if len(posts) == 0 {
		return nil, nil
	}
	ids := make([]int64, len(posts))
	var viewers snapshot.ViewerPairs
	for i, p := range posts {
		ids[i] = p.PostID
		viewers.Add(p.PostID, n.UserID)
	}
	raw := make([]rawEntry, 0, len(posts))
	err := s.primary.InSnapshot(ctx, func(sn *snapshot.Snapshot) error {
		g := generation{name: n}
		timelineIDs, err := g.content().timelineIDs(ctx, sn, n)
		if err != nil {
			return err
		}
		g.listed = setOf(timelineIDs)
		states, err := sn.States(ctx, ids, viewers)
		if err != nil {
			return err
		}
		entryOf, err := g.content().entries(ctx, sn, g, states)
		if err != nil {
			return err
		}
		for _, p := range posts {
			st := states[p.PostID]
			if st == nil {
				continue
			}
			e := entryOf(st)
			if p.Place != 0 {
				e.Place = p.Place
			}
			raw = append(raw, rawEntry{PostID: e.PostID, Version: e.Version, Place: e.Place, Deleted: e.Deleted, Overlay: e.Overlay})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	stamps, err := s.stamps(ctx, ids)
	if err != nil {
		return nil, err
	}
	for i := range raw {
		raw[i].Fold = stamps[raw[i].PostID]
	}
	items, _, err := s.decide(ctx, n, d.sets, d.label, raw)
	return items, err
}
