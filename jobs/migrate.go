package jobs

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

// schema is where the queue's own tables stand, apart from riverrun's.
const schema = "queue"

// migrateLock is the advisory lock held while the queue is migrated; "jobqueue" in
// ASCII.
const migrateLock = 0x6a6f627175657565

// Migrate brings the queue's own tables in the schema "queue" of the primary
// database up to date. It is safe to call from several nodes at once, which take
// turns, and changes nothing if nothing is left to do. It fits
// migrations.Primary as a hook.
//
// Two of the queue's migrators at the same time would run the same CREATE TABLE, and one
// would fail. Hence the lock. It is held on a connection outside the pool, which may be
// small and partly in use by the caller.
func Migrate(ctx context.Context, pool *pgxpool.Pool) (err error) {
	conn, err := pgx.ConnectConfig(ctx, pool.Config().ConnConfig)
	if err != nil {
		return fmt.Errorf("migrate the job queue: %w", err)
	}
	// The lock is the session's and ends with it, even if ctx has ended.
	defer func() {
		if closeErr := conn.Close(context.WithoutCancel(ctx)); err == nil && closeErr != nil {
			err = fmt.Errorf("migrate the job queue: %w", closeErr)
		}
	}()
	if _, err := conn.Exec(ctx, `SELECT pg_advisory_lock($1)`, int64(migrateLock)); err != nil {
		return fmt.Errorf("migrate the job queue: wait for other nodes: %w", err)
	}
	if _, err := conn.Exec(ctx, `CREATE SCHEMA IF NOT EXISTS `+schema); err != nil {
		return fmt.Errorf("migrate the job queue: %w", err)
	}
	migrator, err := rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{
		Schema: schema,
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return fmt.Errorf("migrate the job queue: %w", err)
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return fmt.Errorf("migrate the job queue: %w", err)
	}
	// Nothing looks for jobs by their arguments. The index has a key for each timeline that a change touched.
	if _, err := conn.Exec(ctx, `DROP INDEX IF EXISTS `+schema+`.river_job_args_index`); err != nil {
		return fmt.Errorf("migrate the job queue: %w", err)
	}
	return nil
}
