package storage

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"riverrun/migrations/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// Each table of either store has its group, and each name in the groups is a table.
func TestTablesHaveGroups(t *testing.T) {
	db := testdb.New(t)
	known := map[string]bool{}
	for store, pool := range map[string]DB{"primary": db.Primary, "secondary": db.Secondary} {
		all, err := Tables(t.Context(), pool)
		if err != nil {
			t.Fatal(err)
		}
		var bytes, grouped int64
		for _, table := range all {
			known[table.Name] = true
			bytes += table.Bytes
			if GroupOf(table.Name) == Other && table.Name != "schema_migrations" {
				t.Errorf("%s: %s is in no group", store, table.Name)
			}
		}
		for _, use := range ByGroup(all) {
			grouped += use.Bytes
		}
		if bytes == 0 || bytes != grouped {
			t.Errorf("%s: tables have %d bytes, groups %d", store, bytes, grouped)
		}
	}
	for group, names := range tables {
		for _, name := range strings.Fields(names) {
			if !known[name] {
				t.Errorf("group %s has %s, which is no table", group, name)
			}
		}
	}
}

func TestOwners(t *testing.T) {
	db := testdb.New(t)
	_, err := db.Primary.Exec(t.Context(), `
		WITH a AS (INSERT INTO accounts (name, title, kind) VALUES ('ann', 'Ann', 'user'), ('bob', 'Bob', 'user') RETURNING id, name),
		f AS (INSERT INTO files (code, owner_id, name, state, bytes, sum) SELECT code, id, 'x', 'download', 500, sha256('x') FROM a, (VALUES ('aaaaaaaaaa'), ('bbbbbbbbbb')) c (code) WHERE a.name = 'bob' RETURNING id)
		INSERT INTO file_blobs (file_id, size, sum, bytes, type) SELECT id, 'upload', sha256('x'), 500, 'text/plain' FROM f`)
	if err != nil {
		t.Fatal(err)
	}
	got, err := MostFiles(t.Context(), db.Primary, 50)
	if diff := cmp.Diff([]Owner{{Name: "bob", Files: 2, Bytes: 1000}}, got); err != nil || diff != "" {
		t.Errorf("most files: %v (-want +got):\n%s", err, diff)
	}
	if got, err := MostPosts(t.Context(), db.Primary, 50); err != nil || len(got) != 0 {
		t.Errorf("most posts: got %v, %v; want none", got, err)
	}
}

// Removed posts, and what is left of deleted accounts, take no room worth a look.
func TestOwnersOfWhatStands(t *testing.T) {
	db := testdb.New(t)
	_, err := db.Primary.Exec(t.Context(), `
		WITH a AS (INSERT INTO accounts (name, title, kind) VALUES ('ann', 'Ann', 'user'), ('bob', 'Bob', 'user'), ('cat', 'Cat', 'user'), ('was', 'Was', 'gone') RETURNING id, name),
		f AS (INSERT INTO files (code, owner_id, name, state, bytes, sum) SELECT repeat(left(name, 1), 10), id, 'x', 'download', 500, sha256('x') FROM a WHERE name IN ('ann', 'was') RETURNING id),
		b AS (INSERT INTO file_blobs (file_id, size, sum, bytes, type) SELECT id, 'upload', sha256('x'), 500, 'text/plain' FROM f)
		INSERT INTO posts (code, author_id, created_at, fresh_at, body, is_public, decisive, deleted_at)
		SELECT left(name, 1) || lpad(i::text, 9, 'x'), id, now(), 0, '', true, '{1}', CASE WHEN i > stand THEN now() END
		FROM a JOIN (VALUES ('ann', 5, 2), ('bob', 3, 3), ('cat', 2, 0), ('was', 9, 9)) p (name, n, stand) USING (name), generate_series(1, n) i`)
	if err != nil {
		t.Fatal(err)
	}
	got, err := MostPosts(t.Context(), db.Primary, 50)
	if diff := cmp.Diff([]Owner{{Name: "bob", Posts: 3}, {Name: "ann", Posts: 2, Files: 1, Bytes: 500}}, got); err != nil || diff != "" {
		t.Errorf("most posts: %v (-want +got):\n%s", err, diff)
	}
	got, err = MostFiles(t.Context(), db.Primary, 50)
	if diff := cmp.Diff([]Owner{{Name: "ann", Posts: 2, Files: 1, Bytes: 500}}, got); err != nil || diff != "" {
		t.Errorf("most files: %v (-want +got):\n%s", err, diff)
	}
}

func TestWithin(t *testing.T) {
	db := testdb.New(t)
	err := Within(t.Context(), db.Primary, 20*time.Millisecond, func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), `SELECT pg_sleep(20)`)
		return err
	})
	if !errors.Is(err, ErrSlow) {
		t.Errorf("too slow: got %v, want ErrSlow", err)
	}
}
