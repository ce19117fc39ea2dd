package jobs

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Yield returns when pages are up to what people did, or after a time. Where no node works jobs it
// returns at once: nobody would bring pages up.
func Yield(ctx context.Context, pool *pgxpool.Pool) error {
	var worked bool
	if err := pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM queue.river_leader WHERE expires_at > now())`).Scan(&worked); err != nil {
		return fmt.Errorf("ask whether jobs are worked: %w", err)
	}
	if !worked {
		return nil
	}
	return yield(ctx, pool)
}

func yield(ctx context.Context, pool *pgxpool.Pool) error {
	return waitWhile(ctx, func() (bool, error) { return Behind(ctx, pool, yieldBehind) })
}

// waitWhile returns when something is over, or after a time.
func waitWhile(ctx context.Context, is func() (bool, error)) error {
	most := time.NewTimer(yieldMost)
	defer most.Stop()
	look := time.NewTicker(yieldLook)
	defer look.Stop()
	for {
		wait, err := is()
		if err != nil || !wait {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-most.C:
			return nil
		case <-look.C:
		}
	}
}
