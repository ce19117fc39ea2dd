package timelines

import (
	"context"
	"fmt"
	"math"
	"testing"

	"riverrun/timelines/kinds"
	"riverrun/timelines/snapshot"
)

// stranded fills a user's likes with posts of private feeds, of which the viewer
// reads one in every so many; between them stand a few that everybody reads. The
// posts are as many as rows, the feeds as many as feeds.
func (w *town) stranded(rows, feeds, every int) (likes int64, viewer Account) {
	w.Helper()
	all, viewer := w.strandedAmong(1, rows, feeds, every)
	return all[0], viewer
}

// strandedAmong is stranded with the posts spread over the likes of several users.
func (w *town) strandedAmong(likers, rows, feeds, every int) (likes []int64, viewer Account) {
	w.Helper()
	viewer = w.user("viewer")
	for i := range likers {
		likes = append(likes, w.timeline(kinds.Likes, w.user(fmt.Sprint("liker-", i)).ID))
	}
	made := w.people("shut", feeds)
	w.exec(`UPDATE timelines SET access = 2 WHERE kind = 'feed' AND their_id = ANY($1)`, made)
	w.exec(`INSERT INTO readers (timeline_id, account_id)
		SELECT id, $2 FROM timelines WHERE kind = 'feed' AND their_id = ANY($1) AND their_id % $3 = 0`, made, viewer.ID, every)
	w.exec(`
		WITH feeds AS (
			SELECT id, their_id, row_number() OVER (ORDER BY id) - 1 AS n FROM timelines WHERE kind = 'feed' AND their_id = ANY($1)
		), made AS (
			INSERT INTO posts (author_id, fresh_at, created_at, is_public, code, body, decisive)
			SELECT f.their_id, i, to_timestamp(i / 1000000.0), false, lpad(i::text, 10, '0'), 'hello', ARRAY[f.id]
			FROM generate_series(1, $2) i JOIN feeds f ON f.n = i % $3
			RETURNING id, fresh_at)
		INSERT INTO timeline_entries (timeline_id, post_id, entered_at, fresh_at, created_at)
		SELECT ($4::bigint[])[1 + fresh_at % cardinality($4)], id, fresh_at, fresh_at, fresh_at FROM made`, made, rows, feeds, likes)
	return likes, viewer
}

func (w *town) scan(q snapshot.Scan) (found snapshot.Scanned) {
	w.Helper()
	w.must(w.InSnapshot(w.Context(), func(sn *snapshot.Snapshot) (err error) {
		found, err = sn.Scan(w.Context(), q)
		return err
	}))
	return found
}

// However few rows are readable, a scan of one timeline finds them, page by page,
// as passing over all others finds them.
func TestFewReadable(t *testing.T) {
	w := newTown(t)
	likes, viewer := w.stranded(4000, 200, 50)
	for _, byCreation := range []bool{false, true} {
		var plain, paged []snapshot.Placed
		q := snapshot.Scan{
			Viewer: viewer.ID, Timelines: []int64{likes}, ByCreation: byCreation, Down: math.MaxInt64,
			BeforePlace: math.MaxInt64, BeforePost: math.MaxInt64, Limit: 1000, MaxRows: 1 << 40, FewAfter: 1 << 40,
		}
		all := w.scan(q)
		plain = all.Posts
		if !all.Finished || len(plain) < 50 || len(plain) > 100 {
			t.Fatalf("%d posts, finished %v; want a few", len(plain), all.Finished)
		}
		q.Limit, q.MaxRows, q.FewAfter = 30, 1000, 500
		for pages := 1; ; pages++ {
			page := w.scan(q)
			paged = append(paged, page.Posts...)
			if !page.Finished && len(page.Posts) < q.Limit || pages > 10 {
				t.Fatalf("page %d has %d posts and ends at %d", pages, len(page.Posts), page.Floor)
			}
			if page.Finished {
				break
			}
			last := page.Posts[len(page.Posts)-1]
			q.BeforePlace, q.BeforePost = last.Place, last.PostID
		}
		w.same("pages", paged, plain)
	}
	// More than few are left to the other way, which ends where it was told to.
	page := w.scan(snapshot.Scan{
		Viewer: viewer.ID, Timelines: []int64{likes}, Down: math.MaxInt64, BeforePlace: math.MaxInt64, BeforePost: math.MaxInt64,
		Limit: 30, MaxRows: 500, FewAfter: 100, Fewest: 10,
	})
	if page.Finished || len(page.Posts) >= 30 {
		t.Errorf("%d posts, finished %v; want fewer than a page, and more below", len(page.Posts), page.Finished)
	}
}

// A timeline that posts are put into is never searched by gates: it has none.
func TestFewOfABaseTimeline(t *testing.T) {
	w := newTown(t)
	bob := w.user("bob")
	for range 3 {
		w.post(bob, "hello")
	}
	w.must(w.InSnapshot(t.Context(), func(sn *snapshot.Snapshot) error {
		posts, ok, err := sn.Few(t.Context(), snapshot.Scan{Viewer: bob.ID, Timelines: []int64{bob.FeedID}}, math.MaxInt64, math.MaxInt64)
		if ok || err != nil {
			t.Errorf("got %v, %v; want it left to the other way", posts, err)
		}
		return nil
	}))
}

// soundFew compares both ways of a scan for everybody, in every timeline that
// posts come into by themselves.
func (w *town) soundFew() {
	w.Helper()
	viewers := append(value[[]int64](w, `SELECT array_agg(id) FROM accounts WHERE kind = 'user'`), 0)
	gated := value[[]int64](w, `SELECT array_agg(id) FROM timelines t WHERE `+kinds.IsGated)
	compared := 0
	w.must(w.InSnapshot(w.Context(), func(sn *snapshot.Snapshot) error {
		for _, viewer := range viewers {
			for _, timeline := range gated {
				for _, byCreation := range []bool{false, true} {
					q := snapshot.Scan{
						Viewer: viewer, Timelines: []int64{timeline}, ByCreation: byCreation, Limit: 10_000, Down: math.MaxInt64,
						BeforePlace: math.MaxInt64, BeforePost: math.MaxInt64, MaxRows: 1 << 40, FewAfter: 1 << 40,
					}
					if err := w.sameFew(sn, q); err != nil {
						return err
					}
					compared++
				}
			}
		}
		return nil
	}))
	if compared < 100 {
		w.Errorf("compared %d scans only", compared)
	}
}

func (w *town) sameFew(sn *snapshot.Snapshot, q snapshot.Scan) error {
	w.Helper()
	ctx := context.Background()
	plain, err := sn.Scan(ctx, q)
	if err != nil {
		return err
	}
	for _, fewest := range []int64{0, 2} {
		q.Fewest = fewest
		few, ok, err := sn.Few(ctx, q, q.BeforePlace, q.BeforePost)
		if err != nil {
			return err
		}
		if fewest > 0 && !ok {
			continue // left to the other way
		}
		if len(few) == 0 {
			few = nil
		}
		w.same(fmt.Sprintf("the few of timeline %d for %d, by creation %v, of many %v, at most %d",
			q.Timelines[0], q.Viewer, q.ByCreation, !ok, fewest), few, plain.Posts)
	}
	return nil
}

// Feeds that are open to others, and not to the viewer, do not count as found: what is
// older than they are is found all the same.
func TestFewBehindManyProtected(t *testing.T) {
	w := newTown(t)
	ann := w.user("ann")
	var half []Account
	for i := range 5 {
		half = append(half, w.user(fmt.Sprint("half-", i)))
	}
	bob := w.user("bob") // whose feed is met last
	last := w.post(bob, "open to all")
	w.must(second(w.Posts.Fave(t.Context(), ann.ID, last.Code)))
	for _, who := range half {
		p := w.post(who, "for the signed in")
		w.setAccess(who, "", Protected)
		w.must(second(w.Posts.Fave(t.Context(), ann.ID, p.Code)))
		w.must(second(w.Feeds.Exclude(t.Context(), who.ID, "", "bob")))
	}
	faves := w.timeline(kinds.Faves, ann.ID)
	for _, viewer := range []int64{0, bob.ID, ann.ID} {
		q := snapshot.Scan{
			Viewer: viewer, Timelines: []int64{faves}, Down: math.MaxInt64, BeforePlace: math.MaxInt64, BeforePost: math.MaxInt64, Limit: 10,
		}
		w.must(w.InSnapshot(t.Context(), func(sn *snapshot.Snapshot) error { return w.sameFew(sn, q) }))
	}
}

// A page of one person's likes: 100,000 rows of 20,000 feeds, of which a stranger, a
// reader of a few feeds and somebody who reads all of them may read nothing, 200 and all;
// and what it would cost the few without looking from the other side.
func BenchmarkFewReadable(b *testing.B) {
	w := newTown(b)
	likes, viewer := w.stranded(large(100_000), large(20_000), large(500))
	all := w.user("all")
	w.exec(`INSERT INTO readers (timeline_id, account_id)
		SELECT t.id, $1 FROM timelines t JOIN accounts a ON a.id = t.their_id AND a.name LIKE 'shut-%' WHERE t.kind = 'feed'`, all.ID)
	w.exec(`VACUUM ANALYZE`)
	w.pool.Reset()
	for _, bm := range []struct {
		name     string
		viewer   int64
		fewAfter int64
	}{
		{"none-readable", 0, 0},
		{"few-readable", viewer.ID, 0},
		{"all-readable", all.ID, 0},
		{"few-readable/passing-over", viewer.ID, 1 << 40},
	} {
		b.Run(bm.name, func(b *testing.B) {
			found := 0
			for b.Loop() {
				found = len(w.scan(snapshot.Scan{
					Viewer: bm.viewer, Timelines: []int64{likes}, Down: math.MaxInt64, BeforePlace: math.MaxInt64, BeforePost: math.MaxInt64,
					Limit: 30, MaxRows: 1 << 40, FewAfter: bm.fewAfter,
				}).Posts)
			}
			b.ReportMetric(float64(found), "posts")
		})
	}
}
