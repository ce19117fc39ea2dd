package dump

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// State is what stands in a database.
type State struct {
	// Empty: nothing would be lost. There is nothing in the schemas, or riverrun's tables
	// without an account.
	Empty bool
	// Used: a process of riverrun uses it. Each node holds an advisory lock, and so do commands
	// that write much.
	Used bool
	// Server is the major version of the server.
	Server int
}

// DB is a pool or a connection.
type DB interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// Look returns what stands in a database.
func Look(ctx context.Context, db DB) (State, error) {
	const query = `
		SELECT to_regclass('public.accounts') IS NOT NULL,
			NOT EXISTS (SELECT FROM pg_class c WHERE c.relnamespace IN (to_regnamespace('public'), to_regnamespace('queue')) AND c.relkind IN ('r', 'p', 'v', 'm')
				AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')),
			EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND pid <> pg_backend_pid()
				AND database = (SELECT oid FROM pg_database WHERE datname = current_database())),
			current_setting('server_version_num')::int / 10000`
	var s State
	var accounts bool
	if err := db.QueryRow(ctx, query).Scan(&accounts, &s.Empty, &s.Used, &s.Server); err != nil {
		return s, fmt.Errorf("look what stands in the database: %w", err)
	}
	if accounts {
		if err := db.QueryRow(ctx, `SELECT NOT EXISTS (SELECT FROM public.accounts)`).Scan(&s.Empty); err != nil {
			return s, fmt.Errorf("look what stands in the database: %w", err)
		}
	}
	return s, nil
}
