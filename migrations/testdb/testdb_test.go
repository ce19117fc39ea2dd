package testdb_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"riverrun/migrations/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

func TestNewIsMigratedAndOnesOwn(t *testing.T) {
	for i := range 3 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			ctx := context.Background()
			db := testdb.New(t)
			// The same name in each of the three: none sees another's.
			if _, err := db.Primary.Exec(ctx, `INSERT INTO accounts (kind, name, title) VALUES ('user', 'alice', 'Alice')`); err != nil {
				t.Errorf("insert into the primary store: %v", err)
			}
			var rivers int
			if err := db.Secondary.QueryRow(ctx, `SELECT count(*) FROM rivers`).Scan(&rivers); err != nil || rivers != 0 {
				t.Errorf("rivers in the secondary store: got %d (%v), want 0", rivers, err)
			}
			if _, err := db.Primary.Exec(ctx, `CREATE EXTENSION IF NOT EXISTS pg_stat_statements`); err != nil {
				t.Errorf("statements cannot be counted: %v", err)
			}
		})
	}
}

func TestNewDropsItsDatabases(t *testing.T) {
	ctx := context.Background()
	keep := testdb.New(t)
	var gone string
	t.Run("user", func(t *testing.T) {
		db := testdb.New(t)
		gone = db.Primary.Config().ConnConfig.Database
		// Left open on purpose: a test that fails leaves worse behind.
		if _, err := pgx.Connect(ctx, db.PrimaryURL); err != nil {
			t.Fatal(err)
		}
	})
	var found int
	if err := keep.Primary.QueryRow(ctx, `SELECT count(*) FROM pg_database WHERE datname = $1`, gone).Scan(&found); err != nil || found != 0 {
		t.Errorf("databases named %s after its test: got %d (%v), want 0", gone, found, err)
	}
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		testdb.New(b)
	}
}
