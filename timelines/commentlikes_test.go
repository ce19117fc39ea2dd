package timelines

import "testing"

func TestLikeComment(t *testing.T) {
	w := newTown(t)
	bob, ann, cat := w.user("bob"), w.user("ann"), w.user("cat")
	p, other := w.post(bob, "hello"), w.post(bob, "another")
	id := w.comment(ann, p.Code).CommentID
	fresh := w.freshAt(p.PostID)
	w.heard.take()
	change := Change{Actor: cat.ID, PostID: p.PostID, Code: p.Code, CommentID: id}

	c, err := w.LikeComment(t.Context(), cat.ID, p.Code, id)
	w.must(err)
	w.same("change", c, change)
	w.same("announced", w.heard.take(), []Event{Touched{PostID: p.PostID}})
	w.same("version", w.version(p.PostID), int64(3))
	w.same("the post's fresh_at", w.freshAt(p.PostID), fresh)
	c, err = w.LikeComment(t.Context(), cat.ID, p.Code, id)
	w.must(err)
	w.same("again", c, change)
	c, err = w.UnlikeComment(t.Context(), bob.ID, p.Code, id)
	w.must(err)
	w.same("taking back what was not given", c.PostID, p.PostID)
	w.same("announced", w.heard.take(), []Event(nil))
	w.same("version", w.version(p.PostID), int64(3))

	c, err = w.UnlikeComment(t.Context(), cat.ID, p.Code, id)
	w.must(err)
	w.same("taken back", c, change)
	w.same("announced", w.heard.take(), []Event{Touched{PostID: p.PostID}})

	_, err = w.LikeComment(t.Context(), cat.ID, other.Code, id)
	w.fails("under another post", err, ErrNotFound)
	_, err = w.SetAccess(t.Context(), bob.ID, "", Private)
	w.must(err)
	_, err = w.LikeComment(t.Context(), cat.ID, p.Code, id)
	w.fails("under what one cannot read", err, ErrNotFound)

	_, err = w.LikeComment(t.Context(), bob.ID, p.Code, id)
	w.must(err)
	_, err = w.DeleteComment(t.Context(), bob.ID, p.Code, id)
	w.must(err)
	_, err = w.LikeComment(t.Context(), bob.ID, p.Code, id)
	w.fails("a deleted comment", err, ErrNotFound)
	w.sound()
}
