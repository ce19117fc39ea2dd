package rivers

import (
	"context"
	"errors"
	"slices"
	"testing"

	"riverrun/timelines"
	"riverrun/timelines/kinds"
)

func (w *town) subfeed(owner timelines.Viewer, slug string, level timelines.Level) timelines.Change {
	w.t.Helper()
	c, err := w.store.Feeds.Create(w.ctx, owner.AccountID, slug, slug, level)
	return must(w, c, err)
}

// A sub-feed's posts are on its own page, on its owner's, and in the home feeds of the
// owner's followers, as far as the sub-feed's own level admits each of them.
func TestSubfeeds(t *testing.T) {
	w := newTown(t)
	ann, bob, cat := w.person("ann"), w.person("bob"), w.person("cat")
	nobody := timelines.Viewer{}
	w.follow(ann, "bob")
	w.follow(cat, "bob")
	w.subfeed(bob, "photos", timelines.Public)
	w.subfeed(bob, "garden", timelines.Protected)
	if _, err := w.store.Feeds.Admit(w.ctx, bob.AccountID, kinds.PrivateTerm, "ann"); err != nil {
		t.Fatal(err)
	}
	w.post(bob, "for all", "bob/photos")
	w.post(bob, "for the signed in", "bob/garden")
	w.post(bob, "for ann", "bob/private")
	w.post(bob, "for bob", timelines.ToEyes)
	w.post(bob, "in two places", "bob", "bob/photos")
	w.drain()

	w.shows(w.visit(bob, User, "bob"), "in two places", "for ann", "for the signed in", "for all")
	w.shows(w.visit(ann, User, "bob"), "in two places", "for ann", "for the signed in", "for all")
	w.shows(w.visit(cat, User, "bob"), "in two places", "for the signed in", "for all")
	w.shows(w.visit(nobody, User, "bob"), "in two places", "for all")
	w.shows(w.visit(bob, Home, ""), "in two places", "for bob", "for ann", "for the signed in", "for all")
	w.shows(w.visit(ann, Home, ""), "in two places", "for ann", "for the signed in", "for all")
	w.shows(w.visit(cat, Home, ""), "in two places", "for the signed in", "for all")
	w.shows(w.visit(bob, Eyes, ""), "for bob")
	w.shows(w.visit(ann, Eyes, ""))
	w.shows(w.visit(nobody, Subfeed, "bob/photos"), "in two places", "for all")
	w.shows(w.visit(cat, Subfeed, "bob/garden"), "for the signed in")
	w.shows(w.visit(ann, Subfeed, "bob/private"), "for ann")
	w.shows(w.visit(nobody, Everything, ""), "in two places", "for all")
	w.shows(w.visit(bob, Everything, ""), "in two places", "for ann", "for the signed in", "for all")
	w.sound()

	for _, tc := range []struct {
		v    timelines.Viewer
		of   string
		want error
	}{
		{nobody, "bob/garden", ErrForbidden},
		{nobody, "bob/private", ErrNotFound},
		{cat, "bob/private", ErrNotFound},
		{cat, "bob/nothing", ErrNotFound},
	} {
		_, err := w.rivers.Visit(w.ctx, tc.v, w.name(tc.v, Subfeed, tc.of), Cursor{})
		if !errors.Is(err, tc.want) {
			t.Errorf("account %d at %s: got %v, want %v", tc.v.AccountID, tc.of, err, tc.want)
		}
	}
	for _, of := range []string{"", "bob", "bob/", "bob/A", "bob/\x00", "nobody/photos", "/photos", "bob/a/b"} {
		if _, err := w.rivers.Resolve(w.ctx, ann, Subfeed, of, Fresh); !errors.Is(err, ErrNotFound) {
			t.Errorf("resolve %q: got %v, want %v", of, err, ErrNotFound)
		}
	}

	// The feed is closed, and the album stays open.
	if _, err := w.store.Feeds.SetAccess(w.ctx, bob.AccountID, "", timelines.Private); err != nil {
		t.Fatal(err)
	}
	w.drain()
	if err := w.rivers.RefreshAccess(w.ctx); err != nil {
		t.Fatal(err)
	}
	w.shows(w.visit(ann, User, "bob"), "in two places", "for ann", "for the signed in", "for all")
	w.shows(w.visit(nobody, Subfeed, "bob/photos"), "in two places", "for all")
	w.sound()
}

// A feed that is made or deleted replaces its owner's pages and the rivers of the owner's
// followers, and no others.
func TestReplaceOfAnAccountsFeeds(t *testing.T) {
	w := newTown(t)
	ann, bob, cat, dan := w.person("ann"), w.person("bob"), w.person("cat"), w.person("dan")
	nobody := timelines.Viewer{}
	w.follow(ann, "bob")
	w.follow(cat, "bob")
	w.post(bob, "hello")
	w.drain()
	kept := map[string]int64{
		"dan's home": w.visit(dan, Home, "").River, "dan's page": w.visit(nobody, User, "dan").River,
		"everything": w.visit(ann, Everything, "").River, "bob's likes": w.visit(dan, Likes, "bob").River,
		"dan's page, open to ann": w.visit(ann, User, "dan").River,
	}
	if err := w.rivers.Lease(w.ctx, []int64{kept["dan's page, open to ann"]}); err != nil {
		t.Fatal(err)
	}
	gone := map[string]int64{
		"cat's home": w.visit(cat, Home, "").River, "bob's page": w.visit(nobody, User, "bob").River,
		"bob's private page": w.visit(bob, Subfeed, "bob/private").River,
	}
	gone["bob's page, open to ann"] = w.visit(ann, User, "bob").River
	open := w.visit(ann, Home, "")
	if err := w.rivers.Lease(w.ctx, []int64{open.River, gone["bob's page, open to ann"]}); err != nil {
		t.Fatal(err)
	}
	w.subfeed(bob, "photos", timelines.Public)
	w.post(bob, "a picture", "bob/photos")
	w.drain()
	live := func(id int64) bool {
		return w.count(`SELECT count(*) FROM rivers WHERE id = $1 AND state = 'live'`, id) == 1
	}
	for what, id := range kept {
		if !live(id) {
			t.Errorf("%s was replaced", what)
		}
	}
	for what, id := range gone {
		if live(id) {
			t.Errorf("%s was not replaced", what)
		}
	}
	page, err := w.rivers.FirstPages(w.ctx, []Watch{{Viewer: ann, Name: open.Name}})
	if err != nil || page[0] == nil || page[0].River == open.River {
		t.Fatalf("ann's open home was not swapped: %+v, %v", page, err)
	}
	w.shows(page[0], "a picture", "hello")
	w.shows(w.visit(nobody, User, "bob"), "a picture", "hello")
	w.sound()
}

// A private sub-feed that is made or deleted replaces the rivers of its readers, and no
// others. So does a change of level that changes only what anonymous visitors may read.
func TestReplaceOfFewReaders(t *testing.T) {
	w := newTown(t)
	ann, bob, cat := w.person("ann"), w.person("bob"), w.person("cat")
	nobody := timelines.Viewer{}
	w.follow(ann, "bob")
	w.follow(cat, "bob")
	w.post(bob, "hello")
	w.subfeed(bob, "photos", timelines.Public)
	w.post(bob, "a picture", "bob/photos")
	type view struct {
		who  timelines.Viewer
		kind Kind
		of   string
	}
	views := []view{
		{ann, Home, ""},
		{ann, User, "bob"},
		{bob, Home, ""},
		{bob, User, "bob"},
		{bob, User, "ann"},
		{cat, Home, ""},
		{cat, User, "bob"},
		{cat, Everything, ""},
		{nobody, User, "bob"},
		{nobody, Everything, ""},
		{nobody, User, "ann"},
	}
	replaces := func(what string, change func() error, want ...view) {
		t.Helper()
		w.drain()
		rivers := make([]int64, len(views))
		for i, v := range views {
			rivers[i] = w.visit(v.who, v.kind, v.of).River
		}
		if err := change(); err != nil {
			t.Fatal(err)
		}
		w.drain()
		if err := w.rivers.RefreshAccess(w.ctx); err != nil {
			t.Fatal(err)
		}
		w.soundAt(what)
		for i, v := range views {
			live := w.count(`SELECT count(*) FROM rivers WHERE id = $1 AND state = 'live'`, rivers[i]) == 1
			if live == slices.Contains(want, v) {
				t.Errorf("%s: %s of %q for account %d stands on: %v", what, v.kind, v.of, v.who.AccountID, live)
			}
		}
	}
	own := []view{{bob, Home, ""}, {bob, User, "bob"}}
	replaces("a diary", func() error {
		_, err := w.store.Feeds.Create(w.ctx, bob.AccountID, "diary", "Diary", timelines.Private)
		return err
	}, own...)
	if _, err := w.store.Feeds.Admit(w.ctx, bob.AccountID, "diary", "ann"); err != nil {
		t.Fatal(err)
	}
	// A post that has left the diary again still counts for its place.
	once := w.post(bob, "once in the diary", "bob/diary")
	if _, err := w.store.Posts.Revise(w.ctx, bob.AccountID, once.Code, timelines.Revision{To: []string{"bob"}}); err != nil {
		t.Fatal(err)
	}
	replaces("no diary", func() error {
		_, err := w.store.Feeds.Delete(w.ctx, bob.AccountID, "diary")
		return err
	}, append(own, view{ann, Home, ""}, view{ann, User, "bob"})...)
	anonymous := []view{{nobody, User, "bob"}, {nobody, Everything, ""}, {nobody, User, "ann"}}
	for _, level := range []timelines.Level{timelines.Protected, timelines.Public} {
		replaces("photos "+level.String(), func() error {
			_, err := w.store.Feeds.SetSubfeedAccess(w.ctx, bob.AccountID, "photos", level)
			return err
		}, anonymous...)
	}
	replaces("photos private", func() error {
		_, err := w.store.Feeds.SetSubfeedAccess(w.ctx, bob.AccountID, "photos", timelines.Private)
		return err
	}, views...)
	w.subfeed(bob, "empty", timelines.Public)
	replaces("an empty one private", func() error {
		_, err := w.store.Feeds.SetSubfeedAccess(w.ctx, bob.AccountID, "empty", timelines.Private)
		return err
	}, views[0], views[1], views[2], views[3], views[5], views[6], views[8])
}

// A post that moves follows in every river, also in those of readers who gain it, and lifts
// nothing.
func TestAMovedPostFollows(t *testing.T) {
	w := newTown(t)
	ann, bob := w.person("ann"), w.person("bob")
	w.group(ann, "club", timelines.Private)
	w.follow(ann, "bob")
	old := w.post(bob, "old", timelines.ToEyes)
	w.post(bob, "new")
	w.drain()
	pages := func() {
		w.visit(ann, Home, "")
		w.visit(ann, User, "bob")
		w.visit(bob, Eyes, "")
		w.visit(bob, Home, "")
	}
	pages()
	move := func(to ...string) {
		t.Helper()
		_, err := w.store.Posts.Revise(w.ctx, bob.AccountID, old.Code, timelines.Revision{To: to})
		must(w, 0, err)
		w.drain()
		w.sound()
	}
	move("bob")
	w.shows(w.visit(ann, Home, ""), "new", "old")
	w.shows(w.visit(ann, User, "bob"), "new", "old")
	w.shows(w.visit(bob, Eyes, ""))
	w.shows(w.visit(bob, Home, ""), "new", "old")
	move("ann")
	w.shows(w.visit(ann, User, "bob"), "new")
	w.shows(w.visit(ann, Directs, ""), "old")
	w.shows(w.visit(ann, Home, ""), "new", "old")
	w.shows(w.visit(ann, Everything, ""), "new")
	move(timelines.ToEyes)
	w.shows(w.visit(ann, Home, ""), "new")
	w.shows(w.visit(ann, Directs, ""))
	w.shows(w.visit(bob, Eyes, ""), "old")
	if _, _, err := w.rivers.Entry(context.WithoutCancel(w.ctx), ann, w.name(ann, Home, ""), old.PostID); !errors.Is(err, ErrNotFound) {
		t.Errorf("ann's entry: got %v, want %v", err, ErrNotFound)
	}
}
