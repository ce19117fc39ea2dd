package live_test

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/web/live"
	"riverrun/web/webtest"
)

// countedRivers counts what a hub was answered; each is one statement while the river is warm.
type countedRivers struct {
	live.Rivers
	answered atomic.Int64
}

func (c *countedRivers) Visit(ctx context.Context, v timelines.Viewer, n rivers.Name, at rivers.Cursor) (*rivers.Page, error) {
	defer c.answered.Add(1)
	return c.Rivers.Visit(ctx, v, n, at)
}

func (c *countedRivers) FirstPages(ctx context.Context, w []rivers.Watch) ([]*rivers.Page, error) {
	defer c.answered.Add(1)
	return c.Rivers.FirstPages(ctx, w)
}

func (c *countedRivers) Flush(ctx context.Context, w []rivers.Watch, posts []int64) ([]rivers.Seen, error) {
	if len(posts) > 0 { // without, it is the beat's
		defer c.answered.Add(1)
	}
	return c.Rivers.Flush(ctx, w, posts)
}

// BenchmarkCompare is what it costs to compare open pages with their river where nothing
// differs, as it is done every 15 seconds: of one page, and of many at once.
func BenchmarkCompare(b *testing.B) {
	counted := &countedRivers{}
	beat := make(chan time.Time)
	s := webtest.New(b, func(c *live.Config) {
		counted.Rivers = c.Rivers
		c.Rivers, c.Hear, c.Beat, c.CompareEvery = counted, webtest.Deaf, beat, 1
	})
	ann, bob := s.Person("ann"), s.Person("bob")
	sizes := []int{25, 60, 150, 500}
	if testing.Short() { // to see that it runs
		sizes = sizes[:2]
	}
	for i := range sizes[len(sizes)-1] + 10 {
		bob.Post("post " + strconv.Itoa(i))
	}
	name := rivers.Name{UserID: ann.Account.ID, Kind: rivers.Everything, Order: rivers.Fresh}
	same := func() float64 { return s.Figure("riverrun_comparisons_total", "same") }
	for _, pages := range []int{1, 60} {
		for _, size := range sizes {
			b.Run(fmt.Sprintf("pages=%d/entries=%d", pages, size), func(b *testing.B) {
				for range pages {
					g := s.OpenLong(ann, name, size)
					defer func() { _ = g.Conn.CloseNow() }()
				}
				webtest.Await(b, "the sockets of before to end", func() bool { return s.Figure("riverrun_sockets_open") == float64(pages) })
				before := counted.answered.Load()
				for b.Loop() {
					want := same() + float64(pages)
					beat <- time.Now()
					for same() < want {
						runtime.Gosched()
					}
				}
				b.ReportMetric(float64(counted.answered.Load()-before)/float64(b.N*pages), "statements/page")
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*pages), "us/page")
			})
		}
	}
}
