package rivers

import (
	"context"
	"maps"
	"slices"

	"riverrun/timelines"
	"riverrun/timelines/access"
	"riverrun/timelines/kinds"
)

// A fold keeps the ids of up to MaxPeople likers, as many commenters, and as many marks. If
// a post has more, the fold cannot tell whether a person beyond those still likes it. An
// entry that says so may be from before the like was taken back, until the tiers come to
// it. Only then is the primary store asked, once for all entries that are decided together
// (R4). It is asked after the entries and folds were read, so its answer is of that moment
// or later, and knows whatever was taken back before the page was asked for.
//
// Rejected: believing the entry (it is shown until Tier 1 comes, which R4 forbids); leaving
// it out (most people who ever liked a famous post would lose it from their likes); keeping
// all ids in the fold (each like would write all of them again).

// overflow is what the primary store says about the timelines that folds cannot tell of.
type overflow map[timelines.Hold]timelines.Holding

// leavesOpen reports whether the fold cannot tell if the timeline holds the post. people is
// how many ids a fold keeps. If just as many people commented as that, there may be more of
// them.
func (f *Fold) leavesOpen(t timelines.Timeline, people int) bool {
	switch t.Kind {
	case kinds.Likes:
		return f.Likes.Total > len(f.Likes.IDs) && !slices.Contains(f.Likes.IDs, t.TheirID)
	case kinds.Comments:
		return len(f.Comments.IDs) >= people && !slices.Contains(f.Comments.IDs, t.TheirID)
	case kinds.Hashtag, kinds.Mentions:
		return f.Comments.Marks == nil
	}
	return false
}

// askOverflow asks the primary store about those timelines of the entries that their
// viewers may open, where the folds do not know the answer. It takes one statement, or
// none.
func (s *Store) askOverflow(ctx context.Context, all []undecided, folds map[int64]*Fold, gates access.Levels) (overflow, error) {
	ask := map[timelines.Hold]struct{}{}
	for _, u := range all {
		for _, e := range u.entries {
			f := folds[e.PostID]
			if f == nil || f.Deleted || e.Deleted {
				continue
			}
			for _, id := range e.Overlay.Timelines {
				if t, ok := gates.Timeline(id); ok && f.leavesOpen(t, s.people) && gates.Opens(u.sets, id) {
					ask[timelines.Hold{PostID: e.PostID, TimelineID: id}] = struct{}{}
				}
			}
		}
	}
	if len(ask) == 0 {
		return nil, nil
	}
	return s.primary.Holdings(ctx, slices.Collect(maps.Keys(ask)))
}

// confirms reports whether the timeline holds the post: by the fold or, where the fold
// cannot tell, by the overflow. An entry loses a like that was taken back, or a last
// comment that was deleted, when the tiers come to it; the fold lost it before the reply
// (R4). A text whose author the viewer does not see brings the post nowhere: it mentions
// nobody, and a tag's page must not tell what stands behind a placeholder. The texts of an
// account that the viewer hides bring it nowhere either.
func (f *Fold) confirms(t timelines.Timeline, sets *access.Sets, hidden access.HiddenUsers, rest overflow) bool {
	seen := func(author int64) bool { return !hidden.Has(author) && !hides(sets, author) }
	told, stands := rest[timelines.Hold{PostID: f.PostID, TimelineID: t.ID}]
	if kinds.Of(t.Kind).Base {
		return slices.Contains(f.Decisive, t.ID)
	}
	switch t.Kind {
	case kinds.Likes:
		return stands || slices.Contains(f.Likes.IDs, t.TheirID)
	case kinds.Comments:
		return stands || slices.Contains(f.Comments.IDs, t.TheirID)
	case kinds.Hashtag, kinds.Mentions:
		return slices.ContainsFunc(told.Authors, seen) || slices.ContainsFunc(f.Comments.Marks, func(m Mark) bool {
			return m.Timeline == t.ID && seen(m.Author)
		})
	}
	return true
}
