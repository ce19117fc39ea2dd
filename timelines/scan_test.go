package timelines

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"riverrun/timelines/kinds"
	"riverrun/timelines/snapshot"
)

// A scan that is to reach a place meets more rows for it than another, but not all
// there are: it ends above the place, at a floor that is true, and goes on from there.
func TestScanDownIsBounded(t *testing.T) {
	w := newTown(t)
	const rows = 4000
	likes, viewer := w.strandedAmong(3, rows, 200, 50)
	for _, byCreation := range []bool{false, true} {
		q := snapshot.Scan{
			Viewer: viewer.ID, Timelines: likes, ByCreation: byCreation, Down: math.MinInt64,
			BeforePlace: math.MaxInt64, BeforePost: math.MaxInt64, Limit: 3, MaxRows: math.MaxInt64,
		}
		all := w.scan(q)
		if !all.Finished || len(all.Posts) < 50 || len(all.Posts) > 100 {
			t.Fatalf("%d posts, finished %v; want a few", len(all.Posts), all.Finished)
		}
		from := func(floor int64) []snapshot.Placed {
			return slices.DeleteFunc(slices.Clone(all.Posts), func(p snapshot.Placed) bool { return p.Place < floor })
		}
		// It meets as many rows as the bound, less those met twice, and at most one round
		// more.
		q.MaxRows = 200
		const most = 200 * 5
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
		var found []snapshot.Placed
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

// A scan of many timelines finds page by page what it finds in one round: each post once,
// in order. One timeline has as many rows as all others together.
func TestScanOfManyTimelines(t *testing.T) {
	w := newTown(t)
	likes, viewer := w.strandedAmong(40, 2000, 60, 3)
	busy := w.timeline(kinds.Likes, w.user("busy").ID)
	w.exec(`INSERT INTO timeline_entries (timeline_id, post_id, entered_at, fresh_at, created_at)
		SELECT $1, post_id, entered_at, fresh_at, created_at FROM timeline_entries WHERE timeline_id = ANY($2)`, busy, likes)
	for _, byCreation := range []bool{false, true} {
		q := snapshot.Scan{
			Viewer: viewer.ID, Timelines: append(likes, busy), ByCreation: byCreation, Down: math.MaxInt64,
			BeforePlace: math.MaxInt64, BeforePost: math.MaxInt64, Limit: 10_000, MaxRows: math.MaxInt64,
		}
		all := w.scan(q)
		if !all.Finished || len(all.Posts) < 600 || len(all.Posts) > 700 {
			t.Fatalf("%d posts, finished %v; want a third of 2000", len(all.Posts), all.Finished)
		}
		q.Limit = 40
		var paged []snapshot.Placed
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

// The home of somebody who follows 250 people: 275,000 posts that they like and the viewer
// may not read. The cost of a first visit's build, of a rebuild of a river that reached to
// its end, and of the latter without a bound.
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
				floor = w.scan(snapshot.Scan{
					Viewer: viewer.ID, Timelines: likes, Down: bm.down, BeforePlace: math.MaxInt64, BeforePost: math.MaxInt64,
					Limit: 150, MaxRows: bm.maxRows,
				}).Floor
			}
			b.ReportMetric(float64(floor), "floor")
		})
	}
}

// celebrated are the timelines of people followed, each with some posts of their own,
// who all like the same few posts, as very many others do. Each like stands at a place
// of its own.
func (w *town) celebrated(followed, own, posts, fans int) (timelines []int64, viewer Account) {
	w.Helper()
	viewer = w.user("viewer")
	ids := w.people("fan", fans)
	const of = `SELECT array_agg(id ORDER BY their_id) FROM timelines WHERE kind = $1 AND their_id = ANY($2)`
	feeds, likes := value[[]int64](w, of, kinds.Feed, ids), value[[]int64](w, of, kinds.Likes, ids)
	w.exec(`
		WITH made AS (
			INSERT INTO posts (author_id, fresh_at, created_at, is_public, code, body, decisive)
			SELECT ($1::bigint[])[1 + i % $3::int], i * 1000, to_timestamp(i / 1000.0), true, lpad(i::text, 10, '0'), 'hello',
				ARRAY[($2::bigint[])[1 + i % $3::int]]
			FROM generate_series(1, $3::int * $4::int) i
			RETURNING id, fresh_at, decisive)
		INSERT INTO timeline_entries (timeline_id, post_id, entered_at, fresh_at, created_at)
		SELECT decisive[1], id, fresh_at, fresh_at, fresh_at FROM made`, ids, feeds, followed, own)
	w.exec(`
		INSERT INTO timeline_entries (timeline_id, post_id, entered_at, fresh_at, created_at)
		SELECT ($1::bigint[])[i], p.id, p.fresh_at + i, p.fresh_at + i, p.fresh_at
		FROM (SELECT * FROM posts ORDER BY id DESC LIMIT $2) p, generate_series(1, $3) i ORDER BY i, p.id`, likes, posts, fans)
	return append(slices.Clone(feeds[:followed]), likes[:followed]...), viewer
}

// A post that all followed people like, and thousands of others, comes once, where it
// entered first, whether its rows are looked up one by one or all are read.
func TestScanOfAPostThatAllLike(t *testing.T) {
	const followed, own, posts = 20, 3, 4
	for _, fans := range []int{snapshot.MaxMemberships / 2, 2 * snapshot.MaxMemberships} {
		t.Run(fmt.Sprint(fans, " fans"), func(t *testing.T) {
			w := newTown(t)
			timelines, viewer := w.celebrated(followed, own, posts, fans)
			// One was withdrawn by all that one follows, and so has its author's row alone;
			// of another's only the author is not followed.
			last := value[[]int64](w, `SELECT array_agg(id ORDER BY id DESC) FROM posts`)
			w.exec(`UPDATE timeline_entries SET withdrawn = true WHERE post_id = $1 AND timeline_id = ANY($2)`, last[0], timelines[followed:])
			w.exec(`DELETE FROM timeline_entries WHERE post_id = $1 AND timeline_id = ANY($2)`, last[1], timelines[:followed])
			w.exec(`UPDATE timeline_entries SET withdrawn = true WHERE post_id = $1 AND timeline_id = ANY($2)`, last[2], timelines)
			for _, byCreation := range []bool{false, true} {
				got := w.scan(snapshot.Scan{
					Viewer: viewer.ID, Timelines: timelines, ByCreation: byCreation, Down: math.MaxInt64,
					BeforePlace: math.MaxInt64, BeforePost: math.MaxInt64, Limit: followed * own, MaxRows: math.MaxInt64,
				})
				var want []snapshot.Placed
				for i, id := range last {
					p := snapshot.Placed{PostID: id, Place: int64(followed*own-i) * 1000}
					if i == 1 && !byCreation {
						p.Place++ // with the first like
					}
					if i != 2 {
						want = append(want, p)
					}
				}
				w.same(fmt.Sprintf("by creation %v", byCreation), got, snapshot.Scanned{Posts: want, Floor: math.MinInt64, Finished: true})
			}
		})
	}
}

// The home of somebody who follows 300 people that all like five posts, as thousands
// of others do.
func BenchmarkCelebratedHome(b *testing.B) {
	w := newTown(b)
	timelines, viewer := w.celebrated(large(300), 50, 5, large(5000))
	w.exec(`VACUUM ANALYZE`)
	w.pool.Reset()
	for b.Loop() {
		w.scan(snapshot.Scan{
			Viewer: viewer.ID, Timelines: timelines, Down: math.MaxInt64, BeforePlace: math.MaxInt64, BeforePost: math.MaxInt64, Limit: 150,
		})
	}
}

// A small home: ten people, of a thousand, who wrote twenty posts each.
func BenchmarkSmallHome(b *testing.B) {
	w := newTown(b)
	people := large(1000)
	timelines, viewer := w.celebrated(people, 20, 3, people)
	timelines = append(timelines[:10:10], timelines[people:people+10]...)
	w.exec(`VACUUM ANALYZE`)
	w.pool.Reset()
	for b.Loop() {
		w.scan(snapshot.Scan{
			Viewer: viewer.ID, Timelines: timelines, Down: math.MaxInt64, BeforePlace: math.MaxInt64, BeforePost: math.MaxInt64, Limit: 150,
		})
	}
}

// A home where nearly nothing is yet: ten people who wrote seven posts each.
func BenchmarkTinyHome(b *testing.B) {
	w := newTown(b)
	timelines, viewer := w.celebrated(10, 7, 3, 50)
	w.exec(`VACUUM ANALYZE`)
	w.pool.Reset()
	for b.Loop() {
		w.scan(snapshot.Scan{
			Viewer: viewer.ID, Timelines: timelines, Down: math.MaxInt64, BeforePlace: math.MaxInt64, BeforePost: math.MaxInt64, Limit: 150,
		})
	}
}
