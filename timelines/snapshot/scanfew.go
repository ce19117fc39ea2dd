package snapshot

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/kinds"
	"riverrun/timelines/rights"
)

// A scan meets the rows of a timeline newest first and passes over rows that its viewer
// may not read. That is the quickest way to a page, unless it has to pass over nearly all
// rows. Then the few readable posts are found by their gates (source: 000, PrivateForUser
// and ProtectedFromUser): by the base timelines that decide about the rows and that the
// viewer may open, and the rows of each in gated_entries. The cost is that of the readable
// posts, one look-up for each feed that has the viewer as a reader, and two for each change
// from open feeds to feeds that occur, in the order of their ids. It does not depend on the
// number of rows, nor on the number of closed feeds they come from (BenchmarkFewReadable:
// 100,000 rows of 20,000 feeds). A post that moved, and whose gates follow in blocks
// (upkeep.go), is always a candidate.

// When a scan of one filter timeline or aggregate looks by gates.
const (
	// fewAfter is how many rows it meets before that.
	fewAfter = 300
	// fewOf: it does so if less than one of so many rows was readable.
	fewOf = 20
	// fewest is how many posts it may find there. If there are more, passing over the
	// unreadable rows does not take long.
	fewest = 2000
)

// scanFew reads all posts of @timeline below a place that the viewer may read, or none if
// they are more than @fewest. It finds rows by gate and checks each, since gated_entries
// also has former rows. Gates that occur, and that the viewer may open without being a
// reader, are found one after the other by two indexes: the next gate that is open, the next
// that occurs from there on, and so on, which passes over gates that are only one of the
// two. Each gate adds at least one row, so more than @fewest gates are enough.
const scanFew = `
	WITH RECURSIVE met (at, opens, n) AS (
		SELECT 0::bigint, false, 0::bigint
		UNION ALL
		SELECT CASE WHEN occurs.id = opens.id THEN occurs.id ELSE occurs.id - 1 END,
			occurs.id = opens.id, met.n + (occurs.id = opens.id)::int
		FROM met
		CROSS JOIN LATERAL (
			SELECT g.id FROM timelines g
			WHERE g.id > met.at AND g.access < 2 AND g.base AND ` + rights.OpenGate + `
			ORDER BY g.id LIMIT 1) opens
		CROSS JOIN LATERAL (
			SELECT e.gate_id AS id FROM gated_entries e
			WHERE e.timeline_id = @timeline AND e.gate_id >= opens.id
			ORDER BY e.gate_id LIMIT 1) occurs
		WHERE met.n <= @fewest
	), gates AS (
		SELECT at AS id FROM met WHERE opens
		UNION
		SELECT r.timeline_id FROM readers r WHERE r.account_id = @viewer
	), open AS MATERIALIZED (
		SELECT g.id FROM gates JOIN timelines g ON g.id = gates.id WHERE ` + rights.OpenGate + `
	), found AS MATERIALIZED (
		SELECT e.post_id FROM open CROSS JOIN LATERAL (
			SELECT e.post_id FROM gated_entries e
			WHERE e.timeline_id = @timeline AND e.gate_id = open.id
			ORDER BY e.post_id LIMIT @fewest + 1) e
		UNION ALL
		SELECT post_id FROM ungated_posts
		LIMIT @fewest + 1
	)
	SELECT e.post_id, %[1]s AS place
	FROM (SELECT DISTINCT post_id FROM found WHERE (SELECT count(*) FROM found) <= @fewest) few
	CROSS JOIN LATERAL (
		SELECT e.* FROM timeline_entries e
		WHERE e.timeline_id = @timeline AND e.post_id >= few.post_id
		ORDER BY e.post_id LIMIT 1) e -- in this form only the primary key will do; see bump.go
	CROSS JOIN LATERAL (SELECT p.* FROM posts p WHERE p.id = few.post_id AND p.deleted_at IS NULL) p
	WHERE e.post_id = few.post_id AND NOT e.withdrawn AND (%[1]s, e.post_id) < (@place::bigint, @post::bigint) AND ` + rights.ReadablePost + ` AND %[2]s
	UNION ALL
	SELECT 0, 0 WHERE (SELECT count(*) FROM found) > @fewest OR NOT EXISTS (
		SELECT FROM timelines t WHERE t.id = @timeline AND ` + kinds.IsGated + `)
	ORDER BY 2 DESC, 1 DESC`

var (
	// A row that does not have its post's freshness yet is passed over, as in scanFresh.
	scanFewFresh   = fmt.Sprintf(scanFew, "e.fresh_at", "e.fresh_at = greatest(p.fresh_at, e.entered_at)")
	scanFewCreated = fmt.Sprintf(scanFew, "e.created_at", "true")
)

// Few reads all posts that the viewer may read of a scan's only timeline, below a place. ok
// is false if there are many, or if the timeline is a base timeline, which has no gate but
// itself.
func (sn *Snapshot) Few(ctx context.Context, q Scan, place, post int64) (posts []Placed, ok bool, err error) {
	query := scanFewFresh
	if q.ByCreation {
		query = scanFewCreated
	}
	rows, err := sn.tx.Query(ctx, query, pgx.StrictNamedArgs{
		"viewer": q.Viewer, "timeline": q.Timelines[0], "place": place, "post": post, "fewest": cmp.Or(q.Fewest, fewest),
	})
	if err != nil {
		return nil, false, fmt.Errorf("scan few: %w", err)
	}
	posts, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Placed])
	if err != nil {
		return nil, false, fmt.Errorf("scan few: %w", err)
	}
	many := slices.ContainsFunc(posts, func(p Placed) bool { return p.PostID == 0 })
	return posts, !many, nil
}
