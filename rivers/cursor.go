package rivers

import (
	"context"
	"math"
	"strconv"
	"strings"

	"riverrun/timelines"
)

// FormatCursor writes a cursor as an address carries it: the place and the
// post's public code.
func (s *Store) FormatCursor(c Cursor, code string) string {
	return strconv.FormatInt(c.Place, 10) + "." + code
}

// Cursor reads what FormatCursor wrote; ErrNotFound if it is malformed. It does
// not matter what became of the post, nor whether the viewer may read it: a page
// whose last post was deleted has older ones still, and nobody learns from a
// cursor which codes are in use.
func (s *Store) Cursor(ctx context.Context, text string) (Cursor, error) {
	if text == "" {
		return Cursor{}, nil
	}
	place, code, ok := strings.Cut(text, ".")
	n, err := strconv.ParseInt(place, 10, 64)
	if !ok || err != nil || n <= 0 {
		return Cursor{}, ErrNotFound
	}
	if code, ok = timelines.ParseCode(code); !ok {
		return Cursor{}, ErrNotFound
	}
	s.mu.Lock()
	id, ok := s.codes.Get(code)
	s.mu.Unlock()
	if ok {
		return Cursor{Place: n, PostID: id}, nil
	}
	ids, err := s.primary.PostIDs(ctx, []string{code})
	if err != nil {
		return Cursor{}, err
	}
	if id, ok = ids[code]; !ok {
		return Cursor{Place: n, PostID: math.MaxInt64}, nil // all that stands at the place follows
	}
	s.mu.Lock()
	s.codes.Add(code, id)
	s.mu.Unlock()
	return Cursor{Place: n, PostID: id}, nil
}
