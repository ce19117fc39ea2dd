package testdb_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

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

// A test never finds anything of an earlier one, whether it gets the same databases or new
// ones. Which of the two is seen by their name.
func TestNewIsAsTheFirst(t *testing.T) {
	ctx := context.Background()
	var left *pgx.Conn // a connection that nothing refers to is closed by the garbage collector
	for _, one := range []struct {
		what  string
		leave func(t *testing.T, db *testdb.DB)
		again bool // the databases serve again
	}{
		{"rows", func(t *testing.T, db *testdb.DB) {
			exec(t, db.Primary, `INSERT INTO accounts (kind, name, title) VALUES ('user', 'alice', 'Alice')`)
			exec(t, db.Primary, `UPDATE access_clock SET n = 7`)
		}, true},
		{"a large table", func(t *testing.T, db *testdb.DB) {
			exec(t, db.Primary, `INSERT INTO accounts (kind, name, title) SELECT 'user', 'alice-' || n, 'Alice' FROM generate_series(1, 5000) n`)
		}, true},
		{"settings of a connection", func(t *testing.T, db *testdb.DB) {
			exec(t, db.Primary, `SET statement_timeout = 1; SET search_path = pg_catalog`)
		}, true},
		{"a connection", func(t *testing.T, db *testdb.DB) {
			var err error
			if left, err = pgx.Connect(ctx, db.SecondaryURL); err != nil {
				t.Fatal(err)
			}
		}, false},
		{"another column", func(t *testing.T, db *testdb.DB) {
			exec(t, db.Secondary, `ALTER TABLE rivers ADD COLUMN more int`)
		}, false},
		{"another function", func(t *testing.T, db *testdb.DB) {
			exec(t, db.Primary, `CREATE FUNCTION one() RETURNS int LANGUAGE sql RETURN 1`)
		}, false},
		{"no index", func(t *testing.T, db *testdb.DB) {
			exec(t, db.Primary, `DROP INDEX accounts_kind_name_idx`)
		}, false},
		{"a setting of the database", func(t *testing.T, db *testdb.DB) {
			exec(t, db.Primary, `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET work_mem = 64', current_database()); END $$`)
		}, false},
	} {
		t.Run(one.what, func(t *testing.T) {
			var before, after string
			var first, second [2]string
			t.Run("first", func(t *testing.T) {
				db := testdb.New(t)
				before, first = db.PrimaryURL, [2]string{contents(t, db.Primary), contents(t, db.Secondary)}
				one.leave(t, db)
			})
			t.Run("second", func(t *testing.T) {
				db := testdb.New(t)
				after, second = db.PrimaryURL, [2]string{contents(t, db.Primary), contents(t, db.Secondary)}
			})
			if first != second {
				t.Errorf("the second test finds\n%s\nand the first one\n%s", second, first)
			}
			if (before == after) != one.again {
				t.Errorf("the same databases: %t, want %t", before == after, one.again)
			}
		})
	}
	runtime.KeepAlive(left)
}

// contents is all that a test can find: schema, rows, what its sequences give next, settings.
func contents(t *testing.T, pool *pgxpool.Pool) string {
	t.Helper()
	ctx := context.Background()
	rows, err := pool.Query(ctx, `
		SELECT format('%s %s %s', attrelid::regclass, attname, atttypid::regtype) FROM pg_attribute
		WHERE attrelid >= 16384 AND NOT attisdropped AND attrelid::regclass::text NOT LIKE 'pg_toast%'
		UNION ALL SELECT oid::regprocedure::text FROM pg_proc WHERE oid >= 16384
		UNION ALL SELECT format('%s %s', seqrelid::regclass, pg_sequence_last_value(seqrelid)) FROM pg_sequence
		UNION ALL SELECT format('%s %s', name, setting) FROM pg_settings WHERE name IN ('statement_timeout', 'search_path', 'work_mem')
		UNION ALL SELECT format('%s %s', oid::regclass, query_to_xml(format('TABLE %s', oid::regclass), true, true, ''))
		FROM pg_class WHERE oid >= 16384 AND relkind = 'r' ORDER BY 1`)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}

func exec(t *testing.T, pool *pgxpool.Pool, sql string) {
	t.Helper()
	if _, err := pool.Exec(context.Background(), sql); err != nil {
		t.Fatal(err)
	}
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		testdb.New(b)
	}
}
