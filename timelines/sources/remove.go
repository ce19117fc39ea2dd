package sources

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
)

// Remove removes a part of a source that is being removed (F4, F32): first its items with their
// posts, then its loads one by one, and the source itself last. It reports whether the source is
// gone. It returns ErrStale if the source is not being removed. The caller passes the Change on to
// the tiers.
func (w *Work) Remove(ctx context.Context) (c timelines.Change, gone bool, err error) {
	type removed struct {
		change timelines.Change
		gone   bool
	}
	done, err := inTx(ctx, w.conn, func(tx pgx.Tx) (r removed, err error) {
		source, err := scanSource(tx.QueryRow(ctx, `SELECT `+sourceColumns+` FROM sources WHERE id = @source FOR NO KEY UPDATE`,
			pgx.StrictNamedArgs{"source": w.source}))
		if errors.Is(err, ErrNotFound) {
			return removed{gone: true}, nil
		}
		if err != nil {
			return r, err
		}
		if source.Status != Removing || source.Code != w.code {
			return r, ErrStale
		}
		var left bool
		if r.change, left, err = w.removeItems(ctx, tx, source); err != nil || left {
			return r, err
		}
		if left, err = w.removeLoad(ctx, tx); err != nil || left {
			return r, err
		}
		if _, err := tx.Exec(ctx, `DELETE FROM sources WHERE id = @source`, pgx.StrictNamedArgs{"source": w.source}); err != nil {
			return r, fmt.Errorf("delete the source: %w", err)
		}
		r.gone = true
		return r, nil
	})
	if err != nil {
		return timelines.Change{}, false, fmt.Errorf("remove source %d: %w", w.source, err)
	}
	return done.change, done.gone, nil
}

// removeItems removes some items, and deletes or keeps their posts. It reports whether there were
// any.
func (w *Work) removeItems(ctx context.Context, tx pgx.Tx, source Source) (c timelines.Change, there bool, err error) {
	rows, err := tx.Query(ctx, `
		DELETE FROM source_items WHERE id IN (SELECT id FROM source_items WHERE source_id = @source ORDER BY source_id, external_id LIMIT @limit)
		RETURNING coalesce(post_id, 0)`, pgx.StrictNamedArgs{"source": w.source, "limit": sweepItems})
	if err != nil {
		return c, false, fmt.Errorf("remove items: %w", err)
	}
	posts, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return c, false, fmt.Errorf("remove items: %w", err)
	}
	if len(posts) == 0 || source.Settings.Gone == Keep {
		return c, len(posts) > 0, nil
	}
	x := w.store.posts.Items.Resume(tx, source.AddedBy)
	if _, err := x.Delete(ctx, posts, source.Settings.Gone != KeepDiscussed); err != nil {
		return c, false, err
	}
	c, err = x.End(ctx)
	return c, true, err
}

// removeLoad removes the oldest load with everything that belongs to it, the row itself last.
func (w *Work) removeLoad(ctx context.Context, tx pgx.Tx) (there bool, err error) {
	tag, err := tx.Exec(ctx, `DELETE FROM loads WHERE id = (SELECT id FROM loads WHERE source_id = @source ORDER BY no LIMIT 1)`,
		pgx.StrictNamedArgs{"source": w.source})
	if err != nil {
		return false, fmt.Errorf("remove a load: %w", err)
	}
	return tag.RowsAffected() > 0, nil
}

// kept is how many loads of a source are kept, besides the last one that succeeded (F32). Loads of
// single items are kept apart from them (singlesKept).
const kept = 20

// CleanUp removes loads that are neither among the newest ones nor the last one that succeeded. It
// removes at most limit loads, and returns their number.
func (s *Store) CleanUp(ctx context.Context, limit int) (int64, error) {
	const query = `
		DELETE FROM loads WHERE id IN (
			SELECT l.id FROM sources s
			CROSS JOIN LATERAL (SELECT max(no) AS no FROM loads d WHERE d.source_id = s.id AND d.state = 'done' AND NOT d.single) done
			JOIN loads l ON l.source_id = s.id AND l.no <= s.loads - @kept AND l.no IS DISTINCT FROM done.no AND NOT l.single
				AND l.state IN ('done', 'failed', 'cancelled', 'previewed', 'held')
			WHERE l.no < (SELECT min(no) FROM (
				SELECT no FROM loads k WHERE k.source_id = s.id AND NOT k.single ORDER BY no DESC LIMIT @kept) newest)
			LIMIT @limit)`
	tag, err := s.pool.Exec(ctx, query, pgx.StrictNamedArgs{"kept": kept, "limit": limit})
	if err != nil {
		return 0, fmt.Errorf("clean up loads: %w", err)
	}
	return tag.RowsAffected(), nil
}
