package rivers

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// LeaseTime is how long a river counts as open after its node last said so. A
// node refreshes well before; a dead node's leases run out.
const LeaseTime = 30 * time.Second

// Lease marks rivers as open in a browser of this node, for LeaseTime from now.
// One statement, in key order.
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

// Unlease takes this node's leases of these rivers back. Closing a page is a
// visit too: the river's grace begins now.
func (s *Store) Unlease(ctx context.Context, rivers []int64) error {
	if len(rivers) == 0 {
		return nil
	}
	for _, id := range rivers {
		s.visits.note(id)
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

// visits gathers which rivers were visited and writes them together now and
// then, so that a visit costs no statement of its own.
type visits struct {
	store *Store

	// mu guards seen.
	mu   sync.Mutex
	seen map[int64]struct{}

	quit chan struct{}
	done chan struct{}
	once sync.Once
}

// visitsEvery is far below any grace.
const visitsEvery = 5 * time.Second

func newVisits(s *Store) *visits {
	return &visits{store: s, seen: map[int64]struct{}{}, quit: make(chan struct{})}
}

func (v *visits) note(river int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.seen[river] = struct{}{}
}

func (v *visits) start() {
	v.done = make(chan struct{})
	go func() {
		defer close(v.done)
		tick := time.NewTicker(visitsEvery)
		defer tick.Stop()
		for {
			select {
			case <-v.quit:
				return
			case <-tick.C:
				ctx, cancel := context.WithTimeout(context.Background(), visitsEvery)
				if err := v.flush(ctx); err != nil {
					v.store.log.ErrorContext(ctx, "visits not written", "error", err)
				}
				cancel()
			}
		}
	}()
}

func (v *visits) stop(ctx context.Context) error {
	v.once.Do(func() { close(v.quit) })
	if v.done != nil {
		<-v.done
	}
	return v.flush(ctx)
}

// flush writes the visits noted since the last time; what could not be written
// is kept for the next.
func (v *visits) flush(ctx context.Context) error {
	v.mu.Lock()
	seen := v.seen
	v.seen = map[int64]struct{}{}
	v.mu.Unlock()
	if len(seen) == 0 {
		return nil
	}
	const query = `
		INSERT INTO visits (river_id, visited_at)
		SELECT id, clock_timestamp() FROM unnest(@rivers::bigint[]) id ORDER BY id
		ON CONFLICT (river_id) DO UPDATE SET visited_at = excluded.visited_at`
	_, err := v.store.db.Exec(ctx, query, pgx.StrictNamedArgs{"rivers": slices.Collect(maps.Keys(seen))})
	if err != nil {
		v.mu.Lock()
		maps.Copy(v.seen, seen)
		v.mu.Unlock()
		return fmt.Errorf("write visits: %w", err)
	}
	return nil
}
