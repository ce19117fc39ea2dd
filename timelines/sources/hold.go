package sources

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
	"riverrun/timelines/sources/formats"
	"riverrun/timelines/sources/photos"
)

// HoldTime is the longest time that news waits for its pictures.
const HoldTime = 3 * time.Minute

// Hold reports whether the next lines of a load must wait, because there is news among them whose
// pictures are not there yet (Settings.WaitPictures). The pictures are fetched from now on. When they
// are there, the source is announced as Ready. Only items that come to the top of pages count as
// news: nobody sees the others arrive.
func (w *Work) Hold(ctx context.Context, l *Load, lines []*formats.Line) (bool, error) {
	if !l.Settings.WaitPictures || l.Dry {
		return false, nil
	}
	held, err := inTx(ctx, w.conn, func(tx pgx.Tx) (bool, error) {
		b, err := w.batch(ctx, tx, l)
		if err != nil {
			return false, err
		}
		if lines, err = b.find(ctx, lines); err != nil {
			return false, err
		}
		if err := b.findRenamed(ctx, lines); err != nil {
			return false, err
		}
		return b.hold(ctx)
	})
	if err != nil {
		return false, fmt.Errorf("hold a batch of load %d: %w", l.ID, err)
	}
	return held, nil
}

// hold stores the pictures of news. From now on its items are present, but have no posts.
func (b *batch) hold(ctx context.Context) (bool, error) {
	most := b.store.posts.Files.MostOfPost()
	var news []photos.Item
	var keys []string
	for i, it := range b.fresh {
		if wanted := photos.Wanted(it.Item, most); len(wanted) > 0 && b.post(it, i).Lifts {
			news, keys = append(news, photos.Item{Line: b.lines[it.ID], Pictures: wanted}), append(keys, it.ID)
		}
	}
	if len(news) == 0 {
		return false, nil
	}
	// No item has this hash, so the item counts as changed when it is applied.
	const present = `
		WITH made AS (
			INSERT INTO source_items (source_id, external_id, hash)
			SELECT @source, id, decode(repeat('00', 16), 'hex') FROM unnest(@ids::text[]) AS n (id)
			ON CONFLICT (source_id, external_id) DO NOTHING
			RETURNING external_id, id
		)
		SELECT * FROM made
		UNION ALL
		SELECT external_id, id FROM source_items WHERE source_id = @source AND external_id = ANY(@ids)`
	rows, err := b.tx.Query(ctx, present, pgx.StrictNamedArgs{"source": b.source.ID, "ids": keys})
	if err != nil {
		return false, fmt.Errorf("note news: %w", err)
	}
	ids := map[string]int64{}
	var key string
	var id int64
	_, err = pgx.ForEachRow(rows, []any{&key, &id}, func() error {
		ids[key] = id
		return nil
	})
	if err != nil {
		return false, fmt.Errorf("note news: %w", err)
	}
	for i := range news {
		news[i].ID = ids[keys[i]]
	}
	held, err := photos.Await(ctx, b.tx, b.source.ID, b.load.ID, news, HoldTime)
	if err != nil || !held {
		return false, err
	}
	// A load that waits must not look as if it stood still.
	if _, err := b.tx.Exec(ctx, `UPDATE loads SET updated_at = now() WHERE id = @load`, pgx.StrictNamedArgs{"load": b.load.ID}); err != nil {
		return false, fmt.Errorf("hold a load: %w", err)
	}
	return true, nil
}

// attachMade attaches pictures that were ready before the posts of their items existed.
func (b *batch) attachMade(ctx context.Context, x *timelines.ItemsTx, items []int64) error {
	if len(items) == 0 {
		return nil
	}
	ready, err := photos.Ready(ctx, b.tx, b.load.ID, items)
	if err != nil {
		return err
	}
	list := make([]timelines.ItemFile, len(ready))
	for i, r := range ready {
		list[i] = r.File
	}
	files, err := x.Attach(ctx, list)
	if err != nil {
		return err
	}
	return photos.Attached(ctx, b.tx, b.load.ID, ready, files)
}
