package rivers

import (
	"testing"
	"time"

	"riverrun/timelines/snapshot"
)

// BenchmarkFolds reads a page's folds from each store, a hundred likes each, and writes
// them.
func BenchmarkFolds(b *testing.B) {
	w := newTown(b)
	ann, bob := w.person("ann"), w.person("bob")
	var posts []int64
	for range PageSize {
		p := w.post(bob, "a post")
		w.comment(ann, p.Code, "one")
		w.comment(bob, p.Code, "two")
		posts = append(posts, p.PostID)
	}
	w.likedByMany(posts[0], 100)
	if _, err := w.db.Primary.Exec(w.ctx, `
		INSERT INTO likes SELECT p.id, l.account_id, l.created_at FROM likes l, posts p WHERE p.id <> l.post_id`); err != nil {
		b.Fatal(err)
	}
	w.drain()
	w.visit(ann, Everything, "")
	contents := func() (found map[int64]*snapshot.Content) {
		err := w.store.InSnapshot(w.ctx, func(sn *snapshot.Snapshot) (err error) {
			found, err = sn.Contents(w.ctx, posts, w.rivers.foldDepth())
			return err
		})
		if err != nil || len(found) != len(posts) {
			b.Fatalf("%d contents, %v", len(found), err)
		}
		return found
	}
	b.Run("contents", func(b *testing.B) {
		for b.Loop() {
			contents()
		}
	})
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			if found, err := w.rivers.readFolds(w.ctx, posts); err != nil || len(found) != len(posts) {
				b.Fatalf("%d folds, %v", len(found), err)
			}
		}
	})
	b.Run("write", func(b *testing.B) {
		var folds []*Fold
		for _, c := range contents() {
			folds = append(folds, foldOf(c))
		}
		at, err := w.rivers.now(w.ctx)
		if err != nil {
			b.Fatal(err)
		}
		at.time = at.time.Add(time.Hour)
		for b.Loop() {
			for _, f := range folds {
				f.Version++
			}
			if _, err := w.rivers.write(w.ctx, nil, folds, at); err != nil {
				b.Fatal(err)
			}
		}
	})
}
