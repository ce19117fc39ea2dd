package rivers

import (
	"context"
	"errors"
	"math"
	"strconv"
	"strings"

	"riverrun/timelines"
	"riverrun/timelines/snapshot"
)

// FormatCursor writes a cursor for an address: the place and the post's public code, or the
// place alone without a code.
func (s *Store) FormatCursor(c Cursor, code string) string {
	if code == "" {
		return strconv.FormatInt(c.Place, 10)
	}
	return strconv.FormatInt(c.Place, 10) + "." + code
}

// Cursor reads what FormatCursor wrote. ErrNotFound means that it is malformed. A post that
// was deleted, or that the viewer may not read, counts as no post, so that a cursor does
// not tell which codes are in use. Then everything at that place follows, which repeats an
// entry only where several share a microsecond.
func (s *Store) Cursor(ctx context.Context, v timelines.Viewer, text string) (Cursor, error) {
	if text == "" {
		return Cursor{}, nil
	}
	place, code, ok := strings.Cut(text, ".")
	n, err := strconv.ParseInt(place, 10, 64)
	if err != nil || n <= 0 {
		return Cursor{}, ErrNotFound
	}
	if !ok {
		return Cursor{Place: n, PostID: math.MaxInt64}, nil
	}
	if code, ok = timelines.ParseCode(code); !ok {
		return Cursor{}, ErrNotFound
	}
	at := Cursor{Place: n, PostID: math.MaxInt64}
	id, err := s.postID(ctx, code)
	if errors.Is(err, timelines.ErrNotFound) {
		return at, nil
	}
	if err != nil {
		return Cursor{}, err
	}
	reads, err := s.reads(ctx, v, id)
	if err != nil {
		return Cursor{}, err
	}
	if reads {
		at.PostID = id
	}
	return at, nil
}

// NextBelow returns where a page goes on that ended among posts its viewer may not read:
// above floor nothing is left for that viewer. The floor is the moment of somebody else's
// post, so the cursor names a coarser moment above it, as long as that still moves on.
func NextBelow(floor int64, from Cursor) Cursor {
	for _, grain := range []int64{1 << 30, 1 << 20} { // about 18 minutes, about a second
		if place := floor | (grain - 1); from.Top() || place < from.Place {
			return Cursor{Place: place, PostID: math.MaxInt64}
		}
	}
	return Cursor{Place: floor - 1, PostID: math.MaxInt64}
}

// reads reports whether the viewer may read a post. If the post was just shown it answers
// from memory, as is usual for the cursor of a page that people read on from.
func (s *Store) reads(ctx context.Context, v timelines.Viewer, post int64) (ok bool, err error) {
	if f := s.folds.get(s.access.Epoch(), post, 0, false); f != nil {
		sets, err := s.access.Sets(ctx, v.AccountID)
		if err != nil {
			return false, err
		}
		gates, err := s.access.Levels(ctx, f.Decisive)
		return err == nil && !f.Deleted && gates.OpensAny(sets, f.Decisive) &&
			!gates.Hidden(sets, f.Decisive).Has(f.Text.Author), err
	}
	err = s.primary.InSnapshot(ctx, func(sn *snapshot.Snapshot) (err error) {
		ok, err = sn.MayRead(ctx, v.AccountID, post)
		return err
	})
	return ok, err
}
