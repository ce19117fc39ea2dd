package web_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"riverrun/timelines/hooks"
	"riverrun/web/webtest"
)

// BenchmarkHooks sends 2,000 changes of 200 posts to webhooks on this machine, to one and to ten, while nothing else happens.
// A delivery has up to 100 lines, which are decided for each webhook on its own.
func BenchmarkHooks(b *testing.B) {
	const posts, each = 200, 10
	for _, n := range []int{1, 10} {
		b.Run(fmt.Sprintf("hooks=%d", n), func(b *testing.B) {
			s := webtest.NewLively(b)
			ann, bob := s.Person("ann"), s.Person("bob")
			for range posts {
				ann.Post("a post of some words, as people write them")
			}
			s.RelayChanges()
			var deliveries, lines atomic.Int64
			r := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
				body, err := io.ReadAll(q.Body)
				if err != nil {
					return
				}
				deliveries.Add(1)
				lines.Add(int64(bytes.Count(body, []byte(`"seq":`))))
			}))
			b.Cleanup(r.Close)
			for range n {
				if _, err := hooks.Open(s.Store).Create(b.Context(), viewerOf(s, bob), hooks.New{URL: r.URL}); err != nil {
					b.Fatal(err)
				}
			}
			for b.Loop() {
				// One row of the outbox after the other: the relay takes one of each post at a time.
				for range each {
					execPrimary(s, `INSERT INTO outbox (shard, kind, post_id, version) SELECT author_id % 16, 'post', id, version FROM posts`)
				}
				s.RelayChanges()
				webtest.Await(b, "all webhooks to have everything", func() bool {
					var behind int
					err := s.DB.Primary.QueryRow(b.Context(), `SELECT count(*) FROM webhooks w, changes_head h WHERE w.seq <> h.seq`).Scan(&behind)
					if err != nil {
						b.Fatal(err)
					}
					return behind == 0
				})
			}
			b.ReportMetric(float64(deliveries.Load())/b.Elapsed().Seconds(), "deliveries/s")
			b.ReportMetric(float64(lines.Load())/b.Elapsed().Seconds(), "lines/s")
		})
	}
}
