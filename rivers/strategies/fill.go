package strategies

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/rivers"
	"riverrun/timelines/snapshot"
)

// errGone: the feed was retired, or its epoch is over.
var errGone = errors.New("feed is gone")

// Fill implements Filler.
func (s *stored) Fill(ctx context.Context, viewer int64) error { return s.fill(ctx, viewer, false) }

// fill makes a feed and puts it in place. anew says that one that stands, or is being built,
// may be of a state before the change that asks. It is the same protocol as a river's build:
// the feed is registered, then the snapshots are taken, and a writer writes into feeds that
// are being built as into those that live.
func (s *stored) fill(ctx context.Context, viewer int64, anew bool) error {
	for range retries {
		b, err := s.register(ctx, viewer, anew)
		if err != nil || b.done {
			return err
		}
		err = s.build(ctx, viewer, b)
		if err == nil || !errors.Is(err, errGone) {
			return err
		}
		// A later fill took its place. That one knows the change too.
		anew = false
	}
	return fmt.Errorf("%s feed of account %d keeps vanishing: %w", s.strategy, viewer, rivers.ErrUnavailable)
}

// building is a feed that is being filled.
type building struct {
	id    int64
	floor int64 // at and above this place it is filled
	done  bool  // a feed is live already
}

// register makes the row of a feed that is to be filled, or joins one.
//
// Two callers may come at once with anew. The second then finds the first one's row when it
// inserts its own. That row was not yet committed when the second looked for rows to retire, and
// so it was registered after the second one's change. Its builder sees the change.
func (s *stored) register(ctx context.Context, viewer int64, anew bool) (b building, err error) {
	const retire = `
		UPDATE home_feeds f SET state = 'retired', retired_at = clock_timestamp()
		WHERE f.id IN (SELECT id FROM home_feeds WHERE viewer_id = @viewer AND strategy = @strategy AND state <> 'retired' ORDER BY id FOR UPDATE)
			AND (f.state = 'building' AND @anew OR f.setting <> @setting OR f.epoch IS DISTINCT FROM (SELECT epoch FROM clock))`
	const insert = `
		INSERT INTO home_feeds (id, viewer_id, strategy, setting, epoch)
		SELECT @id, @viewer, @strategy, @setting, epoch FROM clock
		WHERE @anew OR NOT EXISTS (SELECT FROM home_feeds WHERE viewer_id = @viewer AND strategy = @strategy AND state = 'live')
		ON CONFLICT (viewer_id, strategy) WHERE state = 'building' DO NOTHING`
	const find = `
		SELECT id, floor_place, state = 'live' FROM home_feeds
		WHERE viewer_id = @viewer AND strategy = @strategy AND state <> 'retired' AND setting = @setting
		ORDER BY state = 'building' DESC LIMIT 1`
	for range retries {
		args := s.name(viewer)
		args["anew"], args["setting"] = anew, s.setting
		inserted := s.name(viewer)
		inserted["anew"], inserted["setting"], inserted["id"] = anew, s.setting, newID()
		err = pgx.BeginFunc(ctx, s.Secondary, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, retire, args); err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, insert, inserted); err != nil {
				return err
			}
			found := s.name(viewer)
			found["setting"] = s.setting
			return tx.QueryRow(ctx, find, found).Scan(&b.id, &b.floor, &b.done)
		})
		if !errors.Is(err, pgx.ErrNoRows) {
			break
		}
		// There is no clock, or a server of another setting registered a feed meanwhile.
		if err = s.Rivers.RefreshAccess(ctx); err != nil {
			return b, err
		}
	}
	if err != nil {
		return b, fmt.Errorf("register feed: %w", err)
	}
	return b, nil
}

// build fills a registered feed from where it is filled, chunk by chunk, and swaps it in. The
// chunks are of different snapshots. A change between two of them is written by its writer,
// who finds the feed, and stamps decide between the two. errGone means that it is the present
// feed no more.
func (s *stored) build(ctx context.Context, viewer int64, b building) error {
	limit := s.chunkSize
	if s.keep > 0 {
		limit = s.keep
	}
	for floor := b.floor; ; {
		deadline, err := s.deadline(ctx)
		if err != nil {
			return err
		}
		entries, scanned, err := s.chunk(ctx, viewer, b.id, floor, limit)
		if err != nil {
			return err
		}
		pause(ctx, afterSnapshot)
		inTime, err := s.write(ctx, entries, deadline)
		if err != nil {
			return err
		}
		if !inTime {
			continue
		}
		floor = scanned.Floor
		if scanned.Finished || s.keep > 0 {
			pause(ctx, beforeSwap)
			return s.swap(ctx, viewer, b.id, floor)
		}
		if err := s.progress(ctx, b.id, floor); err != nil {
			return err
		}
	}
}

// chunk reads the next posts of a viewer's home below a place, with their versions, from one
// snapshot.
func (s *stored) chunk(ctx context.Context, viewer, feed, floor int64, limit int) (entries []stamped, scanned snapshot.Scanned, err error) {
	err = s.Primary.InSnapshot(ctx, func(sn *snapshot.Snapshot) error {
		home, err := sn.Home(ctx, viewer, false)
		if err != nil {
			return err
		}
		scanned, err = scanOn(ctx, sn, scanBelow(viewer, home, rivers.Cursor{Place: floor, PostID: math.MinInt64}, limit))
		if err != nil {
			return err
		}
		versions, err := versionsOf(ctx, sn, scanned.Posts)
		if err != nil {
			return err
		}
		for _, p := range scanned.Posts {
			entries = append(entries, stamped{feed: feed, Entry: Entry(p), version: versions[p.PostID]})
		}
		return nil
	})
	return entries, scanned, err
}

// versionsOf returns the versions of posts, by id.
func versionsOf(ctx context.Context, sn *snapshot.Snapshot, posts []snapshot.Placed) (map[int64]int64, error) {
	ids := make([]int64, len(posts))
	for i, p := range posts {
		ids[i] = p.PostID
	}
	rows, err := sn.Tx().Query(ctx, `SELECT id, version FROM posts WHERE id = ANY(@posts)`, pgx.StrictNamedArgs{"posts": ids})
	if err != nil {
		return nil, fmt.Errorf("read versions: %w", err)
	}
	versions := make(map[int64]int64, len(ids))
	var id, version int64
	if _, err := pgx.ForEachRow(rows, []any{&id, &version}, func() error { versions[id] = version; return nil }); err != nil {
		return nil, fmt.Errorf("read versions: %w", err)
	}
	return versions, nil
}

// deadline is until when a writer may write who looks up feeds, or takes a snapshot, from now
// on.
func (s *stored) deadline(ctx context.Context) (at time.Time, err error) {
	err = s.Secondary.QueryRow(ctx, `SELECT clock_timestamp() + @within::interval`, pgx.StrictNamedArgs{"within": s.within}).Scan(&at)
	if err != nil {
		return at, fmt.Errorf("read clock: %w", err)
	}
	return at, nil
}

// progress remembers how far a feed is filled, for a fill that is cut off.
func (s *stored) progress(ctx context.Context, feed, floor int64) error {
	const query = `UPDATE home_feeds SET floor_place = @floor, visited_at = clock_timestamp() WHERE id = @id AND state = 'building'`
	tag, err := s.Secondary.Exec(ctx, query, pgx.StrictNamedArgs{"id": feed, "floor": floor})
	if err != nil {
		return fmt.Errorf("keep the progress of a feed: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return errGone
	}
	return nil
}

// swap puts a filled feed in the place of the live one.
func (s *stored) swap(ctx context.Context, viewer, feed, floor int64) error {
	const retire = `
		UPDATE home_feeds f SET state = 'retired', retired_at = clock_timestamp()
		WHERE f.id IN (SELECT id FROM home_feeds WHERE viewer_id = @viewer AND strategy = @strategy AND state <> 'retired' ORDER BY id FOR UPDATE)
			AND f.state = 'live' AND EXISTS (SELECT FROM home_feeds b WHERE b.id = @id AND b.state = 'building')`
	const enliven = `
		UPDATE home_feeds SET state = 'live', floor_place = @floor, floor_post = @post, visited_at = clock_timestamp()
		WHERE id = @id AND state = 'building' AND epoch = (SELECT epoch FROM clock)`
	err := pgx.BeginFunc(ctx, s.Secondary, func(tx pgx.Tx) error {
		args := s.name(viewer)
		args["id"] = feed
		if _, err := tx.Exec(ctx, retire, args); err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, enliven, pgx.StrictNamedArgs{"id": feed, "floor": floor, "post": int64(math.MinInt64)})
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			return errGone
		}
		if s.keep == 0 {
			return nil
		}
		// Posts that were pushed meanwhile came on top of as many as it keeps.
		buckets, err := s.bucketsTx(ctx, tx, []stamped{{feed: feed, Entry: bottom}})
		if err != nil {
			return err
		}
		return s.saveTx(ctx, tx, changed{buckets: s.trim(buckets[feed], map[int64]bool{feed: true})})
	})
	if err != nil {
		return fmt.Errorf("swap feed: %w", err)
	}
	return nil
}
