package timelines

import (
	"strings"
	"testing"

	"riverrun/timelines/kinds"
)

func TestCreateComment(t *testing.T) {
	w := newTown(t)
	bob, ann := w.user("bob"), w.user("ann")
	p := w.post(bob, "hello")
	comments, discussions := w.timeline(kinds.Comments, ann.ID), w.timeline(kinds.Discussions, ann.ID)
	fresh := w.freshAt(p.PostID)
	w.heard.take()

	c, err := w.Comments.Create(t.Context(), NewComment{Author: ann.ID, Code: p.Code, Body: "so it is\r\n"})
	w.must(err)
	all := ids(append(p.Touched, comments, discussions, w.timeline(kinds.Notifications, bob.ID))...)
	w.same("change", c, Change{Actor: ann.ID, PostID: p.PostID, Code: p.Code, CommentID: c.CommentID, Touched: all})
	w.same("announced", w.heard.take(), []Event{Touched{PostID: p.PostID, Timelines: all}})
	w.same("version", w.version(p.PostID), int64(2))
	bumped := w.freshAt(p.PostID)
	if bumped <= fresh {
		t.Errorf("fresh_at: got %d, want it later than %d", bumped, fresh)
	}
	w.same("row in comments", w.row(comments, p.PostID), row{bumped, bumped, false})
	w.same("row in the feed", w.row(bob.FeedID, p.PostID), row{fresh, bumped, false})
	body, err := w.Comments.Body(t.Context(), ann.ID, p.Code, c.CommentID)
	if err != nil || body != "so it is" {
		t.Errorf("CommentBody: got %q, %v; want %q", body, err, "so it is")
	}

	again := w.comment(ann, p.Code)
	w.same("the second touches the same", again.Touched, all)
	w.same("the first stamp stays", w.row(comments, p.PostID), row{bumped, w.freshAt(p.PostID), false})
	w.sound()
}

func TestCreateCommentErrors(t *testing.T) {
	w := newTown(t)
	bob := w.user("bob")
	p := w.post(bob, "hello")
	for _, tc := range []struct {
		name string
		in   NewComment
		code string
	}{
		{"empty", NewComment{}, "body_empty"},
		{"long", NewComment{Body: strings.Repeat("я", MaxCommentRunes+1)}, "body_long"},
		{"key", NewComment{Body: "a", Key: "\x00"}, "key_long"},
	} {
		tc.in.Author, tc.in.Code = bob.ID, p.Code
		_, err := w.Comments.Create(t.Context(), tc.in)
		w.invalid(tc.name, err, tc.code)
	}
	for _, code := range []string{"", "nonsense", newCode()} {
		_, err := w.Comments.Create(t.Context(), NewComment{Author: bob.ID, Code: code, Body: "a"})
		w.fails("on "+code, err, ErrNotFound)
	}
	w.same("version", w.version(p.PostID), int64(1))
}

func TestEditComment(t *testing.T) {
	w := newTown(t)
	bob, ann := w.user("bob"), w.user("ann")
	p, other := w.post(bob, "hello"), w.post(bob, "another")
	c := w.comment(ann, p.Code)
	fresh, version := w.freshAt(p.PostID), w.version(p.PostID)
	w.heard.take()
	want := Change{Actor: ann.ID, PostID: p.PostID, Code: p.Code, CommentID: c.CommentID}

	got, err := w.Comments.Edit(t.Context(), ann.ID, p.Code, c.CommentID, "or is it?")
	w.must(err)
	w.same("change", got, want)
	w.same("announced", w.heard.take(), []Event{Touched{PostID: p.PostID}})
	got, err = w.Comments.Edit(t.Context(), ann.ID, p.Code, c.CommentID, "or is it?")
	w.must(err)
	w.same("the same text", got, want)
	w.same("announced", w.heard.take(), []Event(nil))
	w.same("version", w.version(p.PostID), version+1)
	w.same("fresh_at", w.freshAt(p.PostID), fresh)

	_, err = w.Comments.Edit(t.Context(), bob.ID, p.Code, c.CommentID, "x")
	w.fails("another's, under one's own post", err, ErrForbidden)
	_, err = w.Comments.Body(t.Context(), bob.ID, p.Code, c.CommentID)
	w.fails("another's text", err, ErrForbidden)
	_, err = w.Comments.Edit(t.Context(), ann.ID, other.Code, c.CommentID, "x")
	w.fails("under another post", err, ErrNotFound)
	_, err = w.Comments.Body(t.Context(), ann.ID, other.Code, c.CommentID)
	w.fails("read under another post", err, ErrNotFound)
	_, err = w.Comments.Delete(t.Context(), ann.ID, other.Code, c.CommentID)
	w.fails("deleted under another post", err, ErrNotFound)
	_, err = w.Comments.Edit(t.Context(), ann.ID, p.Code, c.CommentID, " ")
	w.invalid("to nothing", err, "body_empty")
}

func TestWhoMayDeleteAComment(t *testing.T) {
	w := newTown(t)
	author, commenter, admin, reader := w.user("author"), w.user("commenter"), w.user("admin"), w.user("reader")
	w.group(admin, "club", Public)
	w.group(reader, "elsewhere", Public)
	for _, tc := range []struct {
		who  Account
		want error
	}{{author, nil}, {commenter, nil}, {admin, nil}, {reader, ErrForbidden}} {
		p := w.post(author, "hello", "club")
		c := w.comment(commenter, p.Code)
		version := w.version(p.PostID)
		_, err := w.Comments.Delete(t.Context(), tc.who.ID, p.Code, c.CommentID)
		w.fails("DeleteComment by "+tc.who.Name, err, tc.want)
		if tc.want != nil {
			w.same("version", w.version(p.PostID), version)
			continue
		}
		again, err := w.Comments.Delete(t.Context(), tc.who.ID, p.Code, c.CommentID)
		w.must(err)
		w.same("DeleteComment again by "+tc.who.Name, again,
			Change{Actor: tc.who.ID, PostID: p.PostID, Code: p.Code, CommentID: c.CommentID})
		w.same("version", w.version(p.PostID), version+1)
		_, err = w.Comments.Delete(t.Context(), reader.ID, p.Code, c.CommentID)
		w.fails("DeleteComment again by who might not", err, ErrNotFound)
		_, err = w.Comments.Edit(t.Context(), commenter.ID, p.Code, c.CommentID, "x")
		w.fails("EditComment of a deleted one", err, ErrNotFound)
		w.same("its text", value[string](w, `SELECT body FROM comments WHERE id = $1`, c.CommentID), "")
	}
	w.sound()
}

func TestDeleteCommentWithdraws(t *testing.T) {
	w := newTown(t)
	bob, ann := w.user("bob"), w.user("ann")
	p := w.post(bob, "hello")
	comments, discussions := w.timeline(kinds.Comments, ann.ID), w.timeline(kinds.Discussions, ann.ID)
	told := w.timeline(kinds.Notifications, bob.ID)
	one, two := w.comment(ann, p.Code), w.comment(ann, p.Code)
	stamp := w.row(comments, p.PostID).EnteredAt
	fresh := w.freshAt(p.PostID)
	del := func(by Account, c Change) []int64 {
		t.Helper()
		got, err := w.Comments.Delete(t.Context(), by.ID, p.Code, c.CommentID)
		w.must(err)
		w.same("comment named", got.CommentID, c.CommentID)
		return got.Touched
	}
	w.same("one of two touches", del(ann, one), ids(told))
	_, err := w.Posts.Like(t.Context(), ann.ID, p.Code)
	w.must(err)
	w.same("the last, liking it, touches", del(bob, two), ids(comments, told))
	w.same("fresh_at", w.freshAt(p.PostID), fresh)
	_, err = w.Posts.Unlike(t.Context(), ann.ID, p.Code)
	w.must(err)
	w.sound()

	// It comes back with its first stamp, and where the post stands now.
	three := w.comment(ann, p.Code)
	w.same("a new one touches", three.Touched, ids(append(p.Touched, comments, discussions, told)...))
	w.same("row", w.row(comments, p.PostID), row{stamp, w.freshAt(p.PostID), false})
	w.same("the last, not liking it, touches", del(ann, three), ids(comments, discussions, told))
	own := w.comment(bob, p.Code)
	w.same("the author's touches", del(bob, own), ids(w.timeline(kinds.Comments, bob.ID)))
	w.sound()
}
