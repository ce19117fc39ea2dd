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
	for _, args := range [][]string{
		{"site", "-door", "perhaps"},
		{"site", "-members-only", "perhaps"},
		{"site", "-name", strings.Repeat("x", 61)},
		{"site", "-language", "xx"},
		{"site", "-rules", rules + ".not"},
		{"site", "name"},
	} {
		if out, err := once(t, vars, "", args...); err == nil {
			t.Errorf("%q: no error, %q", args, out)
		}
	}
	out, err := once(t, vars, "", "acts")
	if err != nil || !strings.Contains(out, "signup approval, private true") {
		t.Errorf("the log of acts says %q (%v)", out, err)
	}
}
