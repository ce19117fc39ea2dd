package timelines

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
)

// A scan meets the rows of a timeline newest first and passes over what its viewer
// may not read: the quickest way to a page, unless nearly all is to be passed
// over. Then the few readable posts are found from the other side (source: 000,
// PrivateForUser and ProtectedFromUser): by the base timelines that decide on the
// rows, those that the viewer may open, and what gated_entries says stands under
// each. That costs what is readable, a look-up for each feed whose reader the viewer is,
// and two for each time that, in the order of their ids, feeds that are open and feeds
// that occur take turns: however many rows there are, and however many closed feeds
// they are of (BenchmarkFewReadable: 100,000 rows of 20,000 feeds). A post that moved and
// whose gates follow in blocks (upkeep.go) is taken along whatever is known of them.

// When a scan of one filter timeline or aggregate looks from the other side.
const (
	// fewAfter is how many rows it meets before.
	fewAfter = 300
	// fewOf: it does if less than one of so many rows was readable.
	fewOf = 20
	// fewest is how many posts it may find there. If they are more, they are not so
	// few that passing over the others would take long.
	fewest = 2000
)

// scanFew reads all posts of @timeline below a place that the viewer may read, or
// none if they are more than @fewest; rows are found by gate, and each is asked
// again, since gated_entries also has what was. The gates open to more than their
// readers, and to the viewer, that occur are met one after the other, by two indexes: the
// next that is open, the next that occurs from there on, and so forth, passing over
// whatever is only one of the two. Each brings one row at least to what is found, so that
// more than @fewest are enough.
const scanFew = `
	WITH RECURSIVE met (at, opens, n) AS (
		SELECT 0::bigint, false, 0::bigint
		UNION ALL
		SELECT CASE WHEN occurs.id = opens.id THEN occurs.id ELSE occurs.id - 1 END,
			occurs.id = opens.id, met.n + (occurs.id = opens.id)::int
		FROM met
		CROSS JOIN LATERAL (
			SELECT g.id FROM timelines g
			WHERE g.id > met.at AND g.access < 2 AND g.base AND ` + openGate + `
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
		SELECT g.id FROM gates JOIN timelines g ON g.id = gates.id WHERE ` + openGate + `
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
	WHERE e.post_id = few.post_id AND NOT e.withdrawn AND (%[1]s, e.post_id) < (@place::bigint, @post::bigint) AND ` + readablePost + ` AND %[2]s
	UNION ALL
	SELECT 0, 0 WHERE (SELECT count(*) FROM found) > @fewest OR NOT EXISTS (
		SELECT FROM timelines t WHERE t.id = @timeline AND ` + isGated + `)
	ORDER BY 2 DESC, 1 DESC`

var (
	// A row that does not follow its post's freshness yet is passed over, as by the
	// other way.
	scanFewFresh   = fmt.Sprintf(scanFew, "e.fresh_at", "e.fresh_at = greatest(p.fresh_at, e.entered_at)")
	scanFewCreated = fmt.Sprintf(scanFew, "e.created_at", "true")
)

// few reads what the viewer may read of the one timeline of a scan below a place,
// to its end; ok is false if that is not little, or the timeline is one that posts
// are put into and so has no gates but itself.
func (sn *Snapshot) few(ctx context.Context, q Scan, place, post int64) (posts []Placed, ok bool, err error) {
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
