package sources

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// stallAfter is how long a load may stand still, with nobody working its source, before it counts as
// forgotten.
const stallAfter = 30 * time.Second

// pending names the states of loads that are to be worked, as loads_pending_idx does.
const pending = `state IN ('waiting', 'reading', 'applying', 'finishing', 'sweeping')`

// Pending reports whether a source has a load that is to be worked, or is to be removed. A process
// that gives a source back asks once more: another process may have found the source taken meanwhile,
// and stopped.
func (s *Store) Pending(ctx context.Context, source int64) (is bool, err error) {
	err = s.pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM loads WHERE source_id = @source AND `+pending+`)
			OR EXISTS (SELECT FROM sources WHERE id = @source AND status = 'removing')`,
		pgx.StrictNamedArgs{"source": source}).Scan(&is)
	if err != nil {
		return false, fmt.Errorf("ask for loads that wait: %w", err)
	}
	return is, nil
}

// Stalled returns sources with loads that stand still, and sources that are to be removed, at most
// limit. It returns only sources whose lock can be taken (F12).
func (s *Store) Stalled(ctx context.Context, limit int) ([]int64, error) {
	const query = `
		WITH worked AS MATERIALIZED (
			SELECT objid::bigint AS source FROM pg_locks
			WHERE locktype = 'advisory' AND objsubid = 2 AND classid = @locks::bigint::oid
				AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
		)
		SELECT id FROM (
			SELECT source_id AS id FROM loads WHERE ` + pending + ` GROUP BY source_id HAVING max(updated_at) < now() - @after::interval
			UNION SELECT id FROM sources WHERE status = 'removing'
		) s
		WHERE id & 4294967295 NOT IN (SELECT source FROM worked) ORDER BY id LIMIT @limit`
	rows, err := s.pool.Query(ctx, query, pgx.StrictNamedArgs{"locks": workLocks, "after": stallAfter, "limit": limit})
	if err == nil {
		var ids []int64
		if ids, err = pgx.CollectRows(rows, pgx.RowTo[int64]); err == nil {
			return ids, nil
		}
	}
	return nil, fmt.Errorf("find loads that stand still: %w", err)
}
