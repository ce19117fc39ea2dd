package rivers

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"riverrun/timelines"
)

// A page is decided once between two changes, and anew after each: then it is what a node shows that has
// decided nothing yet.
func TestAPageIsDecidedOnceBetweenChanges(t *testing.T) {
	w := newTown(t)
	ann, bob, cat := w.person("ann"), w.person("bob"), w.person("cat")
	w.told(w.follow(ann, "bob"))
	w.told(w.follow(ann, "cat"))
	said := w.says(bob, "bob's")
	w.says(cat, "cat's")
	talk := w.remarks(cat, said.Code, "a remark")
	w.drain()
	pages := map[string]Name{
		"home": w.name(ann, Home, ""), "everything": w.name(timelines.Viewer{}, Everything, ""), "post": w.name(ann, Post, said.Code),
	}
	visit := func(s *Store, n Name) *Page {
		t.Helper()
		page, err := s.Visit(w.ctx, timelines.Viewer{AccountID: n.UserID}, n, Cursor{})
		return must(w, page, err)
	}
	other := w.node()
	decisions := map[uint64]string{}
	was := map[string]uint64{}
	// settled visits a page twice, and reports whether it is decided otherwise than before.
	settled := func(name, after string) (anew bool) {
		t.Helper()
		visit(w.rivers, pages[name]) // what it lacks in memory is read, and may be newer
		first, again := visit(w.rivers, pages[name]), visit(w.rivers, pages[name])
		if first.Decision == 0 || first.Decision != again.Decision {
			t.Errorf("%s, %s: decisions %d and %d, want the same", name, after, first.Decision, again.Decision)
		}
		if of, ok := decisions[first.Decision]; ok && of != name {
			t.Errorf("%s has the decision of %s", name, of)
		}
		decisions[first.Decision] = name
		other.decided = newDecidedPages()
		if want := visit(other, pages[name]); !reflect.DeepEqual(again.Items, want.Items) || again.More != want.More || again.Next != want.Next ||
			again.River != want.River || again.Label != want.Label || again.At.clock != want.At.clock {
			t.Errorf("%s, %s: %+v, and by another node %+v", name, after, again, want)
		}
		anew = first.Decision != was[name]
		was[name] = first.Decision
		return anew
	}
	for name := range pages {
		settled(name, "at first")
		if settled(name, "at rest") {
			t.Errorf("%s is decided twice though nothing happened", name)
		}
	}
	type act = func(context.Context) (timelines.Change, error)
	for _, change := range []struct {
		what string
		by   timelines.Viewer
		do   act
	}{
		{"a like", cat, func(ctx context.Context) (timelines.Change, error) {
			return w.store.Posts.Like(ctx, cat.AccountID, said.Code)
		}},
		{"an edit", bob, func(ctx context.Context) (timelines.Change, error) {
			return w.store.Posts.Edit(ctx, bob.AccountID, said.Code, "bob's other")
		}},
		{"a remark less", cat, func(ctx context.Context) (timelines.Change, error) {
			return w.store.Comments.Delete(ctx, cat.AccountID, said.Code, talk.CommentID)
		}},
		{"a title", bob, func(ctx context.Context) (timelines.Change, error) {
			return w.store.Accounts.SetProfile(ctx, bob.AccountID, "Robert", "", "en")
		}},
		{"a hide", ann, func(ctx context.Context) (timelines.Change, error) {
			return w.store.Hides.HideAccount(ctx, ann.AccountID, "cat")
		}},
		{"a ban", bob, func(ctx context.Context) (timelines.Change, error) {
			return w.store.Bans.Ban(ctx, bob.AccountID, "cat")
		}},
		{"a level", cat, func(ctx context.Context) (timelines.Change, error) {
			return w.store.Feeds.SetAccess(ctx, cat.AccountID, "", timelines.Private)
		}},
	} {
		w.change(change.by, change.do)
		w.drain()
		for name := range pages {
			if !settled(name, "after "+change.what) {
				t.Errorf("%s is shown as before %s", name, change.what)
			}
		}
		if change.what != "an edit" {
			continue
		}
		// The version of an entry may be all that changes of it.
		w.exec(`UPDATE entries e SET version = e.version + 1 FROM folds f WHERE f.post_id = e.post_id AND e.version < f.version`)
		if !settled("everything", "after another version") {
			t.Error("everything is shown with the versions before")
		}
	}
	if use := w.rivers.Decided(); use.Bytes == 0 || use.Bytes > decidedBytes || use.Hits == 0 {
		t.Errorf("use of the cache: %+v", use)
	}
}

// A kept page counts for what its posts hold, as it may be the last to hold them.
func TestKeptDecisionsAreBounded(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	said := w.says(ann, "a post")
	const each, remarks = 2000, 20
	for range remarks {
		w.remarks(ann, said.Code, strings.Repeat("a word ", each/7))
	}
	for range 3 {
		w.visit(ann, Post, said.Code)
	}
	if use := w.rivers.Decided(); use.Hits == 0 || use.Bytes < each*remarks || use.Bytes > 3*each*remarks {
		t.Errorf("a page of %d bytes of comments: %+v", each*remarks, use)
	}
}
