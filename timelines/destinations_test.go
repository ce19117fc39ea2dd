package timelines

import (
	"slices"
	"testing"
	"time"

	"riverrun/timelines/kinds"
)

func TestReviseDestinations(t *testing.T) {
	w := newTown(t)
	bob, ann, cid := w.user("bob"), w.user("ann"), w.user("cid")
	club := w.group(ann, "club", Public)
	p := w.post(bob, "hello")
	_, err := w.Posts.Like(t.Context(), ann.ID, p.Code)
	w.must(err)
	w.age(p.PostID, time.Hour)
	fresh := w.freshAt(p.PostID)
	feed := w.row(bob.FeedID, p.PostID)
	everything := w.timeline(kinds.Everything, 0)
	private := w.subfeedID(bob, "private")
	rest := []int64{
		w.timeline(kinds.Post, p.PostID), w.timeline(kinds.Discussions, bob.ID), w.timeline(kinds.Likes, ann.ID), w.timeline(kinds.Discussions, ann.ID),
	}
	w.heard.take()
	stands := []int64{bob.FeedID}
	inEverything := true
	for _, tc := range []struct {
		to         []string
		stands     []int64
		everything bool
		public     bool
		reads      []bool // ann, cid, nobody
	}{
		{[]string{"club", "bob"}, ids(bob.FeedID, club.FeedID), true, true, []bool{true, true, true}},
		{[]string{"bob/private"}, ids(private), true, false, []bool{false, false, false}},
		{[]string{"bob/private", "cid", "ann"}, ids(private, w.timeline(kinds.Directs, bob.ID), w.timeline(kinds.Directs, cid.ID), w.timeline(kinds.Directs, ann.ID)), true, false, []bool{true, true, false}},
		{[]string{" cid"}, ids(w.timeline(kinds.Directs, bob.ID), w.timeline(kinds.Directs, cid.ID)), false, false, []bool{false, true, false}},
		{[]string{ToEyes}, ids(w.timeline(kinds.Eyes, bob.ID)), false, false, []bool{false, false, false}},
		{[]string{"bob"}, ids(bob.FeedID), true, true, []bool{true, true, true}},
	} {
		version := w.version(p.PostID)
		c, err := w.Posts.Revise(t.Context(), bob.ID, p.Code, Revision{To: tc.to})
		w.must(err)
		touched := slices.Concat(rest, stands, tc.stands)
		if inEverything || tc.everything {
			touched = append(touched, everything)
		}
		w.same("change", c, Change{Actor: bob.ID, PostID: p.PostID, Code: p.Code, Touched: c.Touched})
		for _, id := range touched {
			// Everything counts where the post left it just now or stands in it; where it
			// stood before and does not, it may.
			if !slices.Contains(c.Touched, id) {
				t.Errorf("to %q: timeline %d is not touched by %v", tc.to, id, c.Touched)
			}
		}
		w.same("announced", w.heard.take(), []Event{Touched{PostID: p.PostID, Timelines: c.Touched}})
		w.same("version", w.version(p.PostID), version+1)
		w.same("decisive", value[[]int64](w, `SELECT decisive FROM posts WHERE id = $1`, p.PostID), tc.stands)
		w.same("public", w.isPublic(p.PostID), tc.public)
		w.same("who reads", []bool{w.mayRead(ann.ID, p.PostID), w.mayRead(cid.ID, p.PostID), w.mayRead(0, p.PostID)}, tc.reads)
		w.same("the post's fresh_at", w.freshAt(p.PostID), fresh)
		for _, id := range tc.stands {
			if r := w.row(id, p.PostID); r.Withdrawn || r.FreshAt != fresh || r.EnteredAt > fresh {
				t.Errorf("to %q: row in timeline %d is %+v, want it in, no fresher than %d", tc.to, id, r, fresh)
			}
		}
		for _, id := range without(stands, tc.stands) {
			w.same("row in what it left", w.row(id, p.PostID).Withdrawn, true)
		}
		w.same("in everything", !w.row(everything, p.PostID).Withdrawn, tc.everything)
		again, err := w.Posts.Revise(t.Context(), bob.ID, p.Code, Revision{To: tc.to})
		w.must(err)
		w.same("again", again, Change{Actor: bob.ID, PostID: p.PostID, Code: p.Code})
		w.same("announced", w.heard.take(), []Event(nil))
		stands, inEverything = tc.stands, tc.everything
		w.sound()
	}
	w.same("row where it began", w.row(bob.FeedID, p.PostID), feed)

	for _, tc := range []struct {
		to   []string
		code string
	}{
		{[]string{}, "to_none"},
		{[]string{"", " "}, "to_none"},
		{[]string{"nobody"}, "to_unknown"},
		{[]string{"ann/private"}, "to_unknown"},
		{[]string{"bob/nothing"}, "to_unknown"},
		{[]string{"bob/"}, "to_unknown"},
		{[]string{"\x00\xff"}, "to_unknown"},
		{[]string{ToEyes, "bob"}, "to_eyes"},
	} {
		_, err := w.Posts.Revise(t.Context(), bob.ID, p.Code, Revision{To: tc.to})
		w.invalid("to", err, tc.code)
		if len(tc.to) > 0 && tc.code != "to_none" {
			_, err = w.Posts.Create(t.Context(), NewPost{Author: bob.ID, Body: "hello", To: tc.to})
			w.invalid("a new post to", err, tc.code)
		}
	}
	_, err = w.Posts.Revise(t.Context(), ann.ID, p.Code, Revision{To: []string{"ann"}})
	w.fails("another's", err, ErrForbidden)
	secret := w.post(bob, "secret", ToEyes)
	_, err = w.Posts.Revise(t.Context(), ann.ID, secret.Code, Revision{To: []string{"ann"}})
	w.fails("what one cannot read", err, ErrNotFound)
	_, err = w.Posts.Destinations(t.Context(), ann.ID, p.Code)
	w.fails("where another's stands", err, ErrForbidden)
	_, err = w.Posts.Destinations(t.Context(), ann.ID, secret.Code)
	w.fails("where a secret stands", err, ErrNotFound)
}

// A post's text and its places change together, or neither does.
func TestEditPostAt(t *testing.T) {
	w := newTown(t)
	bob, ann := w.user("bob"), w.user("ann")
	club := w.group(ann, "club", Public)
	w.post(bob, "by the #weir")
	p := w.post(bob, "hello")
	w.heard.take()
	version := w.version(p.PostID)
	said := func(text string, stands ...int64) {
		t.Helper()
		w.same("body", value[string](w, `SELECT body FROM posts WHERE id = $1`, p.PostID), text)
		w.same("decisive", value[[]int64](w, `SELECT decisive FROM posts WHERE id = $1`, p.PostID), ids(stands...))
	}
	for _, tc := range []struct {
		body, lang string
		to         []string
		code       string
	}{
		{" ", "", []string{"club"}, "body_empty"},
		{"hi", "xx", []string{"club"}, "language_unknown"},
		{"hi", "", []string{}, "to_none"},
		{"hi", "", []string{"nobody"}, "to_unknown"},
	} {
		_, err := w.Posts.Revise(t.Context(), bob.ID, p.Code, Revision{Body: &tc.body, Language: &tc.lang, To: tc.to})
		w.invalid("edit", err, tc.code)
	}
	_, err := w.Groups.SetWriters(t.Context(), ann.ID, "club", WritersAdmins)
	w.must(err)
	_, err = w.Posts.Revise(t.Context(), bob.ID, p.Code, Revision{Body: new("hi"), To: []string{"club"}})
	w.invalid("to whom one may not write", err, "to_forbidden")
	_, err = w.Posts.Revise(t.Context(), ann.ID, p.Code, Revision{Body: new("hi"), To: []string{"ann"}})
	w.fails("another's", err, ErrForbidden)
	said("hello", bob.FeedID)
	w.same("version", w.version(p.PostID), version)
	_, err = w.Groups.SetWriters(t.Context(), ann.ID, "club", WritersAnyone)
	w.must(err)
	w.heard.take()

	edit := func(body string, to ...string) Change {
		t.Helper()
		c, err := w.Posts.Revise(t.Context(), bob.ID, p.Code, Revision{Body: &body, To: to})
		w.must(err)
		w.sound()
		return c
	}
	c := edit("hi #weir", "club")
	w.same("announced", w.heard.take(), []Event{Touched{PostID: p.PostID, Timelines: c.Touched}})
	w.same("version", w.version(p.PostID), version+1)
	said("hi #weir", club.FeedID)
	for _, id := range []int64{bob.FeedID, club.FeedID, w.hashtag("weir"), w.timeline(kinds.Post, p.PostID)} {
		if !slices.Contains(c.Touched, id) {
			t.Errorf("timeline %d is not touched by %v", id, c.Touched)
		}
	}
	w.same("again", edit("hi #weir", "club"), Change{Actor: bob.ID, PostID: p.PostID, Code: p.Code})
	w.same("announced", w.heard.take(), []Event(nil))
	edit("ho #weir", "club")
	said("ho #weir", club.FeedID)
	edit("ho #weir", "bob")
	said("ho #weir", bob.FeedID)

	// Without a choice of language an earlier choice stays.
	_, err = w.Posts.Revise(t.Context(), bob.ID, p.Code, Revision{Body: new("ho #weir"), Language: new("ru")})
	w.must(err)
	edit("an english text of some length, to be sure", "club")
	w.same("language", value[string](w, `SELECT lang FROM posts WHERE id = $1`, p.PostID), "ru")
}

// A post that is in a group may stay there, even if its author may no longer write to it.
func TestOldDestinationsStay(t *testing.T) {
	w := newTown(t)
	bob, ann := w.user("bob"), w.user("ann")
	club := w.group(ann, "club", Public)
	p := w.post(bob, "hello", "club", "bob")
	w.setAccess(ann, "club", Private)
	_, err := w.Posts.Revise(t.Context(), bob.ID, p.Code, Revision{To: []string{"club", "bob/private", "ann"}})
	w.must(err)
	got, err := w.Posts.Destinations(t.Context(), bob.ID, p.Code)
	w.must(err)
	slices.Sort(got)
	w.same("destinations", got, []string{"ann", "bob/private", "club"})
	_, err = w.Posts.Revise(t.Context(), bob.ID, p.Code, Revision{To: []string{"bob"}})
	w.must(err)
	_, err = w.Posts.Revise(t.Context(), bob.ID, p.Code, Revision{To: []string{"bob", "club"}})
	w.invalid("back into the group", err, "to_forbidden")
	w.same("row in the group", w.row(club.FeedID, p.PostID).Withdrawn, true)
	w.sound()
}

func TestRemoveFromGroup(t *testing.T) {
	w := newTown(t)
	bob, ann, cid := w.user("bob"), w.user("ann"), w.user("cid")
	club, other := w.group(ann, "club", Public), w.group(cid, "other", Public)
	only := w.post(bob, "for the club", "club")
	both := w.post(bob, "for both", "club", "other")
	version := w.version(only.PostID)
	w.heard.take()

	_, err := w.Posts.RemoveFromGroup(t.Context(), cid.ID, only.Code, "club")
	w.fails("another administrator", err, ErrForbidden)
	_, err = w.Posts.RemoveFromGroup(t.Context(), bob.ID, only.Code, "club")
	w.fails("the author", err, ErrForbidden)
	for _, group := range []string{"", "none", "ann", "\x00"} {
		_, err = w.Posts.RemoveFromGroup(t.Context(), ann.ID, only.Code, group)
		w.fails("no group", err, ErrNotFound)
	}

	c, err := w.Posts.RemoveFromGroup(t.Context(), ann.ID, only.Code, "club")
	w.must(err)
	eyes := w.timeline(kinds.Eyes, bob.ID)
	w.same("change", c, Change{Actor: ann.ID, PostID: only.PostID, Code: only.Code, Touched: ids(
		club.FeedID, eyes, w.timeline(kinds.Everything, 0), w.timeline(kinds.Everything, 0, "en"), w.timeline(kinds.Post, only.PostID), w.timeline(kinds.Discussions, bob.ID))})
	w.same("version", w.version(only.PostID), version+1)
	w.same("stands in", value[[]int64](w, `SELECT decisive FROM posts WHERE id = $1`, only.PostID), ids(eyes))
	w.same("who reads", []bool{w.mayRead(bob.ID, only.PostID), w.mayRead(ann.ID, only.PostID)}, []bool{true, false})
	_, err = w.Posts.RemoveFromGroup(t.Context(), ann.ID, only.Code, "club")
	w.fails("again: it is not ann's to know of", err, ErrNotFound)

	_, err = w.Posts.RemoveFromGroup(t.Context(), ann.ID, both.Code, "club")
	w.must(err)
	w.same("stands in", value[[]int64](w, `SELECT decisive FROM posts WHERE id = $1`, both.PostID), ids(other.FeedID))
	w.heard.take()
	c, err = w.Posts.RemoveFromGroup(t.Context(), ann.ID, both.Code, "club")
	w.must(err)
	w.same("again", c, Change{Actor: ann.ID, PostID: both.PostID, Code: both.Code})
	w.same("announced", w.heard.take(), []Event(nil))
	w.sound()
}

// A post moves while one of its places changes its level: the flags are of where
// it stands in the end.
func TestMoveAgainstSetAccess(t *testing.T) {
	t.Run("move first", func(t *testing.T) {
		w := newTown(t)
		bob := w.user("bob")
		w.setAccess(bob, "", Private)
		p := w.post(bob, "hello")
		moving := w.pauseInside()
		moved := during(func() error {
			_, err := w.Posts.Revise(t.Context(), bob.ID, p.Code, Revision{To: []string{"bob/private"}})
			return err
		})
		moving.reached(t)
		set := during(func() error {
			_, err := w.Feeds.SetAccess(t.Context(), bob.ID, "", Public)
			return err
		})
		w.waitBlocked(1)
		moving.release()
		w.must(moved())
		w.must(set())
		w.same("flags", w.isPublic(p.PostID), false)
		w.sound()
	})
	t.Run("level first", func(t *testing.T) {
		w := newTown(t)
		bob := w.user("bob")
		w.subfeed(bob, "photos", Private)
		p := w.post(bob, "hello")
		setting := w.pauseInside()
		set := during(func() error {
			_, err := w.Feeds.SetSubfeedAccess(t.Context(), bob.ID, "photos", Public)
			return err
		})
		setting.reached(t)
		moved := during(func() error {
			_, err := w.Posts.Revise(t.Context(), bob.ID, p.Code, Revision{To: []string{"bob/photos"}})
			return err
		})
		w.waitBlocked(1)
		setting.release()
		w.must(set())
		w.must(moved())
		w.same("flags", w.isPublic(p.PostID), true)
		w.sound()
	})
}

// A sub-feed is deleted while somebody posts there: one of the two is refused.
func TestPostAgainstDeleteSubfeed(t *testing.T) {
	w := newTown(t)
	bob := w.user("bob")
	w.subfeed(bob, "photos", Public)
	deleting := w.pauseInside()
	deleted := during(func() error {
		_, err := w.Feeds.Delete(t.Context(), bob.ID, "photos")
		return err
	})
	deleting.reached(t)
	posted := during(func() error {
		_, err := w.Posts.Create(t.Context(), NewPost{Author: bob.ID, Body: "hello", To: []string{"bob/photos"}})
		return err
	})
	w.waitBlocked(1)
	deleting.release()
	w.must(deleted())
	w.invalid("posted", posted(), "to_unknown")

	w.subfeed(bob, "photos", Public)
	posting := w.pauseInside()
	posted = during(func() error {
		_, err := w.Posts.Create(t.Context(), NewPost{Author: bob.ID, Body: "hello", To: []string{"bob/photos"}})
		return err
	})
	posting.reached(t)
	deleted = during(func() error {
		_, err := w.Feeds.Delete(t.Context(), bob.ID, "photos")
		return err
	})
	w.waitBlocked(1)
	posting.release()
	w.must(posted())
	w.invalid("deleted", deleted(), "subfeed_full")
	w.sound()
}
