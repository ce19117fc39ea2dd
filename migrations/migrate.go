package migrations

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

var (
	// ErrNewer says that the database has migrations that this binary does not know. Nothing
	// was changed.
	ErrNewer = errors.New("the database is newer than this riverrun")
	// ErrEarlierBuild says that an unreleased riverrun made the database: its migrations are
	// not those of this binary, so it cannot be upgraded. Nothing was changed.
	ErrEarlierBuild = errors.New("an earlier, unreleased build of riverrun made the database")
)

// Hook migrates the tables of a library (the job queue's). No other node migrates while it
// runs. It may run again.
type Hook func(context.Context, *pgxpool.Pool) error

// Primary migrates the primary store to the newest version, and then calls the hooks. If
// there are hooks, the pool must allow at least two connections. Several nodes may call it
// at once. It changes nothing if nothing is left to do.
func Primary(ctx context.Context, pool *pgxpool.Pool, hooks ...Hook) error {
	return up(ctx, pool, "primary", hooks...)
}

// Secondary migrates the secondary store to the newest version.
func Secondary(ctx context.Context, pool *pgxpool.Pool) error {
	return up(ctx, pool, "secondary")
}

// PrimaryDown takes the primary store back to a version, for an older binary. It drops
// everything that later migrations created.
func PrimaryDown(ctx context.Context, pool *pgxpool.Pool, version int) error {
	return down(ctx, pool, "primary", version)
}

// SecondaryDown takes the secondary store back to a version.
func SecondaryDown(ctx context.Context, pool *pgxpool.Pool, version int) error {
	return down(ctx, pool, "secondary", version)
}

// Newest returns the newest version of the primary store that this binary knows.
func Newest() (int, error) {
	steps, err := load(files, "primary")
	return len(steps), err
}

// Version returns the version of the database, 0 if it was never migrated.
func Version(ctx context.Context, pool *pgxpool.Pool) (int, error) {
	var exists bool
	if err := pool.QueryRow(ctx, `SELECT to_regclass('public.schema_migrations') IS NOT NULL`).Scan(&exists); err != nil {
		return 0, fmt.Errorf("schema version: %w", err)
	}
	if !exists {
		return 0, nil
	}
	var version int
	if err := pool.QueryRow(ctx, sqlVersion).Scan(&version); err != nil {
		return 0, fmt.Errorf("schema version: %w", err)
	}
	return version, nil
}

// Taken are the migrations of a primary store.
type Taken struct {
	// Site tells the databases of different sites apart: the microsecond of the first migration. A
	// copy of a database has it too. It needs no row of its own, which copies of earlier versions
	// would lack.
	Site int64
	// Names are the records of all, from the first.
	Names []string
}

// ErrNone says that the database was never migrated.
var ErrNone = errors.New("riverrun never used this database")

// ReadTaken returns the migrations of a primary store, or ErrNone.
func ReadTaken(ctx context.Context, db interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
},
) (Taken, error) {
	var t Taken
	const query = `SELECT (extract(epoch FROM min(applied_at)) * 1000000)::bigint, array_agg(name ORDER BY version) FROM public.schema_migrations HAVING count(*) > 0`
	err := db.QueryRow(ctx, query).Scan(&t.Site, &t.Names)
	switch {
	case errors.Is(err, pgx.ErrNoRows), isCode(err, "42P01", "3F000"): // undefined_table, invalid_schema_name
		return t, ErrNone
	case err != nil:
		return t, fmt.Errorf("migrations of the primary store: %w", err)
	}
	return t, nil
}

// Usable returns an error if this binary cannot use a primary store that has taken these migrations,
// ErrNewer or ErrEarlierBuild.
func (t Taken) Usable() error {
	steps, err := load(files, "primary")
	if err != nil {
		return err
	}
	for i, name := range t.Names[:min(len(t.Names), len(steps))] {
		if err := steps[i].is(name); err != nil {
			return err
		}
	}
	if len(t.Names) > len(steps) {
		return fmt.Errorf("%w: it is at version %d, the binary knows %d; run a newer riverrun", ErrNewer, len(t.Names), len(steps))
	}
	return nil
}

const (
	sqlTable = `
CREATE TABLE IF NOT EXISTS public.schema_migrations (
    version    bigint      NOT NULL CONSTRAINT schema_migrations_pkey PRIMARY KEY,
    applied_at timestamptz NOT NULL DEFAULT now(),
    name       text        NOT NULL
)`
	sqlVersion = `SELECT coalesce(max(version), 0) FROM public.schema_migrations`
	sqlTaken   = `SELECT version, name FROM public.schema_migrations ORDER BY version`
	sqlApplied = `INSERT INTO public.schema_migrations (version, name) VALUES (@version, @name)`
	sqlRevoked = `DELETE FROM public.schema_migrations WHERE version = @version AND name = @name`
)

// lockKey is the key of the advisory lock that a node holds while it migrates a database:
// "riverrun" in ASCII. Advisory locks are per database, so the stores do not wait for each
// other.
const lockKey = 0x726976657272756e

func up(ctx context.Context, pool *pgxpool.Pool, store string, hooks ...Hook) error {
	steps, err := load(files, store)
	if err != nil {
		return err
	}
	return apply(ctx, pool, store, steps, hooks...)
}

func apply(ctx context.Context, pool *pgxpool.Pool, store string, steps []step, hooks ...Hook) error {
	return locked(ctx, pool, store, steps, func(conn *pgx.Conn, version int) error {
		if err := upFrom(ctx, conn, store, steps[version:]); err != nil {
			return err
		}
		for _, hook := range hooks {
			if err := hook(ctx, pool); err != nil {
				return fmt.Errorf("migrate %s: %w", store, err)
			}
		}
		return nil
	})
}

// beginner is a connection, or a transaction that takes several steps at once.
type beginner interface {
	Begin(context.Context) (pgx.Tx, error)
}

// upFrom applies the steps that are left.
func upFrom(ctx context.Context, conn beginner, store string, steps []step) error {
	for _, s := range steps {
		if err := run(ctx, conn, s, s.up, sqlApplied); err != nil {
			return fmt.Errorf("migrate %s up %04d_%s: %w", store, s.version, s.name, err)
		}
	}
	return nil
}

func down(ctx context.Context, pool *pgxpool.Pool, store string, to int) error {
	steps, err := load(files, store)
	if err != nil {
		return err
	}
	return revoke(ctx, pool, store, steps, to)
}

func revoke(ctx context.Context, pool *pgxpool.Pool, store string, steps []step, to int) error {
	return locked(ctx, pool, store, steps, func(conn *pgx.Conn, version int) error {
		for version > to {
			s := steps[version-1]
			if err := run(ctx, conn, s, s.down, sqlRevoked); err != nil {
				return fmt.Errorf("migrate %s down %04d_%s: %w", store, s.version, s.name, err)
			}
			version--
		}
		return nil
	})
}

// run executes one file, with its row in schema_migrations, in one transaction.
func run(ctx context.Context, conn beginner, s step, sql, note string) error {
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		// Without arguments pgx uses the simple protocol, in which a file may have many
		// statements.
		if _, err := tx.Exec(ctx, sql); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, note, pgx.StrictNamedArgs{"version": s.version, "name": s.recorded()})
		return err
	})
}

// locked calls do on a connection that holds the database's migration lock, with the
// version of the database, which is 0 or that of a step. Any other version is an error.
func locked(ctx context.Context, pool *pgxpool.Pool, store string, steps []step, do func(*pgx.Conn, int) error) (err error) {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("migrate %s: %w", store, err)
	}
	defer conn.Release()
	if _, err := conn.Exec(ctx, `SELECT pg_advisory_lock($1)`, int64(lockKey)); err != nil {
		return fmt.Errorf("migrate %s: wait for other nodes: %w", store, err)
	}
	// The lock belongs to the session, not to a transaction, so it is released even if ctx
	// has ended. A connection that broke has released it.
	defer func() {
		_, unlockErr := conn.Exec(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock($1)`, int64(lockKey))
		if err == nil && unlockErr != nil {
			err = fmt.Errorf("migrate %s: unlock: %w", store, unlockErr)
		}
	}()
	if _, err := conn.Exec(ctx, sqlTable); err != nil {
		return fmt.Errorf("migrate %s: %w", store, err)
	}
	version, err := standing(ctx, conn, store, steps)
	if err != nil {
		return err
	}
	return do(conn.Conn(), version)
}

// standing returns the version of the database, or an error if this binary cannot use it.
func standing(ctx context.Context, conn *pgxpool.Conn, store string, steps []step) (version int, err error) {
	rows, err := conn.Query(ctx, sqlTaken)
	if err != nil {
		return 0, fmt.Errorf("migrate %s: %w", store, err)
	}
	var name string
	_, err = pgx.ForEachRow(rows, []any{&version, &name}, func() error {
		if version <= len(steps) {
			return steps[version-1].is(name)
		}
		return nil
	})
	switch {
	case err != nil:
		return 0, fmt.Errorf("migrate %s: %w", store, err)
	case version > len(steps):
		return 0, fmt.Errorf("%w: its %s store is at version %d, the binary knows %d; run a newer riverrun, or take the store back with the newer one's `riverrun migrate -store %s -to %d`",
			ErrNewer, store, version, len(steps), store, len(steps))
	}
	return version, nil
}

// Stand returns the version of a store, primary or secondary, and the newest one that this binary
// knows. It changes nothing. The error is ErrNewer or ErrEarlierBuild if this binary cannot use the
// store; a version that is too low is none, as a start brings it up to date.
func Stand(ctx context.Context, pool *pgxpool.Pool, store string) (version, newest int, err error) {
	steps, err := load(files, store)
	if err != nil {
		return 0, 0, err
	}
	if version, err = Version(ctx, pool); err != nil || version == 0 {
		return version, len(steps), err
	}
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return version, len(steps), fmt.Errorf("schema version of the %s store: %w", store, err)
	}
	defer conn.Release()
	_, err = standing(ctx, conn, store, steps)
	return version, len(steps), err
}
