package rivers

import "testing"

// A folded comment may be shown because it mentions the reader. Its likes are counted
// without those of people the reader does not see, although the fold does not name who
// likes it.
func TestMentionsCountNoHiddenLikes(t *testing.T) {
	w := newTown(t)
	w.rivers.people = 2
	ann, cat, bob := w.person("ann"), w.person("cat"), w.person("bob")
	w.person("dan")
	w.person("eve")
	p := w.post(cat, "a word")
	w.talk(p, "eve")
	m := w.comment(cat, p.Code, "look, @ann")
	c, err := w.store.Bans.Ban(w.ctx, ann.AccountID, "bob")
	w.told(must(w, c, err))
	w.acted(w.likeComment(bob, p.Code, m.CommentID))
	w.talk(p, "eve", "dan", "eve", "dan", "eve", "dan")
	w.drain()
	w.rivers.folds.purge()
	it := &w.visit(ann, Mentions, "").Items[0]
	shown := false
	for i := range it.Fold.Comments.Shown {
		c := &it.Fold.Comments.Shown[i]
		if c.ID != m.CommentID {
			continue
		}
		shown = true
		if likes := it.CommentLikes(c); likes.Total != 0 {
			t.Errorf("likes of the comment: got %+v, want none", likes)
		}
	}
	if !shown {
		t.Error("the comment that mentions ann is not shown")
	}
}
