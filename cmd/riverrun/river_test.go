package main

import (
	"regexp"
	"strings"
	"testing"

	"riverrun/web/view"
)

// The command says how a river stands, and makes it anew with a record.
func TestRiverCommand(t *testing.T) {
	vars, db := onDatabase(t)
	if _, _, err := both(t, vars, "demo", "-password", "lower weir"); err != nil {
		t.Fatal(err)
	}
	tell := func(args ...string) string {
		t.Helper()
		out, err := once(t, vars, "", append([]string{"river"}, args...)...)
		if err != nil {
			t.Errorf("river %q: %v", args, err)
		}
		return out
	}
	if out := tell("/everything"); !strings.Contains(out, "none stands") || !strings.Contains(out, "somebody who is not signed in") {
		t.Errorf("before any visit:\n%s", out)
	}
	for want, args := range map[string][]string{
		"there is no river at /settings": {"/settings"}, "there is no person": {"/everything", "-as", "nobody-here"},
		"somebody's own page": {"/"}, "say which page": {}, "its next visit builds it": {"-rebuild", "/everything"},
	} {
		if _, err := once(t, vars, "", append([]string{"river"}, args...)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("river %q: got %v, want %q", args, err, want)
		}
	}
	const build = `
		INSERT INTO rivers (id, user_id, kind, their_id, epoch, state, knows, cause, floor, finished)
		SELECT 7, 0, 'everything', 0, epoch, 'live', pg_current_snapshot(), 'visit', 0, true FROM clock`
	if _, err := db.Secondary.Exec(t.Context(), build); err != nil {
		t.Fatal(err)
	}
	if out := tell("/everything"); !regexp.MustCompile(`river +0{15}7\nbuilt .*\(visit\)\n`).MatchString(out) {
		t.Errorf("a river:\n%s", out)
	}
	if out := tell("/everything", "-rebuild"); strings.Contains(out, "0000000007") || !strings.Contains(out, "(request)") {
		t.Errorf("rebuilt:\n%s", out)
	}
	if out, err := once(t, vars, "", "acts"); err != nil || !strings.Contains(out, "rebuild_river") || !strings.Contains(out, "/everything") {
		t.Errorf("acts: %v\n%s", err, out)
	}
}

// Each limit is a setting, and has its text in Russian too.
func TestLimitsAreTranslated(t *testing.T) {
	c, _, err := parse(map[string]string{"HOME": "/", "RIVERRUN_WRITES": "7"})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.limits) != len(limitSettings) {
		t.Errorf("%d limits in force, want %d", len(c.limits), len(limitSettings))
	}
	for _, l := range c.limits {
		if view.LocaleOf("ru").Limit(l.Setting, "") == "" || l.Value == "" || view.LocaleOf("en").Limit(l.Setting, l.Meaning) != l.Meaning {
			t.Errorf("%+v has no value or no text", l)
		}
		if l.Setting == "RIVERRUN_WRITES" && l.Value != "7" {
			t.Errorf("RIVERRUN_WRITES: got %s, want what was set", l.Value)
		}
	}
}
