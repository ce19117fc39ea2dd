package main

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
)

func TestExplainCommand(t *testing.T) {
	vars, db := onDatabase(t)
	if _, _, err := both(t, vars, "demo", "-password", "lower weir"); err != nil {
		t.Fatal(err)
	}
	code := func(where string) (code string) {
		t.Helper()
		err := db.Primary.QueryRow(t.Context(), `
			SELECT p.code FROM posts p JOIN accounts a ON a.id = p.author_id
			JOIN timelines t ON t.id = p.decisive[1] JOIN accounts o ON o.id = t.their_id
			WHERE a.name = 'nell' AND `+where+` ORDER BY p.id LIMIT 1`).Scan(&code)
		if err != nil {
			t.Fatal(err)
		}
		return code
	}
	open := code(`t.kind = 'feed' AND p.is_public`)
	within := code(`o.name = 'night-ferry'`)
	change := func(pool *pgxpool.Pool, statement string, args ...any) {
		t.Helper()
		if _, err := pool.Exec(t.Context(), statement, args...); err != nil {
			t.Fatal(err)
		}
	}
	tell := func(want []string, lacks string, args ...string) {
		t.Helper()
		out, err := once(t, vars, "", append([]string{"explain"}, args...)...)
		if err != nil {
			t.Errorf("explain %q: %v", args, err)
		}
		for _, text := range want {
			if !strings.Contains(out, text) {
				t.Errorf("explain %q lacks %q:\n%s", args, text, out)
			}
		}
		if lacks != "" && strings.Contains(out, lacks) {
			t.Errorf("explain %q says %q:\n%s", args, lacks, out)
		}
	}
	tell([]string{
		"The post " + open + " of @nell: somebody who is not signed in sees it, because something it stands in is open",
		"feed of @nell (public): open to", "everything", "no such river stands",
	}, "home", "-post", open)
	tell([]string{"@nell sees it", "Rivers of @nell", "shown, from", "feed of @nell"}, "", "-post", open, "-viewer", "nell")
	tell([]string{
		"does not see it, because all it stands in is closed to somebody", "group of @night-ferry (private): closed to somebody who is not signed in, who is not among its readers",
		"not shown: the page is closed", "not shown: the post is closed",
	}, ": open to", "-post", within)

	// Posts that priya hides are left out of rivers, except those that show hidden posts.
	change(db.Primary, `
		INSERT INTO hidden_accounts (account_id, hidden_id)
		SELECT a.id, b.id FROM accounts a, accounts b WHERE a.name = 'priya' AND b.name = 'nell'`)
	change(db.Primary, `
		INSERT INTO lists (account_id, slug, title) SELECT id, 'bridge', 'По мосту' FROM accounts WHERE name = 'priya'`)
	var priya, list int64
	err := db.Primary.QueryRow(t.Context(), `SELECT account_id, id FROM lists`).Scan(&priya, &list)
	if err != nil {
		t.Fatal(err)
	}
	change(db.Secondary, `
		INSERT INTO rivers (id, user_id, kind, their_id, epoch, state, knows)
		SELECT x.id, $1, x.kind, x.their_id, c.epoch, 'live', '1:1:'
		FROM clock c, (VALUES (1, 'list', $2::bigint), (2, 'post', 0)) x(id, kind, their_id)`, priya, list)
	tell([]string{
		"@priya hides its author, and of the rivers below sees it in these only: post, user of @nell.", "not shown: the viewer hides its author",
		`list "По мосту"`, "river 1 has no entry",
	}, "river 2", "-post", open, "-viewer", "@priya")

	change(db.Primary, `
		INSERT INTO bans (account_id, banned_id)
		SELECT a.id, b.id FROM accounts a, accounts b WHERE a.name = 'nell' AND b.name = 'sam'`)
	tell([]string{"a ban stands between @sam and @nell", "not shown: a ban", "not shown: the page is closed"}, "", "-post", open, "-viewer", "sam")
	change(db.Primary, `UPDATE posts SET deleted_at = now() WHERE code = $1`, open)
	tell([]string{"was deleted: nobody sees it"}, "", "-post", open, "-viewer", "nell")
	if _, err := once(t, vars, "", "explain", "-post", open, "-viewer", "@nobody"); err == nil || err.Error() != `there is no account "nobody"` {
		t.Errorf("explain for nobody: got %v", err)
	}
}
