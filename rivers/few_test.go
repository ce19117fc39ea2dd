package rivers

import (
	"fmt"
	"log/slog"
	"testing"

	"github.com/google/go-cmp/cmp"

	"riverrun/timelines"
	"riverrun/timelines/snapshot"
)

// A change that concerns few rivers is in all of them when its request is answered, in one write. If it
// concerns more, it is in the actor's alone, and the next writer brings it to the open ones first.
func TestFewRiversFollowAtOnce(t *testing.T) {
	const readers = 4
	w := newTown(t)
	bob := w.person("bob")
	var pages []*Page
	for i := range readers {
		v := w.person(fmt.Sprint("reader-", i))
		w.follow(v, "bob")
		w.drain()
		pages = append(pages, w.visit(v, Home, ""))
	}
	own := w.visit(bob, Home, "")
	if err := w.rivers.Lease(w.ctx, []int64{pages[0].River}); err != nil {
		t.Fatal(err)
	}
	held := func(post, river int64) bool {
		t.Helper()
		return w.count(`SELECT count(*) FROM entries WHERE post_id = $1 AND river_id = $2`, post, river) == 1
	}
	for _, c := range []struct {
		few                                 int
		left, open, closed, leftOf, closedT bool // after the request, and after the first writer
	}{
		// Bob's own river counts once, though it is made of two of the timelines.
		{readers + 1, false, true, true, false, true},
		{readers, true, false, false, false, true},
		{readers - 2, true, false, false, true, false},
		{-1, true, false, false, true, false},
	} {
		t.Run(fmt.Sprint(c.few), func(t *testing.T) {
			var sizes writes
			opts := DefaultOptions()
			opts.Few, opts.Metrics = c.few, &sizes
			s := Open(w.db.Secondary, w.store, slog.New(slog.DiscardHandler), opts)
			p := w.post(bob, fmt.Sprint("few ", c.few))
			touched := []timelines.Touched{{PostID: p.PostID, Timelines: p.Touched}}
			left, err := s.DistributeFirst(w.ctx, touched, Scope{Actor: bob.AccountID})
			if err != nil || left != c.left || len(sizes.sizes) != 1 {
				t.Errorf("left %t with %d writes, %v, want %t with one", left, len(sizes.sizes), err, c.left)
			}
			if !held(p.PostID, own.River) {
				t.Error("the actor's river does not hold the post")
			}
			if is := held(p.PostID, pages[0].River); is != c.open {
				t.Errorf("an open river holds the post: %t, want %t", is, c.open)
			}
			if is := held(p.PostID, pages[1].River); is != c.closed {
				t.Errorf("a closed river holds the post: %t, want %t", is, c.closed)
			}
			if left, err = s.DistributeFirst(w.ctx, touched, Scope{Open: true}); err != nil || left != c.leftOf {
				t.Errorf("the next writer left %t, %v, want %t", left, err, c.leftOf)
			}
			if !held(p.PostID, pages[0].River) {
				t.Error("an open river does not hold the post after its writer")
			}
			if is := held(p.PostID, pages[1].River); is != c.closedT {
				t.Errorf("a closed river holds the post after that: %t, want %t", is, c.closedT)
			}
			if err := s.Distribute(w.ctx, touched, All); err != nil || !held(p.PostID, pages[1].River) {
				t.Errorf("the last writer left a river out, %v", err)
			}
		})
	}
	w.drain()
	w.sound()
}

// One round trip reads the same as a snapshot, without contents if nobody asked for them.
func TestPostsAreReadAsInASnapshot(t *testing.T) {
	w := newTown(t)
	ann, bob := w.person("ann"), w.person("bob")
	first, second := w.post(ann, "one"), w.post(bob, "two")
	w.like(bob, first.Code)
	w.comment(bob, first.Code, "so")
	var viewers snapshot.ViewerPairs
	viewers.Add(first.PostID, bob.AccountID)
	viewers.Add(second.PostID, ann.AccountID)
	posts := []int64{first.PostID, second.PostID}
	for _, withContents := range []bool{true, false} {
		states, contents, err := w.store.ReadPosts(w.ctx, posts, viewers, withContents, w.rivers.foldDepth())
		if err != nil {
			t.Fatal(err)
		}
		err = w.store.InSnapshot(w.ctx, func(sn *snapshot.Snapshot) error {
			wantStates, err := sn.States(w.ctx, posts, viewers)
			if err != nil {
				return err
			}
			wantContents, err := sn.Contents(w.ctx, posts, w.rivers.foldDepth())
			if diff := cmp.Diff(wantStates, states); diff != "" || len(states) != len(posts) {
				t.Errorf("states (-want +got):\n%s", diff)
			}
			if !withContents {
				wantContents = nil
			}
			if diff := cmp.Diff(wantContents, contents); diff != "" {
				t.Errorf("contents (-want +got):\n%s", diff)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Where somebody waits, a post in very many timelines of rivers has its rivers left to the next writer.
func TestManyRegistrationsAreLeft(t *testing.T) {
	w := newTown(t)
	ann, bob := w.person("ann"), w.person("bob")
	w.follow(ann, "bob")
	w.drain()
	river := w.visit(ann, Home, "").River
	w.rivers.lookUpMost = 1
	p := w.post(bob, "one")
	touched := []timelines.Touched{{PostID: p.PostID, Timelines: p.Touched}}
	if left, err := w.rivers.DistributeFirst(w.ctx, touched, Scope{Actor: bob.AccountID}); err != nil || !left {
		t.Errorf("left %t, %v, want that it is", left, err)
	}
	if left, err := w.rivers.DistributeFirst(w.ctx, touched, Scope{Open: true}); err != nil || left {
		t.Errorf("the next writer left %t, %v, want nothing left", left, err)
	}
	if n := w.count(`SELECT count(*) FROM entries WHERE post_id = $1 AND river_id = $2`, p.PostID, river); n != 1 {
		t.Errorf("%d entries in a follower's river, want one", n)
	}
}
