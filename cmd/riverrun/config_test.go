package main

import (
	"bytes"
	"errors"
	"log/slog"
	"net/netip"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// environment answers for what a test sets and for nothing else.
func environment(vars map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		v, ok := vars[name]
		return v, ok
	}
}

func parse(vars map[string]string, args ...string) (*config, []string, error) {
	e := &env{lookup: environment(vars), name: "serve"}
	return e.parse(args, nil)
}

func TestDefaults(t *testing.T) {
	c, rest, err := parse(map[string]string{"HOME": "/home/alice"})
	if err != nil {
		t.Fatal(err)
	}
	data := "/home/alice/.local/share/riverrun"
	if os.Geteuid() == 0 {
		data = "/var/lib/riverrun"
	}
	want := config{
		listen: "127.0.0.1:8080", data: data, home: "rivers",
		graceHome: 24 * time.Hour, grace: 6 * time.Hour, expireEvery: 5 * time.Minute, changesDays: 7,
		depth:           1500,
		localBumpMaxAge: 720 * time.Hour, sessionAge: 2160 * time.Hour,
		workers: 4, connections: defaultConnections(), signUps: 60, signIns: 100, writes: 60, searches: 60, firstDay: 24 * time.Hour, firstDayPosts: 5, bestOf: 5, mostFaved: 5, fileSize: 10, postFiles: 20, commentFiles: 4, sources: 50, sourceSize: 1000, sourceItems: 1_000_000, sourceEvery: 5 * time.Minute, previews: true, signUp: "open", databaseTimeout: 5 * time.Second, stopTimeout: 30 * time.Second,
		logFormat: "text", logLevel: slog.LevelInfo,
		trustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")},
	}
	want.otherData = []string{"/home/alice/.local/share/riverrun"}
	if os.Geteuid() != 0 {
		want.otherData = []string{"/var/lib/riverrun"}
	}
	c.limits = nil // the same, as texts
	if !reflect.DeepEqual(*c, want) || len(rest) != 0 {
		t.Errorf("defaults: got %+v %v, want %+v", *c, rest, want)
	}
}

func TestFlagsWinOverEnvironment(t *testing.T) {
	c, rest, err := parse(map[string]string{
		"RIVERRUN_GRACE":      "1h",
		"RIVERRUN_GRACE_HOME": "2h",
		"RIVERRUN_LISTEN":     "", // set to nothing is not set
		"DATABASE_URL":        "postgres://db.example/town",
	}, "-grace=3h", "--url", "https://river.example/", "-log-level", "warn", "-database-url", "host=/run dbname=x",
		"-local-bump-max-age", "0", "a", "-b")
	if err != nil {
		t.Fatal(err)
	}
	if c.grace != 3*time.Hour || c.graceHome != 2*time.Hour {
		t.Errorf("grace: got %v and %v for home, want 3h and 2h", c.grace, c.graceHome)
	}
	if c.localBumpMaxAge != 0 {
		t.Errorf("age for bumps: got %v, want 0, which is any", c.localBumpMaxAge)
	}
	if c.listen != "127.0.0.1:8080" || c.url != "https://river.example" || c.logLevel != slog.LevelWarn {
		t.Errorf("got listen %q, url %q, level %v", c.listen, c.url, c.logLevel)
	}
	if got := c.primary.ConnConfig.Database; got != "x" {
		t.Errorf("primary: got database %q, want x", got)
	}
	if got := strings.Join(rest, " "); got != "a -b" {
		t.Errorf("arguments: got %q, want %q", got, "a -b")
	}
}

func TestTrustedProxies(t *testing.T) {
	c, _, err := parse(map[string]string{"HOME": "/", "RIVERRUN_TRUSTED_PROXIES": " 10.1.2.3/8, 192.0.2.7,2001:db8::/32 ,::ffff:172.16.0.0/108"})
	if err != nil {
		t.Fatal(err)
	}
	var want []netip.Prefix
	for _, p := range []string{"10.0.0.0/8", "192.0.2.7/32", "2001:db8::/32", "172.16.0.0/12"} {
		want = append(want, netip.MustParsePrefix(p))
	}
	if !reflect.DeepEqual(c.trustedProxies, want) {
		t.Errorf("got %v, want %v", c.trustedProxies, want)
	}
}

func TestWrongValues(t *testing.T) {
	for _, tc := range []struct {
		name string
		vars map[string]string
		args []string
		want string
	}{
		{"listen", map[string]string{"RIVERRUN_LISTEN": "8080"}, nil, `RIVERRUN_LISTEN: "8080": want host:port`},
		{"port", nil, []string{"-listen", "localhost:99999"}, `-listen: "localhost:99999": want host:port`},
		{"health and metrics", map[string]string{"RIVERRUN_OPS_LISTEN": "9090"}, nil, `RIVERRUN_OPS_LISTEN: "9090": want host:port`},
		{"port of health and metrics", nil, []string{"-ops-listen", "10.0.0.5:x"}, `-ops-listen: "10.0.0.5:x": want host:port`},
		{"url without scheme", map[string]string{"RIVERRUN_URL": "river.example"}, nil, `RIVERRUN_URL: "river.example": want http://host`},
		{"url with a path", nil, []string{"-url=https://river.example/x"}, "without a path"},
		{"nowhere for data", nil, []string{"-data", ""}, "RIVERRUN_DATA: there is no home directory"},
		{"unknown strategy", map[string]string{"RIVERRUN_HOME": "magic"}, nil, `RIVERRUN_HOME: "magic": want one of rivers, read, timed, sized, cache, aggregator`},
		{"no unit", map[string]string{"RIVERRUN_GRACE": "24"}, nil, `RIVERRUN_GRACE: "24": want a time above zero`},
		{"negative", map[string]string{"RIVERRUN_GRACE_HOME": "-1h"}, nil, "RIVERRUN_GRACE_HOME"},
		{"zero", nil, []string{"-expire-every", "0s"}, "-expire-every"},
		{"bump age", map[string]string{"RIVERRUN_LOCAL_BUMP_MAX_AGE": "a month"}, nil, "RIVERRUN_LOCAL_BUMP_MAX_AGE"},
		{"negative bump age", nil, []string{"-local-bump-max-age", "-1h"}, `-local-bump-max-age: "-1h": want a time, as in 90s, 5m or 24h, or 0`},
		{"session age", map[string]string{"RIVERRUN_SESSION_AGE": "x"}, nil, "RIVERRUN_SESSION_AGE"},
		{"database timeout", nil, []string{"-database-timeout", "0s"}, `-database-timeout: "0s": want a time above zero`},
		{"stop timeout", map[string]string{"RIVERRUN_STOP_TIMEOUT": "x"}, nil, "RIVERRUN_STOP_TIMEOUT"},
		{"no sign-ins", map[string]string{"RIVERRUN_SIGNINS": "0"}, nil, `RIVERRUN_SIGNINS: "0": want a number from 1 to 1000000`},
		{"a proxy by name", map[string]string{"RIVERRUN_TRUSTED_PROXIES": "10.0.0.1,proxy"}, nil, `RIVERRUN_TRUSTED_PROXIES: "10.0.0.1,proxy": want addresses or networks`},
		{"a proxy with a port", nil, []string{"-trusted-proxies", "10.0.0.1:80"}, "want addresses or networks"},
		{"a proxy too many", nil, []string{"-trusted-proxies", "10.0.0.1,"}, "want addresses or networks"},
		{"a proxy with a zone", nil, []string{"-trusted-proxies", "fe80::1%eth0"}, "want addresses or networks"},
		{"everybody a proxy", nil, []string{"-trusted-proxies", "0.0.0.0/0"}, "0.0.0.0/0 is everybody"},
		{"no workers", map[string]string{"RIVERRUN_WORKERS": "0"}, nil, `RIVERRUN_WORKERS: "0": want a number from 1 to 1000`},
		{"connections", nil, []string{"-connections", "many"}, "want a number from 4 to 1000"},
		{"profiles for everybody", map[string]string{"RIVERRUN_PPROF": "0.0.0.0:6060"}, nil, "want a loopback address and a port"},
		{"profiles without a port", nil, []string{"-pprof", "127.0.0.1"}, "want a loopback address and a port"},
		{"who signs up", map[string]string{"RIVERRUN_SIGNUP": "perhaps"}, nil, `RIVERRUN_SIGNUP: "perhaps": want open, approval, invitation or closed`},
		{"private", nil, []string{"-private", "yes"}, `-private: "yes": want on or off`},
		{"log", map[string]string{"RIVERRUN_LOG": "xml"}, nil, `RIVERRUN_LOG: "xml": want text or json`},
		{"log level", map[string]string{"RIVERRUN_LOG_LEVEL": "info+2"}, nil, "want debug, info, warn or error"},
		{"database", map[string]string{"DATABASE_URL": "postgres://alice:secret@:x/y"}, nil, "DATABASE_URL"},
		{"server of NATS", map[string]string{"NATS_URL": "http://alice:secret@nats.example"}, nil, "NATS_URL"},
		{
			"one database for both",
			map[string]string{"DATABASE_URL": "postgres://db.example/town", "RIVERS_DATABASE_URL": "postgres://bob@db.example:5432/town"},
			nil, "name the same database",
		},
		{"unknown flag", nil, []string{"-lisen", "x"}, "serve: flag provided but not defined: -lisen"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, _, err := parse(tc.vars, tc.args...)
			var usage *usageError
			if !errors.As(err, &usage) || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("parse(%v, %q): got %v, want a usageError that says %q", tc.vars, tc.args, err, tc.want)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("parse(%v, %q): got %v, which tells the password", tc.vars, tc.args, err)
			}
		})
	}
}

// TestWrongValueStartsNothing runs every command with a wrong setting and a data
// directory that cannot be made: had anything started, the error would be
// another.
func TestWrongValueStartsNothing(t *testing.T) {
	for _, c := range commands() {
		if c.name == "help" {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			args := []string{c.name}
			if c.name == "account" || c.name == "source" || c.name == "signups" {
				args = append(args, "list")
			}
			if c.name == "post" {
				args = append(args, "remove")
			}
			if c.name == "group" {
				args = append(args, "delete")
			}
			if c.name == "home" {
				args = append(args, "convert")
			}
			if c.name == "repair" {
				args = append(args, "counters")
			}
			vars := map[string]string{"RIVERRUN_GRACE": "soon", "RIVERRUN_DATA": "/dev/null/data"}
			var out bytes.Buffer
			err := run(t.Context(), args, environment(vars), strings.NewReader(""), &out, &out)
			var usage *usageError
			if !errors.As(err, &usage) || !strings.Contains(err.Error(), "RIVERRUN_GRACE") {
				t.Errorf("run(%q): got %v, want a usageError that names RIVERRUN_GRACE", args, err)
			}
		})
	}
}

func TestMistakesInTheCommandLine(t *testing.T) {
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"dance"}, `there is no command "dance"`},
		{[]string{"serve", "now"}, `serve: "now" is one too many`},
		{[]string{"account"}, "say create, password, link, list, admin, suspend, restore, remove-posts, delete or keep"},
		{[]string{"group"}, "group: say delete"},
		{[]string{"group", "eat", "x"}, `group: there is no "eat"`},
		{[]string{"group", "delete"}, "group delete: say which: NAME"},
		{[]string{"group", "delete", "some-club"}, "say the name once more: -confirm some-club"},
		{[]string{"group", "delete", "-confirm", "other-club", "some-club"}, "say the name once more: -confirm some-club"},
		{[]string{"group", "delete", "x", "-reason", "y"}, "flags go before NAME"},
		{[]string{"post"}, "post: say remove"},
		{[]string{"post", "remove"}, "say which: CODE"},
		{[]string{"reports", "eat"}, "there is no \"eat\""},
		{[]string{"reports", "show"}, "say which: CODE"},
		{[]string{"account", "eat"}, `there is no "eat"`},
		{[]string{"account", "create"}, "account create: say whose"},
		{[]string{"account", "create", "alice", "-title", "A"}, "flags go before NAME"},
		{[]string{"account", "list", "-kind", "robot"}, `-kind "robot"`},
		{[]string{"account", "list", "-find", "ann", "-suspended"}, "say one of -kind, -find and -suspended"},
		{[]string{"migrate", "-to", "3"}, "-store and -to go together"},
		{[]string{"migrate", "-to", "3", "-store", "all"}, `-store "all"`},
		{[]string{"backup"}, "backup: say where"},
		{[]string{"backup", "a", "b"}, `backup: "b" is one too many`},
		{[]string{"restore"}, "restore: say what"},
		{[]string{"restore", "a", "-over"}, "flags go before FILE"},
		{[]string{"help", "dance"}, `there is no command "dance"`},
	} {
		var out bytes.Buffer
		err := run(t.Context(), tc.args, environment(map[string]string{"RIVERRUN_DATA": "/dev/null/data"}), strings.NewReader(""), &out, &out)
		if err == nil || !strings.Contains(err.Error(), tc.want) || report(err, &out) != 2 {
			t.Errorf("run(%q): got %v, want one that says %q, and exit status 2", tc.args, err, tc.want)
		}
	}
}

func TestHelpTellsAll(t *testing.T) {
	help := func(args ...string) string {
		t.Helper()
		var out bytes.Buffer
		if err := run(t.Context(), args, environment(nil), strings.NewReader(""), &out, &out); err != nil {
			t.Fatalf("run(%q): %v", args, err)
		}
		return out.String()
	}
	all := help("help")
	if got := help("-h"); got != all {
		t.Errorf("riverrun -h: got %q, want what help says", got)
	}
	for _, s := range settings(environment(nil)) {
		if !strings.Contains(all, "  -"+s.flag()+", "+s.variable) {
			t.Errorf("help does not name %s and -%s", s.variable, s.flag())
		}
	}
	for _, c := range commands() {
		if !strings.Contains(all, "  "+c.name+" ") {
			t.Errorf("help does not name the command %s", c.name)
		}
		one := help("help", c.name)
		if !strings.HasPrefix(one, "riverrun "+c.name) {
			t.Errorf("help %s: got %q", c.name, one)
		}
		if got := help(c.name, "--help"); got != one {
			t.Errorf("%s --help: got %q, want what help %s says", c.name, got, c.name)
		}
	}
}

// TestEverySettingIsDocumented keeps the table of OPERATING.md complete.
func TestEverySettingIsDocumented(t *testing.T) {
	operating, err := os.ReadFile("OPERATING.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range settings(environment(map[string]string{"HOME": "~"})) {
		row := "| `" + s.variable + "` |"
		if s.value != "" && !slices.Contains([]string{"RIVERRUN_DATA", "RIVERRUN_CONNECTIONS"}, s.variable) { // these differ from machine to machine
			row += " `" + s.value + "` |"
		}
		if !strings.Contains(string(operating), row) {
			t.Errorf("OPERATING.md: no row that begins %s", row)
		}
	}
}
