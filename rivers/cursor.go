package rivers

import (
	"context"
	"strconv"
	"strings"

	"riverrun/timelines"
)

// FormatCursor writes a cursor as an address carries it: the place and the
// post's public code.
func (s *Store) FormatCursor(c Cursor, code string) string {
	return strconv.FormatInt(c.Place, 10) + "." + code
}

// Cursor reads what FormatCursor wrote; ErrNotFound if it is malformed or names
// no post.
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
	id, err := s.postID(ctx, code)
	if err != nil {
		return Cursor{}, notFound(err)
	}
	return Cursor{Place: n, PostID: id}, nil
}
