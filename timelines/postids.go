package timelines

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// IDs returns the ids of the posts with these public codes, in one statement. Codes of
// no post are left out. It does not check who may read them.
func (s Posts) IDs(ctx context.Context, codes []string) (map[string]int64, error) {
	ids := make(map[string]int64, len(codes))
	if len(codes) == 0 {
		return ids, nil
	}
	const query = `SELECT code, id FROM posts WHERE code = ANY(@codes)`
	rows, err := s.pool.Query(ctx, query, pgx.StrictNamedArgs{"codes": codes})
	if err != nil {
		return nil, fmt.Errorf("look up posts by code: %w", err)
	}
	var code string
	var id int64
	if _, err := pgx.ForEachRow(rows, []any{&code, &id}, func() error {
		ids[code] = id
		return nil
	}); err != nil {
		return nil, fmt.Errorf("look up posts by code: %w", err)
	}
	return ids, nil
}

// Codes returns the public codes of these posts, by id.
func (s Posts) Codes(ctx context.Context, posts []int64) (map[int64]string, error) {
	const query = `SELECT id, code FROM posts WHERE id = ANY(@posts)`
	rows, err := s.pool.Query(ctx, query, pgx.StrictNamedArgs{"posts": posts})
	if err != nil {
		return nil, fmt.Errorf("read codes: %w", err)
	}
	codes := make(map[int64]string, len(posts))
	var id int64
	var code string
	_, err = pgx.ForEachRow(rows, []any{&id, &code}, func() error {
		codes[id] = code
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read codes: %w", err)
	}
	return codes, nil
}

// Versions returns the present versions of these posts, by id.
func (s Posts) Versions(ctx context.Context, posts []int64) (map[int64]int64, error) {
	const query = `SELECT id, version FROM posts WHERE id = ANY(@posts)`
	rows, err := s.pool.Query(ctx, query, pgx.StrictNamedArgs{"posts": posts})
	if err != nil {
		return nil, fmt.Errorf("read versions: %w", err)
	}
	versions := make(map[int64]int64, len(posts))
	var id, version int64
	_, err = pgx.ForEachRow(rows, []any{&id, &version}, func() error {
		versions[id] = version
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read versions: %w", err)
	}
	return versions, nil
}
