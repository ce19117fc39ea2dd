package timelines

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// setLevelTx changes the level of a base timeline and the flags of its posts. It
// returns the level that was, which is that asked for if nothing changes or the
// timeline has gone. Changes of level wait for each other before (levelChanges).
func setLevelTx(ctx context.Context, tx pgx.Tx, timeline int64, level Level) (was Level, err error) {
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
	// A post deleted while this waits for it is left alone: deleted_at is checked
	// again on the row as it is then. What else happens to a post does not concern
	// its flags, and versions do not move: levels are decided at render.
	const flags = `
		UPDATE posts p
		SET is_public = f.is_public, is_protected = f.is_protected, is_private = f.is_private
		FROM (
			SELECT p.id, ` + flagColumns + `
			FROM timeline_entries e
			JOIN posts p ON p.id = e.post_id
			JOIN timelines t ON t.id = ANY(p.decisive)
			WHERE e.timeline_id = @id
			GROUP BY p.id
		) f
		WHERE p.id = f.id AND p.deleted_at IS NULL
			AND (p.is_public, p.is_protected, p.is_private) <> (f.is_public, f.is_protected, f.is_private)`
	if _, err := tx.Exec(ctx, flags, args); err != nil {
		return was, fmt.Errorf("set flags: %w", err)
	}
	return was, nil
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
