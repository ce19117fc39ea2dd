package timelines

import (
	"testing"
)

// keptUp does all upkeep there is.
func (w *town) keptUp() {
	w.Helper()
	for more := true; more; {
		var err error
		more, err = w.Maintenance.UpkeepBlock(w.Context())
		w.must(err)
	}
}

// The cost, for the author, of deleting a post that 10,000 like and comment on.
func BenchmarkDeleteOfACrowd(b *testing.B) {
	w := newTown(b)
	bob := w.user("bob")
	ids := w.people("talker", large(10_000))
	for b.Loop() {
		b.StopTimer()
		p := w.post(bob, "hello")
		w.exec(`INSERT INTO likes (post_id, account_id, created_at) SELECT $1, a, now() FROM unnest($2::bigint[]) a`, p.PostID, ids)
		w.exec(`INSERT INTO comments (post_id, author_id, created_at, body) SELECT $1, a, now(), 'so it is' FROM unnest($2::bigint[]) a`, p.PostID, ids)
		w.exec(`INSERT INTO timeline_entries (timeline_id, post_id, entered_at, fresh_at, created_at)
			SELECT t.id, p.id, p.fresh_at, p.fresh_at, p.fresh_at FROM posts p, timelines t
			WHERE p.id = $1 AND t.kind IN ('likes', 'comments', 'discussions') AND t.their_id = ANY($2)`, p.PostID, ids)
		w.exec(`VACUUM ANALYZE posts, comments, likes, timeline_entries`)
		b.StartTimer()
		w.must(second(w.Posts.Delete(b.Context(), bob.ID, p.Code)))
	}
}
