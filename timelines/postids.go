package timelines

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// IDs returns the ids of the posts with these public codes, in one statement. Codes of
// no post are left out. It does not check who may read them.
func (s Posts) IDs(ctx context.Context, codes []string) (map[string]int64, error) {
	if len(codes) == 0 {
		return map[string]int64{}, nil
	}
	return byKey[string, int64](ctx, s.core, "ids of posts", `SELECT code, id FROM posts WHERE code = ANY(@keys)`, codes)
}

// Codes returns the public codes of these posts, by id.
func (s Posts) Codes(ctx context.Context, posts []int64) (map[int64]string, error) {
	return byKey[int64, string](ctx, s.core, "codes of posts", `SELECT id, code FROM posts WHERE id = ANY(@keys)`, posts)
}

// Versions returns the present versions of these posts, by id.
func (s Posts) Versions(ctx context.Context, posts []int64) (map[int64]int64, error) {
	return byKey[int64, int64](ctx, s.core, "versions of posts", `SELECT id, version FROM posts WHERE id = ANY(@keys)`, posts)
}

// Authors returns the authors of these posts, by id, also of those that were deleted.
func (s Posts) Authors(ctx context.Context, posts []int64) (map[int64]int64, error) {
	return byKey[int64, int64](ctx, s.core, "authors of posts", `SELECT id, author_id FROM posts WHERE id = ANY(@keys)`, posts)
}

// byKey runs a query whose keys are @keys, and collects its two columns, a key and a
// value.
func byKey[K comparable, V any](ctx context.Context, s *core, what, query string, keys []K) (map[K]V, error) {
	rows, err := s.pool.Query(ctx, query, pgx.StrictNamedArgs{"keys": keys})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", what, err)
	}
	found := make(map[K]V, len(keys))
	var key K
	var v V
	if _, err := pgx.ForEachRow(rows, []any{&key, &v}, func() error { found[key] = v; return nil }); err != nil {
		return nil, fmt.Errorf("read %s: %w", what, err)
	}
	return found, nil
}
