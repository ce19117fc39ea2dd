package rivers

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"
)

// extend stores the next entries of a river, at most limit of them (protocol, step 8). It
// commits the entries before the floor falls, and the floor only ever falls, by least(): if
// two extend at once, the work is done twice and the result is the same. A live river loses
// nothing in between, because from its first extension on writers write below the floor too
// (see neededFrom). (In a search there are several writers: see searchwrite.go.)
func (s *Store) extend(ctx context.Context, n Name, id, floor int64, limit int) error {
	return s.oncePerKey(ctx, fmt.Sprintf("extend %d %d", id, floor), func(ctx context.Context) error {
		return s.extendHere(ctx, n, id, floor, limit)
	})
}

func (s *Store) extendHere(ctx context.Context, n Name, id, floor int64, limit int) error {
	began := time.Now()
	// The deadline is read before anything that will be written.
	asof, err := s.now(ctx)
	if err != nil {
		return fmt.Errorf("extend %s river: %w", n.Kind, err)
	}
	pause(ctx, beforeMark)
	const mark = `UPDATE rivers SET extended = true WHERE id = @id AND NOT extended`
	if _, err := s.db.Exec(ctx, mark, pgx.StrictNamedArgs{"id": id}); err != nil {
		return fmt.Errorf("mark the river as extended: %w", err)
	}
	g, err := s.generation(ctx, n, id)
	if err != nil {
		return err
	}
	// Posts at the floor's own place are above it already, so begin below all of them.
	c, err := s.readChunk(ctx, g, stretch{
		place: floor, post: math.MinInt64, down: math.MaxInt64, limit: limit, folds: staleFolds,
	})
	if err != nil {
		return err
	}
	pause(ctx, afterSnapshot)
	err = g.content().storeExtension(ctx, s, g, c, asof)
	if errors.Is(err, errAgain) {
		return nil // too slow: the visitor's next reading tries again
	}
	if err != nil {
		return err
	}
	const lower = `
		UPDATE rivers SET floor = least(floor, @floor), finished = finished OR @finished
		WHERE id = @id AND clock_timestamp() < @deadline AND ` + inEpoch
	args := s.bind(pgx.StrictNamedArgs{"id": id, "floor": c.scanned.Floor, "finished": c.scanned.Finished}, asof)
	if _, err = s.db.Exec(ctx, lower, args); err != nil {
		return fmt.Errorf("lower the floor: %w", err)
	}
	s.opts.Metrics.Built(n.Kind, ForExtend, len(c.entries), time.Since(began))
	return nil
}
