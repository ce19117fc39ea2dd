package timelines

import (
	"fmt"
	"math"
	"testing"

	"riverrun/timelines/kinds"
	"riverrun/timelines/snapshot"
)

// stranded fills a user's likes with posts of private feeds. The viewer reads one in
// every of them; between them stand a few that everybody reads. The posts are as many as
// rows, the feeds as many as feeds.
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

// One person's likes have 100,000 rows of 20,000 feeds. A stranger may read none of them,
// a reader of a few feeds 200, and somebody who reads all feeds all of them. The
// benchmark also shows what the page would cost without a bound.
func BenchmarkFewReadable(b *testing.B) {
	w := newTown(b)
	likes, viewer := w.stranded(large(100_000), large(20_000), large(500))
	all := w.user("all")
	w.exec(`INSERT INTO readers (timeline_id, account_id)
		SELECT t.id, $1 FROM timelines t JOIN accounts a ON a.id = t.their_id AND a.name LIKE 'shut-%' WHERE t.kind = 'feed'`, all.ID)
	w.exec(`VACUUM ANALYZE`)
	w.pool.Reset()
	for _, bm := range []struct {
		name    string
		viewer  int64
		maxRows int64
	}{
		{"none-readable", 0, 0},
		{"few-readable", viewer.ID, 0},
		{"all-readable", all.ID, 0},
		{"none-readable/unbounded", 0, math.MaxInt64},
	} {
		b.Run(bm.name, func(b *testing.B) {
			found := 0
			for b.Loop() {
				found = len(w.scan(snapshot.Scan{
					Viewer: bm.viewer, Timelines: []int64{likes}, Down: math.MaxInt64, BeforePlace: math.MaxInt64, BeforePost: math.MaxInt64,
					Limit: 30, MaxRows: bm.maxRows,
				}).Posts)
			}
			b.ReportMetric(float64(found), "posts")
		})
	}
}
