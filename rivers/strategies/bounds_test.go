package strategies_test

import (
	"fmt"
	"testing"

	"riverrun/rivers"
	"riverrun/timelines"
)

// A page of posts that its viewer may not see any more takes a few statements. It ends short,
// and the pages after it come to what is below.
func TestAPageIsBounded(t *testing.T) {
	t.Parallel()
	const limit, hidden, most = 3, 200, 20
	w := newTown(t)
	ann, bob := w.person("ann"), w.person("bob")
	w.act(w.following(ann, "bob"))
	for i := range 5 {
		w.act(w.posting(bob, fmt.Sprint(i)))
	}
	w.crowd(bob, "hidden", hidden, 1000, false)
	delete(w.all, "rivers") // they bound their pages by themselves
	for name, s := range w.all {
		if all, err := walk(w.ctx, s, ann, rivers.Cursor{}, 50); err != nil || len(all) != hidden+5 {
			t.Fatalf("%s: got %d posts and %v, want %d", name, len(all), err, hidden+5)
		}
	}
	if _, err := w.db.Primary.Exec(w.ctx, `UPDATE posts SET deleted_at = now(), decisive = '{}' WHERE body = 'hidden'`); err != nil {
		t.Fatal(err)
	}
	want := w.oracle(ann)
	for name, s := range w.all {
		var below rivers.Cursor
		short, seen := false, 0
		for pages, more := 0, true; more; pages++ {
			if pages == most {
				t.Fatalf("%s: %d pages, and more follow", name, pages)
			}
			before := w.db.Primary.Stat().AcquireCount()
			page, err := s.Page(w.ctx, ann, below, limit)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if n := w.db.Primary.Stat().AcquireCount() - before; n > 6 {
				t.Errorf("%s: one page took %d transactions, want at most 6", name, n)
			}
			for _, e := range page.Entries {
				if seen == len(want) || e != want[seen] {
					t.Fatalf("%s: entry %d is %v, want %v", name, seen, e, want)
				}
				seen++
			}
			short = short || page.More && len(page.Entries) < limit
			more, below = page.More, page.Next
		}
		if seen != len(want) {
			t.Errorf("%s: %d posts, want %d", name, seen, len(want))
		}
		if whole := name == "timed" || name == "sized"; whole && !short { // the others read what is there now
			t.Errorf("%s: no page came out short", name)
		}
	}
}

// More posts at one place than a scan may meet are passed, and read.
func TestManyPostsAtOnePlace(t *testing.T) {
	t.Parallel()
	const many = 30_000 // half as many again as snapshot.DefaultMaxRows
	w := newTown(t)
	ann, bob := w.person("ann"), w.person("bob")
	w.act(w.following(ann, "bob"))
	w.act(w.posting(bob, "the oldest"))
	w.crowd(bob, "hidden", many, 0, true)
	w.crowd(bob, "at that place too", 7, 0, false)
	w.act(w.posting(bob, "the newest"))
	delete(w.all, "rivers")
	if n := len(w.oracle(ann)); n != 9 {
		t.Fatalf("ann sees %d posts, want 9", n)
	}
	w.same("filled", ann)
}

// crowd makes posts, each a step of microseconds after the one before.
func (w *town) crowd(author timelines.Viewer, body string, posts, step int, deleted bool) {
	w.t.Helper()
	const query = `
		WITH place AS (SELECT max(fresh_at) + 1 AS at FROM posts WHERE body <> 'hidden'),
		feed AS (SELECT id FROM timelines WHERE kind = 'feed' AND their_id = $1),
		made AS (
			INSERT INTO posts (author_id, fresh_at, created_at, is_public, code, body, decisive, deleted_at)
			SELECT $1, at + i * $4::bigint, now(), true, left(md5($2::text || i), 10), $2::text,
				ARRAY[feed.id], CASE WHEN $5::boolean THEN now() END
			FROM generate_series(1, $3::int) i, place, feed RETURNING id, fresh_at)
		INSERT INTO timeline_entries (timeline_id, post_id, entered_at, fresh_at, created_at)
		SELECT feed.id, made.id, made.fresh_at, made.fresh_at, made.fresh_at FROM made, feed`
	if _, err := w.db.Primary.Exec(w.ctx, query, author.AccountID, body, posts, step, deleted); err != nil {
		w.t.Fatal(err)
	}
}
