package sources

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"riverrun/timelines/sources/dictionary"
	"riverrun/timelines/sources/formats"
)

// Work is the right to work the loads of one source, which one process has at a time. It is the
// source's advisory lock on a connection, and everything is written through that connection. It is
// not safe for concurrent use.
type Work struct {
	store *Store
	held
	// words is the owner's dictionary as it was when the load wordsOf was first worked here.
	words   *dictionary.Matcher
	wordsOf int64
}

// dictionary returns the owner's dictionary. It is read and built once for each load: a change made
// meanwhile counts for the next load.
func (w *Work) dictionary(ctx context.Context, tx pgx.Tx, load, owner int64) (*dictionary.Matcher, error) {
	if w.wordsOf != load {
		entries, err := dictionary.Of(ctx, tx, owner)
		if err != nil {
			return nil, err
		}
		w.words, w.wordsOf = dictionary.New(entries), load
	}
	return w.words, nil
}

// Take takes the lock of a source, or returns ErrBusy (F11, F13). The caller closes the Work.
func (s *Store) Take(ctx context.Context, source int64) (*Work, error) {
	h, err := s.lock(ctx, workLocks, source)
	if err != nil {
		return nil, err
	}
	return &Work{store: s, held: h}, nil
}

// Code is the code of the source, empty if there was no such source when it was taken.
func (w *Work) Code() string { return w.code }

// Close gives the source back, even if ctx has ended (F11: whatever happened).
func (w *Work) Close(ctx context.Context) error { return unlock(ctx, w.conn, workLocks, w.source) }

// Next returns the oldest load of the source that is not ended, or ErrNotFound.
func (w *Work) Next(ctx context.Context) (Load, error) {
	return scanLoad(w.conn.QueryRow(ctx, `
		SELECT `+loadColumns+` FROM loads
		WHERE source_id = (SELECT id FROM sources WHERE id = @source AND code = @code)
			AND state IN ('waiting', 'reading', 'applying', 'finishing', 'sweeping')
		ORDER BY no LIMIT 1`, pgx.StrictNamedArgs{"source": w.source, "code": w.code}))
}

// Begin records what the first pass found, and the hash of the canonical file. From now on the load
// is applied. The source takes over what the feed says about itself. Another version of the program
// may have begun the load with another canonical file. Then the cursor does not fit its lines, and
// the load begins anew: the lines that were applied are the same then, and write nothing.
func (w *Work) Begin(ctx context.Context, l *Load, found formats.Summary, canonical [32]byte) error {
	begun, err := inTx(ctx, w.conn, func(tx pgx.Tx) (Load, error) {
		b, err := w.batch(ctx, tx, l)
		if err != nil {
			return Load{}, err
		}
		args := pgx.StrictNamedArgs{"load": l.ID, "lines": found.Lines, "unreadable": found.Unknown, "canonical": canonical[:]}
		var same bool
		err = tx.QueryRow(ctx, `SELECT canonical IS NOT DISTINCT FROM @canonical FROM loads WHERE id = @load`,
			pgx.StrictNamedArgs{"load": l.ID, "canonical": canonical[:]}).Scan(&same)
		if err != nil {
			return Load{}, fmt.Errorf("begin a load: %w", err)
		}
		if same {
			return b.load, nil
		}
		var anew pgx.Batch
		takeOver(&anew, b.load, found.Feed)
		if !l.Dry {
			supersede(&anew, b.load)
		}
		for _, table := range []string{"load_seen", "load_gone", "load_problems"} {
			anew.Queue(`DELETE FROM `+table+` WHERE load_id = @load`, pgx.StrictNamedArgs{"load": l.ID})
		}
		var load Load
		anew.Queue(`
			UPDATE loads SET state = CASE WHEN @lines::bigint = 0 THEN 'finishing' ELSE 'applying' END, lines = @lines::bigint, unreadable = @unreadable,
				canonical = @canonical, cursor = 0, added = 0, changed = 0, same = 0, skipped = 0, removed = 0, kept = 0, errors = 0,
				warnings = 0, gone = 0, codes = '{}', items = (SELECT count(*) FROM source_items i WHERE i.source_id = loads.source_id),
				updated_at = now()
			WHERE id = @load RETURNING `+loadColumns, args).QueryRow(func(row pgx.Row) (err error) {
			load, err = scanLoad(row)
			return err
		})
		if err := tx.SendBatch(ctx, &anew).Close(); err != nil {
			return Load{}, fmt.Errorf("begin a load: %w", err)
		}
		return load, nil
	})
	if err != nil {
		return err
	}
	*l = begun
	return nil
}

// supersede ends the questions of earlier loads: what they would remove or apply is outdated once
// this load has begun.
func supersede(all *pgx.Batch, l Load) {
	args := pgx.StrictNamedArgs{"source": l.SourceID, "no": l.No}
	all.Queue(`
		DELETE FROM load_gone WHERE load_id IN (SELECT id FROM loads WHERE source_id = @source AND no < @no AND state = 'held')`, args)
	all.Queue(`
		UPDATE loads SET state = 'cancelled', finished_at = now(), updated_at = now()
		WHERE source_id = @source AND no < @no AND state IN ('held', 'previewed')`, args)
}

// takeOver stores what the feed says about itself: the title if the owner gave none, the address of
// its page, and how long it asks to be left alone. Nothing is taken from a load that began with other
// settings or another address.
func takeOver(all *pgx.Batch, l Load, f formats.Feed) {
	if l.Dry {
		return
	}
	title := []rune(strings.TrimSpace(f.Title))
	site := f.Site
	if checkURL(site) != nil {
		site = ""
	}
	// A source is not written if the feed says nothing new.
	const query = `
		UPDATE sources s SET title = n.title, site_url = n.site_url, ttl = n.ttl
		FROM (
			SELECT s.id, CASE WHEN s.titled OR @title = '' THEN s.title ELSE @title END AS title,
				CASE WHEN @site = '' THEN s.site_url ELSE @site END AS site_url,
				CASE WHEN s.way <> 'link' OR @ttl::bigint = 0 THEN s.ttl ELSE @ttl END AS ttl
			FROM sources s JOIN loads l ON l.source_id = s.id AND l.version = s.version WHERE l.id = @load
		) n
		WHERE s.id = n.id AND (s.title, s.site_url, s.ttl) <> (n.title, n.site_url, n.ttl)`
	all.Queue(query, pgx.StrictNamedArgs{
		"load": l.ID, "title": strings.TrimSpace(string(title[:min(len(title), maxTitleRunes)])), "site": site, "ttl": int64(f.TTL / time.Second),
	})
}

// Failed counts a failed try of a load for which this site is to blame, and returns the number of
// these tries. It returns ErrStale as Apply does.
func (w *Work) Failed(ctx context.Context, l *Load) (tries int, err error) {
	tries, err = inTx(ctx, w.conn, func(tx pgx.Tx) (tries int, err error) {
		if _, _, err := w.locked(ctx, tx, l); err != nil {
			return 0, err
		}
		err = tx.QueryRow(ctx, `UPDATE loads SET attempts = attempts + 1 WHERE id = @load RETURNING attempts`,
			pgx.StrictNamedArgs{"load": l.ID}).Scan(&tries)
		return tries, err
	})
	if err != nil {
		return 0, fmt.Errorf("count the tries of a load: %w", err)
	}
	return tries, nil
}

// Fail ends a load whose file cannot be used, or that was tried too often (F15, F31). It
// returns ErrStale as Apply does.
func (w *Work) Fail(ctx context.Context, l *Load, why formats.Fatal) error {
	const query = `
		WITH failed AS (
			UPDATE loads SET state = 'failed', finished_at = now(), updated_at = now(),
				problem = jsonb_build_object('code', @code::text, 'line', @line::int, 'column', @column::int, 'excerpt', @excerpt::text)
			WHERE id = @load AND state NOT IN ('done', 'failed', 'cancelled', 'previewed')
			RETURNING source_id
		)
		UPDATE sources s SET failures = failures + 1, problem = @code FROM failed WHERE s.id = failed.source_id`
	_, err := inTx(ctx, w.conn, func(tx pgx.Tx) (pgconn.CommandTag, error) {
		if _, _, err := w.locked(ctx, tx, l); err != nil {
			return pgconn.CommandTag{}, err
		}
		return tx.Exec(ctx, query, pgx.StrictNamedArgs{
			"load": l.ID, "code": string(why.Code), "line": why.Line, "column": why.Column, "excerpt": why.Excerpt,
		})
	})
	if err != nil {
		return fmt.Errorf("fail a load: %w", err)
	}
	l.State = Failed
	return nil
}
