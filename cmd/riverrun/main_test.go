package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"riverrun/migrations"
	"riverrun/migrations/localpg"
	"riverrun/migrations/testdb"
	"riverrun/web/webtest"
)

func TestMain(m *testing.M) {
	if os.Getenv(asRiverrun) != "" {
		main() // exits
	}
	testdb.Main(m, webtest.CloseChromium)
}

// process is a run of riverrun that goes on until it is stopped.
type process struct {
	// said is the line it announced itself with.
	said string
	stop context.CancelFunc
	// ended receives what run returned.
	ended chan error
}

// background starts riverrun and returns when it has said its first line.
func background(t testing.TB, vars map[string]string, args ...string) *process {
	t.Helper()
	return backgroundTo(t, &logOf{t: t}, vars, args...)
}

// backgroundTo is background with another log.
func backgroundTo(t testing.TB, log io.Writer, vars map[string]string, args ...string) *process {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	p := &process{stop: stop, ended: make(chan error, 1)}
	out, stdout := io.Pipe()
	go func() {
		err := run(ctx, args, environment(vars), strings.NewReader(""), stdout, log)
		p.ended <- err
		stdout.Close()
	}()
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		stop()
		t.Fatalf("run(%q) ended without a word: %v", args, <-p.ended)
	}
	p.said = lines.Text()
	go func() { _, _ = io.Copy(io.Discard, out) }()
	t.Cleanup(func() { stop() })
	return p
}

// end asks the process to stop and waits until it has.
func (p *process) end(t testing.TB) {
	t.Helper()
	p.stop()
	if err := <-p.ended; err != nil {
		t.Errorf("run after a signal: got %v, want nil", err)
	}
}

// logOf shows a process's log among the test's.
type logOf struct{ t testing.TB }

func (l *logOf) Write(p []byte) (int, error) {
	fmt.Fprintf(l.t.Output(), "%s", p)
	return len(p), nil
}

// once runs a command to its end.
func once(t testing.TB, vars map[string]string, stdin string, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := run(t.Context(), args, environment(vars), strings.NewReader(stdin), &out, &logOf{t: t})
	return out.String(), err
}

func must(t testing.TB, want string, out string, err error) {
	t.Helper()
	if err != nil || out != want {
		t.Errorf("got %q (%v), want %q", out, err, want)
	}
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("GET %s: %v", url, err)
	}
	return response.StatusCode, string(body)
}

// TestFromNothing is a newcomer's way: no configuration but where, a PostgreSQL
// of its own, commands beside the running server and without it, all back after
// a stop.
func TestFromNothing(t *testing.T) {
	vars := map[string]string{"RIVERRUN_DATA": testdb.Dir(t), "RIVERRUN_LISTEN": "127.0.0.1:0"}
	server := background(t, vars)
	url, ok := strings.CutPrefix(server.said, "riverrun serves ")
	if !ok || !strings.HasPrefix(url, "http://127.0.0.1:") {
		t.Fatalf("announcement: got %q", server.said)
	}

	for path, want := range map[string]string{
		"/healthz": "alive\n",
		"/readyz":  "ready\n",
		"/metrics": `riverrun_live_rivers{kind="home"} 0`,
	} {
		if status, body := get(t, url+path); status != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("GET %s: got %d %.200q, want 200 with %q", path, status, body, want)
		}
	}

	out, err := once(t, vars, "correct horse\n", "account", "create", "-title", "Alice A.", "alice")
	must(t, "created alice\n", out, err)
	if _, err := once(t, vars, "correct horse\n", "account", "create", "alice"); err == nil || err.Error() != "the name alice is taken" {
		t.Errorf("account create, again: got %v", err)
	}
	if _, err := once(t, vars, "short\n", "account", "create", "bob"); err == nil || !strings.Contains(err.Error(), "8 characters") {
		t.Errorf("account create with a short password: got %v", err)
	}
	out, err = once(t, vars, "battery staple", "account", "password", "alice")
	must(t, "password of alice changed, and signed out everywhere\n", out, err)
	if _, err := once(t, vars, "battery staple", "account", "password", "nobody"); err == nil || err.Error() != "there is no user nobody" {
		t.Errorf("account password of nobody: got %v", err)
	}
	for code, want := range map[string]string{"": "say which post", "0000000000": "there was never a post"} {
		if _, err := once(t, vars, "", "explain", "-post", code); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("explain -post %q: got %v, want %q", code, err, want)
		}
	}
	// Each says which data it uses.
	var said bytes.Buffer
	if err := run(t.Context(), []string{"account", "list"}, environment(vars), strings.NewReader(""), io.Discard, &said); err != nil ||
		!strings.Contains(said.String(), vars["RIVERRUN_DATA"]) {
		t.Errorf("account list: got %v and on stderr %q, want the data directory there", err, said.String())
	}
	out, err = once(t, vars, "", "check")
	must(t, "rivers 0 entries 0 differences 0\n", out, err)
	out, err = once(t, vars, "", "expire")
	must(t, "retired 0 removed 0 entries 0 tombstones 0 folds 0\n", out, err)

	if _, err := once(t, vars, "", "serve"); !errors.Is(err, localpg.ErrInUse) {
		t.Errorf("a second serve with the same data: got %v, want ErrInUse", err)
	}
	// A process that works jobs alone stands beside it (002, G2).
	worker := background(t, vars, "work")
	worker.end(t)

	server.end(t)
	if status, _ := get(t, url+"/healthz"); status != 0 {
		t.Errorf("GET /healthz after the stop: got %d, want no answer", status)
	}

	// Nobody runs the PostgreSQL now: each command does, and stops it again.
	out, err = once(t, vars, "", "account", "list")
	must(t, "alice  user  Alice A.\n", out, err)
	out, err = once(t, vars, "", "account", "list", "-kind", "group")
	must(t, "", out, err)
	again := background(t, vars)
	again.end(t)

	cluster, err := localpg.Start(t.Context(), localpg.Config{Dir: vars["RIVERRUN_DATA"]})
	if err != nil {
		t.Fatal(err)
	}
	earlierBuild(t, cluster.URL("riverrun"))
	if err := cluster.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err = once(t, vars, "", "serve")
	refuses(t, "serve", err, "To begin with an empty site: stop every riverrun that uses the directory "+vars["RIVERRUN_DATA"]+" and move the directory away")
}

// earlierBuild makes a store that of a build from before the first release.
func earlierBuild(t *testing.T, address string) {
	t.Helper()
	if _, err := testdb.Open(t, address).Exec(t.Context(), `UPDATE schema_migrations SET name = 'initial' WHERE version = 1`); err != nil {
		t.Fatal(err)
	}
}

func refuses(t *testing.T, command string, err error, advice string) {
	t.Helper()
	if !errors.Is(err, migrations.ErrEarlierBuild) || !strings.HasSuffix(err.Error(), advice) {
		t.Errorf("%s with data of an earlier build: got %v\nwant ErrEarlierBuild with %q", command, err, advice)
	}
}

// A store of an earlier build is refused, whichever of the two it is, with what to do.
func TestEarlierBuild(t *testing.T) {
	db := testdb.New(t)
	vars := map[string]string{"DATABASE_URL": db.PrimaryURL, "RIVERS_DATABASE_URL": db.SecondaryURL, "RIVERRUN_LISTEN": "127.0.0.1:0"}
	advice := fmt.Sprintf("To begin with an empty site: drop the database %s and create it again, empty; drop the database %s and create it again, empty",
		db.Primary.Config().ConnConfig.Database, db.Secondary.Config().ConnConfig.Database)
	for _, address := range []string{db.SecondaryURL, db.PrimaryURL} {
		earlierBuild(t, address)
		for _, args := range [][]string{{"serve"}, {"migrate"}, {"migrate", "-store", "secondary", "-to", "1"}, {"account", "list"}} {
			_, err := once(t, vars, "", args...)
			refuses(t, strings.Join(args, " "), err, advice)
		}
	}
}

// TestOperatorsDatabase serves from a server somebody else runs.
func TestOperatorsDatabase(t *testing.T) {
	db := testdb.New(t)
	rivers := db.Primary.Config().ConnConfig.Database + "_rivers"
	t.Cleanup(func() {
		if _, err := db.Primary.Exec(context.Background(), `DROP DATABASE IF EXISTS "`+rivers+`" WITH (FORCE)`); err != nil {
			t.Error(err)
		}
	})
	vars := map[string]string{
		"DATABASE_URL":    db.PrimaryURL,
		"RIVERRUN_DATA":   "/dev/null/nowhere", // not to be touched
		"RIVERRUN_FILES":  t.TempDir(),
		"RIVERRUN_LISTEN": "127.0.0.1:0",
		"RIVERRUN_LOG":    "json",
	}
	// Two nodes of one site.
	a, b := background(t, vars), background(t, vars)
	for _, p := range []*process{a, b} {
		url := strings.TrimPrefix(p.said, "riverrun serves ")
		if status, body := get(t, url+"/readyz"); status != http.StatusOK {
			t.Errorf("GET %s/readyz: got %d %q, want 200", url, status, body)
		}
	}
	var found bool
	err := db.Primary.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)`, rivers).Scan(&found)
	if err != nil || !found {
		t.Errorf("database %s was not made (%v)", rivers, err)
	}
	b.end(t)
	a.end(t)

	out, err := once(t, vars, "", "migrate")
	if !regexp.MustCompile(`^primary [1-9]\d* secondary [1-9]\d*\n$`).MatchString(out) || err != nil {
		t.Errorf("migrate: got %q (%v), want the two versions", out, err)
	}
}

// TestListenTaken checks that a riverrun that may not listen starts nothing.
func TestListenTaken(t *testing.T) {
	db := testdb.New(t)
	vars := map[string]string{"DATABASE_URL": db.PrimaryURL, "RIVERS_DATABASE_URL": db.SecondaryURL, "RIVERRUN_LISTEN": "127.0.0.1:0"}
	server := background(t, vars)
	url := strings.TrimPrefix(server.said, "riverrun serves ")
	_, err := once(t, map[string]string{"RIVERRUN_LISTEN": strings.TrimPrefix(url, "http://"), "RIVERRUN_DATA": "/dev/null/nowhere"}, "", "serve")
	if err == nil || !strings.Contains(err.Error(), "RIVERRUN_LISTEN: ") {
		t.Errorf("serve on a taken address: got %v, want one that names RIVERRUN_LISTEN", err)
	}
	server.end(t)
}

// A connection that is being made holds its place no longer than the setting says, or
// less if the address does.
func TestConnectingIsBounded(t *testing.T) {
	address := testdb.New(t).PrimaryURL
	for _, tc := range []struct{ own, want time.Duration }{{0, 5 * time.Second}, {time.Second, time.Second}, {time.Minute, 5 * time.Second}} {
		cfg, err := pgxpool.ParseConfig(address)
		if err != nil {
			t.Fatal(err)
		}
		cfg.ConnConfig.ConnectTimeout = tc.own
		pool, err := (&config{connections: 4, databaseTimeout: 5 * time.Second}).pool(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer pool.Close()
		if got := pool.Config().ConnConfig.ConnectTimeout; got != tc.want {
			t.Errorf("of %v: got %v, want %v", tc.own, got, tc.want)
		}
	}
}

// Statements are not compiled, unless the operator's address asks for it.
func TestConnectionsCompileNothing(t *testing.T) {
	address := testdb.New(t).PrimaryURL
	for extra, want := range map[string]string{"": "off", "jit=on": "on"} {
		cfg, err := pgxpool.ParseConfig(address)
		if err != nil {
			t.Fatal(err)
		}
		if name, value, given := strings.Cut(extra, "="); given {
			cfg.ConnConfig.RuntimeParams[name] = value
		}
		pool, err := (&config{connections: 4, databaseTimeout: time.Minute}).pool(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer pool.Close()
		var jit string
		if err := pool.QueryRow(t.Context(), `SELECT source || ' ' || setting FROM pg_settings WHERE name = 'jit'`).Scan(&jit); err != nil {
			t.Fatal(err)
		}
		if jit != "client "+want {
			t.Errorf("%q: jit is %s, want it %s by the client", extra, jit, want)
		}
	}
}
