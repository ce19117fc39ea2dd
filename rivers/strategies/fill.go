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
func (s *stored) Fill(ctx context.Context, viewer int64) error {
	_, err := s.fill(ctx, viewer, 0, time.Time{})
	return err
}

// A builder gives a sign of life with each chunk. One that is silent for builderDead is taken
// over, at worst to do a part of the work twice. Others look for the end of a build every
// buildWait. A chunk that is late is read again chunkTries times.
const (
	builderDead = 5 * time.Second
	buildWait   = 20 * time.Millisecond
	chunkTries  = 5
)

// fill makes a feed and puts it in place. One that stands, or is being built, will do if it was
// filled with the change of that transaction of the primary store; 0: any will do. It is the
// same protocol as a river's build: the feed is registered, then the snapshots are taken, and a
// writer writes into feeds that are being built as into those that live.
//
// A fill stops at that time, after one chunk at least, and reports that the feed is not whole. The
// next one goes on where it ended. The zero time: it does not stop.
func (s *stored) fill(ctx context.Context, viewer, tx int64, until time.Time) (whole bool, err error) {
	for gone := 0; gone < retries; {
		b, err := s.register(ctx, viewer, tx)
		if err != nil || b.done {
			return b.done, err
		}
		if !b.ours {
			if ended, err := s.await(ctx, b.id, until); err != nil || !ended {
				return false, err
			}
			continue
		}
		whole, err = s.build(ctx, viewer, b, until)
		if err == nil && whole {
			return true, nil
		}
		if !errors.Is(err, errGone) {
			return false, errors.Join(err, s.release(context.WithoutCancel(ctx), b.id))
		}
		gone++ // a later fill took its place
	}
	return false, fmt.Errorf("%s feed of account %d keeps vanishing: %w", s.strategy, viewer, rivers.ErrUnavailable)
}

// building is a feed that is being filled.
type building struct {
	id    int64
	floor int64 // at and above this place it is filled
	done  bool  // a feed is live already
	ours  bool  // to build; otherwise another builder is at work
}

// knowing is the condition on a feed f that it was filled with the change of a transaction.
const knowing = `(@change::bigint = 0 OR pg_visible_in_snapshot(@change::bigint::text::xid8, f.knows))`

// isOver reports whether a time has come; the zero time never comes.
func isOver(at time.Time) bool { return !at.IsZero() && !time.Now().Before(at) }

// await returns when a build has ended or was given up, or at that time.
func (s *stored) await(ctx context.Context, feed int64, until time.Time) (ended bool, err error) {
	const query = `SELECT EXISTS (
		SELECT FROM home_feeds WHERE id = @id AND state = 'building' AND visited_at >= clock_timestamp() - @dead::interval)`
	pause(ctx, waiting)
	tick := time.NewTicker(buildWait)
	defer tick.Stop()
	for !isOver(until) {
		select {
		case <-ctx.Done():
			return false, fmt.Errorf("wait for another's fill of a feed: %w", ctx.Err())
		case <-tick.C:
		}
		var building bool
		args := pgx.StrictNamedArgs{"id": feed, "dead": builderDead}
		if err := s.Secondary.QueryRow(ctx, query, args).Scan(&building); err != nil {
			return false, fmt.Errorf("wait for another's fill of a feed: %w", err)
		}
		if !building {
			return true, nil
		}
	}
	return false, nil
}

// release lets another builder go on at once with a build that failed or was put off.
func (s *stored) release(ctx context.Context, feed int64) error {
	const query = `UPDATE home_feeds SET visited_at = clock_timestamp() - @dead::interval WHERE id = @id AND state = 'building'`
	if _, err := s.Secondary.Exec(ctx, query, pgx.StrictNamedArgs{"id": feed, "dead": builderDead}); err != nil {
		return fmt.Errorf("give up the fill of a feed: %w", err)
	}
	return nil
}

// register makes the row of a feed that is to be filled, takes over one whose builder is dead,
// or finds one that another builder works on. Builds from before the change of that transaction
// are retired. Whether they are is told by a snapshot taken before the row is there; those that
// the build reads are later, and see what it saw.
func (s *stored) register(ctx context.Context, viewer, change int64) (b building, err error) {
	const retire = `
		UPDATE home_feeds f SET state = 'retired', retired_at = clock_timestamp()
		WHERE f.id IN (SELECT id FROM home_feeds WHERE viewer_id = @viewer AND strategy = @strategy AND state <> 'retired' ORDER BY id FOR UPDATE)
			AND (f.state = 'building' AND NOT (` + knowing + `) OR f.setting <> @setting OR f.epoch IS DISTINCT FROM (SELECT epoch FROM clock))`
	const insert = `
		INSERT INTO home_feeds (id, viewer_id, strategy, setting, epoch, knows, sources)
		SELECT @id, @viewer, @strategy, @setting, epoch, @knows::text::pg_snapshot, @sources FROM clock
		WHERE NOT EXISTS (SELECT FROM home_feeds f WHERE viewer_id = @viewer AND strategy = @strategy AND state = 'live' AND ` + knowing + `)
		ON CONFLICT (viewer_id, strategy) WHERE state = 'building' DO NOTHING`
	const claim = `
		UPDATE home_feeds SET visited_at = clock_timestamp()
		WHERE viewer_id = @viewer AND strategy = @strategy AND state = 'building' AND setting = @setting
			AND (id = @id OR visited_at < clock_timestamp() - @dead::interval)`
	const find = `
		SELECT id, floor_place, state = 'live' FROM home_feeds f
		WHERE viewer_id = @viewer AND strategy = @strategy AND setting = @setting
			AND (state = 'building' OR state = 'live' AND ` + knowing + `)
		ORDER BY state = 'building' DESC LIMIT 1`
	for range retries {
		var knows string
		sources := []int64{}
		err = s.Primary.InSnapshot(ctx, func(sn *snapshot.Snapshot) (err error) {
			if knows, err = sn.Sees(ctx); err == nil && s.depth > 0 {
				sources, err = sn.Home(ctx, viewer, false)
			}
			return err
		})
		if err != nil {
			return b, err
		}
		args := s.name(viewer)
		args["change"], args["setting"] = change, s.setting
		inserted := s.name(viewer)
		inserted["change"], inserted["setting"], inserted["id"], inserted["knows"], inserted["sources"] = change, s.setting, newID(), knows, sources
		err = pgx.BeginFunc(ctx, s.Secondary, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, retire, args); err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, insert, inserted); err != nil {
				return err
			}
			claimed := s.name(viewer)
			claimed["setting"], claimed["id"], claimed["dead"] = s.setting, inserted["id"], builderDead
			tag, err := tx.Exec(ctx, claim, claimed)
			if err != nil {
				return err
			}
			b.ours = tag.RowsAffected() > 0
			found := s.name(viewer)
			found["setting"], found["change"] = s.setting, change
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
// feed no more. It stops when that time has come, before the feed is whole.
func (s *stored) build(ctx context.Context, viewer int64, b building, until time.Time) (whole bool, err error) {
	limit := s.chunkSize
	if s.keep > 0 {
		limit = s.keep
	}
	filled := 0
	for floor, tries := b.floor, 0; ; {
		deadline, err := s.deadline(ctx)
		if err != nil {
			return false, err
		}
		entries, scanned, err := s.chunk(ctx, viewer, b.id, floor, limit)
		if err != nil {
			return false, err
		}
		pause(ctx, afterSnapshot)
		inTime, err := s.write(ctx, entries, deadline)
		if err != nil {
			return false, err
		}
		if !inTime {
			if tries++; tries == chunkTries {
				return false, fmt.Errorf("fill %s feed of account %d: each of %d tries was late: %w", s.strategy, viewer, tries, rivers.ErrUnavailable)
			}
			continue
		}
		floor, tries = scanned.Floor, 0
		filled += len(entries)
		if scanned.Finished || s.keep > 0 || s.depth > 0 && filled >= s.depth {
			pause(ctx, beforeSwap)
			err := s.swap(ctx, viewer, b.id, floor)
			return err == nil, err
		}
		if err := s.progress(ctx, b.id, floor); err != nil || isOver(until) {
			return false, err
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
		return s.embed(ctx, sn, entries)
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

// writeBlock writes what was read for a feed before that deadline.
func (s *stored) writeBlock(ctx context.Context, entries []stamped, deadline time.Time) error {
	inTime, err := s.write(ctx, entries, deadline)
	if err == nil && !inTime {
		err = fmt.Errorf("write a block of a %s feed: it was late: %w", s.strategy, rivers.ErrUnavailable)
	}
	return err
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
