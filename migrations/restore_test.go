package migrations_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"riverrun/migrations"
	"riverrun/migrations/testdb"
)

// A role that may make tables in the schema, but no schemas in the database, can restore
// what it could make.
func TestRestoreByAPlainRole(t *testing.T) {
	admin := testdb.New(t).Secondary
	exec := func(ctx context.Context, db *pgxpool.Pool, query string) {
		t.Helper()
		if _, err := db.Exec(ctx, query); err != nil {
			t.Fatal(err)
		}
	}
	ctx := t.Context()
	exec(ctx, admin, `DROP SCHEMA public CASCADE; CREATE SCHEMA public; CREATE ROLE plain_role LOGIN; GRANT ALL ON SCHEMA public TO plain_role`)
	t.Cleanup(func() { exec(context.Background(), admin, `DROP OWNED BY plain_role; DROP ROLE plain_role`) })
	cfg := admin.Config()
	cfg.ConnConfig.User = "plain_role"
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	if err := migrations.Secondary(ctx, pool); err != nil {
		t.Fatal(err)
	}
	if restored, err := migrations.RestoreSecondary(ctx, pool); restored || err != nil {
		t.Errorf("of a whole store: got %t, %v; want nothing restored", restored, err)
	}
	exec(ctx, pool, `DROP TABLE entries`)
	for _, want := range []bool{true, false} {
		if restored, err := migrations.RestoreSecondary(ctx, pool); restored != want || err != nil {
			t.Errorf("got %t, %v; want %t", restored, err, want)
		}
	}
}
