package main

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"riverrun/timelines"
	"riverrun/timelines/reports"
)

// A text of a report cannot steer the terminal that shows it.
func TestPlainLines(t *testing.T) {
	if got, want := plainLines("a\x1b[2Jb\r\u009bc\nd"), "a [2Jb  c\n\td"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The command says what takes the room, by kind and by account, and an empty site is not backed up.
func TestStorageCommand(t *testing.T) {
	vars, db := onDatabase(t)
	if out, err := once(t, vars, "", "account", "list"); err != nil {
		t.Fatal(out, err)
	}
	file := filepath.Join(t.TempDir(), "site.backup")
	if out, err := once(t, vars, "", "backup", file); err == nil || !strings.Contains(err.Error(), "nobody has an account there") {
		t.Errorf("backup of an empty site: %q, %v", out, err)
	}
	if out, err := once(t, vars, "correct horse\n", "account", "create", "ann"); err != nil {
		t.Fatal(out, err)
	}
	const upload = `
		WITH f AS (
			INSERT INTO files (owner_id, bytes, code, state, name, sum)
			SELECT id, 4321, '0000000001', 'download', 'a.txt', decode(repeat('00', 32), 'hex') FROM accounts RETURNING id
		)
		INSERT INTO file_blobs (file_id, bytes, size, type, sum) SELECT id, 4321, 'upload', 'text/plain', decode(repeat('00', 32), 'hex') FROM f`
	if _, err := db.Primary.Exec(t.Context(), upload); err != nil {
		t.Fatal(err)
	}
	out, err := once(t, vars, "", "storage")
	for _, want := range []string{"primary    texts", "secondary  rivers", "account    ann            4321 bytes  1 files  0 posts"} {
		if err != nil || !strings.Contains(out, want) {
			t.Errorf("got %q (%v), want %q", out, err, want)
		}
	}
}

// The command line lists, shows and ends reports, and removes what they are about.
func TestReportCommands(t *testing.T) {
	vars, db := onDatabase(t)
	for _, name := range []string{"eve", "bob"} {
		out, err := once(t, vars, "correct horse\n", "account", "create", name)
		must(t, "created "+name+"\n", out, err)
	}
	store := timelines.Open(db.Primary, nil, timelines.DefaultOptions())
	found, err := store.Accounts.ByName(t.Context(), "eve")
	if err != nil {
		t.Fatal(err)
	}
	reporter, err := store.Accounts.ByName(t.Context(), "bob")
	if err != nil {
		t.Fatal(err)
	}
	post, err := store.Posts.Create(t.Context(), timelines.NewPost{Author: found.ID, Body: "watches"})
	if err != nil {
		t.Fatal(err)
	}
	said, err := store.Comments.Create(t.Context(), timelines.NewComment{Author: reporter.ID, Code: post.Code, Body: "no"})
	if err != nil {
		t.Fatal(err)
	}
	code, err := reports.Open(store).File(t.Context(), reporter.ID, reports.Thing{Code: post.Code}, reports.Spam, "look")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := store.Groups.Create(t.Context(), timelines.NewGroup{Actor: reporter.ID, Name: "watches-club", Title: "Watches"}); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"group", "delete", "-confirm", "watches-club", "-reason", "ads", "watches-club"}, "the group watches-club is hidden, and deleted while the site is served"},
		{[]string{"acts"}, "delete_group  watches-club  ads"},
		{[]string{"reports"}, "post " + post.Code + " by eve"},
		{[]string{"reports", "show", code}, "watches"},
		{[]string{"reports", "take", code}, "report " + code + " is taken"},
		{[]string{"reports", "note", code, "-text", "seen before"}, "report " + code + " is noted"},
		{[]string{"reports", "show", code}, "seen before"},
		{[]string{"post", "remove", post.Code + "#c-" + strconv.FormatInt(said.CommentID, 10)}, " is removed"},
		{[]string{"post", "remove", post.Code}, "post " + post.Code + " is removed"},
		{[]string{"account", "remove-posts", "eve"}, "all that eve wrote is hidden"},
		{[]string{"reports", "done", code, "-outcome", "removed", "-answer", "gone"}, "report " + code + " is done"},
		{[]string{"reports", "-all"}, "done"},
		{[]string{"account", "suspend", "-reason", "spam", "eve"}, "eve"},
		{[]string{"account", "list", "-suspended"}, "eve  user  "},
		{[]string{"account", "list", "-find", "EV"}, "eve  user  "},
		{[]string{"account", "restore", "eve"}, "eve"},
		{[]string{"account", "delete", "eve"}, "eve is hidden, and deleted in 7 days"},
		{[]string{"account", "keep", "eve"}, "eve stays"},
		{[]string{"account", "delete", "-now", "-reason", "spam", "eve"}, "deleted while the site is served"},
		{[]string{"acts", "eve"}, "delete_account  eve         spam (at once)"},
		{[]string{"acts", "eve"}, "keep_account"},
	} {
		out, err := once(t, vars, "", tc.args...)
		if err != nil || !strings.Contains(out, tc.want) {
			t.Errorf("%q: got %q (%v), want %q", tc.args, out, err, tc.want)
		}
	}
	for _, args := range [][]string{
		{"account", "list", "-suspended"},
		{"account", "list", "-find", "nobody-here"},
	} {
		if out, err := once(t, vars, "", args...); err != nil || out != "" {
			t.Errorf("%q: got %q (%v), want nobody", args, out, err)
		}
	}
	for _, args := range [][]string{
		{"reports", "show", "0000000000"},
		{"reports", "done", code, "-outcome", "removed"},
		{"post", "remove", "x"},
		{"account", "remove-posts", "nobody-here"},
		{"account", "delete", "nobody-here"},
		{"group", "delete", "-confirm", "nobody-here", "nobody-here"},
		{"group", "delete", "-confirm", "bob", "bob"},
		{"group", "delete", "-confirm", "watches-club", "watches-club"}, // again
		{"account", "keep", "eve"},                                      // too late
	} {
		if out, err := once(t, vars, "", args...); err == nil {
			t.Errorf("%q: got %q, want an error", args, out)
		}
	}
}
