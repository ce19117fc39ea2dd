package photos

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
	"riverrun/timelines/blobs"
	"riverrun/timelines/files"
)

// keepsFor is how long the blobs of a picture surely exist after no file refers to them any more.
const keepsFor = files.Grace - time.Hour

// stored is a picture that was made before the post of its item exists.
type stored struct {
	Copy  int64      `json:"copy,omitempty"`
	Sum   blobs.Sum  `json:"sum"`
	Bytes int64      `json:"bytes"`
	Made  files.Made `json:"made"`
}

// Await stores the pictures of items that have no posts yet, unless they are stored already. It
// reports whether the load must wait for one of them: a picture that waits, has no problem so far, and
// was stored not longer ago than most.
func Await(ctx context.Context, tx pgx.Tx, source, load int64, items []Item, most time.Duration) (waits bool, err error) {
	if err := note(ctx, tx, source, load, items, `NOTHING`); err != nil {
		return false, err
	}
	ids := make([]int64, len(items))
	for i, it := range items {
		ids[i] = it.ID
	}
	const query = `
		SELECT EXISTS (SELECT FROM item_pictures WHERE item_id = ANY(@items) AND state = 'waiting' AND problem = '' AND created_at > now() - @most::interval)`
	if err := tx.QueryRow(ctx, query, pgx.StrictNamedArgs{"items": ids, "most": most}).Scan(&waits); err != nil {
		return false, fmt.Errorf("look for pictures that wait: %w", err)
	}
	return waits, nil
}

// Made is a picture that waits for the post of its item.
type Made struct {
	ID   int64
	File timelines.ItemFile
}

// Ready returns the pictures of items that were made before their posts, in their order. Pictures
// whose blobs may be gone are fetched again, for a load.
func Ready(ctx context.Context, tx pgx.Tx, load int64, items []int64) ([]Made, error) {
	const again = `
		UPDATE item_pictures SET state = 'waiting', next_at = now(), made = NULL, load_id = @load
		WHERE item_id = ANY(@items) AND state = 'made' AND tried_at < now() - @keeps::interval`
	if _, err := tx.Exec(ctx, again, pgx.StrictNamedArgs{"load": load, "items": items, "keeps": keepsFor}); err != nil {
		return nil, fmt.Errorf("have pictures fetched again: %w", err)
	}
	const query = `
		SELECT g.id, i.post_id, g.no, g.url, g.text, g.made
		FROM item_pictures g JOIN source_items i ON i.id = g.item_id
		WHERE g.item_id = ANY(@items) AND g.state = 'made' AND i.post_id IS NOT NULL ORDER BY g.item_id, g.no`
	rows, err := tx.Query(ctx, query, pgx.StrictNamedArgs{"items": items})
	if err != nil {
		return nil, fmt.Errorf("read pictures that are made: %w", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (m Made, err error) {
		var address string
		var made []byte
		var s stored
		if err := row.Scan(&m.ID, &m.File.PostID, &m.File.Position, &address, &m.File.Alt, &made); err != nil {
			return m, err
		}
		m.File.Name = nameOf(address)
		err = json.Unmarshal(made, &s)
		m.File.Copy, m.File.Sum, m.File.Bytes, m.File.Made = s.Copy, s.Sum, s.Bytes, s.Made
		return m, err
	})
	if err != nil {
		return nil, fmt.Errorf("read pictures that are made: %w", err)
	}
	return list, nil
}

// Attached records the files that these pictures became, 0 for a picture that cannot be attached, and
// counts them for a load, which is locked.
func Attached(ctx context.Context, tx pgx.Tx, load int64, list []Made, of []int64) error {
	var ids []int64
	var filed []*int64
	var states []string
	there := 0
	for i, m := range list {
		s, file := "there", &of[i]
		switch {
		case of[i] != 0:
			there++
		case m.File.Copy != 0:
			s, file = "waiting", nil // the picture to be copied is gone, so this one is fetched
		default:
			s, file = "left", nil
		}
		ids, filed, states = append(ids, m.ID), append(filed, file), append(states, s)
	}
	if len(ids) == 0 {
		return nil
	}
	const query = `
		WITH counted AS (
			UPDATE loads SET pictures = pictures + @there WHERE id = @load
		)
		UPDATE item_pictures g SET state = n.state, file_id = n.file, made = NULL, next_at = now(),
			load_id = CASE n.state WHEN 'waiting' THEN @load::bigint END
		FROM unnest(@ids::bigint[], @states::text[], @files::bigint[]) AS n (id, state, file) WHERE g.id = n.id`
	_, err := tx.Exec(ctx, query, pgx.StrictNamedArgs{"load": load, "ids": ids, "states": states, "files": filed, "there": there})
	if err != nil {
		return fmt.Errorf("record pictures: %w", err)
	}
	return nil
}
