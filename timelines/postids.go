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
