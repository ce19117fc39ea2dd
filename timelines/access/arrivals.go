package access

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
)

// Arrival is somebody who began to follow a person, or joined a group.
type Arrival struct {
	Who, To int64
	At      time.Time
}

// A node remembers the last arrivalsKept arrivals of each account, of the last arrivalAge.
const (
	arrivalAge   = 30 * 24 * time.Hour
	arrivalsKept = 20
)

// Arrivals returns who followed or joined each of these accounts lately, the last ones first, and
// which private accounts let it in. No statement while nobody follows any of them
// or ceases to, else one. They say nothing about who may know of them.
func (c *Cache) Arrivals(ctx context.Context, accounts []int64) (map[int64][]Arrival, error) {
	return c.arrivals.all(ctx, accounts)
}

func (c *Cache) loadArrivals(ctx context.Context, accounts []int64) (map[int64][]Arrival, error) {
	const query = `
		SELECT k.id, s.subscriber_id, s.account_id, s.created_at
		FROM unnest(@keys::bigint[]) k (id)
		CROSS JOIN LATERAL (
			(SELECT * FROM subscriptions WHERE account_id = k.id AND created_at > now() - @age::interval
				ORDER BY created_at DESC LIMIT @kept)
			UNION ALL
			(SELECT s.* FROM subscriptions s JOIN timelines t ON t.their_id = s.account_id AND t.kind IN ('feed', 'group')
				WHERE s.subscriber_id = k.id AND s.created_at > now() - @age::interval AND t.access = @private
				ORDER BY s.created_at DESC LIMIT @kept)
		) s
		ORDER BY k.id, s.created_at DESC, s.subscriber_id, s.account_id`
	rows, err := c.store.Pool().Query(ctx, query, pgx.StrictNamedArgs{
		"keys": accounts, "age": arrivalAge, "kept": arrivalsKept, "private": timelines.Private,
	})
	if err != nil {
		return nil, fmt.Errorf("load arrivals: %w", err)
	}
	found := make(map[int64][]Arrival, len(accounts))
	for _, id := range accounts {
		found[id] = nil // none is an answer too
	}
	var id int64
	var a Arrival
	if _, err := pgx.ForEachRow(rows, []any{&id, &a.Who, &a.To, &a.At}, func() error {
		found[id] = append(found[id], a)
		return nil
	}); err != nil {
		return nil, fmt.Errorf("load arrivals: %w", err)
	}
	return found, nil
}
