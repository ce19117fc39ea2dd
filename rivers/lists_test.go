package rivers

import (
	"errors"
	"testing"

	"riverrun/timelines"
	"riverrun/timelines/kinds"
)

// list makes a list with these members.
func (w *town) list(v timelines.Viewer, title string, members ...string) timelines.List {
	w.t.Helper()
	l, c, err := w.store.Lists.Create(w.ctx, timelines.NewList{Actor: v.AccountID, Title: title})
	w.told(must(w, c, err))
	c, err = w.store.Lists.Edit(w.ctx, v.AccountID, l.Slug, title, members)
	w.told(must(w, c, err))
	return l
}

// told does what comes before the reply to a change of the actor's own subscriptions or
// lists.
func (w *town) told(c timelines.Change) {
	w.t.Helper()
	if err := w.rivers.PublishClock(w.ctx, c.Clock); err != nil {
		w.t.Fatal(err)
	}
	for _, r := range c.Replace {
		if err := w.rivers.Retire(w.ctx, r); err != nil {
			w.t.Fatal(err)
		}
	}
}

// live counts the live rivers of a page.
func (w *town) live(kind Kind, their int64) int {
	w.t.Helper()
	return w.count(`SELECT count(*) FROM rivers WHERE state = 'live' AND kind = $1 AND their_id = $2`, kind, their)
}

func TestAListShowsItsMembers(t *testing.T) {
	w := newTown(t)
	ann, bob, cat, dan := w.person("ann"), w.person("bob"), w.person("cat"), w.person("dan")
	w.group(dan, "club", timelines.Public)
	for _, name := range []string{"bob", "cat", "club"} {
		w.told(w.follow(ann, name))
	}
	w.post(ann, "mine")
	w.post(bob, "bob's", "bob")
	w.post(bob, "to me", "ann")
	strange := w.post(dan, "dan's")
	w.post(dan, "in the club", "club")
	w.post(cat, "cat's")
	w.like(bob, strange.Code)
	w.list(ann, "Some", "bob", "club")
	other := w.list(ann, "Other", "cat")
	page := w.visit(ann, List, "some")
	w.shows(page, "dan's", "in the club", "bob's")
	if why := page.Items[0].Why; len(why) != 1 || why[0].Kind != kinds.Likes || why[0].TheirID != bob.AccountID {
		t.Errorf("a stranger's post is in the list for %+v, want bob's like", why)
	}
	w.shows(w.visit(ann, List, "other"), "cat's")
	home := w.visit(ann, Home, "")

	// A change of one list replaces that list's rivers and no others.
	c, err := w.store.Lists.Place(w.ctx, ann.AccountID, "bob", true, []string{"other"})
	w.told(must(w, c, err))
	if got := w.visit(ann, Home, ""); got.River != home.River {
		t.Errorf("the home feed was replaced for a change of lists")
	}
	w.shows(w.visit(ann, List, "some"), "in the club")
	now := w.visit(ann, List, "other")
	w.shows(now, "dan's", "cat's", "bob's")
	c, err = w.store.Lists.Place(w.ctx, ann.AccountID, "bob", false, []string{"other"})
	w.told(must(w, c, err))
	w.shows(w.visit(ann, Home, ""), "cat's", "in the club", "to me", "mine")
	if got := w.visit(ann, List, "other"); got.River != now.River {
		t.Errorf("a list was replaced for a change of the home feed")
	}

	// The list follows changes, and loses a member's posts with the subscription.
	w.post(bob, "later")
	w.drain()
	w.shows(w.visit(ann, List, "other"), "later", "dan's", "cat's", "bob's")
	w.shows(w.visit(ann, Home, ""), "cat's", "in the club", "to me", "mine")
	c, err = w.store.Subscriptions.Unsubscribe(w.ctx, ann.AccountID, "bob")
	w.told(must(w, c, err))
	w.shows(w.visit(ann, List, "other"), "cat's")
	if n := w.live(List, other.ID); n != 1 {
		t.Errorf("%d rivers of the list, want 1", n)
	}
	w.drain()
	w.sound()
}

// Only its owner has a list, on every node, from the moment it is made to the moment it is
// deleted.
func TestAListIsItsOwnersAlone(t *testing.T) {
	w := newTown(t)
	ann, bob := w.person("ann"), w.person("bob")
	w.told(w.follow(ann, "bob"))
	w.post(bob, "his")
	elsewhere := w.node()
	if _, err := elsewhere.access.Sets(w.ctx, ann.AccountID); err != nil {
		t.Fatal(err) // it remembers no lists
	}
	l := w.list(ann, "Some", "bob")
	n, err := elsewhere.Resolve(w.ctx, ann, List, "some", Fresh)
	if err != nil {
		t.Fatalf("a new list on another node: %v", err)
	}
	for _, v := range []timelines.Viewer{bob, {}} {
		want := ErrNotFound
		if v.Anonymous() {
			want = ErrSignInNeeded
		}
		if _, err := w.rivers.Resolve(w.ctx, v, List, "some", Fresh); !errors.Is(err, want) {
			t.Errorf("another's list: got %v, want %v", err, want)
		}
		for _, name := range []Name{n, {UserID: v.AccountID, Kind: List, TheirID: l.ID, Order: Fresh}} {
			if _, err := w.rivers.Visit(w.ctx, v, name, Cursor{}); !errors.Is(err, ErrNotFound) {
				t.Errorf("another's list by name %+v: got %v, want %v", name, err, ErrNotFound)
			}
		}
	}
	page := w.visit(ann, List, "some")
	w.shows(page, "his")
	if err := w.rivers.Lease(w.ctx, []int64{page.River}); err != nil {
		t.Fatal(err)
	}
	c, err := w.store.Lists.Delete(w.ctx, ann.AccountID, "some")
	if err := w.rivers.PublishClock(w.ctx, must(w, c, err).Clock); err != nil {
		t.Fatal(err)
	}
	for i, node := range []*Store{w.rivers, elsewhere} {
		if _, err := node.Visit(w.ctx, ann, n, Cursor{}); !errors.Is(err, ErrNotFound) {
			t.Errorf("a deleted list on node %d: got %v, want %v", i, err, ErrNotFound)
		}
		seen, err := node.Flush(w.ctx, []Watch{{Viewer: ann, Name: n, River: page.River}}, nil)
		if err != nil || !seen[0].Closed {
			t.Errorf("an open page of it on node %d: %+v, %v; want it closed", i, seen, err)
		}
	}
	w.drain()
	if n := w.count(`SELECT count(*) FROM rivers WHERE kind = 'list' AND state <> 'retired'`); n != 0 {
		t.Errorf("%d rivers of a list that is gone", n)
	}
	if _, err := w.rivers.Resolve(w.ctx, ann, List, "some", Fresh); !errors.Is(err, ErrNotFound) {
		t.Errorf("its address: got %v, want %v", err, ErrNotFound)
	}
	w.sound()
}

// A list shows no posts of a member whom its owner may not read.
func TestAListGrantsNothing(t *testing.T) {
	w := newTown(t)
	ann, bob := w.person("ann"), w.person("bob")
	w.told(w.follow(ann, "bob"))
	if _, err := w.db.Primary.Exec(w.ctx, `DELETE FROM readers WHERE account_id = $1 AND timeline_id IN (
		SELECT id FROM timelines WHERE kind = 'feed' AND their_id = $2)`, ann.AccountID, bob.AccountID); err != nil {
		t.Fatal(err)
	}
	w.post(bob, "his")
	w.list(ann, "Some", "bob")
	w.shows(w.visit(ann, List, "some"), "his")
	c, err := w.store.Feeds.SetAccess(w.ctx, bob.AccountID, "", timelines.Private)
	w.told(must(w, c, err))
	w.shows(w.visit(ann, List, "some"))
	w.drain()
	w.shows(w.visit(ann, List, "some"))
	w.sound()
}

// The same page in another mode is another river, made of fewer timelines.
func TestFriendsOnly(t *testing.T) {
	w := newTown(t)
	ann, bob, cat, dan := w.person("ann"), w.person("bob"), w.person("cat"), w.person("dan")
	w.group(dan, "club", timelines.Public)
	for _, name := range []string{"bob", "club"} {
		w.told(w.follow(ann, name))
	}
	w.list(ann, "Some", "bob", "club")
	liked, discussed, mine := w.post(cat, "liked"), w.post(cat, "discussed"), w.post(cat, "I like it")
	w.post(ann, "mine")
	w.post(bob, "bob's")
	w.post(dan, "dan's", "club")
	w.post(cat, "to me", "ann")
	w.like(bob, liked.Code)
	w.comment(bob, discussed.Code, "well")
	w.like(ann, mine.Code)
	w.forget()
	home, list := w.name(ann, Home, ""), w.name(ann, List, "some")
	for n, want := range map[Name][]string{
		home:                 {"I like it", "discussed", "liked", "to me", "dan's", "bob's", "mine"},
		home.In(FriendsOnly): {"to me", "dan's", "bob's", "mine"},
		list:                 {"discussed", "liked", "dan's", "bob's"},
		list.In(FriendsOnly): {"dan's", "bob's"},
	} {
		p, err := w.rivers.Visit(w.ctx, ann, n, Cursor{})
		w.shows(must(w, p, err), want...)
	}
	if got := w.count(`SELECT count(*) FROM rivers WHERE state = 'live'`); got != 4 {
		t.Errorf("%d rivers live, want both modes of both pages", got)
	}
	// A change that concerns a page concerns it in both modes.
	c, err := w.store.Lists.Place(w.ctx, ann.AccountID, "bob", false, []string{"some"})
	w.told(must(w, c, err))
	p, err := w.rivers.Visit(w.ctx, ann, home.In(FriendsOnly), Cursor{})
	w.shows(must(w, p, err), "to me", "dan's", "mine")
	w.drain()
	w.sound()
}
