package sources

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"riverrun/timelines"
	"riverrun/timelines/sources/formats"
)

// From is where a source comes from, and what it holds. An empty field stays as it is.
type From struct {
	// URL is the address of a Link, as people write it (formats.Address).
	URL  string
	Mode Mode
}

// SetFrom gives a source another address or another mode. It keeps its items: their ids say what is new
// at the new address. Everything else that was of the old address is forgotten, so that the source is
// fetched at once, as if it had just been added. Another mode counts from the next load on. Loads that
// have not ended are cancelled: they are of before. Errors are ErrNotFound, and InvalidErrors:
// "mode_unknown", "url_invalid", "source_twice" for an address that another source of the owner has.
func (s *Store) SetFrom(ctx context.Context, actor int64, code string, from From) (Source, error) {
	from.URL = formats.Address(from.URL)
	if from.Mode != "" && from.Mode != Append && from.Mode != Sync {
		return Source{}, &timelines.InvalidError{Field: "mode", Code: "mode_unknown"}
	}
	if from.URL != "" {
		if err := checkURL(from.URL); err != nil {
			return Source{}, err
		}
	}
	source, err := inTx(ctx, s.pool, func(tx pgx.Tx) (Source, error) { return s.setFromTx(ctx, tx, actor, code, from) })
	if is, ok := errors.AsType[*pgconn.PgError](err); ok && is.ConstraintName == "sources_url_key" {
		return Source{}, &timelines.InvalidError{Field: "url", Code: "source_twice"}
	}
	return source, err
}

func (s *Store) setFromTx(ctx context.Context, tx pgx.Tx, actor int64, code string, from From) (Source, error) {
	source, err := scanSource(tx.QueryRow(ctx, `SELECT `+sourceColumns+` FROM sources s WHERE code = @code AND status <> 'removing' AND `+manages,
		pgx.StrictNamedArgs{"code": code, "actor": actor}))
	if err != nil {
		return Source{}, err
	}
	moves := from.URL != "" && from.URL != source.URL
	if moves && source.Way != Link {
		return Source{}, &timelines.InvalidError{Field: "url", Code: "url_invalid"}
	}
	turns := from.Mode != "" && from.Mode != source.Mode
	if !moves && !turns {
		return source, nil
	}
	// Loads come before their source, as those who work them lock them.
	const cancel = `
		WITH cancelled AS (
			UPDATE loads SET state = 'cancelled', finished_at = now(), updated_at = now()
			WHERE source_id = @source AND state NOT IN ('done', 'failed', 'cancelled') RETURNING id
		)
		DELETE FROM load_gone WHERE load_id IN (SELECT id FROM cancelled)`
	if _, err := tx.Exec(ctx, cancel, pgx.StrictNamedArgs{"source": source.ID}); err != nil {
		return Source{}, fmt.Errorf("cancel loads: %w", err)
	}
	if turns {
		if source, err = updateIn(ctx, tx, actor, code, `mode = @mode, version = version + 1, content = NULL`,
			pgx.StrictNamedArgs{"mode": from.Mode}); err != nil {
			return Source{}, err
		}
	}
	if !moves {
		return source, nil
	}
	// A source that the site paused, as its address was gone, goes on. The feeds of the page stay known
	// while the address is that of one of them.
	const move = `url = @url, version = version + 1, content = NULL, etag = '', modified = '', ttl = 0, site_url = '',
		feeds = CASE WHEN feeds @> jsonb_build_array(jsonb_build_object('url', @url::text)) THEN feeds ELSE '[]' END,
		unread_until = loads, succeeded_at = NULL, fetched_at = NULL, claimed_at = NULL, next_at = now(), failures = 0, problem = '',
		preview = CASE preview WHEN 'asked' THEN preview ELSE '' END,
		status = CASE problem WHEN 'gone' THEN 'active' ELSE status END`
	if source, err = updateIn(ctx, tx, actor, code, move, pgx.StrictNamedArgs{"url": from.URL}); err != nil {
		return Source{}, err
	}
	if _, err := tx.Exec(ctx, `DELETE FROM source_hubs WHERE source_id = @source`, pgx.StrictNamedArgs{"source": source.ID}); err != nil {
		return Source{}, fmt.Errorf("forget a hub: %w", err)
	}
	if source.Status != Active {
		return source, nil
	}
	return source, s.posts.Items.Due(ctx, tx, source.ID, false)
}
