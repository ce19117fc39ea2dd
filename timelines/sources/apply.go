package sources

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
	"riverrun/timelines/sources/formats"
)

const (
	// MostItems is how many items one batch may write (F14).
	MostItems = 500
	// MostLines is how many it may look at. An unchanged line costs the reading of an id and a hash.
	MostLines = 4000
)

// lateAfter is the age up to which an item is news. News comes to the top of its pages. Items of a
// source's first load are never news.
const lateAfter = 24 * time.Hour

// Apply applies the next lines of a load's canonical file, at most MostLines, in one transaction (F25).
// It stops after MostItems that are new, changed or have problems; the load's cursor tells how many
// lines it has applied. It reads only the id and the hash of an item that did not change. The caller
// passes the Change on to the tiers. A dry load is only compared.
//
// It returns ErrStale if the load has gone on meanwhile (another process works it, or somebody
// cancelled it), if its source is being removed, or if another load or source has its id. It returns an InvalidError if the author may not
// post there any more, and a formats.Fatal items_many if the source would have more items than it
// may.
func (w *Work) Apply(ctx context.Context, l *Load, lines []*formats.Line) (timelines.Change, error) {
	return w.apply(ctx, l, lines, nil)
}

func (w *Work) apply(ctx context.Context, l *Load, lines []*formats.Line, p *pushed) (timelines.Change, error) {
	done, err := inTx(ctx, w.conn, func(tx pgx.Tx) (applied, error) {
		b, err := w.batch(ctx, tx, l)
		if err != nil {
			return applied{}, err
		}
		b.pushed = p
		return b.apply(ctx, lines)
	})
	if err != nil {
		return timelines.Change{}, fmt.Errorf("apply a batch of load %d: %w", l.ID, err)
	}
	*l = done.load
	return done.change, nil
}

// applied is the result of a batch.
type applied struct {
	change timelines.Change
	load   Load
}

func (b *batch) apply(ctx context.Context, lines []*formats.Line) (a applied, err error) {
	if b.pushed != nil && b.source.Status != Active {
		return a, &timelines.InvalidError{Field: "batch", Code: "source_paused"}
	}
	if lines, err = b.find(ctx, lines); err != nil {
		return a, err
	}
	if err := b.findRenamed(ctx, lines); err != nil {
		return a, err
	}
	if a.change, err = b.write(ctx, lines); err != nil {
		return a, err
	}
	a.load, err = b.record(ctx, len(lines))
	return a, err
}

// batch is one transaction of a load.
type batch struct {
	store  *Store
	tx     pgx.Tx
	load   Load
	source Source
	now    time.Time

	stored map[string]storedItem
	met    []int64 // ids of items
	read   int     // how many items are not as they were, or have problems
	fresh  []entry
	edits  []entry
	// renamed holds the new ids of items whose posts exist, by the ids of their rows.
	renamed map[int64]string
	// misfits are items that do not become posts.
	misfits []entry
	writer  *writer
	counts  Counts
	codes   map[formats.Code]int64
	// ids holds the row ids of the new and changed items, by their keys. lines holds the lines of the
	// load on which items with pictures stand.
	ids   map[string]int64
	lines map[string]int64
	// problems are the problems of items, as long as there is room.
	problems problems
	// backdated is what undatedAt has found for a first load.
	backdated time.Time
	// grown is the number of new items.
	grown int64
	// pushed is set if somebody wants to know what happened to each item.
	pushed *pushed
}

// entry is an item and the hash of the post that it becomes.
type entry struct {
	*formats.Item
	hash [16]byte
	at   int // in the batch, from 0
}

// storedItem is a row of source_items.
type storedItem struct {
	ID, PostID int64
	Hash       [16]byte
	Kept       bool
}

// locked locks the load and its source, if the load is still where the caller believes it to be. A
// restored primary store gives ids again: the code of the source and the time at which the load was made
// tell them from others with their ids.
func (w *Work) locked(ctx context.Context, tx pgx.Tx, l *Load) (load Load, source Source, err error) {
	load, err = scanLoad(tx.QueryRow(ctx, `SELECT `+loadColumns+` FROM loads WHERE id = @load FOR NO KEY UPDATE`,
		pgx.StrictNamedArgs{"load": l.ID}))
	if err != nil {
		return load, source, err
	}
	if load.State != l.State || load.Cursor != l.Cursor || load.SourceID != w.source || !load.CreatedAt.Equal(l.CreatedAt) {
		return load, source, ErrStale
	}
	source, err = scanSource(tx.QueryRow(ctx, `SELECT `+sourceColumns+` FROM sources WHERE id = @source FOR SHARE`,
		pgx.StrictNamedArgs{"source": w.source}))
	if err == nil && (source.Status == Removing || source.Code != w.code) {
		err = ErrStale
	}
	return load, source, err
}

// batch begins a batch of a load that is locked.
func (w *Work) batch(ctx context.Context, tx pgx.Tx, l *Load) (*batch, error) {
	load, source, err := w.locked(ctx, tx, l)
	if err != nil {
		return nil, err
	}
	words, err := w.dictionary(ctx, tx, load.ID, source.OwnerID)
	if err != nil {
		return nil, err
	}
	writer, err := newWriter(load.Settings.Rules, source.Title, words)
	if err != nil {
		return nil, err
	}
	b := &batch{store: w.store, tx: tx, load: load, source: source, writer: writer, codes: map[formats.Code]int64{}}
	if err := tx.QueryRow(ctx, `SELECT clock_timestamp()`).Scan(&b.now); err != nil {
		return nil, fmt.Errorf("read the clock: %w", err)
	}
	return b, nil
}

// find sorts lines by what has to be done with them, until there are enough to do, and returns the lines
// that it has sorted.
func (b *batch) find(ctx context.Context, lines []*formats.Line) ([]*formats.Line, error) {
	ids := make([]string, 0, len(lines))
	for _, l := range lines {
		if l.ID != "" {
			ids = append(ids, l.ID)
		}
	}
	// Each id is looked up by itself. While the table is still small the planner would rather read all
	// of it for each batch.
	rows, err := b.tx.Query(ctx, `
		SELECT i.external_id, i.id, coalesce(i.post_id, 0), i.hash, i.kept
		FROM unnest(@ids::text[]) AS n (id)
		CROSS JOIN LATERAL (SELECT * FROM source_items i WHERE i.source_id = @source AND i.external_id = n.id LIMIT 1) i`,
		pgx.StrictNamedArgs{"source": b.source.ID, "ids": ids})
	if err != nil {
		return nil, fmt.Errorf("find items: %w", err)
	}
	b.stored = make(map[string]storedItem, len(ids))
	var key string
	var hash []byte
	var s storedItem
	_, err = pgx.ForEachRow(rows, []any{&key, &s.ID, &s.PostID, &hash, &s.Kept}, func() error {
		copy(s.Hash[:], hash)
		b.stored[key] = s
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("find items: %w", err)
	}
	for i, l := range lines {
		if b.read == MostItems {
			return lines[:i], nil
		}
		if err := b.sort(i, l); err != nil {
			return nil, err
		}
	}
	return lines, nil
}

func (b *batch) sort(i int, l *formats.Line) error {
	s, known := b.stored[l.ID]
	hash := b.writer.hash(l.Hash)
	same := known && s.Hash == hash && !s.Kept
	if same && !l.Troubled {
		b.met = append(b.met, s.ID)
		b.counts.Same++
		b.pushed.became(i, l.ID, ResultSame, nil)
		return nil
	}
	it, err := l.Item()
	if err != nil {
		return err
	}
	b.read++
	b.note(i, it)
	b.standsAt(i, it)
	if it.ID == "" && b.pushed != nil {
		b.counts.Unreadable++ // the first pass counts those of a file
	}
	if it.ID == "" || it.Has(formats.IDRepeated) {
		b.pushed.became(i, it.ID, ResultRejected, it)
		return nil // an item without an id stays unknown; the others are met
	}
	if known {
		b.met = append(b.met, s.ID)
	}
	switch {
	case known && it.Bad:
		// The post stays as it is until the item is right again (F19).
		b.counts.Skipped++
		b.pushed.became(i, it.ID, ResultRejected, it)
	case same:
		b.counts.Same++
		b.pushed.became(i, it.ID, ResultSame, it)
	case it.Bad:
		b.misfits = append(b.misfits, entry{it, hash, i})
		b.counts.Skipped++
		b.pushed.became(i, it.ID, ResultRejected, it)
	case known && s.PostID != 0:
		b.edits = append(b.edits, entry{it, hash, i})
		b.pushed.became(i, it.ID, ResultSkipped, it) // unless its post is edited
	case !b.writer.wants(it):
		b.misfits = append(b.misfits, entry{it, hash, i})
		b.counts.Skipped++
		b.pushed.became(i, it.ID, ResultSkipped, it)
	default:
		b.fresh = append(b.fresh, entry{it, hash, i})
		b.pushed.became(i, it.ID, ResultAdded, it)
	}
	return nil
}

// write writes posts and items.
func (b *batch) write(ctx context.Context, lines []*formats.Line) (timelines.Change, error) {
	if err := b.count(len(lines)); err != nil {
		return timelines.Change{}, err
	}
	if len(b.fresh)+len(b.edits)+len(b.misfits) == 0 {
		return timelines.Change{}, nil
	}
	to, err := b.source.destination(ctx, b.tx)
	if err != nil {
		return timelines.Change{}, err
	}
	x, err := b.store.posts.Items.Begin(ctx, b.tx, timelines.ItemPlace{
		Author: b.source.AddedBy, To: to, Also: b.groups(), Via: b.source.Title, ViaURL: b.source.SiteURL, Beside: b.store.pool,
	})
	if err != nil {
		return timelines.Change{}, err
	}
	b.refuse(x)
	if err := b.findElsewhere(ctx); err != nil {
		return timelines.Change{}, err
	}
	if b.load.Dry {
		return timelines.Change{}, b.foresee(ctx, x)
	}
	posts := make([]timelines.ItemPost, len(b.fresh))
	for i, it := range b.fresh {
		posts[i] = b.post(it, i)
		posts[i].To = b.writer.groupOf(it.Item)
	}
	made, err := x.Create(ctx, posts)
	if err != nil {
		return timelines.Change{}, err
	}
	edits := b.edited()
	edited, barred, err := x.Edit(ctx, edits)
	if err != nil {
		return timelines.Change{}, err
	}
	b.bar(barred)
	for _, it := range b.edits {
		if slices.Contains(edited, b.stored[it.ID].PostID) {
			b.pushed.changed(it.ID)
		}
	}
	b.counts.Added += int64(len(made))
	b.counts.Changed += int64(len(edited))
	b.counts.Skipped += int64(len(edits) - len(edited)) // barred, edited or deleted here, or only their unseen parts changed
	if err := b.keepItems(ctx, made); err != nil {
		return timelines.Change{}, err
	}
	if err := b.keepPictures(ctx, x, edited); err != nil {
		return timelines.Change{}, err
	}
	return x.End(ctx)
}

// edited returns the posts of changed items, with their new contents.
func (b *batch) edited() []timelines.ItemPost {
	posts := make([]timelines.ItemPost, len(b.edits))
	for i, it := range b.edits {
		posts[i] = b.post(it, i)
		posts[i].ID = b.stored[it.ID].PostID
	}
	return posts
}

// foresee counts what write would do.
func (b *batch) foresee(ctx context.Context, x *timelines.ItemsTx) error {
	edits := b.edited()
	changed, barred, err := x.Differ(ctx, edits)
	if err != nil {
		return err
	}
	b.bar(barred)
	b.counts.Added, b.counts.Changed = int64(len(b.fresh)), changed
	b.counts.Skipped += int64(len(edits)) - changed
	return nil
}

// groups returns the groups that new items go to.
func (b *batch) groups() []string {
	var names []string
	for _, it := range b.fresh {
		if group := b.writer.groupOf(it.Item); group != "" && !slices.Contains(names, group) {
			names = append(names, group)
		}
	}
	return names
}

// errItemsMany is there to compare with; the load returns the same error.
var errItemsMany error = &formats.Fatal{Code: formats.ItemsMany}

// count counts the new items, and ends the load if the source would have too many. A full list may
// replace all items that are there, so only the items of the list count.
func (b *batch) count(lines int) error {
	for _, list := range [][]entry{b.fresh, b.misfits} {
		for _, it := range list {
			if _, known := b.stored[it.ID]; !known {
				b.grown++
			}
		}
	}
	items := b.load.Items + b.grown
	if b.source.Mode == Sync && (b.pushed == nil || !b.pushed.single) {
		items = b.load.Cursor + int64(lines)
	}
	if most := b.store.limits.Items; items > int64(most) {
		return &formats.Fatal{Code: formats.ItemsMany, Detail: fmt.Sprintf("the source would have more than %d items", most)}
	}
	return nil
}

// refuse leaves out new items whose category leads to a group where their author may not post any
// more. They are meant for the readers of that group, so they go nowhere else. Their hash is set to
// that of no item, so that the next load tries them again.
func (b *batch) refuse(x *timelines.ItemsTx) {
	b.fresh = slices.DeleteFunc(b.fresh, func(it entry) bool {
		group := b.writer.groupOf(it.Item)
		if group == "" || !x.Refused(group) {
			return false
		}
		b.warn(it, formats.Problem{Code: formats.ToForbidden, Level: formats.LevelError, Field: "categories", Value: group})
		b.pushed.became(it.at, it.ID, ResultRejected, it.Item)
		b.counts.Skipped++
		it.hash = [16]byte{}
		b.misfits = append(b.misfits, it)
		return true
	})
}

// bar leaves out changed items whose posts stand where their author may not post any more. refuse
// does the same for new items. The rows stay as they are, so that the next load tries them again.
func (b *batch) bar(barred map[int64]string) {
	b.edits = slices.DeleteFunc(b.edits, func(it entry) bool {
		s := b.stored[it.ID]
		place, is := barred[s.PostID]
		if !is {
			return false
		}
		b.warn(it, formats.Problem{Code: formats.ToForbidden, Level: formats.LevelError, Value: place})
		b.pushed.became(it.at, it.ID, ResultRejected, it.Item)
		delete(b.renamed, s.ID)
		return true
	})
}

// mostLifted is how many posts of one load come to the top of pages. A load with more of them is not
// news but a file that came late, and it would push everything else down.
const mostLifted = 50

// undatedAge is how long before a first load its items without a date are placed. They may be of any
// age. At this age they stand below the posts that a follower's pages show first.
const undatedAge = 30 * 24 * time.Hour

// undatedAt returns the time right before which items without a date are placed, if they are not
// news. In a first load that is undatedAge ago, or the newest date of the batch if that is earlier.
// In a later load the items came at some time since the load before.
func (b *batch) undatedAt() time.Time {
	switch {
	case b.source.SucceededAt != nil:
		return *b.source.SucceededAt
	case !b.backdated.IsZero():
		return b.backdated
	}
	var newest time.Time
	for _, it := range b.fresh {
		if it.At.After(newest) && !b.undated(it.Item) {
			newest = it.At
		}
	}
	at := b.load.CreatedAt.Add(-undatedAge)
	if !newest.IsZero() && newest.Before(at) {
		at = newest
	}
	b.backdated = at
	return at
}

// undated reports whether an item has no date, or one in the future, which says as little.
func (b *batch) undated(it *formats.Item) bool { return it.At.IsZero() || it.At.After(b.now) }

// post returns the post that an item becomes.
func (b *batch) post(it entry, i int) timelines.ItemPost {
	p := timelines.ItemPost{Language: languageOf(it.Item), Place: placeOf(it.Item), CreatedAt: it.At}
	var cut bool
	if p.Body, p.Markup, cut = b.writer.bodyOf(it.Item); cut {
		b.warn(it, formats.Problem{Code: formats.BodyLong, Level: formats.LevelWarning, Field: "text"})
	}
	if p.Markup {
		p.Words = it.Title + "\n" + it.Text
	}
	first := b.source.SucceededAt == nil && (b.pushed == nil || !b.pushed.single)
	many := b.load.Added+int64(i) >= mostLifted
	if b.undated(it.Item) {
		p.CreatedAt = b.load.CreatedAt
		if first || many {
			p.CreatedAt = b.undatedAt()
		}
		// A file has its newest items first.
		p.CreatedAt = p.CreatedAt.Add(-time.Duration(b.load.Cursor+int64(i)+1) * time.Microsecond)
	}
	p.Lifts = !first && !many && b.now.Sub(p.CreatedAt) < lateAfter
	return p
}

// keepItems writes the rows of the items that are new or changed.
func (b *batch) keepItems(ctx context.Context, made []int64) error {
	var ids []string
	var hashes [][]byte
	var posts, addresses []*int64
	add := func(it entry, post *int64) {
		ids, hashes, posts, addresses = append(ids, it.ID), append(hashes, it.hash[:]), append(posts, post), append(addresses, addressOf(it.URL))
	}
	if err := b.rename(ctx); err != nil {
		return err
	}
	for i, it := range b.fresh {
		add(it, &made[i])
	}
	for _, it := range b.edits {
		post := b.stored[it.ID].PostID
		add(it, &post)
	}
	for _, it := range b.misfits {
		add(it, nil)
	}
	const query = `
		INSERT INTO source_items AS i (source_id, external_id, hash, post_id, address)
		SELECT @source, * FROM unnest(@ids::text[], @hashes::bytea[], @posts::bigint[], @addresses::bigint[])
		ON CONFLICT (source_id, external_id) DO UPDATE SET hash = EXCLUDED.hash, post_id = EXCLUDED.post_id, address = EXCLUDED.address, kept = false
		RETURNING i.external_id, i.id`
	rows, err := b.tx.Query(ctx, query, pgx.StrictNamedArgs{"source": b.source.ID, "ids": ids, "hashes": hashes, "posts": posts, "addresses": addresses})
	if err != nil {
		return fmt.Errorf("keep items: %w", err)
	}
	var key string
	var id int64
	b.ids = make(map[string]int64, len(ids))
	_, err = pgx.ForEachRow(rows, []any{&key, &id}, func() error {
		b.ids[key] = id
		if _, known := b.stored[key]; !known {
			b.met = append(b.met, id)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("keep items: %w", err)
	}
	return nil
}

// record stores which items were met, what was wrong with them, and how far the load is.
func (b *batch) record(ctx context.Context, lines int) (Load, error) {
	slices.Sort(b.met)
	var all pgx.Batch
	if len(b.met) > 0 {
		all.Queue(`INSERT INTO load_seen (load_id, line, item_ids) VALUES (@load, @line, @met)`,
			pgx.StrictNamedArgs{"load": b.load.ID, "line": b.load.Cursor, "met": b.met})
	}
	b.problems.queue(&all, b.load.ID)
	if err := b.pushed.queue(&all, b.load.ID); err != nil {
		return Load{}, err
	}
	codes, err := json.Marshal(b.codes)
	if err != nil {
		return Load{}, fmt.Errorf("record a batch: %w", err)
	}
	const query = `
		UPDATE loads SET cursor = cursor + @lines, added = added + @added, changed = changed + @changed, same = same + @same,
			skipped = skipped + @skipped, errors = errors + @errors, warnings = warnings + @warnings, unreadable = unreadable + @unreadable,
			items = items + @grown, updated_at = now(),
			codes = codes || (SELECT coalesce(jsonb_object_agg(c.key, c.value::bigint + coalesce((codes ->> c.key)::bigint, 0)), '{}')
				FROM jsonb_each_text(@codes::jsonb) c),
			state = CASE WHEN cursor + @lines = lines THEN 'finishing' ELSE state END
		WHERE id = @load RETURNING ` + loadColumns
	var load Load
	all.Queue(query, pgx.StrictNamedArgs{
		"load": b.load.ID, "lines": lines, "added": b.counts.Added, "changed": b.counts.Changed, "same": b.counts.Same,
		"skipped": b.counts.Skipped, "errors": b.counts.Errors, "warnings": b.counts.Warnings,
		"unreadable": b.counts.Unreadable, "grown": b.grown, "codes": string(codes),
	}).QueryRow(func(row pgx.Row) (err error) {
		load, err = scanLoad(row)
		return err
	})
	if err := b.tx.SendBatch(ctx, &all).Close(); err != nil {
		return Load{}, fmt.Errorf("record a batch: %w", err)
	}
	return load, nil
}

// inTx runs fn in a transaction of the connection that holds the lock. It does not repeat a
// transaction that lost a race: the caller repeats the whole batch.
func inTx[T any](ctx context.Context, conn interface {
	BeginTx(context.Context, pgx.TxOptions) (pgx.Tx, error)
}, fn func(pgx.Tx) (T, error),
) (out T, err error) {
	err = pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) (err error) {
		out, err = fn(tx)
		return err
	})
	return out, err
}
