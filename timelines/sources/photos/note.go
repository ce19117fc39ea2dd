package photos

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/rules"
	"riverrun/timelines/sources/formats"
	"riverrun/timelines/sources/hosts"
)

// Item is an item with the pictures that it has now.
type Item struct {
	ID int64
	// Line is the item's line in the load.
	Line     int64
	Pictures []formats.Picture
}

// Wanted returns the first pictures of an item, as many as its post may have, each address once.
func Wanted(it *formats.Item, most int) []formats.Picture {
	var list []formats.Picture
	seen := map[string]bool{}
	for _, p := range it.Pictures {
		if len(list) < most && !seen[p.URL] && len(p.URL) <= rules.ItemURLLong.Most {
			list, seen[p.URL] = append(list, p), true
		}
	}
	return list
}

// Stored is a picture as it is stored.
type Stored struct {
	ID, File int64
	No       int
	URL      string
	Text     string
}

// Open is an item whose post nobody edited or deleted here, with its pictures.
type Open struct {
	Post     int64
	Pictures []Stored
}

// OpenOf returns the open ones of these items, by their ids. The posts must be locked.
func OpenOf(ctx context.Context, tx pgx.Tx, items []int64) (map[int64]Open, error) {
	// Each item is looked up by itself, as Apply does.
	const query = `
		SELECT i.id, p.id, coalesce(g.id, 0), coalesce(g.file_id, 0), coalesce(g.no, 0), coalesce(g.url, ''), coalesce(g.text, '')
		FROM unnest(@items::bigint[]) AS n (id)
		CROSS JOIN LATERAL (SELECT * FROM source_items i WHERE i.id = n.id LIMIT 1) i
		CROSS JOIN LATERAL (SELECT * FROM posts p WHERE p.id = i.post_id AND p.edited_at IS NULL AND p.deleted_at IS NULL LIMIT 1) p
		LEFT JOIN LATERAL (SELECT * FROM item_pictures g WHERE g.item_id = i.id LIMIT @most) g ON true`
	rows, err := tx.Query(ctx, query, pgx.StrictNamedArgs{"items": items, "most": 2 * rules.ItemPictureMany.Most})
	if err != nil {
		return nil, fmt.Errorf("read pictures of items: %w", err)
	}
	open := map[int64]Open{}
	var item, post int64
	var s Stored
	_, err = pgx.ForEachRow(rows, []any{&item, &post, &s.ID, &s.File, &s.No, &s.URL, &s.Text}, func() error {
		o := open[item]
		o.Post = post
		if s.ID != 0 {
			o.Pictures = append(o.Pictures, s)
		}
		open[item] = o
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read pictures of items: %w", err)
	}
	return open, nil
}

// Note stores pictures that items have now and did not have before, for a load of a source. They wait
// to be fetched from now on.
func Note(ctx context.Context, tx pgx.Tx, source, load int64, items []Item) error {
	return note(ctx, tx, source, load, items, `UPDATE SET state = 'waiting', next_at = now(), tries = 0, problem = '', made = NULL,
			load_id = EXCLUDED.load_id, line = EXCLUDED.line, no = EXCLUDED.no, text = EXCLUDED.text`)
}

func note(ctx context.Context, tx pgx.Tx, source, load int64, items []Item, again string) error {
	var ids, lines []int64
	var nos []int16
	var urls, texts, of []string
	for _, it := range items {
		for i, p := range it.Pictures {
			if p.URL == "" {
				continue // it is stored, and only keeps its place in the order
			}
			ids, lines, nos = append(ids, it.ID), append(lines, it.Line), append(nos, int16(i+1))
			urls, texts, of = append(urls, p.URL), append(texts, p.Text), append(of, hosts.Host(p.URL))
		}
	}
	if len(ids) == 0 {
		return nil
	}
	query := `
		INSERT INTO item_pictures (source_id, load_id, item_id, line, no, url, text, host)
		SELECT @source, @load, * FROM unnest(@items::bigint[], @lines::bigint[], @nos::smallint[], @urls::text[], @texts::text[], @hosts::text[])
		ON CONFLICT (item_id, url) DO ` + again
	_, err := tx.Exec(ctx, query, pgx.StrictNamedArgs{
		"source": source, "load": load, "items": ids, "lines": lines, "nos": nos, "urls": urls, "texts": texts, "hosts": of,
	})
	if err != nil {
		return fmt.Errorf("note pictures of items: %w", err)
	}
	return nil
}

// Move gives stored pictures new places in the order and new texts, and deletes those that are gone.
func Move(ctx context.Context, tx pgx.Tx, moved []Stored, gone []int64) error {
	var ids []int64
	var nos []int16
	var texts []string
	for _, s := range moved {
		ids, nos, texts = append(ids, s.ID), append(nos, int16(s.No)), append(texts, s.Text)
	}
	const query = `
		WITH gone AS (
			DELETE FROM item_pictures WHERE id = ANY(@gone)
		)
		UPDATE item_pictures g SET no = m.no, text = m.text
		FROM unnest(@ids::bigint[], @nos::smallint[], @texts::text[]) AS m (id, no, text) WHERE g.id = m.id`
	if _, err := tx.Exec(ctx, query, pgx.StrictNamedArgs{"gone": gone, "ids": ids, "nos": nos, "texts": texts}); err != nil {
		return fmt.Errorf("move pictures of items: %w", err)
	}
	return nil
}

// Waiting returns how many pictures of a load wait to be fetched.
func (s *Store) Waiting(ctx context.Context, load int64) (n int, err error) {
	err = s.pool.QueryRow(ctx, `SELECT count(*) FROM item_pictures WHERE load_id = @load`, pgx.StrictNamedArgs{"load": load}).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("count pictures that wait: %w", err)
	}
	return n, nil
}

// lease is how long claimed pictures are left to the process that claimed them.
const lease = 5 * time.Minute
