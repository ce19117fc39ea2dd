package rivers

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/jackc/pgx/v5"
)

// Into a search that stands two kinds of writers write: who brings it up, and who
// extends it. Each has read a snapshot of the primary store before, and may be
// overtaken by one who read a newer one. Of an entry that stands, the greater stamp
// says so, as everywhere. But where a search did not find a post nothing stands: a
// tombstone for each search that is open and each post that changed would be nearly
// all that is ever written here. What holds off who did find it in an older snapshot
// is what the river has seen:
//
//   - Whoever writes locks the rivers' rows first, in the order of their ids, and
//     then reads what stands there and what they have seen. No other writer of these
//     rivers writes in between.
//   - Who reads a snapshot of the primary store after a river saw a fold, reads the
//     post at that version or a later one. So if the river has seen a fold newer than
//     what a writer read of the post, who marked it so read a newer state, and what is
//     there, or is not, is by that: the writer leaves the post alone.
//   - If it has not seen that fold, whoever brings it up next looks at the post, and
//     its lock comes later: it finds the entry, and makes a tombstone of it if need be.
//   - A river's seen only moves on: it is marked by who found it as it was read.
//     Otherwise another has moved it on, and what was looked at is looked at once more.
//
// A build needs none of this: nobody else writes into a river that does not stand yet,
// and what it has seen when it does is older than the build's snapshot.
//
// The rows of rivers are locked before those of folds and entries; nobody who holds
// those asks for a row of rivers.

// writeSearches writes into searches that stand: those of the entries that nobody
// overtook, each if its stamp is greater, and tombstones only where an entry stands.
// Those of rivers that do not stand any more are left out. It marks the rivers as
// having seen what at says, unless that is nothing. It reports whether the deadline
// held and any of the rivers stands; if not, nothing is marked and the caller starts
// again at its look-up.
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

// lockSearches returns those of the rivers that stand, locked.
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

// markSeen marks rivers, which are locked, as having seen what at says, if they are as
// they were read.
func markSeen(ctx context.Context, tx pgx.Tx, rivers []lateSearch, at readPoint) error {
	ids, was := make([]int64, len(rivers)), make([]string, len(rivers))
	for i, r := range rivers {
		ids[i], was[i] = r.id, r.seen
	}
	const query = `
		UPDATE rivers r SET updated_at = greatest(r.updated_at, @asof), seen = @seen::text::pg_snapshot
		FROM unnest(@ids::bigint[], @was::text[]) w(id, seen)
		WHERE r.id = w.id AND r.seen::text = w.seen AND r.state = 'live'`
	_, err := tx.Exec(ctx, query, pgx.StrictNamedArgs{"ids": ids, "was": was, "asof": at.asof, "seen": at.seen})
	return err
}

// placement is of a post in a river.
type placeOf struct{ river, post int64 }

// known is what searches hold of some posts, and have seen of them.
type known struct {
	stands map[placeOf]int64 // versions of the entries
	// overtook: they have seen the post at a later version than the writer has.
	overtook map[placeOf]struct{}
	rivers   []int64 // in order
}

// lacks reports whether an entry is to be written.
func (k known) lacks(e entry) bool {
	at := placeOf{e.River, e.PostID}
	version, stands := k.stands[at]
	_, overtook := k.overtook[at]
	_, live := slices.BinarySearch(k.rivers, e.River)
	return live && !overtook && version < e.Version && (stands || !e.Deleted)
}

// readKnown reads what rivers, which are locked, hold and have seen of the posts of
// these entries. All entries of a post are of one snapshot.
func readKnown(ctx context.Context, tx pgx.Tx, rivers []int64, entries []entry) (known, error) {
	k := known{stands: map[placeOf]int64{}, overtook: map[placeOf]struct{}{}, rivers: rivers}
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
	// In this form each river is looked into by its own rows, not each post by all the
	// rivers that hold it.
	const query = `
		SELECT e.river_id, e.post_id, e.version
		FROM unnest(@rivers::bigint[]) r(id) CROSS JOIN unnest(@posts::bigint[]) p(id)
		CROSS JOIN LATERAL (
			SELECT * FROM entries e WHERE e.river_id = r.id AND e.post_id >= p.id
			ORDER BY e.post_id LIMIT 1) e
		WHERE e.post_id = p.id
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
	var at placeOf
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
