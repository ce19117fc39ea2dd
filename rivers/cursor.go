package rivers

import (
	"context"
	"errors"
	"math"
	"strconv"
	"strings"

	"riverrun/timelines"
)

// FormatCursor writes a cursor as an address carries it: the place and the
// post's public code; the place alone without one.
func (s *Store) FormatCursor(c Cursor, code string) string {
	if code == "" {
		return strconv.FormatInt(c.Place, 10)
	}
	return strconv.FormatInt(c.Place, 10) + "." + code
}

// Cursor reads what FormatCursor wrote; ErrNotFound if it is malformed. A post
// the viewer may not read, or that was deleted, is taken as none, so that nobody
// learns from a cursor which codes are in use: then all that stands at the place
// follows, which repeats an entry only where several share a microsecond.
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

// goOn is where a page goes on that came to an end in what its viewer may not
// read: above floor nothing is left for them. That floor is the moment of somebody
// else's post, so the cursor tells a coarser one above it, as long as it comes on.
func goOn(floor int64, from Cursor) Cursor {
	for _, grain := range []int64{1 << 30, 1 << 20} { // 18 minutes, a second
		if place := floor | (grain - 1); from.Top() || place < from.Place {
			return Cursor{Place: place, PostID: math.MaxInt64}
		}
	}
	return Cursor{Place: floor - 1, PostID: math.MaxInt64}
}

// reads reports whether the viewer may read a post: from memory where the post
// was just shown, as it was if this is the cursor of a page people read on from.
func (s *Store) reads(ctx context.Context, v timelines.Viewer, post int64) (ok bool, err error) {
	if f := s.folds.get(post, 0, false); f != nil {
		sets, err := s.access.Sets(ctx, v.AccountID)
		if err != nil {
			return false, err
		}
		gates, err := s.access.Levels(ctx, f.Decisive)
		return err == nil && !f.Deleted && gates.OpensAny(sets, f.Decisive) &&
			!gates.Hidden(sets, f.Decisive).Has(f.Text.Author), err
	}
	err = s.primary.InSnapshot(ctx, func(sn *timelines.Snapshot) (err error) {
		ok, err = sn.MayRead(ctx, v.AccountID, post)
		return err
	})
	return ok, err
}
