package timelines

import (
	"testing"

	"riverrun/timelines/kinds"
)

func TestFave(t *testing.T) {
	w := newTown(t)
	bob, ann := w.user("bob"), w.user("ann")
	p := w.post(bob, "hello")
	faves := w.timeline(kinds.Faves, ann.ID)
	fresh := w.freshAt(p.PostID)
	w.heard.take()

	c, err := w.Posts.Fave(t.Context(), ann.ID, p.Code)
	w.must(err)
	w.same("change", c, Change{Actor: ann.ID, PostID: p.PostID, Code: p.Code, Touched: ids(faves)})
	w.same("announced", w.heard.take(), []Event{Touched{PostID: p.PostID, Timelines: ids(faves), Unpushed: true}})
	w.same("version", w.version(p.PostID), int64(2))
	w.same("the post's fresh_at", w.freshAt(p.PostID), fresh)
	first := w.row(faves, p.PostID)
	if first.EnteredAt <= fresh || first.FreshAt != first.EnteredAt || first.Withdrawn {
		t.Errorf("row in faves: got %+v, want it fresh there, later than the post's %d", first, fresh)
	}

	c, err = w.Posts.Fave(t.Context(), ann.ID, p.Code)
	w.must(err)
	w.same("again", c, Change{Actor: ann.ID, PostID: p.PostID, Code: p.Code})
	c, err = w.Posts.Unfave(t.Context(), bob.ID, p.Code)
	w.must(err)
	w.same("letting go of what was not kept", c, Change{Actor: bob.ID, PostID: p.PostID, Code: p.Code})
	w.same("announced", w.heard.take(), []Event(nil))

	// A like comes and goes: it stays kept. A comment bumps it there too.
	_, err = w.Posts.Like(t.Context(), ann.ID, p.Code)
	w.must(err)
	_, err = w.Posts.Unlike(t.Context(), ann.ID, p.Code)
	w.must(err)
	w.comment(bob, p.Code)
	bumped := w.row(faves, p.PostID)
	w.same("bumped", bumped, row{first.EnteredAt, w.freshAt(p.PostID), false})

	c, err = w.Posts.Unfave(t.Context(), ann.ID, p.Code)
	w.must(err)
	w.same("let go", c, Change{Actor: ann.ID, PostID: p.PostID, Code: p.Code, Touched: ids(faves)})
	w.same("row", w.row(faves, p.PostID), row{bumped.EnteredAt, bumped.FreshAt, true})

	// Keep, let go, keep never lifts.
	_, err = w.Posts.Fave(t.Context(), ann.ID, p.Code)
	w.must(err)
	w.same("row", w.row(faves, p.PostID), bumped)
	w.sound()

	_, err = w.Posts.Delete(t.Context(), bob.ID, p.Code)
	w.must(err)
	w.sound()
	_, err = w.Posts.Fave(t.Context(), ann.ID, p.Code)
	w.fails("keeping what is gone", err, ErrNotFound)
}

func TestFaveOfAnUnreadablePost(t *testing.T) {
	w := newTown(t)
	bob, ann := w.user("bob"), w.user("ann")
	p := w.post(bob, "for nobody", "bob")
	_, err := w.Feeds.SetAccess(t.Context(), bob.ID, "", Private)
	w.must(err)
	for name, fn := range map[string]func() (Change, error){
		"fave":   func() (Change, error) { return w.Posts.Fave(t.Context(), ann.ID, p.Code) },
		"unfave": func() (Change, error) { return w.Posts.Unfave(t.Context(), ann.ID, p.Code) },
	} {
		c, err := fn()
		w.fails(name, err, ErrNotFound)
		w.same(name, c, Change{})
	}
	w.same("version", w.version(p.PostID), int64(1))
}
