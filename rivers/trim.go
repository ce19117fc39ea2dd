package rivers

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// A river that is read every day grows at its top and is never rebuilt. One that
// is kept to a depth and has grown to twice that is cut back to it: the floor
// rises to the entry at the depth, and what stands below is removed. What is
// older then comes from the primary store, as it does for everybody who reads so
// far.
//
// Why nothing is lost by it:
//
//   - Readers read the floor and the entries in one statement, and nothing below
//     the floor. So they need not see both changes at once, only the floor's first;
//     it is the same transaction.
//   - Writers never look at the floor. One that writes a removed entry again
//     writes the present state: rows are removed only if they are as old as
//     tombstones that are (keep), so whoever still has an older state of the post
//     read it before that row was written, and is long past its deadline.
//   - An extension counts on all entries of its chunk standing when it lowers the
//     floor: those it wrote, and those that stood there at the same version and
//     were left as they were. A trim in between may have removed the latter, or
//     the stretch between the chunk and the floor. Hence the count of trims: it is
//     drawn before the extension reads anything and must be the same when the floor
//     falls.

// trim cuts the rivers back that have grown to twice their depth, and returns how
// many entries were removed.
func (s *Store) trim(ctx context.Context) (int64, error) {
	// Tombstones count here, since then the index answers alone; cut looks again.
	const query = `
		SELECT r.id FROM rivers r
		WHERE r.state = 'live' AND r.kind = ANY(@kinds) AND @most::bigint < (
			SELECT count(*) FROM (
				SELECT FROM entries e WHERE e.river_id = r.id AND e.fresh_at >= r.floor LIMIT @most::bigint + 1) stands)
		ORDER BY r.id`
	args := pgx.StrictNamedArgs{"kinds": followBasedKinds(), "most": 2 * s.opts.Depth}
	rivers, err := collect(ctx, s, "look for deep rivers", query, args, pgx.RowTo[int64])
	if err != nil {
		return 0, err
	}
	var total int64
	for _, id := range rivers {
		for {
			removed, err := s.cut(ctx, id)
			total += removed
			if err != nil {
				return total, err
			}
			if removed < expireBatch {
				break
			}
		}
	}
	return total, nil
}

// cut raises a river's floor to its depth and removes a batch of the entries
// below that are old enough. A river not as deep is left as it is.
func (s *Store) cut(ctx context.Context, river int64) (removed int64, err error) {
	const raise = `
		UPDATE rivers r SET trims = trims + 1, floor = d.place, finished = false
		FROM (
			SELECT count(*) AS kept, min(fresh_at) AS place FROM (
				SELECT e.fresh_at FROM entries e JOIN rivers r ON r.id = e.river_id
				WHERE e.river_id = @id AND NOT e.deleted AND e.fresh_at >= r.floor
				ORDER BY e.fresh_at DESC, e.post_id DESC LIMIT @depth::bigint) newest) d
		WHERE r.id = @id AND r.state = 'live' AND d.kept = @depth::bigint`
	const remove = `
		DELETE FROM entries WHERE (river_id, post_id) IN (
			SELECT river_id, post_id FROM entries
			WHERE river_id = @id AND fresh_at < (SELECT floor FROM rivers WHERE id = @id)
				AND updated_at < clock_timestamp() - @keep::interval
			ORDER BY river_id, post_id LIMIT @batch FOR UPDATE)`
	err = pgx.BeginFunc(ctx, s.db, func(tx pgx.Tx) error {
		// Locked first: an extension that lowers the floor is seen by what follows, or
		// waits and finds that the river was trimmed.
		if _, err := tx.Exec(ctx, `SELECT FROM rivers WHERE id = @id FOR UPDATE`, pgx.StrictNamedArgs{"id": river}); err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, raise, pgx.StrictNamedArgs{"id": river, "depth": s.opts.Depth})
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		tag, err = tx.Exec(ctx, remove, pgx.StrictNamedArgs{"id": river, "keep": keep, "batch": expireBatch})
		removed = tag.RowsAffected()
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("trim river: %w", err)
	}
	return removed, nil
}
