package timelines

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// setLevelTx changes the level of a base timeline and the flags of its posts, or
// leaves these to blocks where they are many (upkeep.go). It returns the level that was, which is that asked for if nothing changes or the
// timeline has gone. Changes of level wait for each other before (levelChanges).
func (s *Store) setLevelTx(ctx context.Context, tx pgx.Tx, timeline int64, level Level) (was Level, err error) {
	// The lock first: who relies on the level (a new post's flags, a subscription
	// without a request, somebody admitted or excluded) holds the row, so they are
	// either waited for, and seen by the next statement, or wait, and see the new level.
	args := pgx.StrictNamedArgs{"id": timeline}
	err = tx.QueryRow(ctx, `SELECT access FROM timelines WHERE id = @id FOR NO KEY UPDATE`, args).Scan(&was)
	if errors.Is(err, pgx.ErrNoRows) {
		return level, nil
	}
	if err != nil {
		return level, fmt.Errorf("read level: %w", err)
	}
	if was == level {
		return level, nil
	}
	_, err = tx.Exec(ctx, `UPDATE timelines SET access = @level WHERE id = @id`, pgx.StrictNamedArgs{"id": timeline, "level": level})
	if err != nil {
		return was, fmt.Errorf("set level: %w", err)
	}
	many, err := s.manyToFlagTx(ctx, tx, timeline)
	if err != nil {
		return was, err
	}
	if many {
		return was, s.announceTx(ctx, tx, Upkeep{})
	}
	const posts = `SELECT post_id FROM timeline_entries WHERE timeline_id = @id ORDER BY post_id`
	rows, err := tx.Query(ctx, posts, args)
	ids, err := collectIDs(rows, err, "posts of a changed level")
	if err != nil {
		return was, err
	}
	return was, flagTx(ctx, tx, ids)
}

// flagFew is how many posts may stand, or have stood, in a feed for their flags to
// follow its level in the request.
const flagFew = 500

// manyToFlagTx reports whether the posts of a timeline are too many for that, and
// notes then that their flags are behind, from the first on.
func (s *Store) manyToFlagTx(ctx context.Context, tx pgx.Tx, timeline int64) (bool, error) {
	const note = `
		INSERT INTO unflagged_timelines (timeline_id)
		SELECT @id::bigint WHERE @few::bigint < (SELECT count(*) FROM (
			SELECT FROM timeline_entries WHERE timeline_id = @id LIMIT @few::bigint + 1) e)
		ON CONFLICT (timeline_id) DO UPDATE SET after = 0`
	many, err := ran(tx.Exec(ctx, note, pgx.StrictNamedArgs{"id": timeline, "few": int64(s.flagFew)}))
	if err != nil {
		return false, fmt.Errorf("note flags to follow: %w", err)
	}
	return many, nil
}

// flagTx sets the flags of these posts by the levels of where they stand. No level
// and no post's destinations may change meanwhile (levelChanges).
//
// A post deleted while this waits for it is left alone: deleted_at is checked again
// on the row as it is then. What else happens to a post does not concern its flags,
// and versions do not move: levels are decided at render.
func flagTx(ctx context.Context, tx pgx.Tx, posts []int64) error {
	const lock = `SELECT FROM posts WHERE id = ANY(@posts) ORDER BY id FOR NO KEY UPDATE`
	const flags = `
		UPDATE posts p
		SET is_public = f.is_public, is_protected = f.is_protected, is_private = f.is_private
		FROM (
			SELECT p.id, ` + flagColumns + `
			FROM posts p JOIN timelines t ON t.id = ANY(p.decisive)
			WHERE p.id = ANY(@posts)
			GROUP BY p.id
		) f
		WHERE p.id = f.id AND p.deleted_at IS NULL
			AND (p.is_public, p.is_protected, p.is_private) <> (f.is_public, f.is_protected, f.is_private)`
	for _, query := range []string{lock, flags} {
		if _, err := tx.Exec(ctx, query, pgx.StrictNamedArgs{"posts": posts}); err != nil {
			return fmt.Errorf("set flags: %w", err)
		}
	}
	return nil
}

// flagColumns are a post's flags, aggregated over its decisive timelines t.
const flagColumns = `
	bool_or(t.access = 0) AS is_public, bool_or(t.access = 1) AS is_protected, bool_or(t.access = 2) AS is_private`

// manyReaders is of how many people the rivers are named one by one as wrong; of
// more it is quicker to say whose feed it is, or everybody.
const manyReaders = 100

// wrongByLevelTx returns whose rivers a change of level makes wrong: of those who
// may read the feed now and might not before, or the other way round.
//
//   - Between public and protected they are whoever is not signed in, and those
//     whom the feed excludes.
//   - A feed without posts lets nobody read anything: the pages made of the account's
//     timelines, and the home feeds and lists that have it, are of other timelines.
//   - Else they are everybody but few: the posts may stand anywhere.
//
// Who is admitted or excluded meanwhile waits for the feed's lock, or has been
// waited for (setReader).
func wrongByLevelTx(ctx context.Context, tx pgx.Tx, feed int64, was, level Level) ([]Replace, error) {
	const query = `
		SELECT t.their_id, NOT EXISTS (SELECT FROM timeline_entries e WHERE e.timeline_id = t.id AND NOT e.withdrawn),
			ARRAY(SELECT x.account_id FROM excluded x WHERE x.timeline_id = t.id ORDER BY 1 LIMIT @many + 1)
		FROM timelines t WHERE t.id = @feed`
	var owner int64
	var empty bool
	var excluded []int64
	err := tx.QueryRow(ctx, query, pgx.StrictNamedArgs{"feed": feed, "many": manyReaders}).Scan(&owner, &empty, &excluded)
	if err != nil {
		return nil, fmt.Errorf("read whom a level concerns: %w", err)
	}
	if was != Private && level != Private && len(excluded) <= manyReaders {
		wrong := []Replace{{ViewerID: 0}}
		for _, id := range excluded {
			wrong = append(wrong, Replace{ViewerID: id})
		}
		return wrong, nil
	}
	if empty {
		return []Replace{{Of: owner}}, nil
	}
	return []Replace{{Everybody: true}}, nil
}
