package strategies_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"riverrun/rivers"
	"riverrun/rivers/strategies"
	"riverrun/timelines/snapshot"
)

// bodies is what feeds hold of posts in these tests.
func bodies(ctx context.Context, sn *snapshot.Snapshot, posts []int64) (map[int64]string, error) {
	rows, err := sn.Tx().Query(ctx, `SELECT id, body FROM posts WHERE id = ANY($1)`, posts)
	if err != nil {
		return nil, err
	}
	texts := map[int64]string{}
	var id int64
	var body string
	_, err = pgx.ForEachRow(rows, []any{&id, &body}, func() error { texts[id] = body; return nil })
	return texts, err
}

// Feeds that embed texts bring the present one of each post: of those that were there when the feed
// was filled, of new ones, and of posts that a bump moved into another bucket.
func TestEmbeddedTexts(t *testing.T) {
	w := newTown(t)
	stores := strategies.Stores{Primary: w.store, Rivers: w.rivers, Secondary: w.db.Secondary, Texts: bodies}
	w.all = map[string]strategies.Strategy{
		"timed": strategies.NewTimed(stores, 0),
		"sized": strategies.NewSized(stores, 3),
		"cache": strategies.NewCache(stores, strategies.NewRead(w.store, 0), 50, 0),
	}
	ann, bea := w.person("ann"), w.person("bea")
	w.does(w.following(ann, "bea"))
	var codes []string
	for i := range 5 {
		codes = append(codes, w.does(w.posting(bea, fmt.Sprint("old ", i))).Code)
	}
	check := func(when string) {
		t.Helper()
		for name, s := range w.all {
			page, err := s.Page(w.ctx, ann, rivers.Cursor{}, 50)
			if err != nil {
				t.Fatalf("%s, %s: %v", name, when, err)
			}
			if len(page.Entries) != len(codes) {
				t.Errorf("%s, %s: %d posts, want %d", name, when, len(page.Entries), len(codes))
			}
			for _, e := range page.Entries {
				var body string
				must(w, 0, w.db.Primary.QueryRow(w.ctx, `SELECT body FROM posts WHERE id = $1`, e.PostID).Scan(&body))
				if got := page.Texts[e.PostID]; got != body {
					t.Errorf("%s, %s: post %d says %q, want %q", name, when, e.PostID, got, body)
				}
			}
		}
	}
	check("filled")
	codes = append(codes, w.does(w.posting(bea, "new")).Code)
	check("a new post")
	w.does(w.commenting(ann, codes[0]))
	check("a bump")
}
