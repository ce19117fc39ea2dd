package sources

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// MostCounted is the largest number of posts of a source that is counted.
const MostCounted = 1000

// Posts returns the number of posts of each source, by id. MostCounted+1 stands for more. A source
// without posts is not in the map.
func (s *Store) Posts(ctx context.Context, sources []int64) (map[int64]int, error) {
	const query = `
		SELECT s.id, n.posts FROM unnest(@sources::bigint[]) s (id)
		CROSS JOIN LATERAL (
			SELECT count(*) AS posts FROM (SELECT FROM source_items i WHERE i.source_id = s.id AND i.post_id IS NOT NULL LIMIT @most) few
		) n WHERE n.posts > 0`
	rows, err := s.pool.Query(ctx, query, pgx.StrictNamedArgs{"sources": sources, "most": MostCounted + 1})
	counted := map[int64]int{}
	if err == nil {
		var id int64
		var n int
		_, err = pgx.ForEachRow(rows, []any{&id, &n}, func() error {
			counted[id] = n
			return nil
		})
	}
	if err != nil {
		return nil, fmt.Errorf("count posts of sources: %w", err)
	}
	return counted, nil
}

// Current returns, by source, the load that is worked now, or else the last one. A source that was
// never loaded is not in the map.
func (s *Store) Current(ctx context.Context, sources []int64) (map[int64]Load, error) {
	// The oldest load that waits is worked first. A source has few loads.
	const query = `
		SELECT DISTINCT ON (source_id) ` + loadColumns + ` FROM loads WHERE source_id = ANY(@sources)
		ORDER BY source_id, state IN ('waiting', 'reading', 'applying', 'finishing', 'sweeping') DESC,
			CASE WHEN state IN ('waiting', 'reading', 'applying', 'finishing', 'sweeping') THEN no ELSE -no END`
	rows, err := s.pool.Query(ctx, query, pgx.StrictNamedArgs{"sources": sources})
	if err != nil {
		return nil, fmt.Errorf("read loads: %w", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (Load, error) { return scanLoad(row) })
	if err != nil {
		return nil, fmt.Errorf("read loads: %w", err)
	}
	current := make(map[int64]Load, len(list))
	for _, l := range list {
		current[l.SourceID] = l
	}
	return current, nil
}

// LastError returns the last error of a load among those that are stored; nil: it has none.
func (s *Store) LastError(ctx context.Context, load int64) (*Trouble, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT line, raw_line, no, error, code, field, value, external_id, title FROM load_problems
		WHERE load_id = @load AND error ORDER BY line DESC, no DESC LIMIT 1`, pgx.StrictNamedArgs{"load": load})
	if err != nil {
		return nil, fmt.Errorf("read the last error: %w", err)
	}
	t, err := pgx.CollectExactlyOneRow(rows, pgx.RowToAddrOfStructByName[Trouble])
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the last error: %w", err)
	}
	return t, nil
}
