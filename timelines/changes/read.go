package changes

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Kind says what a row of the log is about.
type Kind string

// The kinds.
const (
	// Post: the post PostID was made, changed, moved or deleted.
	Post Kind = "post"
	// Viewer: what the account AccountID may read changed.
	Viewer Kind = "viewer"
	// Level: who may read the timeline TimelineID changed.
	Level Kind = "level"
	// Unseen: what somebody wrote is shown to the staff alone, or again to all.
	Unseen Kind = "unseen"
)

// Change is a row of the log.
type Change struct {
	// Seq is its number. Numbers grow, with gaps.
	Seq int64
	// Shard and ID are what it had in the outbox. Together they name the change, also if the log is sent again.
	Shard int16
	ID    int64
	Kind  Kind
	// PostID, AccountID and TimelineID are 0 in changes of other kinds.
	PostID, AccountID, TimelineID int64
	// Version is that of the post after the change; by now it may have a later one.
	Version int64
	MadeAt  time.Time
	// Places are the base timelines that the post stood in before the change; none if it was made.
	Places []int64
}

// A GoneError says that the log does not go on after the number asked for: rows after it are not kept any more, or the number
// is of another history of the store.
type GoneError struct {
	// First is the number from which on a reader misses nothing that is kept. It must first read anew whatever it keeps.
	First int64
}

func (e *GoneError) Error() string { return fmt.Sprintf("the log begins after %d", e.First) }

// Bounds are the number after which everything is kept, and the last number.
type Bounds struct{ First, Last int64 }

// Bounds returns where the log begins and ends.
func (s *Store) Bounds(ctx context.Context) (b Bounds, err error) {
	if err := s.pool.QueryRow(ctx, `SELECT trimmed, seq FROM changes_head`).Scan(&b.First, &b.Last); err != nil {
		return b, fmt.Errorf("read bounds of the log of changes: %w", err)
	}
	return b, nil
}

// Read returns at most limit rows after a number, in order. The error is a *GoneError if rows after it are missing.
func (s *Store) Read(ctx context.Context, after int64, limit int) (found []Change, err error) {
	const query = `
		SELECT seq, shard, id, kind, post_id, version, account_id, timeline_id, made_at, places FROM changes
		WHERE slot = ANY(@slots::smallint[]) AND seq > @after ORDER BY seq LIMIT @limit`
	until := s.today() + 1 // another node's clock may be ahead
	for {
		rows, err := s.pool.Query(ctx, query, pgx.StrictNamedArgs{"after": after, "limit": limit, "slots": slotsFrom(after, until)})
		if err == nil {
			found, err = pgx.CollectRows(rows, pgx.RowToStructByName[Change])
		}
		if err != nil {
			return nil, fmt.Errorf("read the log of changes: %w", err)
		}
		// Asked later than the rows, so if any of them were removed by then, the bounds say so.
		b, err := s.Bounds(ctx)
		if err == nil && (after < b.First || after > b.Last) {
			err = &GoneError{b.First}
		}
		if err != nil {
			return nil, err
		}
		day := b.Last >> dayBit
		if day <= until {
			return found, nil
		}
		until = day // a clock was ahead by more than a day, and the numbers stay so
	}
}

// slotsFrom returns the tables of the ring that may have numbers after one, until the end of a day.
func slotsFrom(after, until int64) []int16 {
	var slots []int16
	for d := max(after>>dayBit, until-(ring-1)); d <= until; d++ {
		slots = append(slots, int16(d%ring))
	}
	return slots
}

// Check returns what is wrong with the log: posts whose changes it and the outbox have with gaps, doubled or out of order, or
// not up to the present version.
func (s *Store) Check(ctx context.Context) (wrong []string, err error) {
	const query = `
		SELECT format('post %s: versions %s to %s in %s rows, in order: %s; the post has version %s', post_id, least, most, n, ordered, version)
		FROM (
			SELECT c.post_id, min(c.version) AS least, max(c.version) AS most, count(*) AS n,
				bool_and(c.version > coalesce(c.before, 0)) AS ordered, min(p.version) AS version
			FROM (
				SELECT post_id, version, lag(version) OVER (PARTITION BY post_id ORDER BY waits, at) AS before
				FROM (
					SELECT post_id, version, false AS waits, seq AS at FROM changes WHERE kind = 'post'
					UNION ALL SELECT post_id, version, true, id FROM outbox WHERE kind = 'post') all_rows
			) c JOIN posts p ON p.id = c.post_id
			GROUP BY c.post_id
		) posts
		WHERE NOT ordered OR n <> most - least + 1 OR most <> version
		ORDER BY post_id LIMIT 100`
	rows, err := s.pool.Query(ctx, query)
	if err == nil {
		wrong, err = pgx.CollectRows(rows, pgx.RowTo[string])
	}
	if err != nil {
		return nil, fmt.Errorf("check the log of changes: %w", err)
	}
	return wrong, nil
}
