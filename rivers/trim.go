package rivers

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// A river that is read every day grows at its top and is never rebuilt. A river that is
// kept to a depth and has grown to twice that is cut back: the floor rises to the entry at
// the depth, and entries below it are removed. Older entries then come from the primary
// store, as they do for everybody who reads that far.
//
// Nothing is lost by it:
//
//   - Readers read the floor and the entries in one statement, and nothing below the floor.
//     They need to see only that the floor rose, and entries are removed in the same
//     transaction.
//   - Writers never look at the floor. A writer that writes a removed entry again writes
//     the present state. Rows are removed only if they are as old as removed tombstones are
//     (keep). A writer with an older state of the post read it before that row was written,
//     and is long past its deadline.
//   - An extension relies on all entries of its chunk when it lowers the floor: those it
//     wrote, and those that stood there at the same version already. A trim in between may
//     have removed the latter, or the stretch between the chunk and the floor. That is why
//     trims are counted: the extension reads the count before anything else, and lowers the
//     floor only if it is still the same.

// trim cuts back the rivers that have grown to twice their depth, and returns how many
// entries it removed.
func (s *Store) trim(ctx context.Context) (int64, error) {
	// Tombstones count here, so that the index alone answers. cut looks again.
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

// cut raises a river's floor to its depth and removes a batch of the entries below that are
// old enough. It leaves a river alone that is not as deep.
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
		// The row is locked first. An extension that lowers the floor is seen by the statements
		// below, or it waits and finds that the river was trimmed.
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
