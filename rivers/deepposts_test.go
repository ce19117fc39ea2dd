package rivers

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"riverrun/timelines"
)

// deepPosts is how many posts a town has in which a first page does not show all.
const deepPosts = chunk + 10

// newDeepTown is a town where ann follows bob, who has written much.
func newDeepTown(t *testing.T) (w *town, ann, bob timelines.Viewer) {
	t.Helper()
	w = newTown(t)
	ann, bob = w.person("ann"), w.person("bob")
	w.follow(ann, "bob")
	for i := range deepPosts {
		w.post(bob, numbered(i))
	}
	w.forget()
	return w, ann, bob
}

// years makes new posts of bob's that are older than all others, as a source's first load
// does, and returns what it touched.
func (w *town) years(bob timelines.Viewer, name string, n int) (touched []timelines.Touched) {
	w.t.Helper()
	posts := make([]int64, n)
	for i := range posts {
		c := w.post(bob, fmt.Sprintf("%s %03d", name, i))
		posts[i] = c.PostID
		touched = append(touched, timelines.Touched{PostID: c.PostID, Timelines: c.Touched})
	}
	w.mu.Lock()
	w.events = nil
	w.mu.Unlock()
	const year = 365 * 24 * 3600 * 1_000_000
	w.execPrimary(`UPDATE timeline_entries SET fresh_at = fresh_at - $2, entered_at = entered_at - $2 WHERE post_id = ANY($1)`, posts, int64(year))
	w.execPrimary(`UPDATE posts SET fresh_at = fresh_at - $2 WHERE id = ANY($1)`, posts, int64(year))
	return touched
}

func (w *town) distribute(ctx context.Context, touched []timelines.Touched) {
	w.t.Helper()
	if err := w.rivers.Distribute(ctx, touched, All); err != nil {
		w.t.Fatal(err)
	}
}

// entriesOf counts the entries of these posts in all rivers.
func (w *town) entriesOf(touched []timelines.Touched) int {
	w.t.Helper()
	return w.count(`SELECT count(*) FROM entries WHERE post_id = ANY($1)`, postsOf(touched))
}

// whole reads a river to its end, and returns its texts.
func (w *town) whole(v timelines.Viewer, n Name) (texts []string) {
	w.t.Helper()
	for at := (Cursor{}); ; {
		p, err := w.rivers.Visit(w.ctx, v, n, at)
		if err != nil {
			w.t.Fatal(err)
		}
		texts = append(texts, bodies(p)...)
		if !p.More {
			return texts
		}
		at = p.Next
	}
}

// A load of old posts costs nothing in a river whose reader never looked that far down. A
// reader who does gets all of them, and from then on each new one is written (R5).
func TestOldPostsOfALoad(t *testing.T) {
	w, ann, bob := newDeepTown(t)
	p := w.visit(ann, Home, "")
	old := w.years(bob, "old", fewPosts+1)
	w.distribute(w.ctx, old)
	if got := w.entriesOf(old); got != 0 {
		t.Errorf("%d old posts have entries in a river that nobody read so far down, want none", got)
	}
	if got := w.count(`SELECT count(*) FROM folds WHERE post_id = ANY($1)`, postsOf(old)); got != 0 {
		t.Errorf("%d folds were made of posts that no river holds, want none", got)
	}
	w.sound()
	if got := w.whole(ann, p.Name); len(got) != deepPosts+len(old) || got[len(got)-1] != "old 000" {
		t.Errorf("the river has %d posts down to %q, want %d down to the oldest", len(got), got[len(got)-1], deepPosts+len(old))
	}
	older := w.years(bob, "older", fewPosts+1)
	w.distribute(w.ctx, older)
	if got := w.entriesOf(older); got != len(older) {
		t.Errorf("a river that was read to its end got %d of %d old posts", got, len(older))
	}
	w.sound()
}

// A batch that is partly old is written as far as it stands above the floor.
func TestABatchOfOldAndNewPosts(t *testing.T) {
	w, ann, bob := newDeepTown(t)
	w.visit(ann, Home, "")
	fresh := w.post(bob, "fresh")
	liked := w.years(bob, "changed", 1)
	w.execPrimary(`UPDATE posts SET version = 2 WHERE id = $1`, liked[0].PostID)
	batch := slices.Concat(w.years(bob, "old", fewPosts), liked, []timelines.Touched{{PostID: fresh.PostID, Timelines: fresh.Touched}})
	w.distribute(w.ctx, batch)
	if got := w.entriesOf(batch[:fewPosts]); got != 0 {
		t.Errorf("%d old posts have entries, want none", got)
	}
	for what, of := range map[string]int{"changed": fewPosts, "fresh": fewPosts + 1} {
		if got := w.entriesOf(batch[of : of+1]); got != 1 {
			t.Errorf("the %s post has %d entries, want 1", what, got)
		}
	}
	w.sound()
}

// In an order by creation a post stands where it was made, however old it is otherwise.
func TestOldPostsInAnOrderByCreation(t *testing.T) {
	w, ann, bob := newDeepTown(t)
	n, err := w.rivers.Resolve(w.ctx, ann, User, "bob", Created)
	must(w, 0, err)
	if _, err := w.rivers.Visit(w.ctx, ann, n, Cursor{}); err != nil {
		t.Fatal(err)
	}
	old := w.years(bob, "old", fewPosts+1)
	w.distribute(w.ctx, old)
	if got := w.entriesOf(old); got != len(old) {
		t.Errorf("the river got %d of %d posts that were made now", got, len(old))
	}
	w.sound()
}

// Old posts may come at any step of an extension, and the extension at any step of their
// writer. The river ends without a hole (R5).
func TestOldPostsMeetAnExtension(t *testing.T) {
	for _, point := range []string{beforeMark, afterSnapshot, afterEntries, afterLookup} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			w, ann, bob := newDeepTown(t)
			p := w.visit(ann, Home, "")
			floor := int64(w.count(`SELECT floor FROM rivers WHERE id = $1`, p.River))
			extend := func(ctx context.Context) {
				must(w, 0, w.rivers.extend(ctx, p.Name, p.River, floor, chunk))
			}
			met := false
			if point == afterLookup {
				old := w.years(bob, "old", fewPosts+1)
				w.distribute(pausedAt(w.ctx, point, func() { met = true; extend(w.ctx) }), old)
			} else {
				extend(pausedAt(w.ctx, point, func() {
					met = true
					w.distribute(w.ctx, w.years(bob, "old", fewPosts+1))
				}))
			}
			if !met {
				t.Fatalf("nothing came to %s", point)
			}
			w.sound()
			if got := w.whole(ann, p.Name); len(got) != deepPosts+fewPosts+1 {
				t.Errorf("the river has %d posts, want %d", len(got), deepPosts+fewPosts+1)
			}
		})
	}
}

// They may also come at any step of a build: a river that is being built gets all of them.
func TestOldPostsMeetABuild(t *testing.T) {
	for _, point := range []string{afterRegister, afterSnapshot, afterEntries} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			w := newTown(t)
			ann, bob := w.person("ann"), w.person("bob")
			w.follow(ann, "bob")
			w.post(bob, "one")
			w.forget()
			met := false
			ctx := pausedAt(w.ctx, point, func() {
				met = true
				w.distribute(w.ctx, w.years(bob, "old", fewPosts+1))
			})
			must(w, 0, w.rivers.build(ctx, w.name(ann, Home, ""), ForVisit, nil))
			if !met {
				t.Fatalf("no build came to %s", point)
			}
			w.sound()
		})
	}
}

// A search finds them too, though no other river holds them: it learns of changes by folds.
func TestASearchFindsTheOldPostsOfALoad(t *testing.T) {
	w, ann, bob := newDeepTown(t)
	w.visit(ann, Home, "")
	w.shows(w.visit(timelines.Viewer{}, Search, "old"))
	w.distribute(w.ctx, w.years(bob, "old", fewPosts+1))
	if got := len(w.visit(timelines.Viewer{}, Search, "old").Items); got != fewPosts+1 {
		t.Errorf("the search finds %d posts, want %d", got, fewPosts+1)
	}
	w.exec(`UPDATE rivers SET state = 'retired', retired_at = now() WHERE kind <> 'search'`)
	w.distribute(w.ctx, w.years(bob, "old", 1))
	if got := len(w.visit(timelines.Viewer{}, Search, "old").Items); got != fewPosts+2 {
		t.Errorf("the search finds %d posts, want %d, one of which no other river has", got, fewPosts+2)
	}
	w.sound()
}

// Pages that are open on an extended river may show more than its next generation holds, so
// that one gets each new post too.
func TestARebuiltRiverCountsAsExtended(t *testing.T) {
	w, ann, bob := newDeepTown(t)
	p := w.visit(ann, Home, "")
	w.whole(ann, p.Name)
	top := int64(math.MaxInt64)
	must(w, 0, w.rivers.build(w.ctx, p.Name, ForVisit, &top)) // one chunk
	old := w.years(bob, "old", fewPosts+1)
	w.distribute(w.ctx, old)
	if got := w.entriesOf(old); got != len(old) {
		t.Errorf("the river got %d of %d old posts", got, len(old))
	}
	w.sound()
}
