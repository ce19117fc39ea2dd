package timelines

import (
	"math"
	"slices"
	"testing"
)

// A scan that is to reach a place meets more rows for it than another, but not all
// there are: it ends above the place, at a floor that is true, and goes on from there.
func TestScanDownIsBounded(t *testing.T) {
	w := newTown(t)
	const rows = 4000
	likes, viewer := w.strandedAmong(3, rows, 200, 50)
	for _, byCreation := range []bool{false, true} {
		q := Scan{
			Viewer: viewer.ID, Timelines: likes, ByCreation: byCreation, Down: math.MinInt64,
			BeforePlace: math.MaxInt64, BeforePost: math.MaxInt64, Limit: 3, MaxRows: math.MaxInt64,
		}
		all := w.scan(q)
		if !all.Finished || len(all.Posts) < 50 || len(all.Posts) > 100 {
			t.Fatalf("%d posts, finished %v; want a few", len(all.Posts), all.Finished)
		}
		from := func(floor int64) []Placed {
			return slices.DeleteFunc(slices.Clone(all.Posts), func(p Placed) bool { return p.Place < floor })
		}
		// What is met: the bound, less what was met twice, and at most one round more.
		q.MaxRows = 200
		const most = 200 * downTimes
		bounded := w.scan(q)
		if bounded.Finished || bounded.Floor > rows-most+100 || bounded.Floor < rows-2*most-200 {
			t.Errorf("by creation %v: ends at %d of %d, finished %v; want some %d rows met", byCreation, bounded.Floor, rows, bounded.Finished, most)
		}
		w.same("what stands above the floor", bounded.Posts, from(bounded.Floor))
		// A place nearer than that is reached, over MaxRows.
		q.Down = rows - most/2
		near := w.scan(q)
		w.same("what stands above the place", near.Posts, from(q.Down))
		// On from floor to floor all is found, each once.
		q.Down = math.MinInt64
		var found []Placed
		for scans := 1; ; scans++ {
			part := w.scan(q)
			found = append(found, part.Posts...)
			if part.Finished {
				break
			}
			if scans > rows/most {
				t.Fatalf("%d scans and still not at the end", scans)
			}
			q.BeforePlace, q.BeforePost = part.Floor, math.MinInt64
		}
		w.same("all of it", found, all.Posts)
	}
}

// A scan of many timelines, one of which has as many rows as all others together,
// finds page by page what it finds in one round: each post once, in order.
func TestScanOfManyTimelines(t *testing.T) {
	w := newTown(t)
	likes, viewer := w.strandedAmong(40, 2000, 60, 3)
	busy := w.timeline(KindLikes, w.user("busy").ID)
	w.exec(`INSERT INTO timeline_entries (timeline_id, post_id, entered_at, fresh_at, created_at)
		SELECT $1, post_id, entered_at, fresh_at, created_at FROM timeline_entries WHERE timeline_id = ANY($2)`, busy, likes)
	for _, byCreation := range []bool{false, true} {
		q := Scan{
			Viewer: viewer.ID, Timelines: append(likes, busy), ByCreation: byCreation, Down: math.MaxInt64,
			BeforePlace: math.MaxInt64, BeforePost: math.MaxInt64, Limit: 10_000, MaxRows: math.MaxInt64,
		}
		all := w.scan(q)
		if !all.Finished || len(all.Posts) < 600 || len(all.Posts) > 700 {
			t.Fatalf("%d posts, finished %v; want a third of 2000", len(all.Posts), all.Finished)
		}
		q.Limit = 40
		var paged []Placed
		for pages := 1; ; pages++ {
			page := w.scan(q)
			paged = append(paged, page.Posts...)
			if page.Finished {
				break
			}
			if len(page.Posts) != q.Limit || pages > 20 {
				t.Fatalf("page %d has %d posts, and more are below", pages, len(page.Posts))
			}
			q.BeforePlace, q.BeforePost = page.Floor, math.MinInt64
		}
		w.same("pages", paged, all.Posts)
	}
}

// The home of somebody who follows 250 people: 275,000 posts that they like and the
// viewer may not read. What a first visit's build costs, and a rebuild of a river
// that reached to its end; and what the latter would without a bound.
func BenchmarkStrandedHome(b *testing.B) {
	w := newTown(b)
	likes, viewer := w.strandedAmong(250, large(large(275_000)), large(1000), 1<<30)
	w.exec(`VACUUM ANALYZE`)
	w.pool.Reset()
	for _, bm := range []struct {
		name    string
		down    int64
		maxRows int64
	}{
		{"build", math.MaxInt64, 0},
		{"rebuild", math.MinInt64, 0},
		{"rebuild/unbounded", math.MinInt64, math.MaxInt64},
	} {
		b.Run(bm.name, func(b *testing.B) {
			var floor int64
			for b.Loop() {
				floor = w.scan(Scan{
					Viewer: viewer.ID, Timelines: likes, Down: bm.down, BeforePlace: math.MaxInt64, BeforePost: math.MaxInt64,
					Limit: 150, MaxRows: bm.maxRows,
				}).Floor
			}
			b.ReportMetric(float64(floor), "floor")
		})
	}
}
