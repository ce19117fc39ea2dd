package timelines

import (
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/kinds"
)

// Holdings returns the present state of each pair, withdrawn rows included.
func TestHoldings(t *testing.T) {
	w := newTown(t)
	ann, bob, cat := w.user("ann"), w.user("bob"), w.user("cat")
	p, other := w.post(bob, "a #river, @ann"), w.post(bob, "another #river")
	_, err := w.Posts.Like(t.Context(), ann.ID, p.Code)
	w.must(err)
	said := w.say(cat, p.Code, "what a #river, @ann")
	w.say(cat, p.Code, "no #river at all")
	likes, comments := w.timeline(kinds.Likes, ann.ID), w.timeline(kinds.Comments, cat.ID)
	river, mentions := w.hashtag("river"), w.timeline(kinds.Mentions, ann.ID)
	ask := []Hold{
		{p.PostID, likes},
		{p.PostID, comments},
		{p.PostID, river},
		{p.PostID, mentions},
		{p.PostID, river},
		{other.PostID, likes},
		{other.PostID, river},
		{p.PostID, w.timeline(kinds.Likes, bob.ID)},
		{p.PostID, 1 << 40},
		{1 << 40, likes},
	}
	holds := func(when string, want map[Hold]Holding) {
		t.Helper()
		got, err := w.Holdings(t.Context(), ask)
		w.must(err)
		for _, h := range got {
			slices.Sort(h.Authors)
		}
		w.same(when, got, want)
	}
	want := map[Hold]Holding{
		{p.PostID, likes}: {}, {p.PostID, comments}: {},
		{p.PostID, river}:     {Authors: []int64{bob.ID, cat.ID}},
		{p.PostID, mentions}:  {Authors: []int64{bob.ID, cat.ID}},
		{other.PostID, river}: {Authors: []int64{bob.ID}},
	}
	holds("at first", want)
	_, err = w.Posts.Unlike(t.Context(), ann.ID, p.Code)
	w.must(err)
	delete(want, Hold{p.PostID, likes})
	holds("unliked", want)
	_, err = w.Posts.Edit(t.Context(), bob.ID, p.Code, "nothing")
	w.must(err)
	_, err = w.Comments.Delete(t.Context(), cat.ID, p.Code, said.CommentID)
	w.must(err)
	want[Hold{p.PostID, river}] = Holding{Authors: []int64{cat.ID}}
	delete(want, Hold{p.PostID, mentions})
	holds("edited, and a comment deleted", want)
	_, err = w.Posts.Like(t.Context(), ann.ID, p.Code)
	w.must(err)
	want[Hold{p.PostID, likes}] = Holding{}
	holds("liked again", want)
	_, err = w.Posts.Delete(t.Context(), bob.ID, p.Code)
	w.must(err)
	holds("deleted", map[Hold]Holding{{other.PostID, river}: {Authors: []int64{bob.ID}}})
}

// The home feed of somebody whose friends like what very many like: a page's 26
// posts in the likes of 20 friends each, asked about in one statement.
func BenchmarkHoldings(b *testing.B) {
	w := newTown(b)
	bob := w.user("bob")
	first := w.post(bob, "hello")
	w.crowd(first.PostID, large(5000))
	for range 25 {
		w.exec(`
			INSERT INTO timeline_entries (timeline_id, post_id, entered_at, fresh_at, created_at)
			SELECT e.timeline_id, $2, e.entered_at, e.fresh_at, e.created_at
			FROM timeline_entries e JOIN timelines t ON t.id = e.timeline_id AND t.kind = 'likes'
			WHERE e.post_id = $1`, first.PostID, w.post(bob, "hello").PostID)
	}
	ask := all(w, pgx.RowToStructByPos[Hold], `
		SELECT p.id, t.id FROM posts p CROSS JOIN (
			SELECT DISTINCT e.timeline_id AS id FROM timeline_entries e JOIN timelines t ON t.id = e.timeline_id AND t.kind = 'likes'
			WHERE e.post_id = $1 AND NOT e.withdrawn ORDER BY 1 LIMIT 20) t`, first.PostID)
	w.exec(`VACUUM ANALYZE`)
	w.pool.Reset()
	for b.Loop() {
		held, err := w.Holdings(b.Context(), ask)
		w.must(err)
		w.same("held", len(held), len(ask))
	}
}
