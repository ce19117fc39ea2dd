package timelines

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/kinds"
)

// updateAggregatesTx puts the post into the aggregates of these kinds where it belongs, and
// takes it out of the others: everything, if the post is not only a message; best-of,
// if Options.BestOf people other than its author like it or commented on it; most-faved,
// if Options.MostFaved people save it. Each kind has a timeline of all posts and one of
// those in the post's language. It returns the timelines entered and left.
//
// Every change that may give or take a reason ends with it. Reasons are read from the
// stored rows, under the post's lock, and people are counted up to the threshold only, so
// readers of the pages count nothing. A new threshold holds for a post from its next
// change on.
//
// The author's own save counts. The number of saves is public, and a post that has enough
// but is not here would tell that the author is among them.
//
// A post that comes into a language by an edit takes the place it has among all posts of
// that kind, so an edit lifts nothing. Nor does a move, whose stamp is 0: the post stays as
// fresh as it is.
func (s *core) updateAggregatesTx(ctx context.Context, tx pgx.Tx, p lockedPost, which ...string) ([]int64, error) {
	// Commenters are found one after the other, each by the first comment of somebody
	// not found yet. So the thousands of comments of a few people are passed over once, and
	// of a popular post only the first comments are read. The order is that of an index:
	// otherwise the planner would read the whole table for one row out of many.
	query := `
		WITH RECURSIVE post AS MATERIALIZED (
			SELECT p.id, p.author_id, p.fresh_at, p.lang, (extract(epoch FROM p.created_at) * 1000000)::bigint AS created_at,
				EXISTS (SELECT FROM timelines d WHERE d.id = ANY(p.decisive) AND d.kind IN ` + kinds.SQL(kinds.Spec.IsLevelled) + `) AS open
			FROM posts p WHERE p.id = @post
		), people (met) AS (
			SELECT ARRAY(
				SELECT l.account_id FROM likes l
				WHERE l.post_id = @post AND l.account_id <> post.author_id
				ORDER BY l.account_id LIMIT @best)
			FROM post WHERE post.open AND 'best' = ANY(@kinds)
			UNION ALL
			SELECT people.met || next.author_id
			FROM people, post, LATERAL (
				SELECT c.author_id FROM comments c
				WHERE c.post_id = @post AND c.deleted_at IS NULL
					AND c.author_id <> post.author_id AND c.author_id <> ALL(people.met)
				ORDER BY c.created_at, c.id LIMIT 1) next
			WHERE cardinality(people.met) < @best
		), reasons (kind, holds) AS (
			SELECT 'everything', post.open FROM post WHERE 'everything' = ANY(@kinds)
			UNION ALL
			SELECT 'best', EXISTS (SELECT FROM people WHERE cardinality(met) >= @best) WHERE 'best' = ANY(@kinds)
			UNION ALL
			SELECT 'mostfaved', post.open AND @most <= (
				SELECT count(*) FROM (
					SELECT FROM faves f WHERE f.post_id = @post ORDER BY f.account_id LIMIT @most) f)
			FROM post WHERE 'mostfaved' = ANY(@kinds)
		), aggregates AS MATERIALIZED (
			SELECT t.id, t.kind, t.term, r.holds AND t.term IN ('', post.lang) AS holds,
				e.at, e.entered_at, e.withdrawn
			FROM post, reasons r
			JOIN timelines t ON t.kind = r.kind AND t.their_id = 0
			LEFT JOIN LATERAL (
				SELECT e.ctid AS at, e.entered_at, e.withdrawn FROM timeline_entries e
				WHERE e.post_id = @post AND e.timeline_id = t.id LIMIT 1) e ON true
		), entered AS (
			INSERT INTO timeline_entries AS e (timeline_id, post_id, entered_at, fresh_at, created_at)
			SELECT a.id, post.id, enters.at, greatest(post.fresh_at, enters.at), post.created_at
			FROM post CROSS JOIN aggregates a
			LEFT JOIN aggregates whole ON whole.kind = a.kind AND whole.term = ''
			CROSS JOIN LATERAL (SELECT coalesce(whole.entered_at, CASE
				WHEN @max_age::bigint > 0 AND @stamp > post.created_at + @max_age THEN post.fresh_at
				ELSE greatest(@stamp, post.fresh_at) END) AS at) enters
			WHERE a.holds AND a.withdrawn IS DISTINCT FROM false
			ORDER BY a.id
			ON CONFLICT (timeline_id, post_id) DO UPDATE
			SET withdrawn = false,
				fresh_at = greatest(e.entered_at, (SELECT p.fresh_at FROM posts p WHERE p.id = e.post_id))
			RETURNING timeline_id
		), departed AS (
			UPDATE timeline_entries e SET withdrawn = true
			FROM aggregates a WHERE e.ctid = a.at AND NOT a.holds AND NOT a.withdrawn
			RETURNING e.timeline_id
		)
		SELECT ARRAY(SELECT timeline_id FROM entered UNION ALL SELECT timeline_id FROM departed)`
	args := s.enterArgs(p)
	args["kinds"], args["best"], args["most"] = which, s.opts.BestOf, s.opts.MostFaved
	var touched []int64
	if err := tx.QueryRow(ctx, query, args).Scan(&touched); err != nil {
		return nil, fmt.Errorf("update aggregates: %w", err)
	}
	slices.Sort(touched)
	return touched, nil
}

// belonging is how near a post was to an aggregate, best or mostfaved, before a like, comment or save came or went. Nearly
// always nothing follows: the post stands there already, or is not near the threshold. The whole question costs more than
// a like.
type belonging struct {
	stands bool
	// marks are likes or saves, and comments count only for best. Neither is counted beyond what is asked.
	marks, comments int
	least           int // the threshold
}

// mayEnter reports whether updateAggregatesTx may find something to do after one more. There are at least as many likes
// and comments together as people.
func (b *belonging) mayEnter() bool { return !b.stands && b.marks+b.comments+1 >= b.least }

// mayLeave is mayEnter after a like or save was taken back. Each of the others is another person's, but one may be the
// author's, who does not count.
func (b *belonging) mayLeave() bool { return b.stands && b.marks-2 < b.least }

// belongs returns the columns of a query of posts p that say how near the post is to an aggregate, and where
// to scan them.
func (s *core) belongs(kind string) (columns string, b *belonging) {
	// With the limit in the text the server knows how few rows it reads.
	const standing = `EXISTS (
			SELECT FROM timelines t CROSS JOIN LATERAL (
				SELECT e.withdrawn FROM timeline_entries e WHERE e.post_id = p.id AND e.timeline_id = t.id LIMIT 1) e
			WHERE t.kind = '%s' AND t.their_id = 0 AND t.term = '' AND NOT e.withdrawn),
		(SELECT count(*) FROM (
			SELECT post_id FROM %s WHERE post_id >= p.id ORDER BY post_id, account_id LIMIT %d) m
		WHERE post_id = p.id), `
	if kind == kinds.MostFaved {
		b = &belonging{least: s.opts.MostFaved}
		return fmt.Sprintf(standing+`0`, kind, "faves", b.least+2), b
	}
	b = &belonging{least: s.opts.BestOf}
	return fmt.Sprintf(standing+`(SELECT count(*) FROM (
			SELECT post_id FROM comments WHERE post_id >= p.id AND deleted_at IS NULL
			ORDER BY post_id, created_at, id LIMIT %d) c
		WHERE post_id = p.id)`, kind, "likes", b.least+2, b.least), b
}

// dest is where to scan the columns of belongs.
func (b *belonging) dest() []any { return []any{&b.stands, &b.marks, &b.comments} }
