package rivers

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Census returns how many live rivers of each kind there are, on all nodes
// together; every kind is named. It reads an index of all of them: for metrics,
// not for pages.
func (s *Store) Census(ctx context.Context) (map[Kind]int64, error) {
	const query = `SELECT kind, count(*) FROM rivers WHERE state = 'live' GROUP BY kind`
	rows, err := s.db.Query(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("count rivers: %w", err)
	}
	counts := map[Kind]int64{}
	for _, k := range Kinds() {
		counts[k] = 0
	}
	var kind Kind
	var n int64
	if _, err := pgx.ForEachRow(rows, []any{&kind, &n}, func() error { counts[kind] = n; return nil }); err != nil {
		return nil, fmt.Errorf("count rivers: %w", err)
	}
	return counts, nil
}
