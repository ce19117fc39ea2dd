package rivers

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// LeaseTime is how long a river counts as open after its node last said so. A node
// refreshes its leases well before; the leases of a dead node run out.
const LeaseTime = 30 * time.Second

// Lease marks rivers as open in a browser of this node, for LeaseTime from now. It is one
// statement, in key order.
func (s *Store) Lease(ctx context.Context, rivers []int64) error {
	if len(rivers) == 0 {
		return nil
	}
	const query = `
		INSERT INTO leases (river_id, node, until)
		SELECT DISTINCT id, @node, clock_timestamp() + @time::interval FROM unnest(@rivers::bigint[]) id ORDER BY id
		ON CONFLICT (river_id, node) DO UPDATE SET until = excluded.until`
	_, err := s.db.Exec(ctx, query, pgx.StrictNamedArgs{"rivers": rivers, "node": s.node, "time": LeaseTime})
	if err != nil {
		return fmt.Errorf("lease rivers: %w", err)
	}
	return nil
}

// Unlease gives up this node's leases of these rivers. Closing a page is a visit too: the
// river's grace begins now.
func (s *Store) Unlease(ctx context.Context, rivers []int64) error {
	if len(rivers) == 0 {
		return nil
	}
	for _, id := range rivers {
		s.maintenance.visited(id)
	}
	const query = `
		DELETE FROM leases WHERE (river_id, node) IN (
			SELECT river_id, node FROM leases WHERE river_id = ANY(@rivers) AND node = @node
			ORDER BY river_id FOR UPDATE)`
	if _, err := s.db.Exec(ctx, query, pgx.StrictNamedArgs{"rivers": rivers, "node": s.node}); err != nil {
		return fmt.Errorf("give up leases: %w", err)
	}
	return nil
}
