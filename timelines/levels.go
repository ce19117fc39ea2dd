package timelines

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
)

// Level says who may read a base timeline (source: 000, "Права на чтение постов").
type Level int16

const (
	// Public: everybody, signed in or not.
	Public Level = 0
	// Protected: every signed-in account except those explicitly excluded.
	Protected Level = 1
	// Private: readers explicitly admitted, and nobody else.
	Private Level = 2
	// Ended: nobody, whatever other sets say. It is the level of a group that is being deleted
	// (package leaving), and no other one follows it.
	Ended Level = 3
)

// String returns the level's name as forms and addresses use it.
func (l Level) String() string {
	switch l {
	case Public:
		return "public"
	case Protected:
		return "protected"
	case Private:
		return "private"
	case Ended:
		return "ended"
	}
	return "unknown"
}

// ParseLevel is the inverse of Level.String.
func ParseLevel(s string) (Level, bool) {
	for _, l := range []Level{Public, Protected, Private} {
		if s == l.String() {
			return l, true
		}
	}
	return 0, false
}

// setLevelTx changes the level of a base timeline and the flags of its posts. It returns
// the level before, which is the new one if nothing changes, or the timeline is gone or ended.
func (s *core) setLevelTx(ctx context.Context, tx pgx.Tx, timeline int64, level Level) (was Level, err error) {
	// The lock comes first. Every transaction that relies on the level (for a new post's
	// flags, a post that moves here, a subscription without a request, an admission or an
	// exclusion) holds the row. Either this one waits for it, and the next statement sees
	// its effects, or it waits, and sees the new level.
	const lock = `SELECT access FROM timelines WHERE id = @id FOR NO KEY UPDATE`
	err = tx.QueryRow(ctx, lock, pgx.StrictNamedArgs{"id": timeline}).Scan(&was)
	if errors.Is(err, pgx.ErrNoRows) {
		return level, nil
	}
	if err != nil {
		return level, fmt.Errorf("read level: %w", err)
	}
	if was == level || was == Ended {
		return level, nil
	}
	return was, s.setLevelsTx(ctx, tx, []int64{timeline}, level)
}

// setLevelsTx changes the level of base timelines, whose rows are locked, and the flags of
// their posts. Many posts are left to blocks (upkeep.go). It locks the posts, and the
// further ones that the caller will change, together, in the order of their ids.
func (s *core) setLevelsTx(ctx context.Context, tx pgx.Tx, timelines []int64, level Level, further ...int64) error {
	_, err := tx.Exec(ctx, `UPDATE timelines SET access = @level WHERE id = ANY(@ids) AND access <> 3`,
		pgx.StrictNamedArgs{"ids": timelines, "level": level})
	if err != nil {
		return fmt.Errorf("set level: %w", err)
	}
	many, err := s.manyToFlagTx(ctx, tx, timelines)
	if err != nil {
		return err
	}
	if len(many) > 0 {
		if err := s.announceTx(ctx, tx, Upkeep{}); err != nil {
			return err
		}
	}
	const posts = `
		SELECT post_id FROM timeline_entries WHERE timeline_id = ANY(@few) UNION SELECT unnest(@further::bigint[])`
	few := slices.DeleteFunc(slices.Clone(timelines), func(id int64) bool { return slices.Contains(many, id) })
	rows, err := tx.Query(ctx, posts, pgx.StrictNamedArgs{"few": few, "further": further})
	ids, err := collectIDs(rows, err, "posts of a changed level")
	if err != nil {
		return err
	}
	return flagTx(ctx, tx, ids)
}

// flagFew is the largest number of posts, present and former, of a feed whose flags follow
// its level in the request.
const flagFew = 500

// manyToFlagTx returns the timelines with more posts than that, and records that their
// flags have to follow, from the first post on.
func (s *core) manyToFlagTx(ctx context.Context, tx pgx.Tx, timelines []int64) (many []int64, err error) {
	const note = `
		WITH many AS MATERIALIZED (
			SELECT id FROM unnest(@ids::bigint[]) AS t (id)
			WHERE @few::bigint < (SELECT count(*) FROM (
				SELECT FROM timeline_entries WHERE timeline_id = t.id LIMIT @few::bigint + 1) e)
		), noted AS (
			INSERT INTO unflagged_timelines (timeline_id) SELECT id FROM many ORDER BY id
			ON CONFLICT (timeline_id) DO UPDATE SET after = 0
		)
		SELECT id FROM many`
	rows, err := tx.Query(ctx, note, pgx.StrictNamedArgs{"ids": timelines, "few": int64(s.flagFew)})
	return collectIDs(rows, err, "flags to follow")
}

// flagTx sets the flags of these posts by the levels of their decisive timelines. It locks
// the posts before the statement that reads the levels. So it waits for, and sees, a post
// that moves meanwhile, and a change of level of a second timeline with the same post.
//
// A post that is deleted while this waits for it stays as it is: deleted_at is checked
// again on the row as it is then. Other changes of a post do not concern its flags.
// Versions do not move: levels are decided at render.
func flagTx(ctx context.Context, tx pgx.Tx, posts []int64) error {
	const lock = `SELECT FROM posts WHERE id = ANY(@posts) ORDER BY id FOR NO KEY UPDATE`
	const flags = `
		UPDATE posts p
		SET is_public = f.is_public
		FROM (
			SELECT p.id, ` + publicColumn + `
			FROM posts p JOIN timelines t ON t.id = ANY(p.decisive)
			WHERE p.id = ANY(@posts)
			GROUP BY p.id
		) f
		WHERE p.id = f.id AND p.deleted_at IS NULL
			AND p.is_public <> f.is_public`
	for _, query := range []string{lock, flags} {
		if _, err := tx.Exec(ctx, query, pgx.StrictNamedArgs{"posts": posts}); err != nil {
			return fmt.Errorf("set flags: %w", err)
		}
	}
	return nil
}

// publicColumn computes a post's flag from its decisive timelines t.
const publicColumn = `bool_or(t.access = 0) AS is_public`

// manyReaders is the largest number of people whose rivers are invalidated one by one. For
// more it is quicker to name the feed, or everybody.
const manyReaders = 100

// invalidatedByLevelTx returns the rivers that a change of level invalidates: those of people who
// may read the feed now and could not before, or the other way round.
//
//   - Between public and protected these are anonymous visitors and the people the feed
//     excludes.
//   - For a feed without posts, only pages made of the account's timelines, and home feeds
//     and lists with the feed, get other timelines.
//   - Otherwise it is nearly everybody: the posts may stand anywhere.
//
// An admission or exclusion at the same time waits for the feed's lock, or was waited for
// (setReader).
func invalidatedByLevelTx(ctx context.Context, tx pgx.Tx, feed int64, was, level Level) ([]Replace, error) {
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
	if was < Private && level < Private && len(excluded) <= manyReaders {
		replaced := []Replace{{ViewerID: 0}}
		for _, id := range excluded {
			replaced = append(replaced, Replace{ViewerID: id})
		}
		return replaced, nil
	}
	if empty {
		return []Replace{{AccountID: owner}}, nil
	}
	return []Replace{{Everybody: true}}, nil
}
