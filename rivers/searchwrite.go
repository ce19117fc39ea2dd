package rivers

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/jackc/pgx/v5"
)

// Two kinds of writers write into a live search: its readers, who bring it up to date, and
// those who extend it. Each has read a snapshot of the primary store before, and may be
// overtaken by a writer with a newer snapshot. If an entry stands, the greater stamp
// decides, as everywhere. But where a search does not hold a post, nothing stands: a
// tombstone for each open search and each changed post would be nearly all that is ever
// written here. So what the river has seen decides, when a writer found the post in an
// older snapshot:
//
//   - A writer first locks the rivers' rows, in the order of their ids, and then reads
//     which entries stand there and what the rivers have seen. No other writer of these
//     rivers writes in between.
//   - A snapshot of the primary store that is taken after a river saw a fold has the post
//     at the fold's version or a later one. So if the river has seen a newer fold than the
//     writer's version of the post, the writer who marked it so had read a newer state. The
//     entry that stands, or is missing, is that writer's, and this one leaves the post
//     alone.
//   - If the river has not seen that fold, its next update matches the post. The update's
//     lock comes later, so it finds the entry, and replaces it by a tombstone if need be.
//   - A river's seen only moves on: a writer marks it only if it is as the writer read it.
//     If it is not, another writer has moved it on, and the same posts are matched once
//     more.
//
// A build needs none of this. Nobody else writes into a river that is not live yet, and
// what the river has seen then is older than the build's snapshot.
//
// The rows of rivers are locked before those of folds and entries. No holder of the latter
// asks for a row of rivers.

// writeSearches writes into live searches the entries that no newer writer overtook, each
// if its stamp is greater, and tombstones only where an entry stands. It leaves out rivers
// that are not live any more. It marks the rivers as having seen at.seen, unless that is
// empty. It reports whether it was in time and any of the rivers is live. If not, nothing
// is marked, and the caller starts again at its look-up.
func (s *Store) writeSearches(ctx context.Context, rivers []lateSearch, entries []entry, folds []*Fold, at readPoint) (inTime bool, err error) {
	err = pgx.BeginFunc(ctx, s.db, func(tx pgx.Tx) error {
		stand, err := lockSearches(ctx, tx, rivers)
		if err != nil || len(stand) == 0 {
			return err
		}
		k, err := readKnown(ctx, tx, stand, entries)
		if err != nil {
			return err
		}
		entries = slices.DeleteFunc(entries, func(e entry) bool { return !k.lacks(e) })
		if inTime, err = s.writeIn(ctx, tx, entries, folds, at.asof); err != nil || !inTime || at.seen == "" {
			return err
		}
		return markSeen(ctx, tx, rivers, at)
	})
	if err != nil {
		return false, fmt.Errorf("write searches: %w", err)
	}
	return inTime, nil
}

// lockSearches locks the live ones of these rivers and returns them.
func lockSearches(ctx context.Context, tx pgx.Tx, rivers []lateSearch) ([]int64, error) {
	ids := make([]int64, len(rivers))
	for i, r := range rivers {
		ids[i] = r.id
	}
	const query = `SELECT id FROM rivers WHERE id = ANY(@ids) AND state = 'live' ORDER BY id FOR UPDATE`
	rows, err := tx.Query(ctx, query, pgx.StrictNamedArgs{"ids": ids})
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[int64])
}

// markSeen marks locked rivers as having seen at.seen, if they are as they were read.
func markSeen(ctx context.Context, tx pgx.Tx, rivers []lateSearch, at readPoint) error {
	ids, was := make([]int64, len(rivers)), make([]string, len(rivers))
	for i, r := range rivers {
		ids[i], was[i] = r.id, r.seen
	}
	const query = `
		UPDATE rivers r SET updated_at = greatest(r.updated_at, @asof), seen = @seen::text::pg_snapshot
		FROM unnest(@ids::bigint[], @was::text[]) w(id, seen)
		WHERE r.id = w.id AND r.seen::text = w.seen AND r.state = 'live'`
	_, err := tx.Exec(ctx, query, pgx.StrictNamedArgs{"ids": ids, "was": was, "asof": at.asof.time, "seen": at.seen})
	return err
}

// placement is a post in a river.
type placement struct{ river, post int64 }

// known is what searches hold and have seen of some posts.
type known struct {
	stands map[placement]int64 // versions of the entries
	// overtook: the river has seen a later version of the post than the writer has.
	overtook map[placement]struct{}
	rivers   []int64 // in order
}

// lacks reports whether an entry must be written.
func (k known) lacks(e entry) bool {
	at := placement{e.River, e.PostID}
	version, stands := k.stands[at]
	_, overtook := k.overtook[at]
	_, live := slices.BinarySearch(k.rivers, e.River)
	return live && !overtook && version < e.Version && (stands || !e.Deleted)
}

// readKnown reads what these locked rivers hold and have seen of the entries' posts. All
// entries of a post are of one snapshot.
func readKnown(ctx context.Context, tx pgx.Tx, rivers []int64, entries []entry) (known, error) {
	k := known{stands: map[placement]int64{}, overtook: map[placement]struct{}{}, rivers: rivers}
	if len(entries) == 0 {
		return k, nil
	}
	versions := map[int64]int64{}
	for _, e := range entries {
		versions[e.PostID] = e.Version
	}
	posts, read := make([]int64, 0, len(versions)), make([]int64, 0, len(versions))
	for post, version := range versions {
		posts, read = append(posts, post), append(read, version)
	}
	// In this form the server looks into each river by its own rows, not for each post into
	// all the rivers that hold it.
	const query = `
		SELECT e.river_id, e.post_id, e.version
		FROM unnest(@rivers::bigint[]) r(id) CROSS JOIN unnest(@posts::bigint[]) p(id)
		CROSS JOIN LATERAL (
			SELECT * FROM entries e WHERE e.post_id = p.id AND e.river_id = r.id LIMIT 1) e
		UNION ALL
		SELECT r.id, f.post_id, @overtook::bigint
		FROM unnest(@posts::bigint[], @read::bigint[]) p(id, version)
		JOIN folds f ON f.post_id = p.id AND f.version > p.version
		JOIN rivers r ON r.id = ANY(@rivers) AND pg_visible_in_snapshot(f.written, r.seen)`
	const overtook = math.MaxInt64
	rows, err := tx.Query(ctx, query, pgx.StrictNamedArgs{
		"rivers": rivers, "posts": posts, "read": read, "overtook": int64(overtook),
	})
	if err != nil {
		return k, err
	}
	var at placement
	var version int64
	_, err = pgx.ForEachRow(rows, []any{&at.river, &at.post, &version}, func() error {
		if version == overtook {
			k.overtook[at] = struct{}{}
			return nil
		}
		k.stands[at] = version
		return nil
	})
	return k, err
}
