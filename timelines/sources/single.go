package sources

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
	"riverrun/timelines/sources/formats"
)

// PushItems applies items that a program sends without a load of its own: news, one or a few items at
// a time. The items make a load that ends at once and removes nothing, whatever the source's mode. A
// load that its program is still sending stays as it is. PushItems ignores the number of b. It
// returns the InvalidErrors of Push.
func (w *Work) PushItems(ctx context.Context, b Batch) ([]Result, timelines.Change, error) {
	if len(b.Lines) > MostItems {
		return nil, timelines.Change{}, &timelines.InvalidError{Field: "batch", Code: "batch_large", Most: MostItems}
	}
	b.No = 1
	p := &pushed{batch: b, results: make([]Result, len(b.Lines)), single: true}
	done, err := inTx(ctx, w.conn, func(tx pgx.Tx) (a applied, err error) {
		l, err := w.beginSingle(ctx, tx, len(b.Lines))
		if errors.Is(err, ErrNotFound) {
			return a, &timelines.InvalidError{Field: "batch", Code: "source_paused"}
		}
		if err != nil {
			return a, err
		}
		batch, err := w.batch(ctx, tx, &l)
		if err != nil {
			return a, err
		}
		batch.pushed = p
		if a, err = batch.apply(ctx, b.Lines); err != nil {
			return a, err
		}
		if err := batch.findPosts(ctx); err != nil {
			return a, err
		}
		if err := batch.areThere(ctx); err != nil {
			return a, err
		}
		a.load, err = batch.moveTo(ctx, Done)
		return a, err
	})
	if errors.Is(err, errItemsMany) {
		err = &timelines.InvalidError{Field: "batch", Code: string(formats.ItemsMany), Most: w.store.limits.Items}
	}
	if err != nil {
		return nil, timelines.Change{}, fmt.Errorf("push items: %w", err)
	}
	return p.results, done.change, nil
}

// singlesKept is how many loads of single items are kept of a source.
const singlesKept = 5

// beginSingle begins a load of single items, and removes earlier ones that wait for no pictures. It takes
// the number of the source's items from the load that got on last, unless that is near to the limit, so
// that a large source is not counted at each call. If another load goes on at the same time, the next
// list counts the items that this load does not know of.
func (w *Work) beginSingle(ctx context.Context, tx pgx.Tx, lines int) (Load, error) {
	const query = `
		WITH numbered AS (
			UPDATE sources SET loads = loads + 1 WHERE id = @source AND status = 'active' RETURNING id, loads, version, settings
		), forgotten AS (
			DELETE FROM loads l WHERE source_id = @source AND single AND EXISTS (SELECT FROM numbered)
				AND no NOT IN (SELECT no FROM loads WHERE source_id = @source AND single ORDER BY no DESC LIMIT @kept)
				AND NOT EXISTS (SELECT FROM item_pictures p WHERE p.load_id = l.id)
		), last AS MATERIALIZED (
			SELECT items - CASE WHEN state = 'done' THEN gone - kept ELSE 0 END AS items FROM loads
			WHERE source_id = @source AND NOT dry AND (file IS NULL OR canonical IS NOT NULL)
			ORDER BY updated_at DESC LIMIT 1
		)
		INSERT INTO loads (source_id, no, version, way, state, single, lines, settings, items)
		SELECT id, loads, version, 'push', 'applying', true, @lines, settings, CASE
			WHEN (SELECT items FROM last) + @lines < @near THEN (SELECT items FROM last)
			ELSE (SELECT count(*) FROM source_items i WHERE i.source_id = n.id) END
		FROM numbered n
		RETURNING ` + loadColumns
	return scanLoad(tx.QueryRow(ctx, query, pgx.StrictNamedArgs{
		"source": w.source, "lines": lines, "kept": singlesKept - 1, "near": w.store.limits.Items / 10 * 9,
	}))
}

// areThere takes the items out of what earlier loads are about to remove, or ask whether to remove:
// the program has just said that they are there.
func (b *batch) areThere(ctx context.Context) error {
	const query = `
		WITH there AS (
			DELETE FROM load_gone g USING loads l
			WHERE l.source_id = @source AND l.state IN ('held', 'sweeping') AND g.load_id = l.id AND g.item_id = ANY(@met)
			RETURNING g.load_id
		)
		UPDATE loads l SET gone = gone - n.items
		FROM (SELECT load_id, count(*) AS items FROM there GROUP BY load_id) n WHERE l.id = n.load_id`
	_, err := b.tx.Exec(ctx, query, pgx.StrictNamedArgs{"source": b.source.ID, "met": b.met})
	if err != nil {
		return fmt.Errorf("keep items that came again: %w", err)
	}
	return nil
}

// findPosts looks up the codes of the items' posts.
func (b *batch) findPosts(ctx context.Context) error {
	ids := make([]string, len(b.pushed.results))
	for i, r := range b.pushed.results {
		ids[i] = r.ID
	}
	rows, err := b.tx.Query(ctx, `
		SELECT i.external_id, p.code FROM source_items i JOIN posts p ON p.id = i.post_id
		WHERE i.source_id = @source AND i.external_id = ANY(@ids) AND p.deleted_at IS NULL`,
		pgx.StrictNamedArgs{"source": b.source.ID, "ids": ids})
	if err != nil {
		return fmt.Errorf("find the posts of items: %w", err)
	}
	posts := map[string]string{}
	var id, code string
	if _, err := pgx.ForEachRow(rows, []any{&id, &code}, func() error { posts[id] = code; return nil }); err != nil {
		return fmt.Errorf("find the posts of items: %w", err)
	}
	for i := range b.pushed.results {
		b.pushed.results[i].Post = posts[ids[i]]
	}
	return nil
}
