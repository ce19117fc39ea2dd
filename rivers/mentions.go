package rivers

import (
	"slices"

	"riverrun/timelines"
	"riverrun/timelines/access"
)

// maxMentions is how many comments that mention the viewer are unfolded under one post,
// newest first. If there are more, the reader still sees why the post is there.
const maxMentions = 5

// folds reports whether comments are folded away.
func (f *Fold) folds() bool { return f.Comments.Total > len(f.Comments.Shown) }

// unfoldMentions shows the comments that bring the post to the page of mentions, whole,
// besides the comments of the item's fold. A comment by somebody whom the viewer does not
// see brings the post nowhere (Fold.confirms) and stays folded.
//
// The comments come from the full fold, which is kept in memory by version for all viewers.
// A warm page costs no statement for them, and nothing of the viewer's is stored. If the
// full fold has another version than the item's fold, that version is about to be read for
// this page too, and nothing is unfolded until then.
//
// Rejected: keeping the comments with mentions in each fold. Every river that holds the
// post would carry them, up to some number, for a page that few people have open.
func (it *Item) unfoldMentions(full *Fold, hidden access.HiddenUsers, sets *access.Sets) {
	if full == nil || full.Version != it.Fold.Version {
		return
	}
	mentions := func(c *Comment) bool {
		return !hidden.Has(c.Author) && !hides(sets, c.Author) &&
			slices.ContainsFunc(it.Why, func(t timelines.Timeline) bool { return slices.Contains(c.Marks, t.ID) })
	}
	all := full.Comments.Shown
	for i := len(all) - 1; i >= 0 && len(it.Mentions) < maxMentions; i-- {
		if mentions(&all[i]) {
			it.Mentions = append(it.Mentions, all[i].ID)
		}
	}
	if len(it.Mentions) == 0 {
		return
	}
	f := *it.Fold
	f.Comments.Shown, f.Comments.Folded = nil, nil
	skipped := 0
	for _, c := range all {
		if !slices.Contains(it.Mentions, c.ID) {
			at := slices.IndexFunc(it.Fold.Comments.Shown, func(shown Comment) bool { return shown.ID == c.ID })
			if at < 0 {
				skipped++
				continue
			}
			c = it.Fold.Comments.Shown[at]
		}
		c.Skipped, skipped = skipped, 0
		f.Comments.Shown = append(f.Comments.Shown, c)
	}
	it.Fold, it.HiddenUsers = &f, f.hiddenUsers(hidden)
}
