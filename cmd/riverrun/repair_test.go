package main

import (
	"strings"
	"testing"

	"riverrun/migrations/testdb"
)

// G11: a host repairs counters, of all or of some, while the site is served.
func TestRepairCounters(t *testing.T) {
	db := testdb.New(t)
	vars := map[string]string{"DATABASE_URL": db.PrimaryURL, "RIVERS_DATABASE_URL": db.SecondaryURL, "RIVERRUN_LISTEN": "127.0.0.1:0", "RIVERRUN_LOG_LEVEL": "warn"}
	for _, name := range []string{"ann", "bob"} {
		if _, err := once(t, vars, "correct horse\n", "account", "create", name); err != nil {
			t.Fatal(err)
		}
	}
	for args, want := range map[string]string{
		"repair":                   "repair: say counters",
		"repair rivers":            `repair: there is no "rivers"; say counters`,
		"repair counters cat":      "there is no user cat",
		"repair counters ann cat ": "there is no user cat",
	} {
		if _, err := once(t, vars, "", strings.Fields(args)...); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %q", args, err, want)
		}
	}
	server := background(t, vars)
	defer server.end(t)
	id := func(name string) (id string) {
		t.Helper()
		if err := db.Primary.QueryRow(t.Context(), `SELECT id::text FROM accounts WHERE name = $1`, name).Scan(&id); err != nil {
			t.Fatal(err)
		}
		return id
	}
	const spoil = `INSERT INTO author_counters (author_id, status, imported, posts) SELECT id, 0, false, 7 FROM accounts WHERE kind = 'user'`
	if _, err := db.Primary.Exec(t.Context(), spoil); err != nil {
		t.Fatal(err)
	}
	wrong := func(name string) string {
		return "counter of account " + id(name) + ", status 0, imported false: 7, want 0\n"
	}
	for _, c := range []struct{ args, want string }{
		{"repair counters -dry-run", wrong("ann") + wrong("bob") + "authors 2 counters wrong 2\n"},
		{"repair counters -dry-run bob", wrong("bob") + "authors 1 counters wrong 1\n"},
		{"repair counters bob bob", wrong("bob") + "authors 1 counters wrong 1\n"},
		{"repair counters", wrong("ann") + "authors 2 counters wrong 1\n"},
		{"repair counters", "authors 2 counters wrong 0\n"},
	} {
		out, err := once(t, vars, "", strings.Fields(c.args)...)
		if err != nil || out != c.want {
			t.Errorf("%s: got %q (%v), want %q", c.args, out, err, c.want)
		}
	}
	out, err := once(t, vars, "", "check")
	must(t, "rivers 0 entries 0 differences 0\n", out, err)
}
