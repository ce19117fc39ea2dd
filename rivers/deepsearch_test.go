package rivers

import (
	"fmt"
	"slices"
	"testing"

	"riverrun/timelines"
	"riverrun/timelines/snapshot"
)

// A search that was read past very many posts that its viewer may not read is right, and a
// search made anew is as deep.
func TestASearchBelowManyUnreadablePosts(t *testing.T) {
	w := newTown(t)
	ann, bob, cat := w.person("ann"), w.person("bob"), w.person("cat")
	c, err := w.store.Feeds.SetAccess(w.ctx, cat.AccountID, "", timelines.Private)
	must(w, c, err)
	var want []string
	for i := range 5 {
		w.says(bob, fmt.Sprint("word ", i))
		want = append([]string{fmt.Sprint("word ", i)}, want...)
	}
	closed := w.says(cat, "closed word")
	const many = 5100 // more than a round of a search meets
	_, err = w.db.Primary.Exec(w.ctx, `
		INSERT INTO posts (author_id, fresh_at, created_at, is_public, code, body, decisive)
		SELECT author_id, fresh_at + i, created_at + i * interval '1 microsecond', is_public,
			lpad(i::text, 10, '0'), body, decisive
		FROM posts, generate_series(1, $2::int) i WHERE id = $1`, closed.PostID, many)
	must(w, 0, err)
	w.drain()
	reads := func(when string) *Page {
		t.Helper()
		p := w.visit(ann, Search, "word")
		if !slices.Equal(bodies(p), want) || p.More {
			t.Errorf("%s: got %q, more %v, want %q and no more", when, bodies(p), p.More, want)
		}
		w.soundAt(when)
		return p
	}
	first := reads("built")
	if err := w.rivers.Lease(w.ctx, []int64{first.River}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.replace(timelines.Replace{ViewerID: ann.AccountID}); err != nil {
		t.Fatal(err)
	}
	if n := w.count(`SELECT count(*) FROM entries e JOIN rivers r ON r.id = e.river_id WHERE r.state = 'live'`); n != len(want) {
		t.Errorf("made anew it has %d entries, want %d", n, len(want))
	}
	if again := reads("made anew"); again.River == first.River {
		t.Error("it was not made anew")
	}
	// A check that does not scan as far says nothing about deeper entries.
	w.rivers.scanRows = 100
	reads("looked at from above")
	w.exec(`UPDATE entries SET per_river_folded = '{"l": true}'`)
	if r, err := w.rivers.Check(w.ctx); err != nil || len(r.Differences) != 0 || r.Entries != 0 {
		t.Errorf("a check that ends above all entries: %+v, %v", r, err)
	}
	w.rivers.scanRows = snapshot.DefaultMaxRows
	if r, err := w.rivers.Check(w.ctx); err != nil || len(r.Differences) != len(want) {
		t.Errorf("a check of all entries: %+v, %v; want them all wrong", r, err)
	}
}

// A search that was left alone until it counts as retired is no difference.
func TestCheckOfASearchLeftAlone(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	w.post(ann, "a word")
	w.drain()
	w.visit(ann, Search, "word")
	w.post(ann, "another word")
	w.exec(`UPDATE rivers SET updated_at = updated_at - $1::interval`, 2*updatedWithin)
	w.sound()
	if n := w.count(`SELECT count(*) FROM rivers WHERE kind = 'search' AND state = 'live'`); n != 0 {
		t.Errorf("%d searches live, want it retired", n)
	}
}
