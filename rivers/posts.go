package rivers

import (
	"context"
	"slices"
	"time"

	"riverrun/timelines"
	"riverrun/timelines/access"
	"riverrun/timelines/notices"
)

// AskedPost is a post that a program asks about, alone or because of a change.
type AskedPost struct {
	PostID int64
	// Version is that of the post after the change. The answer is at least as new: the change may not have reached the folds yet.
	Version int64
	// Places are the base timelines that the post stood in before the change.
	Places []int64
}

// PostsNow is what a viewer may know of some posts, decided as a page is.
type PostsNow struct {
	// Items are the posts that the viewer may read, unfolded. Liked, Faved and the stamp's entry version, which rivers keep, mean
	// nothing here.
	Items map[int64]Item
	// Gone are the codes of posts that were deleted, or moved to where the viewer may not read, by id. They are those alone that the
	// viewer may read where they stood: about others nobody learns anything.
	Gone  map[int64]string
	Sets  *access.Sets
	At    Moment
	Began time.Time
}

// Posts decides about posts that belong to no page. all reads as somebody who may read everything on the site; the caller has
// checked that the viewer may, who is nobody if it is whoever runs the site. Errors: timelines.ErrSignedOut.
func (s *Store) Posts(ctx context.Context, v timelines.Viewer, all bool, asked []AskedPost) (*PostsNow, error) {
	for range maxOvertaken {
		now, consistent, err := s.postsOnce(ctx, v, all, asked)
		if err != nil || consistent {
			return now, err
		}
	}
	return nil, errOvertaken
}

// postsOnce is Posts. It reports whether the decision is consistent.
func (s *Store) postsOnce(ctx context.Context, v timelines.Viewer, all bool, asked []AskedPost) (_ *PostsNow, consistent bool, err error) {
	now := &PostsNow{Items: map[int64]Item{}, Gone: map[int64]string{}, Began: time.Now()}
	loads := s.loads()
	// The clock is read before the folds' stamps, so that both know every narrowing acknowledged before.
	clock, err := s.clock(ctx)
	if err != nil {
		return nil, false, err
	}
	n := Name{UserID: v.AccountID, Kind: Post, Order: Fresh}
	if all && v.Anonymous() {
		now.Sets, err = &access.Sets{}, s.advance(ctx, clock) // also on a private site
	} else {
		now.Sets, err = s.admit(ctx, v, n, clock)
	}
	if err != nil {
		return nil, false, err
	}
	if all {
		now.Sets = now.Sets.Everything()
	}
	ids := make([]int64, 0, len(asked))
	var named []int64
	versions := make(map[int64]int64, len(asked)) // that the folds must have at least
	for _, a := range asked {
		ids = append(ids, a.PostID)
		versions[a.PostID] = max(versions[a.PostID], a.Version)
		named = append(named, a.Places...)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	stamps, err := s.stamps(ctx, ids)
	if err != nil {
		return nil, false, err
	}
	raw := make([]rawEntry, len(ids))
	for i, id := range ids {
		raw[i] = rawEntry{PostID: id, Version: versions[id], Fold: stamps[id]}
	}
	hidden := map[int64]*Fold{}
	label := notices.Label{Epoch: clock.Epoch}
	_, err = s.decideMany(ctx, []undecided{{name: n, sets: now.Sets, label: label, entries: raw}}, func(_ int, it Item, shown bool) {
		if shown {
			now.Items[it.PostID] = it
		} else if it.Fold != nil {
			hidden[it.PostID] = it.Fold
		}
	})
	if err != nil {
		return nil, false, err
	}
	for _, f := range hidden {
		named = append(named, f.Decisive...)
	}
	gates, err := s.access.Levels(ctx, named)
	if err != nil {
		return nil, false, err
	}
	var gone []AskedPost
	for _, a := range asked {
		f := hidden[a.PostID]
		if f != nil && (f.Deleted || !gates.OpensAny(now.Sets, f.Decisive)) && gates.OpensAny(now.Sets, a.Places) {
			gone = append(gone, a)
		}
	}
	if err := s.markGone(ctx, now, gates, hidden, gone); err != nil {
		return nil, false, err
	}
	now.At = Moment{clock, s.loads()}
	consistent, err = s.consistent(ctx, clock, loads, true)
	return now, consistent, err
}

// markGone sets Gone to the codes of those posts whose authors the viewer sees where they stood: a post that a ban hides is
// not gone.
func (s *Store) markGone(ctx context.Context, now *PostsNow, gates access.Levels, folds map[int64]*Fold, gone []AskedPost) error {
	if len(gone) == 0 {
		return nil
	}
	ids := make([]int64, 0, len(gone))
	for _, a := range gone {
		ids = append(ids, a.PostID)
	}
	authors, err := s.primary.Posts.Authors(ctx, ids) // the fold of a deleted post names none
	if err != nil {
		return err
	}
	for _, a := range gone {
		if author, ok := authors[a.PostID]; ok && !gates.Hidden(now.Sets, a.Places).Has(author) {
			now.Gone[a.PostID] = folds[a.PostID].Text.Code
		}
	}
	return nil
}
