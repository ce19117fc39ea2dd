package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/migrations/testdb"
)

// browser is somebody signed in at a node.
type browser struct {
	t      testing.TB
	base   string
	client *http.Client
}

// signUp makes an account at the node and returns its browser.
func signUp(t testing.TB, p *process, name string) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	b := &browser{t: t, base: strings.TrimPrefix(p.said, "riverrun serves "), client: &http.Client{
		Jar: jar, Timeout: 30 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	if status, body, _ := b.post("/signup", "username", name, "password", "correct horse battery"); status != http.StatusSeeOther {
		t.Fatalf("sign up %s: status %d\n%s", name, status, body)
	}
	return b
}

func (b *browser) get(path string) (int, string, http.Header) {
	b.t.Helper()
	return b.read(b.client.Get(b.base + path))
}

func (b *browser) post(path string, pairs ...string) (int, string, http.Header) {
	b.t.Helper()
	form := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		form.Add(pairs[i], pairs[i+1])
	}
	return b.read(b.client.PostForm(b.base+path, form))
}

func (b *browser) read(r *http.Response, err error) (int, string, http.Header) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return r.StatusCode, string(body), r.Header
}

// comesBack waits until a page is served again, and fails if it is ever said to be our
// fault meanwhile.
func (b *browser) comesBack(path string) (body string) {
	b.t.Helper()
	for until := time.Now().Add(time.Minute); ; {
		status, body, header := b.get(path)
		switch {
		case status == http.StatusOK:
			return body
		case status != http.StatusServiceUnavailable || header.Get("Retry-After") == "":
			b.t.Fatalf("%s: status %d, Retry-After %q, want 503 with one until it is 200\n%s", path, status, header.Get("Retry-After"), body)
		case time.Now().After(until):
			b.t.Fatalf("%s: still 503", path)
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-b.t.Context().Done():
		}
	}
}

// A secondary store that was lost, in whole or in part, is made again by itself, for
// every node, and costs only time (R7).
func TestLostSecondaryStoreIsMadeAgain(t *testing.T) {
	for _, lost := range []struct {
		what      string
		ofPrimary bool // the SQL is sent to the primary store's database
		sql       func(name string) []string
	}{
		{"dropped and made again", true, func(name string) []string {
			return []string{`DROP DATABASE ` + name + ` WITH (FORCE)`, `CREATE DATABASE ` + name}
		}},
		{"dropped", true, func(name string) []string { return []string{`DROP DATABASE ` + name + ` WITH (FORCE)`} }},
		{"without a table", false, func(string) []string { return []string{`DROP TABLE entries`} }},
		{"without any table", false, func(string) []string {
			return []string{`DROP TABLE clock, rivers, rivers_timelines, entries, folds, visits, leases, notice_clocks, home_feeds, home_feed_buckets, home_feed_posts, home_feed_operations, home_strategy, schema_migrations; DROP FUNCTION forget_epoch()`}
		}},
		{"without its schema", false, func(string) []string { return []string{`DROP SCHEMA public CASCADE`} }},
	} {
		t.Run(lost.what, func(t *testing.T) {
			t.Parallel()
			db := testdb.New(t)
			name := db.Primary.Config().ConnConfig.Database + "_rivers"
			quoted := pgx.Identifier{name}.Sanitize()
			t.Cleanup(func() {
				if _, err := db.Primary.Exec(context.Background(), `DROP DATABASE IF EXISTS `+quoted+` WITH (FORCE)`); err != nil {
					t.Error(err)
				}
			})
			vars := map[string]string{"DATABASE_URL": db.PrimaryURL, "RIVERRUN_LISTEN": "127.0.0.1:0"}
			first, second := background(t, vars), background(t, vars)
			ann, bob := signUp(t, first, "ann"), signUp(t, second, "bob")
			ann.post("/posts", "body", "kept in the primary store", "back", "/")
			ann.comesBack("/ann")
			bob.comesBack("/ann")
			address := db.PrimaryURL
			if !lost.ofPrimary {
				address = strings.Replace(db.SecondaryURL, db.Secondary.Config().ConnConfig.Database, name, 1)
			}
			conn, err := pgx.Connect(t.Context(), address)
			if err != nil {
				t.Fatal(err)
			}
			for _, sql := range lost.sql(quoted) {
				if _, err := conn.Exec(t.Context(), sql); err != nil {
					t.Fatalf("%s: %v", sql, err)
				}
			}
			_ = conn.Close(context.WithoutCancel(t.Context())) // its work is done
			for _, b := range []*browser{ann, bob} {
				for _, path := range []string{"/ann", "/", "/everything"} {
					body := b.comesBack(path)
					if path != "/" && !strings.Contains(body, "kept in the primary store") {
						t.Errorf("%s lacks the post", path)
					}
				}
			}
			status, body, _ := bob.post("/posts", "body", "and new ones are taken", "back", "/")
			if status != http.StatusSeeOther {
				t.Errorf("a new post: status %d\n%s", status, body)
			}
			if body := ann.comesBack("/bob"); !strings.Contains(body, "and new ones are taken") {
				t.Errorf("the other node's page lacks the new post")
			}
			out, err := once(t, vars, "", "check")
			if err != nil || !strings.HasSuffix(out, "differences 0\n") {
				t.Errorf("check: got %q (%v), want no difference", out, err)
			}
			second.end(t)
			first.end(t)
		})
	}
}

// How long a page and a form wait for a store that fell silent is what the setting says.
func TestDatabaseTimeout(t *testing.T) {
	db := testdb.New(t)
	primary, secondary := testdb.NewProxy(t, db.Primary), testdb.NewProxy(t, db.Secondary)
	vars := map[string]string{
		"DATABASE_URL": primary.URL, "RIVERS_DATABASE_URL": secondary.URL, "RIVERRUN_LISTEN": "127.0.0.1:0",
	}
	server := background(t, vars)
	ann := signUp(t, server, "ann") // with the default: on a busy machine the short one may pass
	server.end(t)
	vars["RIVERRUN_DATABASE_TIMEOUT"] = "500ms"
	server = background(t, vars)
	ann.base = strings.TrimPrefix(server.said, "riverrun serves ")
	const most = 4 * time.Second // less than the default
	for _, store := range []*testdb.Proxy{primary, secondary} {
		store.Shut()
		for what, ask := range map[string]func() (int, string, http.Header){
			"page":   func() (int, string, http.Header) { return ann.get("/tag/unheard") },
			"form":   func() (int, string, http.Header) { return ann.post("/posts", "body", "half a thought", "back", "/") },
			"readyz": func() (int, string, http.Header) { return ann.get("/readyz") },
		} {
			began := time.Now()
			status, body, _ := ask()
			if took := time.Since(began); status != http.StatusServiceUnavailable || took > most {
				t.Errorf("%s: status %d after %v, want 503 within %v", what, status, took, most)
			}
			if what == "form" && !strings.Contains(body, "half a thought") {
				t.Errorf("the text is gone:\n%s", body)
			}
		}
		store.Open()
		ann.comesBack("/everything")
	}
	server.end(t)
}

// Three things happen to a server's local PostgreSQL: a backend is killed while people
// write, the disk is full, PostgreSQL itself ends. No answer calls any of them our fault,
// none ends the process, and the server recovers from each by itself.
func TestLocalPostgreSQLFails(t *testing.T) {
	data := testdb.Dir(t)
	server := background(t, map[string]string{"RIVERRUN_DATA": data, "RIVERRUN_LISTEN": "127.0.0.1:0", "RIVERRUN_FIRST_DAY": "0"})
	ann := signUp(t, server, "ann")
	admin := func(database string) *pgx.Conn {
		t.Helper()
		for until := time.Now().Add(time.Minute); ; {
			conn, err := pgx.Connect(t.Context(), "postgres://riverrun@/"+database+"?host="+filepath.Join(data, "socket"))
			if err == nil {
				t.Cleanup(func() { conn.Close(context.Background()) })
				return conn
			}
			if time.Now().After(until) {
				t.Fatal(err)
			}
		}
	}
	write := func(text string) (int, string) {
		t.Helper()
		status, body, header := ann.post("/posts", "body", text, "back", "/")
		again := strings.Contains(body, text) || strings.Contains(body, "Your change is saved.")
		if status != http.StatusSeeOther && (status != http.StatusServiceUnavailable || header.Get("Retry-After") == "" || !again) {
			t.Fatalf("status %d, want 303, or 503 with Retry-After and the text, or word that it is saved\n%s", status, body)
		}
		return status, body
	}
	writes := func(text string) {
		t.Helper()
		for until := time.Now().Add(time.Minute); ; {
			if status, _ := write(text); status == http.StatusSeeOther {
				return
			}
			if time.Now().After(until) {
				t.Fatal("nothing can be written")
			}
		}
	}
	kick := func(conn *pgx.Conn) {
		t.Helper()
		const others = `SELECT count(pg_terminate_backend(pid, 10000)) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`
		if _, err := conn.Exec(t.Context(), others); err != nil {
			t.Fatal(err)
		}
	}

	// The disk has no room, as the file of the posts finds out: a process that opens it
	// anew writes to the device that is always full.
	conn := admin("riverrun")
	var file string
	if err := conn.QueryRow(t.Context(), `SELECT pg_relation_filepath('posts')`).Scan(&file); err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(data, "postgresql", file)
	if err := errors.Join(os.Rename(file, file+".right"), os.Symlink("/dev/full", file)); err != nil {
		t.Fatal(err)
	}
	kick(conn)
	refused := 0
	for range 20 {
		status, body := write("there is no room for this")
		if status == http.StatusSeeOther {
			t.Error("a post was taken that there is no room for")
		}
		if strings.Contains(body, "so nothing was saved") {
			refused++
		}
	}
	if refused == 0 {
		t.Error("nothing was said of not saving")
	}
	if err := errors.Join(os.Remove(file), os.Rename(file+".right", file)); err != nil {
		t.Fatal(err)
	}
	kick(conn)
	writes("there is room again")

	// A killed backend makes PostgreSQL end all of them and recover.
	var pid int
	const one = `SELECT pid FROM pg_stat_activity WHERE datname = 'riverrun' AND application_name = 'riverrun' LIMIT 1`
	if err := conn.QueryRow(t.Context(), one).Scan(&pid); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		write("while it recovers")
	}
	writes("after a crash")

	// PostgreSQL ends as a whole.
	var postmaster int
	text, err := os.ReadFile(filepath.Join(data, "postgresql", "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscan(string(text), &postmaster); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(postmaster, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	writes("after the end")
	body := ann.comesBack("/ann")
	for _, text := range []string{"there is room again", "after a crash", "after the end"} {
		if !strings.Contains(body, text) {
			t.Errorf("the page lacks %q", text)
		}
	}
	if strings.Contains(body, "there is no room for this") {
		t.Error("what was said not to be saved was")
	}
	server.end(t)
}
