package rivers

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"riverrun/timelines"
	"riverrun/timelines/kinds"
)

// Activity is a kind that this file adds to the table: posts that somebody likes or
// comments on, in order of creation only, forgotten after a minute.
const Activity Kind = "activity"

// Sought is another: posts that a query finds, in order of creation only.
const Sought Kind = "sought"

// The rows are added before any test reads the table.
func init() {
	specs[Sought] = spec{content: fromSearch{}, page: ofQuery, orders: []Order{Created}}
	specs[Activity] = spec{
		content: theirs(kinds.Likes, kinds.Comments), page: ofUser, reasons: true,
		orders: []Order{Created}, grace: func(Options) time.Duration { return time.Minute },
	}
}

// A kind is a row of the table: a river of a new kind does everything a river does.
func TestAKindIsARow(t *testing.T) {
	w := newTown(t)
	ann, bob, cat := w.person("ann"), w.person("bob"), w.person("cat")
	first, second, third := w.post(cat, "first"), w.post(cat, "second"), w.post(cat, "third")
	w.post(cat, "untouched")
	w.like(bob, second.Code)
	w.comment(bob, first.Code, "indeed")
	if !slices.Contains(Kinds(), Activity) {
		t.Fatalf("kinds: %q, without %s", Kinds(), Activity)
	}

	// It has the order that its row says, whichever is asked for.
	page := w.visit(ann, Activity, "bob")
	w.shows(page, "second", "first")
	if page.Name.Order != Created {
		t.Errorf("asked for by %s, it is by %s, want %s", Fresh, page.Name.Order, Created)
	}
	for _, tl := range page.Items[0].Why {
		if tl.Kind != kinds.Likes || tl.TheirID != bob.AccountID {
			t.Errorf("why: %+v, want bob's likes", tl)
		}
	}

	// It follows changes, and so does an open page.
	like := w.like(bob, third.Code)
	w.drain()
	seen, err := w.rivers.Flush(w.ctx, []Watch{{Viewer: ann, Name: page.Name, River: page.River}}, []int64{like.PostID})
	if err != nil {
		t.Fatal(err)
	}
	if got := seen[0].Items; len(got) != 1 || got[0].Fold.Text.Body != "third" {
		t.Errorf("pushed: %+v, want the third post", seen[0])
	}
	w.unlike(bob, third.Code)
	w.drain()
	w.shows(w.visit(ann, Activity, "bob"), "second", "first")
	w.sound()

	// It is explained and counted like any other.
	x, err := w.rivers.Explain(w.ctx, ann.AccountID, second.Code)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(x.Standings, func(s Standing) bool { return s.Name == page.Name && s.Cause == Shown && s.Stored > 0 }) {
		t.Errorf("explained: %+v, want it shown in %+v", x.Standings, page.Name)
	}
	if census, err := w.rivers.Census(w.ctx); err != nil || census[Activity] != 1 {
		t.Errorf("census: %v, %v, want one of %s", census, err, Activity)
	}

	// It is kept as long as its row says.
	older := func() {
		w.exec(`UPDATE rivers SET created_at = created_at - interval '50 seconds'`)
		w.exec(`UPDATE visits SET visited_at = visited_at - interval '50 seconds'`)
	}
	for i, want := range []int64{0, 0, 1} {
		if gone, err := w.rivers.Expire(w.ctx); err != nil || gone.Rivers != want {
			t.Errorf("after %d s: expired %+v, %v, want %d rivers", i*50, gone, err, want)
		}
		older()
	}

	// A group has no such page. Where the person's page is closed, no river of it is made.
	w.group(cat, "sailing", timelines.Public)
	if _, err := w.rivers.Resolve(w.ctx, ann, Activity, "sailing", Fresh); !errors.Is(err, ErrNotFound) {
		t.Errorf("of a group: %v, want %v", err, ErrNotFound)
	}
	closing, err := w.store.Feeds.SetAccess(w.ctx, bob.AccountID, "", timelines.Private)
	if err := errors.Join(err, w.rivers.PublishClock(w.ctx, closing.Clock)); err != nil {
		t.Fatal(err)
	}
	w.drain()
	for _, v := range []timelines.Viewer{ann, {}} {
		if _, err := w.rivers.Visit(w.ctx, v, w.name(v, Activity, "bob"), Cursor{}); !errors.Is(err, ErrForbidden) {
			t.Errorf("closed, to account %d: %v, want %v", v.AccountID, err, ErrForbidden)
		}
	}
	if got := w.count(`SELECT count(*) FROM rivers WHERE state = 'live'`); got != 0 {
		t.Errorf("%d rivers stand of a closed page", got)
	}
	w.shows(w.visit(bob, Activity, "bob"), "second", "first")
	w.sound()
}

// A second kind of searches is what a search is: its readers bring it up to date, and no
// writer finds it, whatever it looks rivers up by.
func TestASearchKindIsARow(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	w.says(ann, "one cat")
	page := w.visit(ann, Sought, "cats")
	w.shows(page, "one cat")
	two := w.says(ann, "two cats")
	w.shows(w.visit(ann, Sought, "cats"), "two cats", "one cat")
	w.shows(w.visit(ann, User, "ann"), "two cats", "one cat")
	like := w.like(ann, two.Code)
	touched := []timelines.Touched{{PostID: like.PostID, Timelines: like.Touched}}
	for name, scope := range map[string]Scope{"Tier 0": {Actor: ann.AccountID}, "Tier 2": All} {
		looked, err := w.rivers.lookUp(w.ctx, touched, scope)
		if err != nil || len(looked.targets) != 1 || looked.targets[0].name.Kind != User {
			t.Errorf("%s looks up %d rivers, %v, want the user's alone", name, len(looked.targets), err)
		}
	}
	w.drain()
	found := w.visit(ann, Sought, "cats")
	w.shows(found, "two cats", "one cat")
	if !found.Items[0].Liked || found.River != page.River {
		t.Errorf("liked %t in river %d, want so in river %d", found.Items[0].Liked, found.River, page.River)
	}
	w.sound()
}

// Each kind is resolved, for any viewer and any name: it is found, or refused with an error
// that its page can tell, in an order that it has.
func TestEveryKindIsComplete(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	code := w.post(ann, "words").Code
	of := map[pageOf]string{ofUser: "ann", ofGroup: "sailing", ofSubfeed: "ann/private", ofPost: code, ofMyList: "some", ofQuery: "words"}
	w.group(ann, "sailing", timelines.Public)
	if _, _, err := w.store.Lists.Create(w.ctx, timelines.NewList{Actor: ann.AccountID, Title: "Some"}); err != nil {
		t.Fatal(err)
	}
	w.drain()
	for kind, sp := range specs {
		if sp.content == nil {
			t.Errorf("%s is made of nothing: its row has no content", kind)
			continue
		}
		name := of[sp.page]
		if sp.term != nil {
			name = "en" // a language, and a tag
		}
		for _, order := range append([]Order{"", "odd"}, kind.Orders()...) {
			n, err := w.rivers.Resolve(w.ctx, ann, kind, name, order)
			if err != nil {
				t.Errorf("%s of %q by %q: %v", kind, name, order, err)
				continue
			}
			if want := kind.inOrder(order); n.Order != want || !slices.Contains(kind.Orders(), n.Order) {
				t.Errorf("%s by %q is by %q, want %q", kind, order, n.Order, want)
			}
			if _, err := w.rivers.Visit(w.ctx, ann, n, Cursor{}); err != nil {
				t.Errorf("visit %s of %q by %q: %v", kind, name, order, err)
			}
			if got, err := w.rivers.OpenToAll(w.ctx, n, nil); err != nil || got && (sp.page == ofMyself || sp.page == ofMyList) {
				t.Errorf("%s is open to all: %t, %v", kind, got, err)
			}
		}
		if grace := w.rivers.grace(kind); grace <= 0 || grace > 7*24*time.Hour {
			t.Errorf("%s is kept for %v", kind, grace)
		}
	}
	w.sound()
	if _, err := w.rivers.Resolve(context.Background(), ann, "no such kind", "", Fresh); !errors.Is(err, ErrNotFound) {
		t.Errorf("a kind that is none: %v, want %v", err, ErrNotFound)
	}
}
