package migrations_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"riverrun/migrations"
	"riverrun/migrations/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// sqlObjects lists what migrations make, so that a down file can be seen to take
// all of it away.
const sqlObjects = `
SELECT relkind::text || ' ' || relname FROM pg_class
WHERE relnamespace = 'public'::regnamespace AND relname NOT LIKE 'schema_migrations%'
UNION ALL
SELECT 'function ' || proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace
ORDER BY 1`

func objects(t *testing.T, pool *pgxpool.Pool) []string {
	t.Helper()
	rows, err := pool.Query(t.Context(), sqlObjects)
	if err != nil {
		t.Fatal(err)
	}
	got, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestUpDownUp(t *testing.T) {
	db := testdb.New(t)
	for _, store := range []struct {
		name string
		pool *pgxpool.Pool
		up   func(context.Context, *pgxpool.Pool) error
		down func(context.Context, *pgxpool.Pool, int) error
	}{
		{"primary", db.Primary, func(ctx context.Context, pool *pgxpool.Pool) error { return migrations.Primary(ctx, pool) }, migrations.PrimaryDown},
		{"secondary", db.Secondary, migrations.Secondary, migrations.SecondaryDown},
	} {
		t.Run(store.name, func(t *testing.T) {
			ctx := t.Context()
			before := objects(t, store.pool)
			newest := version(t, store.pool)
			if len(before) == 0 || newest == 0 {
				t.Fatalf("a migrated store: got %d objects at version %d", len(before), newest)
			}
			if err := store.up(ctx, store.pool); err != nil {
				t.Fatalf("up with nothing left to do: %v", err)
			}
			if err := store.down(ctx, store.pool, 0); err != nil {
				t.Fatalf("down: %v", err)
			}
			if got := objects(t, store.pool); len(got) != 0 {
				t.Errorf("after down: got %v, want nothing", got)
			}
			if got := version(t, store.pool); got != 0 {
				t.Errorf("version after down: got %d, want 0", got)
			}
			if err := store.up(ctx, store.pool); err != nil {
				t.Fatalf("up again: %v", err)
			}
			if diff := cmp.Diff(before, objects(t, store.pool)); diff != "" {
				t.Errorf("after down and up (-before +after):\n%s", diff)
			}
			if got := version(t, store.pool); got != newest {
				t.Errorf("version after up: got %d, want %d", got, newest)
			}
		})
	}
}

// Without deletions, those who could still keep their account have it again, and only they.
func TestDownFromDeletions(t *testing.T) {
	ctx, pool := t.Context(), testdb.New(t).Primary
	_, err := pool.Exec(ctx, `
		WITH made AS (INSERT INTO accounts (kind, name, title) VALUES ('user', 'ann', 'Ann'), ('user', 'bob', 'Bob') RETURNING id, name),
			hidden AS (INSERT INTO unseen_accounts (account_id, cause) SELECT id, 'leaving' FROM made)
		INSERT INTO leaving (account_id, ends_at, by_staff, begun) SELECT id, now(), false, name = 'bob' FROM made`)
	if err != nil {
		t.Fatal(err)
	}
	if err := migrations.PrimaryDown(ctx, pool, 31); err != nil {
		t.Fatal(err)
	}
	var names string
	err = pool.QueryRow(ctx, `SELECT string_agg(name, ' ') FROM unseen_accounts u JOIN accounts a ON a.id = u.account_id`).Scan(&names)
	if err != nil || names != "bob" {
		t.Errorf("hidden: %q, %v; want bob", names, err)
	}
}

// G4: of drafts from before there were current ones the newest of a post is current. One that was chosen since stays.
func TestCurrentDraftsFromBefore(t *testing.T) {
	ctx, pool := t.Context(), testdb.New(t).Primary
	check := func(want string) {
		t.Helper()
		if err := migrations.Primary(ctx, pool); err != nil {
			t.Fatal(err)
		}
		var got string
		err := pool.QueryRow(ctx, `
			SELECT coalesce(string_agg(a.name || ' ' || d.place, ', ' ORDER BY a.name), '')
			FROM current_drafts c JOIN drafts d ON d.id = c.draft_id JOIN accounts a ON a.id = c.account_id`).Scan(&got)
		if err != nil || got != want {
			t.Errorf("current: %q, %v; want %q", got, err, want)
		}
	}
	down := func(to int, then string) {
		t.Helper()
		if err := migrations.PrimaryDown(ctx, pool, to); err != nil {
			t.Fatal(err)
		}
		if _, err := pool.Exec(ctx, then); err != nil {
			t.Fatal(err)
		}
	}
	down(37, `
		WITH made AS (INSERT INTO accounts (kind, name, title) VALUES ('user', 'ann', 'Ann'), ('user', 'bob', 'Bob'), ('user', 'cat', 'Cat') RETURNING id, name)
		INSERT INTO drafts (account_id, saved_at, place, language, body, destinations, uploads)
		SELECT id, now() - d.days * interval '1 day', d.place, '', 'text', '{}', '{}'
		FROM (VALUES ('ann', '/filter/messages', 1), ('ann', '/p/0123456789', 2), ('ann', '/chess-club', 3), ('ann', '/', 4),
			('bob', '/filter/only-me', 1), ('cat', '/', 1), ('cat', '/cat/notes', 0)) d (name, place, days)
		JOIN made USING (name)`)
	check("ann /chess-club, cat /cat/notes")
	down(43, `
		DELETE FROM current_drafts WHERE account_id = (SELECT id FROM accounts WHERE name = 'cat');
		UPDATE drafts SET parked = true WHERE place = '/cat/notes';
		UPDATE current_drafts SET draft_id = (SELECT id FROM drafts d WHERE d.account_id = current_drafts.account_id AND place = '/')`)
	check("ann /, cat /")
}

func version(t *testing.T, pool *pgxpool.Pool) int {
	t.Helper()
	v, err := migrations.Version(t.Context(), pool)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestNodesTakeTurns would fail without the advisory lock: two nodes would make
// the same table, and the hooks would run at once.
func TestNodesTakeTurns(t *testing.T) {
	db := testdb.New(t)
	if err := migrations.PrimaryDown(t.Context(), db.Primary, 0); err != nil {
		t.Fatal(err)
	}
	var inside, calls atomic.Int32
	hook := func(ctx context.Context, pool *pgxpool.Pool) error {
		if n := inside.Add(1); n != 1 {
			return fmt.Errorf("%d nodes migrate at once", n)
		}
		defer inside.Add(-1)
		calls.Add(1)
		_, err := pool.Exec(ctx, `SELECT pg_sleep(0.05)`)
		return err
	}
	group, ctx := errgroup.WithContext(t.Context())
	const nodes = 4
	for range nodes {
		group.Go(func() error { return migrations.Primary(ctx, db.Primary, hook) })
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	if got := calls.Load(); got != nodes {
		t.Errorf("calls of the hook: got %d, want %d", got, nodes)
	}
}

func TestNewerIsRefused(t *testing.T) {
	db := testdb.New(t)
	if _, err := db.Secondary.Exec(t.Context(), `INSERT INTO schema_migrations (version, name) VALUES (1000, 'future')`); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"up":   migrations.Secondary(t.Context(), db.Secondary),
		"down": migrations.SecondaryDown(t.Context(), db.Secondary, 0),
	} {
		if !errors.Is(err, migrations.ErrNewer) || !strings.Contains(err.Error(), "version 1000") {
			t.Errorf("%s: got %v, want ErrNewer that names version 1000", name, err)
		}
	}
}

// A database whose migrations are other ones, by their names or their content, is of a build
// that was never released, however many they are.
func TestEarlierBuildIsRefused(t *testing.T) {
	db := testdb.New(t)
	ctx := t.Context()
	for _, made := range []string{
		`UPDATE schema_migrations SET name = 'schema 0123456789ab' WHERE version = 1`,
		`UPDATE schema_migrations SET name = 'initial' WHERE version = 1`,
		`DELETE FROM schema_migrations WHERE version > 1`,
		`INSERT INTO schema_migrations (version, name) SELECT n, 'step' FROM generate_series(2, 28) n`,
	} {
		for _, pool := range []*pgxpool.Pool{db.Primary, db.Secondary} {
			if _, err := pool.Exec(ctx, made); err != nil {
				t.Fatal(err)
			}
		}
		before := objects(t, db.Primary)
		hook := func(context.Context, *pgxpool.Pool) error { t.Error("the hook ran"); return nil }
		for name, err := range map[string]error{
			"primary up":     migrations.Primary(ctx, db.Primary, hook),
			"primary down":   migrations.PrimaryDown(ctx, db.Primary, 0),
			"secondary up":   migrations.Secondary(ctx, db.Secondary),
			"secondary down": migrations.SecondaryDown(ctx, db.Secondary, 0),
		} {
			if !errors.Is(err, migrations.ErrEarlierBuild) || !regexp.MustCompile(`0001 is (initial|schema 0123456789ab), and not schema [0-9a-f]{12}`).MatchString(err.Error()) {
				t.Errorf("%s after %s: got %v, want ErrEarlierBuild that names both", name, made, err)
			}
		}
		if diff := cmp.Diff(before, objects(t, db.Primary)); diff != "" {
			t.Errorf("changed after %s (-before +after):\n%s", made, diff)
		}
	}
	if _, err := db.Secondary.Exec(ctx, `DROP TABLE entries`); err != nil {
		t.Fatal(err)
	}
	if restored, err := migrations.RestoreSecondary(ctx, db.Secondary); restored || !errors.Is(err, migrations.ErrEarlierBuild) {
		t.Errorf("restore: got %t, %v; want ErrEarlierBuild", restored, err)
	}
}

// twoSteps are the steps of a made-up store. up and down end the second one, and may stop it
// half way.
func twoSteps(t *testing.T, up, down string) []migrations.Step {
	t.Helper()
	steps, err := migrations.Load(fstest.MapFS{
		"s/0001_a.up.sql":   {Data: []byte(`CREATE TABLE a (n int)`)},
		"s/0001_a.down.sql": {Data: []byte(`DROP TABLE a`)},
		"s/0002_b.up.sql":   {Data: []byte(`CREATE TABLE b (n int); INSERT INTO b SELECT n FROM a; ` + up)},
		"s/0002_b.down.sql": {Data: []byte(`DROP TABLE b; ` + down)},
	}, "s")
	if err != nil {
		t.Fatal(err)
	}
	return steps
}

// empty is a database without a store.
func empty(t *testing.T) *pgxpool.Pool {
	t.Helper()
	pool := testdb.New(t).Secondary
	if err := migrations.SecondaryDown(t.Context(), pool, 0); err != nil {
		t.Fatal(err)
	}
	return pool
}

// stands compares the tables and the version of a made-up store with those wanted.
func stands(t *testing.T, pool *pgxpool.Pool, at int, tables ...string) {
	t.Helper()
	if diff := cmp.Diff(tables, objects(t, pool), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("tables (-want +got):\n%s", diff)
	}
	if got := version(t, pool); got != at {
		t.Errorf("version: got %d, want %d", got, at)
	}
}

// A store that is in use is upgraded by the first of several nodes, refused by the binary
// of before, and taken back for it.
func TestSecondStep(t *testing.T) {
	ctx, pool, steps := t.Context(), empty(t), twoSteps(t, "", "")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(migrations.Apply(ctx, pool, "s", steps[:1]))
	stands(t, pool, 1, "r a")
	_, err := pool.Exec(ctx, `INSERT INTO a VALUES (7)`)
	must(err)

	group, groupCtx := errgroup.WithContext(ctx)
	for range 4 {
		group.Go(func() error { return migrations.Apply(groupCtx, pool, "s", steps) })
	}
	must(group.Wait())
	stands(t, pool, 2, "r a", "r b")
	var n int
	must(pool.QueryRow(ctx, `SELECT n FROM b`).Scan(&n))
	if n != 7 {
		t.Errorf("after the upgrade: got %d, want 7", n)
	}

	for name, err := range map[string]error{
		"up":   migrations.Apply(ctx, pool, "s", steps[:1]),
		"down": migrations.Revoke(ctx, pool, "s", steps[:1], 0),
	} {
		if !errors.Is(err, migrations.ErrNewer) || !strings.Contains(err.Error(), "version 2, the binary knows 1") {
			t.Errorf("%s by the binary of before: got %v, want ErrNewer that names both versions", name, err)
		}
	}
	stands(t, pool, 2, "r a", "r b")

	must(migrations.Revoke(ctx, pool, "s", steps, 1))
	stands(t, pool, 1, "r a")
	must(migrations.Apply(ctx, pool, "s", steps[:1]))
	must(pool.QueryRow(ctx, `SELECT n FROM a`).Scan(&n))
	must(migrations.Revoke(ctx, pool, "s", steps[:1], 0))
	stands(t, pool, 0)
}

func TestBrokenStepLeavesTheWholeVersionBefore(t *testing.T) {
	ctx, pool, broken := t.Context(), empty(t), "SELECT 1/0"
	err := migrations.Apply(ctx, pool, "s", twoSteps(t, broken, ""))
	if err == nil || !strings.Contains(err.Error(), "migrate s up 0002_b") {
		t.Errorf("a broken step: got %v, want one that names 0002_b", err)
	}
	stands(t, pool, 1, "r a")
	if err := migrations.Apply(ctx, pool, "s", twoSteps(t, "", "")); err != nil {
		t.Fatalf("up by the corrected step: %v", err)
	}
	err = migrations.Revoke(ctx, pool, "s", twoSteps(t, "", broken), 0)
	if err == nil || !strings.Contains(err.Error(), "migrate s down 0002_b") {
		t.Errorf("a broken step down: got %v, want one that names 0002_b", err)
	}
	stands(t, pool, 2, "r a", "r b")
}

func TestLoadRefuses(t *testing.T) {
	pair := func(names ...string) fstest.MapFS {
		fs := fstest.MapFS{}
		for _, name := range names {
			fs["s/"+name+".up.sql"] = &fstest.MapFile{Data: []byte("SELECT 1")}
			fs["s/"+name+".down.sql"] = &fstest.MapFile{Data: []byte("SELECT 1")}
		}
		return fs
	}
	alone := pair("0001_a")
	delete(alone, "s/0001_a.down.sql")
	other := pair("0001_a")
	other["s/README"] = &fstest.MapFile{}
	for says, fs := range map[string]fstest.MapFS{
		"number 2 is missing":                 pair("0001_a", "0003_c"),
		"number 1 is both a and b":            pair("0001_a", "0001_b"),
		"lacks its up or its down":            alone,
		"README is neither":                   other,
		"one_a.down.sql is not named":         pair("one_a"),
		"0001.down.sql is not named NNNN_nam": pair("0001"),
	} {
		if _, err := migrations.Load(fs, "s"); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("load: got %v, want %q", err, says)
		}
	}
}

func TestCreate(t *testing.T) {
	db := testdb.New(t)
	ctx := t.Context()
	home := db.Primary.Config().ConnConfig.Database
	name := home + "_made"
	wanted := db.Primary.Config().ConnConfig.Copy()
	wanted.Database = name
	t.Cleanup(func() {
		for _, sql := range []string{`DROP DATABASE IF EXISTS "` + name + `"`, `DROP ROLE IF EXISTS "` + name + `"`} {
			if _, err := db.Secondary.Exec(context.Background(), sql); err != nil {
				t.Error(err)
			}
		}
	})
	// A role that may not create databases is told what to have run.
	if _, err := db.Primary.Exec(ctx, `CREATE ROLE "`+name+`" LOGIN PASSWORD 'secret'`); err != nil {
		t.Fatal(err)
	}
	poor := wanted.Copy()
	poor.User, poor.Password = name, "secret"
	err := migrations.Create(ctx, poor, home)
	if want := `CREATE DATABASE "` + name + `" OWNER "` + name + `";`; !errors.Is(err, migrations.ErrNoDatabase) || !strings.Contains(err.Error(), want) {
		t.Errorf("Create without the right to: got %v, want ErrNoDatabase with %s", err, want)
	}
	for range 2 {
		if err := migrations.Create(ctx, wanted, home); err != nil {
			t.Fatalf("Create: %v", err)
		}
	}
	conn, err := pgx.ConnectConfig(ctx, wanted)
	if err != nil {
		t.Fatalf("connect to what Create made: %v", err)
	}
	if err := conn.Close(ctx); err != nil {
		t.Error(err)
	}
}

// TestForeignKeysAreIndexed: deleting a row must not read whole tables for those
// that refer to it.
func TestForeignKeysAreIndexed(t *testing.T) {
	db := testdb.New(t)
	allowed := map[string][]string{"primary": {
		// Neither accounts nor posts are ever deleted, and the indexes hold what was not.
		"comments.comments_author_fkey",
		"comments.comments_post_fkey",
		// The primary key begins with the list, which has one owner.
		"list_members.list_members_list_fkey",
	}}
	// An index without the rows in which a column is null will do: the check asks for
	// the key that goes.
	const query = `
		SELECT c.conrelid::regclass || '.' || c.conname FROM pg_constraint c
		WHERE c.contype = 'f' AND c.connamespace = 'public'::regnamespace AND NOT EXISTS (
			SELECT FROM pg_index i WHERE i.indrelid = c.conrelid AND i.indisvalid
				AND (SELECT array_agg(k ORDER BY k) FROM unnest((i.indkey::smallint[])[0:cardinality(c.conkey) - 1]) k)
					= (SELECT array_agg(k ORDER BY k) FROM unnest(c.conkey) k)
				AND (i.indpred IS NULL OR cardinality(c.conkey) = 1 AND pg_get_expr(i.indpred, i.indrelid) =
					(SELECT format('(%I IS NOT NULL)', a.attname) FROM pg_attribute a WHERE a.attrelid = c.conrelid AND a.attnum = c.conkey[1])))
		ORDER BY 1`
	for name, pool := range map[string]*pgxpool.Pool{"primary": db.Primary, "secondary": db.Secondary} {
		rows, err := pool.Query(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		got, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(allowed[name], got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: foreign keys without an index (-want +got):\n%s", name, diff)
		}
	}
}
