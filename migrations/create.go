package migrations

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// ErrNoDatabase says that the database is missing and the role may not create it. The error
// that wraps it has the SQL that creates it.
var ErrNoDatabase = errors.New("no such database")

// Create creates the database that cfg names if it does not exist. neighbour is the name of
// a database on the same server to connect to.
func Create(ctx context.Context, cfg *pgx.ConnConfig, neighbour string) error {
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err == nil {
		return conn.Close(ctx)
	}
	if !isCode(err, "3D000") { // invalid_catalog_name
		return fmt.Errorf("database %s: %w", cfg.Database, err)
	}
	statement := "CREATE DATABASE " + pgx.Identifier{cfg.Database}.Sanitize()
	beside := cfg.Copy()
	beside.Database = neighbour
	conn, err = pgx.ConnectConfig(ctx, beside)
	if err != nil {
		return fmt.Errorf("%w: %s, and %s to make it from: %w; make it with: %s;", ErrNoDatabase, cfg.Database, neighbour, err, statement)
	}
	_, err = conn.Exec(ctx, statement)
	err = errors.Join(err, conn.Close(ctx))
	switch {
	case err == nil:
		return nil
	// Another node was quicker: it had finished, or both were creating it.
	case isCode(err, "42P04", "23505"): // duplicate_database, unique_violation
		return nil
	case isCode(err, "42501"): // insufficient_privilege
		return fmt.Errorf("%w: %s, and %s may not make it; as one who may: %s OWNER %s;",
			ErrNoDatabase, cfg.Database, cfg.User, statement, pgx.Identifier{cfg.User}.Sanitize())
	default:
		return fmt.Errorf("make database %s: %w", cfg.Database, err)
	}
}

func isCode(err error, codes ...string) bool {
	var pgErr *pgconn.PgError
	return errors.As(err, &pgErr) && slices.Contains(codes, pgErr.Code)
}
