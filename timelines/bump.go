package timelines

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/kinds"
	"riverrun/timelines/notices"
)

const (
	// bumpFew is the largest number of filter timelines of a post whose rows all follow a
	// bump in the comment's own transaction. A post in 5,000 likes timelines would be locked
	// for 40 to 100 ms. A page that is built between a comment and its job misses the post if it
	// would hold it for such a timeline alone. So the rows of most posts do not wait.
	bumpFew = 100
	// bumpBlock is how many rows follow in one block.
	bumpBlock = 500
)

// Statements here look up a post's rows one by one (LIMIT 1) and update them by ctid. The planner knows
// that a post has a handful of rows on average, and would read all rows of a post rather
// than find three. That is right for most posts, but takes tens of milliseconds under the
// lock for a post in thousands of likes timelines. A ctid is valid within the statement that read it,
// because rows of a post are written only under the post's lock.

// clockMicros is the clock in the unit of the order columns. It may be used only in a
// statement that began after the post was locked.
const clockMicros = `(extract(epoch FROM clock_timestamp()) * 1000000)::bigint`

// bumped is true for a row e of a timeline that follows bumps.
var bumped = `NOT EXISTS (SELECT FROM timelines n WHERE n.id = e.timeline_id AND n.kind IN ` + kinds.SQL(kinds.Spec.IsByNotice) + `)`

// bumping is what a bump did. moved are the timelines in which the post moved, without those it has
// left; rest says that rows have still to follow, and that no job is under way for them.
type bumping struct {
	moved []int64
	rest  bool
}

// queueBump adds the statement to a batch that bumps the post after a new comment if the rule says so:
// it is younger than a day, or had more than two comments within the last day, the new one included
// (source: 000). Its rows in base timelines, its own timeline, the aggregates and the actor's timelines
// move with it; rows in other filter timelines too if they are few.
func queueBump(b *pgx.Batch, p lockedPost, actor int64) *bumping {
	// Deleted comments do not count. This statement counts by itself, so it sees the
	// comments that were committed while the post's lock was waited for.
	//
	// Withdrawn rows follow too: they keep the post's place in rivers where another timeline
	// still holds it.
	query := `
		WITH post AS MATERIALIZED (
			SELECT p.decisive, p.rows_behind FROM posts p
			WHERE p.id = @post AND (
				p.created_at > now() - interval '1 day'
				OR 2 < (SELECT count(*) FROM (
					SELECT FROM comments c
					WHERE c.post_id = @post AND c.deleted_at IS NULL AND c.created_at > now() - interval '1 day'
					LIMIT 3) recent))
		), always AS MATERIALIZED (
			SELECT unnest(p.decisive) AS id FROM post p
			UNION
			SELECT t.id FROM post, timelines t WHERE t.kind = 'post' AND t.their_id = @post AND t.term = ''
			UNION
			SELECT t.id FROM post, timelines t
			WHERE t.kind IN ` + kinds.SQL(kinds.Spec.IsPersonal) + ` AND t.their_id = @actor AND t.term = ''
			UNION
			SELECT t.id FROM post, timelines t WHERE t.kind IN ` + kinds.SQL(kinds.Spec.IsAggregate) + ` AND t.their_id = 0
		), others AS MATERIALIZED (
			SELECT e.ctid AS at, e.fresh_at FROM timeline_entries e
			WHERE EXISTS (SELECT FROM post) AND e.post_id = @post AND e.timeline_id NOT IN (SELECT id FROM always) AND ` + bumped + `
			LIMIT @few + 1
		), fresh AS (
			UPDATE posts p SET fresh_at = @stamp, rows_behind = p.rows_behind OR (SELECT count(*) FROM others) > @few
			WHERE p.id = @post AND EXISTS (SELECT FROM post)
		), standing AS MATERIALIZED (
			SELECT e.at FROM always CROSS JOIN LATERAL (
				SELECT e.ctid AS at, e.fresh_at FROM timeline_entries e WHERE e.post_id = @post AND e.timeline_id = always.id LIMIT 1) e
			WHERE e.fresh_at < @stamp
			UNION ALL
			SELECT at FROM others WHERE fresh_at < @stamp AND (SELECT count(*) FROM others) <= @few
		), moved AS (
			UPDATE timeline_entries e SET fresh_at = @stamp
			FROM standing WHERE e.ctid = standing.at
			RETURNING e.timeline_id, e.withdrawn
		)
		SELECT ARRAY(SELECT timeline_id FROM moved WHERE NOT withdrawn ORDER BY timeline_id),
			(SELECT count(*) FROM others) > @few AND NOT (SELECT rows_behind FROM post)`
	did := &bumping{}
	b.Queue(query, pgx.StrictNamedArgs{"post": p.ID, "actor": actor, "stamp": p.Stamp, "few": bumpFew}).
		QueryRow(func(row pgx.Row) error { return row.Scan(&did.moved, &did.rest) })
	return did
}

// BumpBlock lets one block of the post's rows in filter timelines follow its
// fresh_at, and announces in the same transaction that it was bumped there and,
// if rows are left, the next block. Running it twice, or for a post bumped again
// since, is harmless: rows that stand where they should are passed over.
//
// It draws no version. An entry's place in a river is computed from posts.fresh_at and
// entered_at, which the comment wrote under its version; the rows' own fresh_at only lets
// scans find the post there. A river that holds the post followed the comment; to one
// that does not hold it, any version is new.
func (s Maintenance) BumpBlock(ctx context.Context, u PendingBump) error {
	// This lock of the post is as strong as the UPDATE that draws a version: no row enters
	// and no other bump happens meanwhile. A comment that comes after it asks for a job of its own.
	const lock = `UPDATE posts SET rows_behind = false WHERE id = @post AND deleted_at IS NULL RETURNING fresh_at`
	block := `
		WITH next AS MATERIALIZED (
			SELECT e.ctid AS at FROM timeline_entries e
			WHERE e.post_id = @post AND e.timeline_id > @after AND e.fresh_at < @fresh_at AND ` + bumped + `
			ORDER BY e.timeline_id LIMIT @limit
		), moved AS (
			UPDATE timeline_entries e SET fresh_at = @fresh_at
			FROM next WHERE e.ctid = next.at
			RETURNING e.timeline_id, e.withdrawn
		)
		SELECT coalesce(max(timeline_id), 0), count(*) = @limit,
			coalesce(array_agg(timeline_id ORDER BY timeline_id) FILTER (WHERE NOT withdrawn), '{}')
		FROM moved`
	_, err := inTx(ctx, s.core, func(tx pgx.Tx) (struct{}, error) {
		var none struct{}
		var freshAt int64
		err := tx.QueryRow(ctx, lock, pgx.StrictNamedArgs{"post": u.PostID}).Scan(&freshAt)
		if errors.Is(err, pgx.ErrNoRows) {
			return none, nil // deleted meanwhile: it stands nowhere
		}
		if err != nil {
			return none, fmt.Errorf("lock post: %w", err)
		}
		var last int64
		var full bool
		var moved []int64
		err = tx.QueryRow(ctx, block, pgx.StrictNamedArgs{
			"post": u.PostID, "after": u.After, "fresh_at": freshAt, "limit": bumpBlock,
		}).Scan(&last, &full, &moved)
		if err != nil {
			return none, fmt.Errorf("bump block: %w", err)
		}
		var events []Event
		if len(moved) > 0 {
			events = append(events, Touched{PostID: u.PostID, Timelines: moved})
		}
		if full {
			events = append(events, PendingBump{PostID: u.PostID, After: last})
		}
		return none, s.announceTx(ctx, tx, events...)
	})
	return err
}

// entering is the statement that puts the post into the account's timelines that it enters by this
// action, fresh there, and returns those it was not in. A timeline that held it before keeps its first
// stamp, so doing and undoing never lifts.
func (s *core) entering(p lockedPost, account int64, did kinds.Action) (query string, args pgx.StrictNamedArgs) {
	args = s.enterArgs(p)
	args["account"], args["kinds"] = account, kinds.By(did)
	return enterSelect + `
		JOIN timelines t ON t.kind = ANY(@kinds) AND t.their_id = @account AND t.term = ''` + enterWrite, args
}

// enterNamedTx does what entering does, for timelines by id.
func (s *core) enterNamedTx(ctx context.Context, tx pgx.Tx, p lockedPost, timelines []int64) ([]int64, error) {
	const query = enterSelect + `
		JOIN unnest(@timelines::bigint[]) AS t (id) ON true` + enterWrite
	args := s.enterArgs(p)
	args["timelines"] = timelines
	rows, err := tx.Query(ctx, query, args)
	return collectIDs(rows, err, "timelines entered")
}

// enterSelect and enterWrite stand around a join of the timelines t to enter.
//
// Entering an old post lifts nothing: the stamp is the post's present fresh_at. The same
// is true of a new post, which has no stamp yet. A row that comes back may lack a bump
// that a block has still to bring.
const (
	enterSelect = `
		INSERT INTO timeline_entries AS e (timeline_id, post_id, entered_at, fresh_at, created_at)
		SELECT t.id, p.id, enters.at, greatest(p.fresh_at, enters.at), created.at
		FROM posts p
		CROSS JOIN LATERAL (SELECT (extract(epoch FROM p.created_at) * 1000000)::bigint AS at) created
		CROSS JOIN LATERAL (SELECT CASE WHEN @max_age::bigint > 0 AND @stamp > created.at + @max_age
			THEN p.fresh_at ELSE greatest(@stamp, p.fresh_at) END AS at) enters`
	enterWrite = `
		WHERE p.id = @post
		ORDER BY t.id
		ON CONFLICT (timeline_id, post_id) DO UPDATE
		SET withdrawn = false,
			fresh_at = greatest(e.entered_at, (SELECT p.fresh_at FROM posts p WHERE p.id = e.post_id))
		WHERE e.withdrawn
		RETURNING timeline_id`
)

func (s *core) enterArgs(p lockedPost) pgx.StrictNamedArgs {
	return pgx.StrictNamedArgs{
		"post": p.ID, "stamp": p.Stamp, "max_age": int64(s.opts.LocalBumpMaxAge / time.Microsecond),
	}
}

// withdrawTx takes the post out of the account's filter timelines that have no reason to
// hold it any more, and returns them. It reads the reasons from the stored rows, under
// the post's lock, so it does not matter which reason went.
func withdrawTx(ctx context.Context, tx pgx.Tx, post, account int64) ([]int64, error) {
	rows, err := tx.Query(ctx, withdrawal("").String(), pgx.StrictNamedArgs{"post": post, "account": account})
	left, err := collectIDs(rows, err, "timelines left")
	if err != nil {
		return nil, err
	}
	slices.Sort(left)
	return left, nil
}

// withdrawal is the statement of withdrawTx, for @post and @account. If it is a part of one that takes an action back, that
// action is no reason any more; gone is empty if not.
func withdrawal(gone kinds.Action) notices.Statement {
	reason := func(did kinds.Action, exists string) string {
		if did == gone {
			return `false AS ` + string(did)
		}
		return `EXISTS (` + exists + `) AS ` + string(did)
	}
	return notices.Statement{With: `reasons AS (
			SELECT ` + reason(kinds.Liked, `SELECT FROM likes WHERE post_id = @post AND account_id = @account`) + `,
				` + reason(kinds.Commented, `SELECT FROM comments
					WHERE post_id = @post AND author_id = @account AND deleted_at IS NULL`) + `,
				` + reason(kinds.Saved, `SELECT FROM faves WHERE post_id = @post AND account_id = @account`) + `,
				` + reason(kinds.Wrote, `SELECT FROM posts WHERE id = @post AND author_id = @account`) + `
		), pointless AS (
			SELECT t.id FROM timelines t, reasons r
			WHERE t.kind IN ` + kinds.SQL(kinds.Spec.IsByAction) + ` AND t.their_id = @account AND t.term = '' AND NOT ` + kinds.HoldsByAction() + `
		), ` + standingPointless, Do: withdrawStanding}
}

// standingPointless and withdrawStanding take @post out of the timelines of pointless, an earlier query of
// the same WITH. Its row in each is looked up by key, however many timelines hold the
// post.
const (
	standingPointless = `standing AS MATERIALIZED (
			SELECT e.at FROM pointless CROSS JOIN LATERAL (
				SELECT e.ctid AS at, e.withdrawn FROM timeline_entries e WHERE e.post_id = @post AND e.timeline_id = pointless.id LIMIT 1) e
			WHERE NOT e.withdrawn
		)`
	withdrawStanding = `
		UPDATE timeline_entries e SET withdrawn = true
		FROM standing WHERE e.ctid = standing.at
		RETURNING e.timeline_id`
)

// union returns the ids of both lists, sorted, each once.
func union(a, b []int64) []int64 {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}
