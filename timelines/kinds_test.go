package timelines

import (
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/kinds"
	"riverrun/timelines/language"
	"riverrun/timelines/snapshot"
)

// This file adds a kind to the table, for posts that people save or comment on. It opens
// with the feed, and home feeds of followers have it.
var talks = kinds.Spec{Kind: "talks", By: []kinds.Action{kinds.Commented, kinds.Saved}, Home: kinds.OfFollowers, Owner: User, Gate: kinds.Feed}

// A kind is a row of the table: its timelines are made, filled, emptied, bumped, found
// and opened as those of any other.
func TestAKindIsARow(t *testing.T) {
	before := kinds.All
	kinds.All = append(slices.Clone(before), talks)
	t.Cleanup(func() { kinds.All = before })

	w := newTownAlone(t)
	ann, bob, cat, dan := w.user("ann"), w.user("bob"), w.user("cat"), w.user("dan")
	w.subscribe(ann, "bob")
	of := w.timeline(talks.Kind, bob.ID)
	holds := func(when string, want bool, code Change) {
		t.Helper()
		held, err := w.Holdings(t.Context(), []Hold{{code.PostID, of}})
		w.must(err)
		w.same(when, len(held) == 1, want)
	}

	// It is entered and left by its actions, and by no other.
	p, other := w.post(cat, "hello"), w.post(bob, "of bob's own")
	w.must(second(w.Posts.Like(t.Context(), bob.ID, p.Code)))
	holds("liked", false, p)
	holds("written", false, other)
	said := w.comment(bob, p.Code)
	if !slices.Contains(said.Touched, of) {
		t.Errorf("a comment touches %v, want %d among them", said.Touched, of)
	}
	w.must(second(w.Posts.Fave(t.Context(), bob.ID, p.Code)))
	w.must(second(w.Comments.Delete(t.Context(), bob.ID, p.Code, said.CommentID)))
	holds("still saved", true, p)
	w.must(second(w.Posts.Unfave(t.Context(), bob.ID, p.Code)))
	holds("left", false, p)
	entered := w.row(of, p.PostID).EnteredAt
	w.must(second(w.Posts.Fave(t.Context(), bob.ID, p.Code)))
	w.same("lifted by saving it again", w.row(of, p.PostID).EnteredAt, entered)

	// It follows a bump by its owner at once, however many others do not.
	w.crowd(p.PostID, 210)
	w.comment(bob, p.Code)
	w.same("fresh", w.row(of, p.PostID).FreshAt, w.freshAt(p.PostID))
	w.must(w.Maintenance.BumpBlock(t.Context(), PendingBump{PostID: p.PostID}))

	// Followers have it at home, unless they want to see friends only; it opens as the feed does.
	shows := func(viewer int64, friendsOnly, home, page bool) {
		t.Helper()
		w.must(w.InSnapshot(t.Context(), func(sn *snapshot.Snapshot) error {
			all, err := sn.Home(t.Context(), viewer, friendsOnly)
			w.must(err)
			w.same("at home", slices.Contains(all, of), home)
			named, err := sn.Named(t.Context(), viewer, bob.ID, talks.Kind)
			w.must(err)
			w.same("on its page", slices.Contains(named, of), page)
			return nil
		}))
	}
	shows(ann.ID, false, true, true)
	shows(ann.ID, true, false, true)
	shows(bob.ID, false, true, true)
	shows(dan.ID, false, false, true)
	w.setAccess(bob, "", Private)
	shows(dan.ID, false, false, false)

	// An import fills it as the living do.
	tale := tale("1")
	tale.Comments = []ImportedComment{{Author: person("eve"), ExternalID: "1/1", CreatedAt: tale.CreatedAt, Body: "indeed"}}
	w.importPosts(10, tale)
	eve := w.timeline(talks.Kind, w.importedAccount("eve").ID)
	w.same("imported", w.row(eve, w.imported(originPost, "1")).Withdrawn, false)
	w.sound()
}

// A migration makes the aggregates of the table, for each known language.
func TestAggregatesAreMade(t *testing.T) {
	w := newTown(t)
	var want []string
	for _, kind := range kinds.Where(kinds.Spec.IsAggregate) {
		for _, term := range append([]string{""}, language.Known...) {
			want = append(want, kind+"/"+term)
		}
	}
	slices.Sort(want)
	got := all(w, pgx.RowTo[string], `SELECT kind || '/' || term AS name FROM timelines WHERE their_id = 0`)
	slices.Sort(got)
	w.same("aggregates", got, want)
}

// A base timeline decides who may open it: without a gate it would open to everybody.
func TestABaseTimelineHasItselfForAGate(t *testing.T) {
	w := newTown(t)
	bob := w.user("bob")
	for _, gate := range []any{nil, w.timeline(kinds.Likes, bob.ID)} {
		_, err := w.pool.Exec(t.Context(), `UPDATE timelines SET gate_id = $1 WHERE id = $2`, gate, bob.FeedID)
		if err == nil {
			t.Errorf("a feed with the gate %v: no error", gate)
		}
	}
}
