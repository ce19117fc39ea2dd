package rivers

import (
	"log/slog"
	"slices"
	"strings"
	"testing"

	"riverrun/timelines"
)

// A build leaves the present folds alone and asks for no contents of their posts. It writes
// outdated and missing folds before anybody reads.
func TestABuildWritesMissingFolds(t *testing.T) {
	w := newTown(t)
	ann, bob := w.person("ann"), w.person("bob")
	w.told(w.follow(ann, "bob"))
	w.post(bob, "one")
	two := w.post(bob, "two")
	w.visit(ann, Everything, "")
	asked := &everyQuestion{}
	store := timelines.Open(traced(t, w.db.PrimaryURL, asked), w, timelines.DefaultOptions())
	rivers := Open(w.db.Secondary, store, slog.New(slog.DiscardHandler), DefaultOptions())
	build := func(kind Kind, of string, order Order) (contents []int64) {
		t.Helper()
		n := w.name(ann, kind, of)
		n.Order = order
		asked.take()
		if err := rivers.build(w.ctx, n, ForVisit, nil); err != nil {
			t.Fatal(err)
		}
		for _, d := range asked.take() {
			if !strings.Contains(d.SQL, "attachments") {
				continue
			}
			for _, arg := range d.Args { // of a batch: named no more
				if posts, ok := arg.([]int64); ok {
					contents = append(contents, posts...)
				}
			}
		}
		return contents
	}
	folded := func() (at int) {
		t.Helper()
		version, err := w.store.Posts.Versions(w.ctx, []int64{two.PostID})
		must(w, 0, err)
		return w.count(`SELECT count(*) FROM folds WHERE post_id = $1 AND version = $2`, two.PostID, version[two.PostID])
	}
	if got := build(Home, "", Fresh); len(got) != 0 {
		t.Errorf("where all folds stand contents are asked of %v", got)
	}
	c, err := w.store.Posts.Edit(w.ctx, bob.AccountID, two.Code, "two and a half")
	must(w, c, err)
	w.forget() // no writer comes
	if got := build(User, "bob", Fresh); !slices.Equal(got, []int64{two.PostID}) || folded() != 1 {
		t.Errorf("where one is behind contents are asked of %v, want %d, and it stands: %d", got, two.PostID, folded())
	}
	w.exec(`DELETE FROM folds WHERE post_id = $1`, two.PostID)
	w.rivers.folds = newFoldCache(10)
	if got := build(User, "bob", Created); !slices.Equal(got, []int64{two.PostID}) || folded() != 1 {
		t.Errorf("where one is missing contents are asked of %v, want %d, and it stands: %d", got, two.PostID, folded())
	}
	w.shows(w.visit(ann, User, "bob"), "two and a half", "one")
}

// A fold may be removed during a build, because nothing links it yet. Its reader makes it
// again, and a post that changed by then gets its present fold.
func TestAFoldRemovedDuringABuildIsMadeAgain(t *testing.T) {
	for _, point := range []string{afterRegister, afterSnapshot, afterEntries} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			w := newTown(t)
			ann, bob := w.person("ann"), w.person("bob")
			w.follow(ann, "bob")
			w.post(bob, "one")
			two := w.post(bob, "two")
			w.visit(ann, Everything, "")
			if n := w.count(`SELECT count(*) FROM folds`); n != 2 {
				t.Fatalf("%d folds are there, want 2", n)
			}
			ctx := pausedAt(w.ctx, point, func() {
				w.exec(`DELETE FROM folds`) // as an expiry would
				w.rivers.folds = newFoldCache(10)
				c, err := w.store.Posts.Edit(w.ctx, bob.AccountID, two.Code, "two and a half")
				w.acted(must(w, c, err))
				w.drain()
			})
			if err := w.rivers.build(ctx, w.name(ann, Home, ""), ForVisit, nil); err != nil {
				t.Fatal(err)
			}
			w.shows(w.visit(ann, Home, ""), "two and a half", "one")
			w.sound()
		})
	}
}

// A post that nobody has looked at has no fold, whatever event announces it. The first reader
// makes the fold.
func TestAPostNobodyLooksAtHasNoFold(t *testing.T) {
	w := newTown(t)
	ann, bob := w.person("ann"), w.person("bob")
	folds := func(want int) {
		t.Helper()
		if got := w.count(`SELECT count(*) FROM folds`); got != want {
			t.Errorf("folds: got %d, want %d", got, want)
		}
	}
	w.post(bob, "one")
	w.drain()
	folds(0)
	w.shows(w.visit(ann, User, "bob"), "one")
	folds(1)
	w.post(bob, "two")
	w.drain()
	folds(2)
	w.shows(w.visit(ann, User, "bob"), "two", "one")
	w.sound()
}

// A post without a fold changes while somebody makes its fold, for a river that the change does
// not concern. The fold from before the change does not stay.
func TestAFoldFromBeforeAChangeDoesNotStay(t *testing.T) {
	for _, point := range []string{afterSnapshot, afterEntries} {
		t.Run(point, func(t *testing.T) {
			w := newTown(t)
			ann, bob, cid := w.person("ann"), w.person("bob"), w.person("cid")
			one := w.post(bob, "one")
			w.drain()
			ctx := pausedAt(w.ctx, point, func() {
				w.like(cid, one.Code)
				w.drain()
			})
			if err := w.rivers.build(ctx, w.name(ann, User, "bob"), ForVisit, nil); err != nil {
				t.Fatal(err)
			}
			if n := w.count(`SELECT count(*) FROM folds WHERE version = 1`); n != 0 {
				t.Error("the fold is of before the like")
			}
			w.sound()
		})
	}
}
