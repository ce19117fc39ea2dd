package timelines

import (
	"errors"
	"testing"
)

func TestBlock(t *testing.T) {
	w := newTown(t)
	bob := w.user("bob")
	club := w.group(bob, "club", Public)
	ann := w.member("ann", "club")
	p := w.post(bob, "hello", "club")
	mine := w.post(ann, "from ann", "club")
	remark := w.comment(ann, p.Code)
	w.heard.take()
	before := w.clock()

	c := w.act(w.Groups.Block, bob, "club", "ann")
	w.same("blocked", c, Change{Actor: bob.ID, Clock: before + 1})
	w.same("blocked again", w.act(w.Groups.Block, bob, "club", "ann"), Change{Actor: bob.ID, Clock: before + 1})
	w.same("logged", w.logged(before), []Invalidation{{N: before + 1, AccountID: ann.ID, Kind: "viewer"}})
	w.same("announced", w.heard.take(), []Event(nil))
	w.same("still a member", w.relation(ann, club), Relation{Subscribed: true})
	w.same("still reads", w.reads(ann, club.FeedID), true)
	w.writes(ann, "club", false, "blocked")
	version := w.version(p.PostID)
	for what, code := range map[string]string{"another's post": p.Code, "one's own": mine.Code} {
		_, err := w.Comments.Create(t.Context(), NewComment{Author: ann.ID, Code: code, Body: "but"})
		w.fails("a comment on "+what, err, ErrBlocked)
		w.fails("a comment on "+what, err, ErrForbidden)
	}
	_, err := w.Comments.Edit(t.Context(), ann.ID, p.Code, remark.CommentID, "it was not")
	w.fails("an edit of a comment", err, ErrBlocked)
	w.same("version", w.version(p.PostID), version)

	// All else goes on.
	_, err = w.Posts.Like(t.Context(), ann.ID, p.Code)
	w.must(err)
	_, err = w.Comments.Delete(t.Context(), ann.ID, p.Code, remark.CommentID)
	w.must(err)
	w.comment(bob, mine.Code)
	w.post(ann, "elsewhere")

	before = w.clock()
	c = w.act(w.Groups.Unblock, bob, "club", "ann")
	w.same("unblocked", c, Change{Actor: bob.ID, Clock: before + 1})
	w.same("unblocked again", w.act(w.Groups.Unblock, bob, "club", "ann"), Change{Actor: bob.ID, Clock: before + 1})
	w.writes(ann, "club", true, "unblocked")
	w.comment(ann, p.Code)
	w.sound()
}

// A block closes what is read through the group, and nothing that is read through
// another place as well.
func TestWhereABlockedPersonMayComment(t *testing.T) {
	for _, tc := range []struct {
		name    string
		to      []string
		feed    Level // of bob, who wrote it
		pub     Level // of the other group
		blocked []string
		may     bool
	}{
		{"in the group alone", []string{"club"}, Public, Public, []string{"club"}, false},
		{"on a page they may read", []string{"club", "bob"}, Public, Public, []string{"club"}, true},
		{"on a page for the signed in", []string{"club", "bob"}, Protected, Public, []string{"club"}, true},
		{"on a page closed to them", []string{"club", "bob"}, Private, Public, []string{"club"}, false},
		{"in another group", []string{"club", "pub"}, Public, Public, []string{"club"}, true},
		{"in a group closed to them", []string{"club", "pub"}, Public, Private, []string{"club"}, false},
		{"in two that block", []string{"club", "pub"}, Public, Public, []string{"club", "pub"}, false},
		{"in a direct as well", []string{"club", "ann"}, Public, Public, []string{"club"}, true},
		{"blocked elsewhere", []string{"club"}, Public, Public, []string{"pub"}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newTown(t)
			bob, ann := w.user("bob"), w.user("ann")
			w.group(bob, "club", Public)
			w.group(bob, "pub", Public)
			p := w.post(bob, "hello", tc.to...)
			w.setAccess(bob, "", tc.feed)
			w.setAccess(bob, "pub", tc.pub)
			before := w.comment(ann, p.Code)
			for _, group := range tc.blocked {
				w.act(w.Groups.Block, bob, group, "ann")
			}
			_, err := w.Comments.Create(t.Context(), NewComment{Author: ann.ID, Code: p.Code, Body: "but"})
			if tc.may && err != nil || !tc.may && !errors.Is(err, ErrBlocked) {
				t.Errorf("a comment: got %v, want it allowed: %v", err, tc.may)
			}
			_, err = w.Comments.Edit(t.Context(), ann.ID, p.Code, before.CommentID, "and")
			if tc.may && err != nil || !tc.may && !errors.Is(err, ErrBlocked) {
				t.Errorf("an edit of a comment: got %v, want it allowed: %v", err, tc.may)
			}
			// People who cannot read the group learn nothing of the block.
			w.setAccess(bob, "", Private)
			w.setAccess(bob, "club", Private)
			w.setAccess(bob, "pub", Private)
			if tc.name != "in a direct as well" {
				_, err = w.Comments.Create(t.Context(), NewComment{Author: ann.ID, Code: p.Code, Body: "but"})
				if !errors.Is(err, ErrNotFound) {
					t.Errorf("a comment on what is closed: got %v, want %v", err, ErrNotFound)
				}
			}
		})
	}
}
