package jobs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Lag returns how far Tier 2 is behind: the age of the oldest change that Tier 1
// has done and closed rivers have still to follow, 0 if there is none. A page
// opened while it is long is brought up by itself (rivers.Freshen). What Tier 1
// has still to do does not count: when it comes, it finds the page open. One index
// probe; notes taken by a follow that is under way still count.
func Lag(ctx context.Context, pool *pgxpool.Pool) (time.Duration, error) {
	var micros int64
	err := pool.QueryRow(ctx, `SELECT changed_at FROM behind ORDER BY id LIMIT 1`).Scan(&micros)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read lag: %w", err)
	}
	return max(time.Since(time.UnixMicro(micros)), 0), nil
}
