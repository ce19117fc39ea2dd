package sources

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
)

// sweepItems is how many items one transaction of a sweep removes.
const sweepItems = 200

// Finish ends a load when all its lines are applied (F22, F23). If the file is a full list, Finish
// finds the absent items. If more are absent than may go, the load is held until somebody confirms
// it; otherwise the sweep is next. A dry load ends as a preview.
//
// Finish does not look for absent items if the id of an item could not be read: that item may be one
// of them (F20).
func (w *Work) Finish(ctx context.Context, l *Load) error {
	load, err := inTx(ctx, w.conn, func(tx pgx.Tx) (Load, error) {
		b, err := w.batch(ctx, tx, l)
		if err != nil {
			return Load{}, err
		}
		if b.load.State != Finishing {
			return Load{}, ErrStale
		}
		state := Done
		if b.source.Mode == Sync && b.load.Unreadable == 0 {
			if state, err = b.findGone(ctx); err != nil {
				return Load{}, err
			}
		}
		if b.load.Dry {
			state = Previewed
		}
		return b.moveTo(ctx, state)
	})
	if err != nil {
		return fmt.Errorf("finish load %d: %w", l.ID, err)
	}
	*l = load
	return nil
}

// findGone stores which items the load did not meet, and returns the next state. For a dry load it
// only counts them.
func (b *batch) findGone(ctx context.Context) (State, error) {
	const find = `
		WITH seen AS MATERIALIZED (
			SELECT unnest(item_ids) AS id FROM load_seen WHERE load_id = @load
		), gone AS MATERIALIZED (
			SELECT i.id FROM source_items i
			WHERE i.source_id = @source AND NOT i.kept AND NOT EXISTS (SELECT FROM seen WHERE seen.id = i.id)
		), noted AS (
			INSERT INTO load_gone (load_id, item_id) SELECT @load, id FROM gone WHERE NOT @dry
		), counted AS (
			UPDATE loads SET gone = (SELECT count(*) FROM gone) WHERE id = @load
		)
		SELECT (SELECT count(*) FROM gone), (SELECT count(*) FROM gone JOIN source_items i USING (id) WHERE i.post_id IS NOT NULL),
			(SELECT count(*) FROM source_items WHERE source_id = @source AND NOT kept AND post_id IS NOT NULL)`
	var gone, posts, there int64
	err := b.tx.QueryRow(ctx, find, pgx.StrictNamedArgs{"load": b.load.ID, "source": b.source.ID, "dry": b.load.Dry}).Scan(&gone, &posts, &there)
	if err != nil {
		return "", fmt.Errorf("find what is gone: %w", err)
	}
	most := int64(b.load.Settings.MostGone)
	if most == 0 {
		most = DefaultMostGone
	}
	there -= b.load.Added // the items that were there before
	switch {
	case gone == 0 || b.load.Dry:
		return Done, nil
	case posts*100 > there*most && (posts > fewGone || posts > 1 && posts == there):
		return Held, nil
	}
	return Sweeping, nil
}

// moveTo sets the state of the load. When the load is done, the source has succeeded, unless the load
// is one of single items. If the load was also the latest and had no problems, its file need not be
// loaded again (F11).
func (b *batch) moveTo(ctx context.Context, state State) (Load, error) {
	const query = `
		WITH succeeded AS (
			UPDATE sources s SET succeeded_at = CASE WHEN l.single THEN s.succeeded_at ELSE now() END, failures = 0, problem = '',
				content = CASE WHEN l.no = s.loads THEN CASE WHEN l.version = s.version AND l.errors + l.unreadable = 0 AND NOT l.dry THEN l.file END
					ELSE s.content END
			FROM loads l WHERE s.id = @source AND l.id = @load AND @state::text = 'done'
		)
		UPDATE loads SET state = @state, updated_at = now(), finished_at = CASE WHEN @state IN ('done', 'previewed') THEN now() END
		WHERE id = @load RETURNING ` + loadColumns
	return scanLoad(b.tx.QueryRow(ctx, query, pgx.StrictNamedArgs{"load": b.load.ID, "source": b.source.ID, "state": string(state)}))
}

// Sweep removes some of the absent items, and their posts as the settings say. The load is done when
// none is left. The caller passes the Change on to the tiers.
func (w *Work) Sweep(ctx context.Context, l *Load) (timelines.Change, error) {
	type swept struct {
		change timelines.Change
		load   Load
	}
	done, err := inTx(ctx, w.conn, func(tx pgx.Tx) (s swept, err error) {
		b, err := w.batch(ctx, tx, l)
		if err != nil {
			return s, err
		}
		if b.load.State != Sweeping {
			return s, ErrStale
		}
		s.change, s.load, err = b.sweep(ctx)
		return s, err
	})
	if err != nil {
		return timelines.Change{}, fmt.Errorf("sweep load %d: %w", l.ID, err)
	}
	*l = done.load
	return done.change, nil
}

func (b *batch) sweep(ctx context.Context) (timelines.Change, Load, error) {
	var none timelines.Change
	// The query asks for source_id again: nothing of another source may go, whatever load_gone says. A blocked post stays with
	// its item, so that the item that comes back is blocked still.
	rows, err := b.tx.Query(ctx, `
		SELECT i.id, CASE WHEN p.status <> 2 THEN p.id ELSE 0 END
		FROM load_gone g JOIN source_items i ON i.id = g.item_id LEFT JOIN posts p ON p.id = i.post_id
		WHERE g.load_id = @load AND i.source_id = @source ORDER BY g.item_id LIMIT @limit`,
		pgx.StrictNamedArgs{"load": b.load.ID, "source": b.source.ID, "limit": sweepItems})
	if err != nil {
		return none, Load{}, fmt.Errorf("read what is gone: %w", err)
	}
	var items, posts []int64
	var item, post int64
	_, err = pgx.ForEachRow(rows, []any{&item, &post}, func() error {
		items = append(items, item)
		if post != 0 {
			posts = append(posts, post)
		}
		return nil
	})
	if err != nil {
		return none, Load{}, fmt.Errorf("read what is gone: %w", err)
	}
	if len(items) == 0 {
		load, err := b.moveTo(ctx, Done)
		return none, load, err
	}
	var change timelines.Change
	var removed []int64
	if b.load.Settings.Gone != Keep && len(posts) > 0 {
		x := b.store.posts.Items.Resume(b.tx, b.source.AddedBy)
		if removed, err = x.Delete(ctx, posts, b.load.Settings.Gone != KeepDiscussed); err != nil {
			return none, Load{}, err
		}
		if change, err = x.End(ctx); err != nil {
			return none, Load{}, err
		}
	}
	const query = `
		WITH alive AS MATERIALIZED (
			SELECT i.id FROM source_items i JOIN posts p ON p.id = i.post_id WHERE i.id = ANY(@items) AND p.deleted_at IS NULL
		), stays AS (
			UPDATE source_items i SET kept = true FROM alive WHERE i.id = alive.id
		), swept AS (
			DELETE FROM load_gone WHERE load_id = @load AND item_id = ANY(@items)
		), goes AS (
			DELETE FROM source_items i WHERE i.id = ANY(@items) AND NOT EXISTS (SELECT FROM alive WHERE alive.id = i.id)
		)
		UPDATE loads SET removed = removed + @removed, kept = kept + (SELECT count(*) FROM alive), updated_at = now()
		WHERE id = @load RETURNING ` + loadColumns
	load, err := scanLoad(b.tx.QueryRow(ctx, query, pgx.StrictNamedArgs{
		"load": b.load.ID, "items": items, "removed": len(removed),
	}))
	return change, load, err
}

// Confirm lets a held load remove the absent items, however many they are. It returns ErrNotFound if
// there is no such load.
func (s *Store) Confirm(ctx context.Context, source, no int64) error {
	const query = `UPDATE loads SET state = 'sweeping', updated_at = now() WHERE source_id = @source AND no = @no AND state = 'held'`
	_, err := inTx(ctx, s.pool, func(tx pgx.Tx) (struct{}, error) {
		tag, err := tx.Exec(ctx, query, pgx.StrictNamedArgs{"source": source, "no": no})
		if err != nil {
			return struct{}{}, fmt.Errorf("confirm a load: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return struct{}{}, ErrNotFound
		}
		return struct{}{}, s.posts.Items.Ready(ctx, tx, source)
	})
	return err
}

// ApplyPreview makes a load of the file of a preview, and returns its number. The load works with the
// source as it is then, even if that has changed since the preview. It returns ErrNotFound if there
// is no such preview.
func (s *Store) ApplyPreview(ctx context.Context, source, no int64) (int64, error) {
	const query = `
		WITH previewed AS (
			SELECT * FROM loads WHERE source_id = @source AND no = @no AND state = 'previewed'
		), numbered AS (
			UPDATE sources s SET loads = loads + 1 FROM previewed p WHERE s.id = p.source_id AND s.status <> 'removing'
			RETURNING s.loads, s.version, s.settings
		)
		INSERT INTO loads (source_id, no, version, way, state, settings, file, bytes, format, media_type, charset, base)
		SELECT p.source_id, n.loads, n.version, p.way, 'waiting', n.settings, p.file, p.bytes, p.format, p.media_type, p.charset, p.base
		FROM previewed p, numbered n
		RETURNING no`
	return inTx(ctx, s.pool, func(tx pgx.Tx) (applied int64, err error) {
		err = tx.QueryRow(ctx, query, pgx.StrictNamedArgs{"source": source, "no": no}).Scan(&applied)
		if errors.Is(err, pgx.ErrNoRows) {
			return 0, ErrNotFound
		}
		if err != nil {
			return 0, fmt.Errorf("apply a preview: %w", err)
		}
		return applied, s.posts.Items.Ready(ctx, tx, source)
	})
}
