package rivers

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
	"riverrun/timelines/mutants"
)

// extend stores the next entries of a river, at most limit (DESIGN: the
// protocol, step 8). Entries are committed before the floor falls, and the
// floor, written with least(), only falls: two who extend at once do the work
// twice and the result once. In between a live river cannot lose its place in
// the order of things: writers write below the floor too (who extends a search is one
// of several, see searchwrite.go). A trim meanwhile makes it void (see trim.go).
func (s *Store) extend(ctx context.Context, n Name, id, floor int64, limit int) error {
	return s.together(ctx, fmt.Sprintf("extend %d %d", id, floor), func(ctx context.Context) error {
		return s.extendHere(ctx, n, id, floor, limit)
	})
}

func (s *Store) extendHere(ctx context.Context, n Name, id, floor int64, limit int) error {
	began := time.Now()
	// The time, and how often the river was trimmed, before all it will write is
	// read.
	const begin = `SELECT clock_timestamp(), trims FROM rivers WHERE id = @id AND floor <= @floor`
	var asof time.Time
	var trims int
	err := s.db.QueryRow(ctx, begin, pgx.StrictNamedArgs{"id": id, "floor": floor}).Scan(&asof, &trims)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil // trimmed: the visitor's next look at the floor says from where
	}
	if err != nil {
		return fmt.Errorf("extend %s river: %w", n.Kind, err)
	}
	listed, err := s.listed(ctx, id)
	if err != nil {
		return err
	}
	// Posts at the floor's own place are above it already: begin below all of them.
	c, err := s.readChunk(ctx, n, id, listed, stretch{
		place: floor, post: math.MinInt64, down: math.MaxInt64, limit: limit, folds: ofBehind,
	})
	if err != nil {
		return err
	}
	pause(ctx, afterSnapshot)
	if specs[n.Kind].asked {
		err = s.storeExtension(ctx, id, c, asof)
	} else if err = s.storeChunk(ctx, c, asof); err == nil && !mutants.On(mutants.ExtendTwice) {
		err = s.lookAgain(ctx, n, id, listed, c, asof)
	}
	if errors.Is(err, errAgain) {
		return nil // too slow: the visitor's next look at the floor tries again
	}
	if err != nil {
		return err
	}
	const lower = `
		UPDATE rivers SET floor = least(floor, @floor), finished = finished OR @finished
		WHERE id = @id AND trims = @trims AND clock_timestamp() < @deadline`
	args := pgx.StrictNamedArgs{
		"id": id, "floor": c.scanned.Floor, "finished": c.scanned.Finished, "deadline": asof.Add(s.deadline), "trims": trims,
	}
	query := mutants.SQL(mutants.ExtendTrimmed, lower, "trims = @trims", "trims >= @trims")
	query = mutants.SQL(mutants.FloorRises, query, "least(floor, @floor)", "@floor")
	if _, err = s.db.Exec(ctx, query, args); err != nil {
		return fmt.Errorf("lower the floor: %w", err)
	}
	s.opts.Metrics.Built(n.Kind, len(c.entries), time.Since(began))
	return nil
}

// lookAgain writes those entries of a chunk again whose posts changed since its
// snapshot. A like concerns all rivers of who likes that hold the post, made of
// the likes timeline or not, and a writer finds the live ones by the entry: it
// may have looked before the chunk's was there.
func (s *Store) lookAgain(ctx context.Context, n Name, id int64, listed map[int64]struct{}, c chunkOf, asof time.Time) error {
	posts := make([]int64, len(c.entries))
	for i, e := range c.entries {
		posts[i] = e.PostID
	}
	versions, err := s.primary.Versions(ctx, posts)
	if err != nil {
		return err
	}
	var moved []int64
	for _, e := range c.entries {
		if versions[e.PostID] > e.Version {
			moved = append(moved, e.PostID)
		}
	}
	if len(moved) == 0 {
		return nil
	}
	var again chunkOf
	err = s.primary.InSnapshot(ctx, func(sn *timelines.Snapshot) (err error) {
		again.entries, again.folds, err = s.compute(ctx, sn, n, id, listed, moved, ofBehind)
		return err
	})
	if err != nil {
		return err
	}
	return s.storeChunk(ctx, again, asof)
}
