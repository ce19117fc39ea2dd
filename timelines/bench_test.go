package timelines

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// The cost of a change, alone in its store. A comment on a much-liked post, or a like of
// it, must cost about the same as on any other.
func BenchmarkChange(b *testing.B) {
	w := newTown(b)
	bob, ann := w.user("bob"), w.user("ann")
	plain, crowded, discussed := w.post(bob, "hello"), w.post(bob, "hello"), w.post(bob, "hello")
	w.crowd(crowded.PostID, large(5000))
	// Each comment here tells as many people as one can.
	w.exec(`INSERT INTO comments (post_id, author_id, created_at, body)
		SELECT $1, account_id, now() - interval '2 days', 'x' FROM likes WHERE post_id = $2 ORDER BY account_id LIMIT 500`,
		discussed.PostID, crowded.PostID)
	w.exec(`VACUUM ANALYZE`)
	w.pool.Reset()
	like := func(code string) {
		w.must(second(w.Posts.Like(b.Context(), ann.ID, code)))
		w.must(second(w.Posts.Unlike(b.Context(), ann.ID, code)))
	}
	for _, bm := range []struct {
		name string
		do   func()
	}{
		{"post", func() { w.post(bob, "hello", "bob", "ann") }},
		{"comment", func() { w.comment(ann, plain.Code) }},
		{"comment/much-liked", func() { w.comment(ann, crowded.Code) }},
		{"comment/much-discussed", func() { w.comment(ann, discussed.Code) }},
		{"like-unlike", func() { like(plain.Code) }},
		{"like-unlike/much-liked", func() { like(crowded.Code) }},
		{"block", func() {
			b.StopTimer()
			w.comment(ann, crowded.Code)
			b.StartTimer()
			w.must(w.Maintenance.BumpBlock(b.Context(), PendingBump{PostID: crowded.PostID}))
		}},
	} {
		b.Run(bm.name, func(b *testing.B) {
			for b.Loop() {
				bm.do()
			}
		})
	}
}

// BenchmarkItems makes posts of a source, with texts of a kilobyte, in batches of 500.
func BenchmarkItems(b *testing.B) {
	w := newTown(b)
	ann := w.user("ann")
	place := ItemPlace{Author: ann.ID, To: "ann", Beside: w.pool}
	words := strings.Fields("harbour morning quiet wind boats rope anchor letter window garden market bread river mountain station evening paper music winter summer bridge village teacher student painter question answer weather report")
	n := 0
	made := 0
	for b.Loop() {
		var posts []ItemPost
		for range 500 {
			n++
			var text strings.Builder
			for text.Len() < 900 {
				text.WriteString(words[rand.IntN(len(words))])
				fmt.Fprintf(&text, "%d ", rand.IntN(30))
			}
			posts = append(posts, ItemPost{Body: text.String(), Language: "en", CreatedAt: time.Now().Add(-time.Duration(n) * time.Second)})
		}
		made += len(w.makeItems(place, posts...))
	}
	b.ReportMetric(float64(made)/b.Elapsed().Seconds(), "items/s")
}
