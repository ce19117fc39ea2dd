package rivers

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/snapshot"
)

// entry is one post in one river, as it is stored.
type entry struct {
	River   int64
	PostID  int64
	Version int64
	Place   int64 // fresh_at
	Deleted bool  // a tombstone
	Overlay overlay
}

func postIDs(entries []entry) []int64 {
	posts := make([]int64, len(entries))
	for i, e := range entries {
		posts[i] = e.PostID
	}
	return posts
}

// overlay is the part of an entry that differs per viewer. It is a pure function of the
// primary store, never of the fold's version, and holds only ids: whether the viewer may
// still know of a timeline is decided at render.
type overlay struct {
	// Timelines are the river's timelines that hold the post, in order of entrance: why it is
	// here. In a search they are the places that the query asks for and that hold the post.
	Timelines []int64 `json:"t,omitempty"`
	// Liked: the viewer likes the post.
	Liked bool `json:"l,omitempty"`
	// Faved: the viewer keeps the post.
	Faved bool `json:"f,omitempty"`
	// Authors is set in searches only: the authors of the texts by which the query finds the
	// post (see snapshot.Match).
	Authors []int64 `json:"a,omitempty"`
}

// entryOf computes the entry of a post in a river of timelines. Every writer, build and
// check computes it here, so that they cannot disagree.
//
// The place is max(post.fresh_at, min(entered_at) over the river's timelines that hold or
// once held the post). The post is in the river while at least one of them holds it and the
// river's viewer may read it (source: 000). Among notifications its place is that of the last
// event, which is when it entered.
func entryOf(g generation, st *snapshot.PostState) entry {
	first, holds, o := int64(0), false, overlay{}
	for _, m := range st.Memberships {
		if !g.lists(m.TimelineID) {
			continue
		}
		if first == 0 || m.EnteredAt < first {
			first = m.EnteredAt
		}
		if !m.Removed {
			holds = true
			o.Timelines = append(o.Timelines, m.TimelineID)
		}
	}
	place := max(st.FreshAt, first)
	if specs[g.name.Kind].notices {
		place = first
	}
	return newEntry(g, st, place, holds, o)
}

// newEntry makes the entry of a post at a place in a river of fresh order. It is a
// tombstone if the river does not hold the post or its viewer may not read it.
func newEntry(g generation, st *snapshot.PostState, place int64, holds bool, o overlay) entry {
	viewer := g.name.UserID
	if g.name.Order == Created {
		place = st.CreatedAt
	}
	e := entry{River: g.id, PostID: st.ID, Version: st.Version, Place: place}
	if _, reads := st.Readers[viewer]; st.Deleted || !holds || !reads {
		e.Deleted = true
		return e
	}
	_, o.Liked = st.Likers[viewer]
	_, o.Faved = st.Favers[viewer]
	e.Overlay = o
	return e
}

// writeEntries writes the rows of entryArgs, in key order, after the folds of the same statement. A
// write applies only if its stamp is greater than the stored one, the deadline has not
// passed, and the epoch is still the same. It never looks at the river's floor.
const writeEntries = `
		INSERT INTO entries (river_id, post_id, version, fresh_at, deleted, per_river_folded)
		SELECT river_id, post_id, version, fresh_at, deleted, overlay::jsonb
		FROM unnest(@rivers::bigint[], @posts::bigint[], @versions::bigint[], @places::bigint[],
			@deleted::boolean[], @overlays::text[]) AS e(river_id, post_id, version, fresh_at, deleted, overlay)
		WHERE (SELECT count(*) FROM folded) >= 0 AND clock_timestamp() < @deadline AND ` + inEpoch + `
		ORDER BY river_id, post_id
		ON CONFLICT (river_id, post_id) DO UPDATE SET
			version = excluded.version, fresh_at = excluded.fresh_at, deleted = excluded.deleted,
			per_river_folded = excluded.per_river_folded, updated_at = clock_timestamp()
		WHERE excluded.version > entries.version AND clock_timestamp() < @deadline
		RETURNING 1`

// entryArgs adds the arguments of writeEntries.
func entryArgs(args pgx.StrictNamedArgs, entries []entry) error {
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.River, b.River), cmp.Compare(a.PostID, b.PostID))
	})
	n := len(entries)
	riverIDs, posts, versions, places := make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n)
	deleted, overlays := make([]bool, n), make([]string, n)
	for i, e := range entries {
		riverIDs[i], posts[i], versions[i], places[i], deleted[i] = e.River, e.PostID, e.Version, e.Place, e.Deleted
		doc, err := json.Marshal(e.Overlay)
		if err != nil {
			return fmt.Errorf("encode overlay: %w", err)
		}
		overlays[i] = string(doc)
	}
	args["rivers"], args["posts"], args["versions"], args["places"] = riverIDs, posts, versions, places
	args["deleted"], args["overlays"] = deleted, overlays
	return nil
}

// write stores folds and entries in one statement. Folds come first, because the entries ask
// for them, and each table is written in key order, so that writers wait for each other and never in
// a circle. It reports whether it was in time. If not, some of the rows may be missing, and
// the caller starts again at its look-up.
func (s *Store) write(ctx context.Context, entries []entry, folds []*Fold, asof moment) (inTime bool, err error) {
	return s.writeIn(ctx, s.db, entries, folds, asof)
}

// writeIn is write within a transaction, or by a pool.
func (s *Store) writeIn(ctx context.Context, db interface {
	QueryRow(ctx context.Context, query string, args ...any) pgx.Row
}, entries []entry, folds []*Fold, asof moment,
) (inTime bool, err error) {
	args := s.bind(pgx.StrictNamedArgs{}, asof)
	if err := foldArgs(args, folds); err != nil {
		return false, err
	}
	if err := entryArgs(args, entries); err != nil {
		return false, err
	}
	// The time is read when all rows are counted, and so written.
	query := `
		WITH folded AS (` + writeFolds + `
		), written AS (` + writeEntries + `
		)
		SELECT clock_timestamp() < @deadline AND ` + inEpoch + `, n
		FROM (SELECT count(*) AS n FROM written HAVING (SELECT count(*) FROM folded) >= 0) w`
	var wrote int
	if err := db.QueryRow(ctx, query, args).Scan(&inTime, &wrote); err != nil {
		return false, fmt.Errorf("write rivers: %w", err)
	}
	s.opts.Metrics.Wrote(wrote)
	return inTime, nil
}
