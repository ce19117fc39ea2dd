package rivers

import (
	"context"
	"fmt"

	"riverrun/timelines"
	"riverrun/timelines/mutants"
)

// What a viewer is shown is put together of entries and folds, of the viewer's sets,
// and of the levels of timelines, read one after the other. Each is right at its
// moment; together they are right only if it is the same one. Else a reader who is
// excluded first, before the feed is opened to the others, would be let in by the old
// sets and the new level; and somebody banned would be heard by the old sets and a
// fold that was written after.
//
// So a decision holds only if no change of access was acknowledged between the
// statement it began with and its end: the caches are at that statement's clock, and
// where anything was read since (a fold that is newer, sets or levels that were not in
// memory), the clock still stands there. What does not hold is done again from its
// statement on. A warm page in memory pays nothing for it.

// loads returns how much the caches have loaded, before a deciding statement.
func (s *Store) loads() uint64 {
	_, n := s.access.Label()
	return n
}

// consistent reports whether what was decided holds: by a statement that returned that
// clock, with caches that had loaded so much before it. newer: some of it is of later
// than the statement.
func (s *Store) consistent(ctx context.Context, clock timelines.Clock, loads uint64, newer bool) (bool, error) {
	label, now := s.access.Label()
	if mutants.On(mutants.TwoMoments) {
		return true, nil
	}
	if label != clock {
		return false, nil
	}
	if !newer && now == loads {
		return true, nil
	}
	again, err := s.clock(ctx)
	return again == clock, err
}

// A Moment is one of which things can be decided by the access caches: what they hold is
// of it for as long as it stands.
type Moment struct {
	clock timelines.Clock
	loads uint64
}

// Clock is the number the access clock stood at.
func (m Moment) Clock() int64 { return m.clock.N }

// Now returns the present moment, to which it brings the caches.
func (s *Store) Now(ctx context.Context) (Moment, error) {
	loads := s.loads()
	clock, err := s.clock(ctx)
	return Moment{clock, loads}, err
}

// AtOneMoment has something put together by what was decided at a moment, which decide
// returns, and by what Access says after that, again and again until no change of access
// was acknowledged between the two. It costs no statement while all is in memory.
// Errors: decide's own, ErrUnavailable.
func (s *Store) AtOneMoment(ctx context.Context, decide func() (Moment, error)) error {
	for range maxOvertaken {
		at, err := decide()
		if err != nil {
			return err
		}
		if ok, err := s.consistent(ctx, at.clock, at.loads, false); err != nil || ok {
			return err
		}
	}
	return errOvertaken
}

// maxOvertaken is how often a decision about one river is begun again, milliseconds
// each, before the site is said to be too busy.
const maxOvertaken = 50

var errOvertaken = fmt.Errorf("access keeps changing: %w", ErrUnavailable)

// untilConsistent has something decided for many watches. Where access moved meanwhile it is
// decided again for one half after the other: what takes less time is overtaken less
// often.
func untilConsistent[T any](watches []Watch, decide func([]Watch) (of []T, consistent bool, err error)) ([]T, error) {
	for range maxOvertaken {
		out, consistent, err := decide(watches)
		if err != nil || consistent {
			return out, err
		}
		if half := len(watches) / 2; half > 0 {
			first, err := untilConsistent(watches[:half], decide)
			if err != nil {
				return nil, err
			}
			rest, err := untilConsistent(watches[half:], decide)
			return append(first, rest...), err
		}
	}
	return nil, errOvertaken
}
