package migrations

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	// sqlWhole fails if one of the secondary store's tables is missing. It reads no rows.
	sqlWhole = `SELECT FROM clock, rivers, rivers_timelines, entries, folds, visits, leases, notice_clocks, home_feeds, home_feed_buckets, home_feed_posts, home_feed_operations, home_strategy LIMIT 0`
	// sqlReset removes those that are left. Other tables in the database stay.
	sqlReset = `
DROP TABLE IF EXISTS clock, rivers, rivers_timelines, entries, folds, visits, leases, notice_clocks, home_feeds, home_feed_buckets, home_feed_posts, home_feed_operations, home_strategy CASCADE;
DROP FUNCTION IF EXISTS forget_epoch();
DELETE FROM public.schema_migrations`
)

const restoreTimeout = time.Minute

// RestoreSecondary creates all tables of the secondary store anew if one of them was lost
// while nodes run, and reports whether it did. The others cannot be kept, because rivers
// would have holes. Nodes take turns, as for migrations: one restores, and the others find
// nothing left to do.
func RestoreSecondary(ctx context.Context, pool *pgxpool.Pool) (restored bool, err error) {
	if err := whole(ctx, pool); !isBare(err) {
		return false, err
	}
	steps, err := load(files, "secondary")
	if err != nil {
		return false, err
	}
	// Restoring does not end with the request that found the loss, or the next request would
	// begin anew.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), restoreTimeout)
	defer cancel()
	// CREATE SCHEMA IF NOT EXISTS would need the right to create schemas even if there is one.
	var schema bool
	err = pool.QueryRow(ctx, `SELECT to_regnamespace('public') IS NOT NULL`).Scan(&schema)
	if err == nil && !schema {
		_, err = pool.Exec(ctx, `CREATE SCHEMA public`)
	}
	if err != nil {
		return false, fmt.Errorf("restore secondary: %w", err)
	}
	err = locked(ctx, pool, "secondary", steps, func(conn *pgx.Conn, _ int) error {
		if err := whole(ctx, conn); !isBare(err) {
			return err
		}
		// It is one transaction, so that pages find no tables or all of them.
		return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, sqlReset); err != nil {
				return fmt.Errorf("restore secondary: %w", err)
			}
			restored = true
			return upFrom(ctx, tx, "secondary", steps)
		})
	})
	return restored && err == nil, err
}

func whole(ctx context.Context, db interface {
	Exec(context.Context, string, ...any) (pgconn.CommandTag, error)
},
) error {
	if _, err := db.Exec(ctx, sqlWhole); err != nil {
		return fmt.Errorf("look for the secondary store's tables: %w", err)
	}
	return nil
}

func isBare(err error) bool { return isCode(err, "42P01", "3F000") } // undefined_table, invalid_schema_name
