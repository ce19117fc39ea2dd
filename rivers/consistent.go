package rivers

import (
	"context"
	"fmt"

	"riverrun/timelines"
)

// A page is put together from entries and folds, from the viewer's sets, and from the
// levels of timelines, which are read one after the other. Each is right at its moment.
// Together they are right only if it is the same moment. Otherwise a reader who is excluded
// before the feed is opened to others would be let in by the old sets and the new level,
// and a banned person would be heard by the old sets and a fold written after the ban.
//
// So a decision is consistent only if no change of access was acknowledged between the
// statement it began with and its end. The caches must be at that statement's clock. And if
// anything was read since (a newer fold, or sets or levels that were not in memory), the
// clock must still stand there. A decision that is not consistent is made again, from its
// statement on. A warm page in memory pays nothing for this.

// loads returns how much the caches have loaded so far. It is read before a deciding
// statement.
func (s *Store) loads() uint64 {
	_, n := s.access.Label()
	return n
}

// consistent reports whether a decision is of one moment. clock is what its statement
// returned, loads what the caches had loaded before it. newer says that something the
// decision used was read after the statement.
func (s *Store) consistent(ctx context.Context, clock timelines.Clock, loads uint64, newer bool) (bool, error) {
	label, now := s.access.Label()
	if label != clock {
		return false, nil
	}
	if !newer && now == loads {
		return true, nil
	}
	again, err := s.clock(ctx)
	return again == clock, err
}

// Moment is a moment at which something was decided by the access caches. Their
// contents are of that moment for as long as AtOneMoment says so.
type Moment struct {
	clock timelines.Clock
	loads uint64
}

// Clock is the number the access clock stood at.
func (m Moment) Clock() int64 { return m.clock.N }

// Now brings the caches to the present moment and returns it.
func (s *Store) Now(ctx context.Context) (Moment, error) {
	loads := s.loads()
	clock, err := s.clock(ctx)
	return Moment{clock, loads}, err
}

// AtOneMoment lets a caller combine a decision with what Access says after it. decide makes
// the decision and returns its moment. AtOneMoment calls it again and again until no change
// of access was acknowledged since that moment. It costs no statement while everything is
// in memory. Errors: decide's own, ErrUnavailable.
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

// maxOvertaken is how often a decision about one river is made again, at some milliseconds
// each, before it fails because access keeps changing.
const maxOvertaken = 50

var errOvertaken = fmt.Errorf("access keeps changing: %w", ErrUnavailable)

// untilConsistent decides for many watches until the result is consistent. If access
// changed meanwhile, it decides for one half after the other: a shorter decision is
// overtaken less often.
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
