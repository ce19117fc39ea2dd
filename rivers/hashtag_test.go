package rivers

import (
	"errors"
	"testing"

	"riverrun/timelines"
)

// The page of a tag that nobody has used becomes right by itself when somebody does: at
// once for that person, by a replace for everybody else, open or closed.
func TestATagsFirstUse(t *testing.T) {
	w := newTown(t)
	ann, bob, cat := w.person("ann"), w.person("bob"), w.person("cat")
	w.shows(w.visit(ann, Hashtag, "River"))
	w.shows(w.visit(bob, Hashtag, "river"))
	other := w.visit(bob, Hashtag, "weir")
	open := w.visit(cat, Hashtag, "river")
	if err := w.rivers.Lease(w.ctx, []int64{open.River}); err != nil {
		t.Fatal(err)
	}
	c := w.post(ann, "the #RIVER")
	for _, r := range c.Replace {
		if err := w.rivers.Retire(w.ctx, r); err != nil {
			t.Fatal(err)
		}
	}
	w.shows(w.visit(ann, Hashtag, "river"), "the #RIVER")
	w.drain()
	for _, v := range []timelines.Viewer{{}, bob, cat} {
		w.shows(w.visit(v, Hashtag, "river"), "the #RIVER")
	}
	if got := w.visit(bob, Hashtag, "weir").River; got != other.River {
		t.Error("another tag's river was replaced too")
	}
	seen, err := w.rivers.Flush(w.ctx, []Watch{{Viewer: cat, Name: open.Name, River: open.River}}, []int64{c.PostID})
	if err != nil || !seen[0].Swapped {
		t.Errorf("the open page: got %+v, %v; want its river swapped", seen, err)
	}
	w.sound()
}

// A build that read before the tag's first use does not outlive it.
func TestATagsFirstUseDuringABuild(t *testing.T) {
	for _, point := range []string{afterRegister, afterSnapshot, afterEntries} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			w := newTown(t)
			ann, bob := w.person("ann"), w.person("bob")
			ctx := pausedAt(w.ctx, point, func() {
				w.post(bob, "the #river")
				w.drain()
			})
			if err := w.rivers.build(ctx, w.name(ann, Hashtag, "river"), ForVisit, nil); err != nil {
				t.Fatal(err)
			}
			w.shows(w.visit(ann, Hashtag, "river"), "the #river")
			w.sound()
		})
	}
}

// A tag's page holds posts of mixed access, and each is decided for its viewer. If an edit
// removes the tag, the post leaves the page.
func TestHashtagPages(t *testing.T) {
	w := newTown(t)
	ann, bob := w.person("ann"), w.person("bob")
	public, direct := w.post(ann, "the #river"), w.post(ann, "my #river", "bob")
	talked := w.post(bob, "nothing")
	said := w.comment(ann, talked.Code, "but a #river")
	w.shows(w.visit(timelines.Viewer{}, Hashtag, "river"), "nothing", "the #river")
	w.shows(w.visit(bob, Hashtag, "river"), "nothing", "my #river", "the #river")
	w.drain()
	if _, err := w.store.Posts.Edit(w.ctx, ann.AccountID, public.Code, "the weir"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.store.Comments.Delete(w.ctx, ann.AccountID, talked.Code, said.CommentID); err != nil {
		t.Fatal(err)
	}
	w.drain()
	w.shows(w.visit(timelines.Viewer{}, Hashtag, "river"))
	w.shows(w.visit(bob, Hashtag, "river"), "my #river")
	w.remove(ann, direct.Code)
	w.drain()
	w.shows(w.visit(bob, Hashtag, "river"))
	for _, bad := range []string{"", "no tag", "a-b", "_"} {
		if _, err := w.rivers.Resolve(w.ctx, ann, Hashtag, bad, Fresh); !errors.Is(err, ErrNotFound) {
			t.Errorf("resolve tag %q: got %v, want %v", bad, err, ErrNotFound)
		}
	}
	w.sound()
}
