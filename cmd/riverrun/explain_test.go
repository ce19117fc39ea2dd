package main

import (
	"strings"
	"testing"
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
	if _, err := db.Primary.Exec(t.Context(), `
		INSERT INTO bans (account_id, banned_id)
		SELECT a.id, b.id FROM accounts a, accounts b WHERE a.name = 'nell' AND b.name = 'sam'`); err != nil {
		t.Fatal(err)
	}
	tell([]string{"a ban stands between @sam and @nell", "not shown: a ban", "not shown: the page is closed"}, "", "-post", open, "-viewer", "sam")
	if _, err := db.Primary.Exec(t.Context(), `UPDATE posts SET deleted_at = now() WHERE code = $1`, open); err != nil {
		t.Fatal(err)
	}
	tell([]string{"was deleted: nobody sees it"}, "", "-post", open, "-viewer", "nell")
	if _, err := once(t, vars, "", "explain", "-post", open, "-viewer", "nobody"); err == nil || err.Error() != `there is no account "nobody"` {
		t.Errorf("explain for nobody: got %v", err)
	}
}
