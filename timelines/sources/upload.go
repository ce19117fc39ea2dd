package sources

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
	"riverrun/timelines/rules"
)

// Uploaded is a file that somebody sent for a source. Its blob must be stored before.
type Uploaded struct {
	Sum   [32]byte
	Bytes int64
	// MediaType is the type that the sender gave; the bytes count more.
	MediaType string
	// Dry only shows what the file would change.
	Dry bool
}

// Upload makes a load of a file for a source whose files are uploaded, and its job, in one
// transaction. It returns ErrNotFound, and the InvalidErrors "source_way" for a source of another
// way, and "source_paused".
func (s *Store) Upload(ctx context.Context, actor int64, code string, u Uploaded) (Load, error) {
	return inTx(ctx, s.pool, func(tx pgx.Tx) (Load, error) {
		source, err := updateIn(ctx, tx, actor, code, `loads = loads + CASE WHEN way = 'file' AND status = 'active' THEN 1 ELSE 0 END`, pgx.StrictNamedArgs{})
		switch {
		case err != nil:
			return Load{}, err
		case source.Way != File:
			return Load{}, &timelines.InvalidError{Field: "file", Code: "source_way"}
		case source.Status != Active:
			return Load{}, &timelines.InvalidError{Field: "file", Code: "source_paused"}
		}
		// The format is read from the file: the next file of a source may have another.
		const insert = `
			INSERT INTO loads (source_id, no, version, way, state, dry, settings, file, bytes, media_type)
			SELECT id, loads, version, way, 'waiting', @dry, settings, @file, @bytes, @type FROM sources WHERE id = @source
			RETURNING ` + loadColumns
		load, err := scanLoad(tx.QueryRow(ctx, insert, pgx.StrictNamedArgs{
			"source": source.ID, "dry": u.Dry, "file": u.Sum[:], "bytes": u.Bytes, "type": u.MediaType,
		}))
		if err != nil {
			return Load{}, err
		}
		return load, s.posts.Items.Ready(ctx, tx, source.ID)
	})
}

// PreviewAsked is the Source.Preview of a source whose preview is being prepared.
const PreviewAsked = "asked"

// AskPreview has an active link fetched to show what that would change. It does nothing if somebody
// asked for it already, or if the source is not an active link.
func (s *Store) AskPreview(ctx context.Context, actor int64, code string) (Source, error) {
	return inTx(ctx, s.pool, func(tx pgx.Tx) (Source, error) {
		source, err := scanSource(tx.QueryRow(ctx, `SELECT `+sourceColumns+` FROM sources s WHERE code = @code AND `+manages+` FOR NO KEY UPDATE`,
			pgx.StrictNamedArgs{"code": code, "actor": actor}))
		if err != nil || source.Way != Link || source.Status != Active || source.Preview == PreviewAsked {
			return source, err
		}
		if source, err = updateIn(ctx, tx, actor, code, `preview = 'asked'`, pgx.StrictNamedArgs{}); err != nil {
			return source, err
		}
		return source, s.posts.Items.Due(ctx, tx, source.ID, true)
	})
}

// EndPreview stores that the preview was fetched, or why it could not be.
func (s *Store) EndPreview(ctx context.Context, source int64, why Problem) error {
	_, err := s.pool.Exec(ctx, `UPDATE sources SET preview = @why WHERE id = @source AND preview = 'asked'`,
		pgx.StrictNamedArgs{"source": source, "why": string(why)})
	if err != nil {
		return fmt.Errorf("end a preview: %w", err)
	}
	return nil
}

// ClaimDue is Claim for one source, if it is due.
func (s *Store) ClaimDue(ctx context.Context, source int64) (claimed bool, err error) {
	tag, err := s.pool.Exec(ctx, `
		UPDATE sources SET next_at = now() + @claimed, claimed_at = now()
		WHERE id = @source AND status = 'active' AND next_at <= now() AND way = 'link'`,
		pgx.StrictNamedArgs{"source": source, "claimed": claimedFor})
	if err != nil {
		return false, fmt.Errorf("claim a source: %w", err)
	}
	return tag.RowsAffected() > 0, nil
}

// Discard ends a held load without removing the absent items. The items that it added and changed
// stay. The same file is not loaded again. It returns ErrNotFound if there is no such held load.
func (s *Store) Discard(ctx context.Context, source, no int64) error {
	const query = `
		WITH discarded AS (
			UPDATE loads SET state = 'cancelled', finished_at = now(), updated_at = now()
			WHERE source_id = @source AND no = @no AND state = 'held' RETURNING id, no, version, file
		), forgotten AS (
			DELETE FROM load_gone WHERE load_id IN (SELECT id FROM discarded)
		), had AS (
			UPDATE sources s SET content = d.file FROM discarded d WHERE s.id = @source AND s.loads = d.no AND s.version = d.version
		)
		SELECT id FROM discarded`
	var id int64
	err := s.pool.QueryRow(ctx, query, pgx.StrictNamedArgs{"source": source, "no": no}).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("discard a load: %w", err)
	}
	return nil
}

// Move moves a source to another place of the actor's: their feed or one of their sub-feeds, or a
// group that they administer. For a group, the source must have no rules that lead to other groups.
// The posts that the source has made stay where they are, and still follow their items. Move returns
// ErrNotFound, and these InvalidErrors: "to_unknown", "source_mover" if somebody else added the
// source, since that person is the author of its posts, and those of Add for the new place.
func (s *Store) Move(ctx context.Context, actor int64, code, owner, slug string) (Source, error) {
	return inTx(ctx, s.pool, func(tx pgx.Tx) (Source, error) {
		to, err := ownerTx(ctx, tx, actor, owner)
		if errors.Is(err, timelines.ErrNotFound) || errors.Is(err, timelines.ErrForbidden) {
			return Source{}, rules.ToUnknown.Broken(owner)
		}
		if err != nil {
			return Source{}, err
		}
		if slug != "" {
			if err := hasSlugTx(ctx, tx, to, slug); err != nil {
				return Source{}, err
			}
		}
		source, err := scanSource(tx.QueryRow(ctx, `
			SELECT `+sourceColumns+` FROM sources s WHERE code = @code AND status <> 'removing' AND `+manages+` FOR NO KEY UPDATE`,
			pgx.StrictNamedArgs{"code": code, "actor": actor}))
		switch {
		case err != nil:
			return Source{}, err
		case source.AddedBy != actor:
			return Source{}, &timelines.InvalidError{Field: "to", Code: "source_mover"}
		case source.OwnerID == to && source.Slug == slug:
			return source, nil
		case source.OwnerID != to:
			if err := s.roomTx(ctx, tx, to, source.URL, "to"); err != nil {
				return Source{}, err
			}
		}
		// A token of another administrator stays with the group.
		return updateIn(ctx, tx, actor, code, `owner_id = @owner, slug = @slug, version = version + 1, content = NULL,
			token_hash = CASE WHEN owner_id = @owner OR token_by = @actor THEN token_hash END,
			settings = CASE WHEN EXISTS (SELECT FROM accounts WHERE id = @owner AND kind = 'group') THEN settings #- '{rules,groups}' ELSE settings END`,
			pgx.StrictNamedArgs{"owner": to, "slug": slug})
	})
}
