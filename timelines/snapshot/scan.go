package snapshot

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/rights"
)

// Scan asks for the newest posts of a set of timelines below a place.
type Scan struct {
	// Viewer must be able to read the posts; 0 is anonymous.
	Viewer    int64
	Timelines []int64
	// Among are all the timelines that decide a post's place in fresh order, if Timelines are
	// only a part of them. Such a scan finds the posts whose place is that of a row in its part,
	// so the scans of all parts together find each post of a scan of the whole, some of them
	// twice. nil: Timelines are the whole.
	Among []int64
	// BeforePlace and BeforePost begin the scan strictly below that place;
	// math.MaxInt64 for the top.
	BeforePlace, BeforePost int64
	// Limit is how many posts are wanted. Down is a place that the scan has to reach even if
	// that takes more posts; math.MaxInt64 for none. A scan that meets very many rows ends
	// above Down.
	Limit int
	Down  int64
	// ByCreation orders by creation instead of freshness, ByEvent by the time of the last
	// event, in timelines of kind notifications.
	ByCreation, ByEvent bool
	// MaxRows is how many rows the scan may meet before it ends with the posts it has; on
	// the way to Down it is downTimes as many. 0: DefaultMaxRows; math.MaxInt64: no bound.
	MaxRows int64
}

// DefaultMaxRows bounds a scan. Otherwise a home feed whose timelines are nearly all closed
// to its viewer would be read whole, in one snapshot, while somebody waits.
const DefaultMaxRows = 20_000

// While a scan takes few of the rows it meets, its rounds grow up to maxRound rows, but
// not past the bound. Few means less than one of fewOf. In the first round each of many
// timelines shows minEach rows.
const (
	maxRound = 8000
	minEach  = 8
	fewOf    = 20
)

// downTimes is how many times MaxRows a scan may meet on the way to Down. A first visit
// that finds nothing to show builds a river and extends it a few times, each by a scan,
// before it gives up. A rebuild reaches as deep in one scan, so that the page which waits
// for it is not cut short. A river that was read deeper than that, past posts its viewer
// may not read, becomes shallower, and is extended when somebody asks.
const downTimes = 5

// Scanned is the result of a scan.
type Scanned struct {
	// Posts in the order of the river, newest first.
	Posts []Placed
	// Floor: between the scan's beginning and this place, Posts are all posts that the viewer
	// may read. math.MinInt64 if nothing older is left. A scan that met very many rows for few
	// posts ends with fewer posts than were wanted, or above Down: the rest is below the
	// floor.
	Floor int64
	// Finished: nothing older is left.
	Finished bool
}

// Placed is a post at its place in a river.
type Placed struct {
	PostID int64
	Place  int64 // microseconds
}

// The place of a post among the timelines of a river is
//
//	max(post.fresh_at, min(entered_at) over those that hold or held it)
//
// and a row's fresh_at is max(post.fresh_at, its own entered_at). So all rows of the post
// stand at or above its place, and one stands exactly there. A merge of the timelines by
// fresh_at meets the post at its place, and takes it only there: a friend's second like
// does not lift it again. Withdrawn rows count for the place and not for the membership.
//
// No row that tells a post's place stands below the post's own fresh_at. If the lowest row that
// is met stands there, that is the post's place, and the post is there unless this row is
// withdrawn. That is so for most posts, and no other row of them is looked at. The place of
// the others is computed once, however many of their rows the scan meets: from all of their
// rows, or, if there are very many, by the primary key.
var scanFresh = `
	WITH ` + fmt.Sprintf(scanHeads, "fresh_at", "", "") + `, met AS MATERIALIZED (
		SELECT post_id, fresh_at, count(*) AS rows FROM heads GROUP BY post_id, fresh_at
	), lowest AS MATERIALIZED (
		SELECT DISTINCT ON (post_id) post_id, fresh_at, timeline_id FROM heads ORDER BY post_id, fresh_at
	), readable AS MATERIALIZED (
		SELECT p.id, p.fresh_at, CASE WHEN l.fresh_at = p.fresh_at THEN EXISTS (
				SELECT FROM timeline_entries e WHERE e.timeline_id = l.timeline_id AND e.post_id = p.id AND NOT e.withdrawn)
			ELSE false END AS settled
		FROM lowest l
		CROSS JOIN LATERAL (SELECT p.* FROM posts p WHERE p.id = l.post_id LIMIT 1) p -- asked once for each, in any plan
		WHERE p.deleted_at IS NULL AND ` + rights.ReadablePost + `
	), placed AS MATERIALIZED (
		SELECT r.id, r.fresh_at AS place FROM readable r WHERE r.settled
		UNION ALL
		SELECT r.id, greatest(r.fresh_at, coalesce(looked_up.entered_at, among.entered_at)) AS place
		FROM readable r
		CROSS JOIN LATERAL (
			SELECT count(*) AS rows, min(e.entered_at) FILTER (WHERE ours) AS entered_at,
				bool_or(NOT e.withdrawn) FILTER (WHERE ours) AS present
			FROM (
				SELECT e.entered_at, e.withdrawn, e.timeline_id IN (SELECT unnest(@among::bigint[])) AS ours
				FROM timeline_entries e WHERE e.post_id = r.id LIMIT @memberships::bigint + 1) e) among
		CROSS JOIN LATERAL (
			SELECT min(e.entered_at) AS entered_at, bool_or(NOT e.withdrawn) AS present
			FROM unnest(@among::bigint[]) t(id)
			CROSS JOIN LATERAL (
				SELECT e.* FROM timeline_entries e WHERE e.post_id = r.id AND e.timeline_id = t.id LIMIT 1) e
			WHERE among.rows > @memberships::bigint) looked_up
		WHERE NOT r.settled AND coalesce(looked_up.present, among.present)
	)
	SELECT m.post_id, m.fresh_at, m.rows, EXISTS (SELECT FROM frontier) AS more,
		(m.post_id, m.fresh_at) IN (SELECT h.id, h.place FROM placed h) AS taken -- hashed in any plan, as a join is not
	FROM met m
	ORDER BY m.fresh_at DESC, m.post_id DESC`

// In the order of creation every row of a post stands at the same place. A notification has
// only one row, which stands at its fresh_at.
var scanCreated, scanEvents = scanRows("created_at"), scanRows("fresh_at")

func scanRows(place string) string {
	return `
	WITH ` + fmt.Sprintf(scanHeads, place, ", e.withdrawn", ", s.withdrawn") + `, met AS MATERIALIZED (
		SELECT post_id, ` + place + `, count(*) AS rows, bool_or(NOT withdrawn) AS present
		FROM heads GROUP BY post_id, ` + place + `
	)
	SELECT m.post_id, m.` + place + `, m.rows, EXISTS (SELECT FROM frontier) AS more,
		p.deleted_at IS NULL AND ` + rights.ReadablePost + ` AND (m.present OR EXISTS (
			SELECT FROM timeline_entries e
			WHERE e.post_id = m.post_id AND e.timeline_id = ANY(@timelines) AND NOT e.withdrawn)) AS taken
	FROM met m
	JOIN posts p ON p.id = m.post_id
	ORDER BY m.` + place + ` DESC, m.post_id DESC`
}

// scanHeads reads the next @rows rows of all timelines together, or fewer, in two steps. First
// each timeline shows @each rows. The place of the @rows-th of these is a bound: no row below it
// is among the next @rows. Nearly all timelines have shown then all they have above it. The
// others, at most @rows/@each, show more: four times @rows together. The frontier is the
// highest place at which one of these has shown all that it may, and the rows above it are
// complete. Without a frontier they are the next @rows rows, or all there are.
//
// The server estimates each timeline to be of average length. If it knew how many rows are
// wanted, it would expect fewer to exist, and would read and sort all rows of a timeline
// that has a million. A LIMIT it does not know makes it follow the index.
const scanHeads = `first AS MATERIALIZED (
		SELECT t.id AS timeline_id, h.*
		FROM unnest(@timelines::bigint[]) t(id)
		CROSS JOIN LATERAL (
			SELECT e.post_id, e.%[1]s%[2]s FROM timeline_entries e
			WHERE e.timeline_id = t.id AND (e.%[1]s, e.post_id) < (@place::bigint, @post::bigint)
			ORDER BY e.%[1]s DESC, e.post_id DESC LIMIT (SELECT @each::bigint)) h
	), bound AS MATERIALIZED (
		SELECT coalesce(max(b.%[1]s), -9223372036854775808) AS %[1]s, coalesce(max(b.post_id), 0) AS post_id
		FROM (SELECT f.%[1]s, f.post_id FROM first f ORDER BY f.%[1]s DESC, f.post_id DESC OFFSET @rows::bigint - 1 LIMIT 1) b
	), above AS MATERIALIZED (
		SELECT f.* FROM first f
		WHERE (f.%[1]s, f.post_id) >= ((SELECT b.%[1]s FROM bound b), (SELECT b.post_id FROM bound b))
	), busy AS MATERIALIZED (
		SELECT a.timeline_id FROM above a GROUP BY a.timeline_id HAVING count(*) >= @each::bigint
	), depth AS MATERIALIZED (
		SELECT greatest(2 * @each::bigint, 4 * @rows::bigint / greatest(count(*), 1)) AS rows FROM busy
	), second AS MATERIALIZED (
		SELECT b.timeline_id, h.*
		FROM busy b
		CROSS JOIN LATERAL (
			SELECT n.*, row_number() OVER () AS nth
			FROM (
				SELECT e.post_id, e.%[1]s%[2]s FROM timeline_entries e
				WHERE e.timeline_id = b.timeline_id AND (e.%[1]s, e.post_id) < (@place::bigint, @post::bigint)
					AND (e.%[1]s, e.post_id) >= ((SELECT b.%[1]s FROM bound b), (SELECT b.post_id FROM bound b))
				ORDER BY e.%[1]s DESC, e.post_id DESC LIMIT (SELECT d.rows FROM depth d)) n) h
	), frontier AS MATERIALIZED (
		SELECT s.%[1]s, s.post_id FROM second s WHERE s.nth = (SELECT d.rows FROM depth d)
		ORDER BY s.%[1]s DESC, s.post_id DESC LIMIT 1
	), heads AS MATERIALIZED (
		SELECT h.*
		FROM (
			SELECT a.* FROM above a WHERE a.timeline_id NOT IN (SELECT b.timeline_id FROM busy b)
			UNION ALL
			SELECT s.timeline_id, s.post_id, s.%[1]s%[3]s FROM second s) h
		WHERE (h.%[1]s, h.post_id) >= (
			coalesce((SELECT f.%[1]s FROM frontier f), -9223372036854775808), coalesce((SELECT f.post_id FROM frontier f), 0))
		ORDER BY h.%[1]s DESC, h.post_id DESC LIMIT @rows::bigint
	)`

// Scan reads the newest posts of some timelines below a place, each once, at its place, and
// only those the viewer may read. It goes on in rounds until it has found enough and
// reached Down, nothing is left, or it has met as many rows as it may. If nothing of a
// timeline is readable that takes 0.1 s, and 0.5 s on the way to Down, or for all scans of a
// first visit (BenchmarkFewReadable).
//
// Rejected: an index of timelines by the feeds that decide about their posts. It finds the
// readable posts in 4 ms, however few they are, and takes a fifth of the primary store and
// a trigger for each write.
func (sn *Snapshot) Scan(ctx context.Context, q Scan) (Scanned, error) {
	out := Scanned{Floor: math.MinInt64, Finished: true}
	if len(q.Timelines) == 0 {
		return out, nil
	}
	query := scanFresh
	switch {
	case q.ByEvent:
		query = scanEvents
	case q.ByCreation:
		query = scanCreated
	}
	place, post := q.BeforePlace, q.BeforePost
	// In a home feed several rows of a post stand side by side, and the more timelines there
	// are, the less of a round's cost is that of its rows. If a round is not enough, it says how many rows a post
	// has, and so how many the next one needs.
	round := max(2*q.Limit, 100)
	if len(q.Timelines) > q.Limit {
		round = max(3*q.Limit, 100)
	}
	each := max(4*round/len(q.Timelines), minEach)
	bound := cmp.Or(q.MaxRows, DefaultMaxRows)
	for met := int64(0); ; {
		args := pgx.StrictNamedArgs{
			"viewer": q.Viewer, "timelines": q.Timelines, "place": place, "post": post, "rows": round,
			"each": min(each, round+1), // no timeline has more among the next rows
		}
		if !q.ByCreation && !q.ByEvent {
			among := q.Among
			if among == nil {
				among = q.Timelines
			}
			args["among"], args["memberships"] = among, max(MaxMemberships, len(among))
		}
		rows, err := sn.tx.Query(ctx, query, args)
		if err != nil {
			return Scanned{}, fmt.Errorf("scan timelines: %w", err)
		}
		var p Placed
		var n, total int64
		var more, taken bool
		_, err = pgx.ForEachRow(rows, []any{&p.PostID, &p.Place, &n, &more, &taken}, func() error {
			total += n
			place, post = p.Place, p.PostID
			if taken {
				out.Posts = append(out.Posts, p)
			}
			return nil
		})
		if err != nil {
			return Scanned{}, fmt.Errorf("scan timelines: %w", err)
		}
		if total < int64(round) && !more {
			break
		}
		// The last group may be cut off. Its rows are met again, and the post is taken once, at
		// its place.
		post++
		if k := len(out.Posts); k > 0 && out.Posts[k-1].Place == place && out.Posts[k-1].PostID == post-1 {
			out.Posts = out.Posts[:k-1]
		}
		// There must be enough above the place where this round ended. That place itself may be
		// incomplete: hundreds of posts may share it.
		enough := len(out.Posts) > q.Limit && out.Posts[q.Limit-1].Place > place
		met += total
		down := q.Down == math.MaxInt64 || place < q.Down
		if (enough || met >= bound) && down || met/downTimes >= bound {
			out.Finished = false
			out.Floor = place + 1
			break
		}
		if more && total < int64(round)/2 {
			each *= 4 // a few timelines have most of the rows
		}
		little := round < maxRound && int64(len(out.Posts))*fewOf < met && met+2*int64(round) <= bound
		if n >= int64(round) || little { // one post fills the round, or little is taken
			round, each = 2*round, 2*each
		} else if k := int64(len(out.Posts)); k > 0 && k <= int64(q.Limit) {
			// The posts that are still wanted have as many rows as those so far, and a quarter more for luck.
			rest := min((int64(q.Limit)-k+1)*met/k*5/4, 4*int64(round), maxRound)
			if rest > int64(round) && met+rest <= bound {
				each, round = max(each, int(4*rest)/len(q.Timelines)), int(rest)
			}
		}
	}
	out.cut(q)
	return out, nil
}

// cut drops the posts beyond the limit, so that a build stores no more than it was asked
// for. Posts at the floor's own place stay together: readers compare the place alone.
func (out *Scanned) cut(q Scan) {
	out.Posts = slices.DeleteFunc(out.Posts, func(p Placed) bool { return p.Place < out.Floor })
	k := q.Limit
	if k >= len(out.Posts) {
		return
	}
	for k < len(out.Posts) && (out.Posts[k].Place == out.Posts[k-1].Place ||
		q.Down != math.MaxInt64 && out.Posts[k].Place >= q.Down) {
		k++
	}
	if k == len(out.Posts) {
		return
	}
	out.Posts = out.Posts[:k]
	out.Floor = out.Posts[k-1].Place
	out.Finished = false
}

// MayRead reports whether, in the snapshot, the viewer may read the post and no ban is
// between the viewer and its author.
func (sn *Snapshot) MayRead(ctx context.Context, viewer, post int64) (bool, error) {
	const query = `SELECT EXISTS (SELECT FROM posts p WHERE p.id = @post AND p.deleted_at IS NULL AND ` + rights.SeenPost + `)`
	var ok bool
	if err := sn.tx.QueryRow(ctx, query, pgx.StrictNamedArgs{"viewer": viewer, "post": post}).Scan(&ok); err != nil {
		return false, fmt.Errorf("read right: %w", err)
	}
	return ok, nil
}
