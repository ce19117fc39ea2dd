package rivers

import (
	"slices"

	"riverrun/timelines"
)

// maxMentions is how many comments that mention the viewer are unfolded under one post,
// the newest: of more the reader sees why the post is there all the same.
const maxMentions = 5

// folds reports whether comments are folded away.
func (f *Fold) folds() bool { return f.Comments.Total > len(f.Comments.Shown) }

// unfoldMentions shows, besides the comments of the item's fold, those by which the post
// is on the page of mentions, whole. A comment of somebody whom the viewer does not see
// brings it nowhere (Fold.confirms), and stays folded.
//
// They come from the full fold, which is held in memory, by version, for all viewers: a
// page that is warm costs no statement for them, and nothing of the viewer's is stored.
// If the full fold is another version than the item's, that version is about to be read
// for this page too, and nothing is unfolded until then.
//
// Rejected: to keep the comments with mentions in each fold. All rivers that hold the post
// would carry them, for a page that few have open, and only up to some number.
func (it *Item) unfoldMentions(full *Fold, hidden timelines.Veil, sets *timelines.Sets) {
	if full == nil || full.Version != it.Fold.Version {
		return
	}
	mentions := func(c *Comment) bool {
		return !hidden.Hides(c.Author) && !hides(sets, c.Author) &&
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
	f.Comments.Shown = nil
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
