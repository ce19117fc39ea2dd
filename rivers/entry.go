package rivers

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"riverrun/timelines"
	"riverrun/timelines/mutants"
)

// entry is one post in one river as stored.
type entry struct {
	River   int64
	PostID  int64
	Version int64
	Place   int64 // fresh_at
	Deleted bool  // a tombstone
	Overlay overlay
}

// overlay is what differs per viewer in an entry. It is a pure function of the
// primary store and never of the fold's version, and holds ids only: whether the
// viewer may still know of a timeline is decided at render.
type overlay struct {
	// Timelines of the river that hold the post, in order of entrance: why it is
	// here. Of a search, those it asks for that hold the post.
	Timelines []int64 `json:"t,omitempty"`
	// Liked: the viewer likes the post.
	Liked bool `json:"l,omitempty"`
	// Faved: the viewer keeps the post.
	Faved bool `json:"f,omitempty"`
	// Authors, of a search, wrote the texts by which it finds the post; see
	// timelines.Match.
	Authors []int64 `json:"a,omitempty"`
}

// entryOf computes the entry of a post in a river of timelines.
// Every writer, build and check computes it here, so that they can only agree.
//
// The place is max(post.fresh_at, min(entered_at) over the river's timelines
// that hold or held the post); the post is in the river while at least one of
// them holds it and its viewer may read it (source: 000, DESIGN §5).
func entryOf(g generation, st *timelines.PostState) entry {
	e := entry{River: g.id, PostID: st.ID, Version: st.Version, Place: st.FreshAt}
	first, holds := int64(0), false
	for _, h := range st.Held {
		if !g.lists(h.TimelineID) {
			continue
		}
		if first == 0 || (h.EnteredAt < first) != mutants.On(mutants.LaterLikeLifts) {
			first = h.EnteredAt
		}
		if !h.Withdrawn {
			holds = true
			e.Overlay.Timelines = append(e.Overlay.Timelines, h.TimelineID)
		}
	}
	e.Place = max(st.FreshAt, first)
	viewer := g.name.UserID
	if g.name.Order == Created {
		e.Place = st.CreatedAt
	}
	_, reads := st.Readers[viewer]
	if st.Deleted || !holds || !reads {
		e.Deleted = true
		e.Overlay = overlay{}
		return e
	}
	_, e.Overlay.Liked = st.Likers[viewer]
	_, e.Overlay.Faved = st.Favers[viewer]
	return e
}

// queueEntries adds to a batch the write of these entries: one statement, in key
// order. A write applies only if its stamp is greater than the one there and the
// deadline has not passed; it never looks at the river's floor.
func queueEntries(b *pgx.Batch, entries []entry, deadline time.Time, wrote *int64) error {
	if len(entries) == 0 {
		return nil
	}
	slices.SortFunc(entries, func(a, b entry) int {
		if a.River != b.River {
			return compareInt(a.River, b.River)
		}
		return compareInt(a.PostID, b.PostID)
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
	const query = `
		INSERT INTO entries (river_id, post_id, version, fresh_at, deleted, per_river_folded)
		SELECT river_id, post_id, version, fresh_at, deleted, overlay::jsonb
		FROM unnest(@rivers::bigint[], @posts::bigint[], @versions::bigint[], @places::bigint[],
			@deleted::boolean[], @overlays::text[]) AS e(river_id, post_id, version, fresh_at, deleted, overlay)
		WHERE clock_timestamp() < @deadline
		ORDER BY river_id, post_id
		ON CONFLICT (river_id, post_id) DO UPDATE SET
			version = excluded.version, fresh_at = excluded.fresh_at, deleted = excluded.deleted,
			per_river_folded = excluded.per_river_folded, updated_at = clock_timestamp()
		WHERE excluded.version > entries.version AND clock_timestamp() < @deadline`
	write := mutants.SQL(mutants.EntryVersions, query, "excluded.version > entries.version AND", "")
	write = mutants.SQL(mutants.EntryDeadline, write, "entries.version AND clock_timestamp() < @deadline", "entries.version")
	b.Queue(write, pgx.StrictNamedArgs{
		"rivers": riverIDs, "posts": posts, "versions": versions, "places": places,
		"deleted": deleted, "overlays": overlays, "deadline": deadline,
	}).Exec(func(tag pgconn.CommandTag) error {
		*wrote += tag.RowsAffected()
		return nil
	})
	return nil
}

// write stores folds and entries in one transaction and one round trip: folds
// first, each table in key order, so that writers wait for each other and never
// in a circle. It reports whether the deadline held to the end; if not, some of
// it may be missing and the caller starts again at its look-up.
func (s *Store) write(ctx context.Context, entries []entry, folds []*Fold, asof time.Time) (inTime bool, err error) {
	return s.writeIn(ctx, s.db, entries, folds, asof)
}

// writeIn is write within a transaction, or by a pool, which makes one.
func (s *Store) writeIn(ctx context.Context, db interface {
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}, entries []entry, folds []*Fold, asof time.Time,
) (inTime bool, err error) {
	deadline := asof.Add(s.deadline)
	b := &pgx.Batch{}
	if mutants.On(mutants.Tombstones) {
		entries = slices.DeleteFunc(entries, func(e entry) bool { return e.Deleted })
	}
	if err := queueFolds(b, folds, deadline); err != nil {
		return false, err
	}
	var wrote int64
	if err := queueEntries(b, entries, deadline, &wrote); err != nil {
		return false, err
	}
	b.Queue(`SELECT clock_timestamp() < @deadline`, pgx.StrictNamedArgs{"deadline": deadline}).
		QueryRow(func(row pgx.Row) error { return row.Scan(&inTime) })
	if err := db.SendBatch(ctx, b).Close(); err != nil {
		return false, fmt.Errorf("write rivers: %w", err)
	}
	s.opts.Metrics.Wrote(int(wrote))
	return inTime, nil
}

// now is the secondary server's clock, by which all deadlines are kept.
func (s *Store) now(ctx context.Context) (time.Time, error) {
	var t time.Time
	if err := s.db.QueryRow(ctx, `SELECT clock_timestamp()`).Scan(&t); err != nil {
		return t, fmt.Errorf("read clock: %w", err)
	}
	return t, nil
}
