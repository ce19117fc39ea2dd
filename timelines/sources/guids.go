package sources

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/markup"
	"riverrun/timelines/sources/formats"
)

// sameDate is how far apart the dates of an item may be that comes again under another id.
const sameDate = time.Hour

// addressOf returns the hash by which the URL of an item is looked up, nil if it has no URL.
func addressOf(url string) *int64 {
	if url == "" {
		return nil
	}
	hash := formats.HashAddress(url)
	return &hash
}

// findRenamed finds the new items that the source already has under another id. A feed that moves to
// another program gives all its items other ids, and they must not all be posted again. Such an item
// has the URL of exactly one item of the source, and that item is absent from the file. Some feeds
// give all their items the same URL. So the first line must be the same as well, and the date if
// there is one, and no other new item with this URL may match.
//
// This works for windows, and for files of one batch, as windows are: only then it is known which
// items are absent. A program that sends single items says nothing of the others. An item that was
// known by its address alone is absent in each file in which other items have that address.
func (b *batch) findRenamed(ctx context.Context, lines []*formats.Line) error {
	if b.pushed != nil {
		return nil
	}
	whole := b.source.Mode == Append && b.load.Lines != nil && *b.load.Lines == int64(len(lines))
	asked := map[int64][]entry{}
	for _, it := range b.fresh {
		if at := addressOf(it.URL); at != nil && (whole || strings.HasPrefix(it.ID, formats.LinkKey)) {
			if _, known := b.stored[it.ID]; !known {
				asked[*at] = append(asked[*at], it)
			}
		}
	}
	if len(asked) == 0 {
		return nil
	}
	var addresses []int64
	for at := range asked {
		addresses = append(addresses, at)
	}
	type there struct {
		Address   int64
		ID        int64
		Key       string
		PostID    int64
		CreatedAt time.Time
		Title     string
		Markup    bool
	}
	const query = `
		SELECT n.address, i.id, i.external_id AS key, coalesce(i.post_id, 0) AS post_id, coalesce(p.created_at, 'epoch') AS created_at,
			coalesce(split_part(p.body, E'\n', 1), '') AS title, coalesce(p.markup, false) AS markup
		FROM unnest(@addresses::bigint[]) AS n (address)
		CROSS JOIN LATERAL (SELECT * FROM source_items i WHERE i.source_id = @source AND i.address = n.address LIMIT 2) i
		LEFT JOIN posts p ON p.id = i.post_id`
	rows, err := b.tx.Query(ctx, query, pgx.StrictNamedArgs{"source": b.source.ID, "addresses": addresses})
	if err != nil {
		return fmt.Errorf("find items of other ids: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[there])
	if err != nil {
		return fmt.Errorf("find items of other ids: %w", err)
	}
	found := map[int64][]there{}
	for _, t := range list {
		found[t.Address] = append(found[t.Address], t)
	}
	present := map[string]bool{}
	for _, l := range lines {
		present[l.ID] = true
	}
	b.renamed = map[int64]string{}
	b.fresh = slices.DeleteFunc(b.fresh, func(it entry) bool {
		at := addressOf(it.URL)
		if at == nil || len(found[*at]) != 1 {
			return false
		}
		t := found[*at][0]
		if t.PostID == 0 || present[t.Key] || !whole && (t.Key != it.URL || !strings.HasPrefix(it.ID, formats.LinkKey)) {
			return false
		}
		is := func(it entry) bool {
			return (t.Title == "" || b.writer.begins(it.Item, shown(t.Title, t.Markup))) && (it.At.IsZero() || it.At.Sub(t.CreatedAt).Abs() <= sameDate)
		}
		// If several new items have the URL, exactly one of them must match.
		if !is(it) || slices.ContainsFunc(asked[*at], func(other entry) bool { return other.ID != it.ID && is(other) }) {
			return false
		}
		b.renamed[t.ID] = it.ID
		b.stored[it.ID] = storedItem{ID: t.ID, PostID: t.PostID}
		b.met = append(b.met, t.ID)
		b.edits = append(b.edits, it)
		return true
	})
	return nil
}

// begins reports whether the post of an item has this as its first line, with or without the link that
// the rules make of its title now: the post that is there may be from before they did.
func (w *writer) begins(it *formats.Item, line string) bool {
	other := *w
	other.rules.LinkedTitle = !w.rules.LinkedTitle
	for _, w := range []*writer{w, &other} {
		body, withMarkup := w.body(it)
		if first, _, _ := strings.Cut(body, "\n"); shown(first, withMarkup) == line {
			return true
		}
	}
	return false
}

// shown returns a line without its markup, if it has any: an item may come with markup or without.
func shown(line string, withMarkup bool) string {
	if withMarkup {
		return markup.Plain(line)
	}
	return line
}

// SharedLinks returns the hashes of the addresses whose items are known by address and title, because
// some of them had the same address. Only feeds without ids need this query, and they are short.
func (s *Store) SharedLinks(ctx context.Context, source int64) ([]int64, error) {
	const query = `
		SELECT DISTINCT address FROM source_items
		WHERE source_id = @source AND address IS NOT NULL AND starts_with(external_id, @key)`
	rows, err := s.pool.Query(ctx, query, pgx.StrictNamedArgs{"source": source, "key": formats.LinkKey})
	if err != nil {
		return nil, fmt.Errorf("read how items are known: %w", err)
	}
	shared, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, fmt.Errorf("read how items are known: %w", err)
	}
	return shared, nil
}

// rename gives the rows of renamed items their ids.
func (b *batch) rename(ctx context.Context) error {
	if len(b.renamed) == 0 {
		return nil
	}
	var rows []int64
	var ids []string
	for row, id := range b.renamed {
		rows, ids = append(rows, row), append(ids, id)
	}
	const query = `
		UPDATE source_items i SET external_id = n.id FROM unnest(@rows::bigint[], @ids::text[]) AS n (item, id)
		WHERE i.id = n.item AND i.source_id = @source`
	_, err := b.tx.Exec(ctx, query, pgx.StrictNamedArgs{"source": b.source.ID, "rows": rows, "ids": ids})
	if err != nil {
		return fmt.Errorf("rename items: %w", err)
	}
	return nil
}

// findElsewhere warns of new items whose address another source of the owner has (F27). Both items
// are posted: they may be about different things, and each source deletes only its own posts.
func (b *batch) findElsewhere(ctx context.Context) error {
	var addresses []int64
	for _, it := range b.fresh {
		if at := addressOf(it.URL); at != nil && !slices.Contains(addresses, *at) {
			addresses = append(addresses, *at)
		}
	}
	if len(addresses) == 0 {
		return nil
	}
	// Each address is looked up once in each other source. Most owners have few sources.
	const query = `
		SELECT n.address, min(s.title)
		FROM sources s
		CROSS JOIN unnest(@addresses::bigint[]) AS n (address)
		CROSS JOIN LATERAL (SELECT FROM source_items i WHERE i.source_id = s.id AND i.address = n.address AND i.post_id IS NOT NULL LIMIT 1) i
		WHERE s.owner_id = @owner AND s.id <> @source
		GROUP BY n.address`
	rows, err := b.tx.Query(ctx, query, pgx.StrictNamedArgs{"owner": b.source.OwnerID, "source": b.source.ID, "addresses": addresses})
	if err != nil {
		return fmt.Errorf("find items of other sources: %w", err)
	}
	found := map[int64]string{}
	var address int64
	var title string
	_, err = pgx.ForEachRow(rows, []any{&address, &title}, func() error {
		found[address] = title
		return nil
	})
	if err != nil {
		return fmt.Errorf("find items of other sources: %w", err)
	}
	for _, it := range b.fresh {
		if at := addressOf(it.URL); at != nil && found[*at] != "" {
			b.warn(it, formats.Problem{Code: formats.Elsewhere, Level: formats.LevelWarning, Field: "url", Value: found[*at]})
		}
	}
	return nil
}
