package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The command line says what the site's settings are, and changes those that are named.
func TestSiteCommand(t *testing.T) {
	vars, _ := onDatabase(t)
	rules := filepath.Join(t.TempDir(), "rules.txt")
	if err := os.WriteFile(rules, []byte("Be kind.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		args, want string
	}{
		{"", "name          riverrun"},
		{"-name Ferry -purpose boats -door approval -members-only on -indexed off -language ru", "door          approval"},
		{"", "name          Ferry"},
		{"-rules " + rules, "rules         8 characters, version 1"},
		{"-again", "rules         8 characters, version 2"},
		{"-about -", "about         7 characters"},
		{"-door configured -members-only configured", "members-only  configured"},
	} {
		out, err := once(t, vars, "In 1904", append([]string{"site"}, strings.Fields(tc.args)...)...)
		if err != nil || !strings.Contains(out, tc.want) {
			t.Errorf("site %s: got %q (%v), want %q", tc.args, out, err, tc.want)
		}
	}
	for _, tc := range []struct {
		want string
		args []string
	}{
		{"-door: want open, approval, invitation, closed or configured", []string{"-door", "perhaps"}},
		{"say on or off", []string{"-members-only", "perhaps"}},
		{"-name: at most 60 characters", []string{"-name", strings.Repeat("x", 61)}},
		{"-language: the languages are en and ru", []string{"-language", "xx"}},
		{"-mark: a mark is", []string{"-mark", "mark"}},
		{"-contact: a contact is", []string{"-contact", "nowhere"}},
		{"standard input is read for one text only", []string{"-about", "-", "-rules", "-"}},
		{"rules.txt.not", []string{"-rules", rules + ".not"}},
		{"one too many", []string{"name"}},
	} {
		if out, err := once(t, vars, "text", append([]string{"site"}, tc.args...)...); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("site %q: got %q (%v), want %q", tc.args, out, err, tc.want)
		}
	}
	if out, err := once(t, vars, "", "site"); err != nil || !strings.Contains(out, "rules         8 characters, version 2") {
		t.Errorf("after refused changes: %q (%v)", out, err)
	}
	out, err := once(t, vars, "", "acts")
	if err != nil || !strings.Contains(out, "signup approval, private true") {
		t.Errorf("the log of acts says %q (%v)", out, err)
	}
}
