package rivers

import (
	"context"
)

// Census returns how many live rivers of each kind there are, on all nodes together. Every
// kind is named. It reads an index of all rivers: it is for metrics, not for pages.
func (s *Store) Census(ctx context.Context) (map[Kind]int64, error) {
	const query = `SELECT kind, count(*) FROM rivers WHERE state = 'live' GROUP BY kind`
	counts := map[Kind]int64{}
	for _, k := range Kinds() {
		counts[k] = 0
	}
	var kind Kind
	var n int64
	err := s.forEach(ctx, "count rivers", query, nil, []any{&kind, &n}, func() { counts[kind] = n })
	return counts, err
}
