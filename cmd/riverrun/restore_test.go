package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/jackc/pgx/v5"

	"riverrun/migrations/localpg"
	"riverrun/migrations/testdb"
)

// noticed is how soon running nodes know of a restore after its end.
const noticed = 5 * time.Second

// A primary store that is restored from a dump gives the ids of lost posts to new ones. Nobody
// is shown a lost text in the place of a new one, and new posts are on all pages, however the
// dump was restored.
func TestRestoredPrimary(t *testing.T) {
	for _, into := range []string{"clean", "dropped"} {
		for _, narrowed := range []bool{false, true} {
			for _, running := range []bool{false, true} {
				name := into + map[bool]string{false: ", nothing narrowed", true: ", narrowed since"}[narrowed] +
					map[bool]string{false: ", stopped", true: ", running"}[running]
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					r := newRestored(t)
					r.happen(narrowed)
					if running {
						r.restore(into)
						r.notices()
					} else {
						r.server.end(t)
						r.restore(into)
						r.start()
					}
					r.compare()
				})
			}
		}
	}
}

// restored is a site whose primary store is taken back to a dump.
type restored struct {
	t      *testing.T
	db     *testdb.DB
	vars   map[string]string
	dump   string
	server *process
	// x writes on a private page what is lost with the restore, and y on a public one.
	x, y   *browser
	secret int64 // the id of x's post
	// lost is the code of a public post that is lost too.
	lost  string
	epoch int64 // of the secondary store, before the restore
	open  *websocket.Conn
}

func newRestored(t *testing.T) *restored {
	db := testdb.New(t)
	r := &restored{
		t: t, db: db, dump: filepath.Join(t.TempDir(), "dump"),
		vars: map[string]string{"DATABASE_URL": db.PrimaryURL, "RIVERS_DATABASE_URL": db.SecondaryURL, "RIVERRUN_LISTEN": "127.0.0.1:0"},
	}
	r.start()
	r.x, r.y = signUp(t, r.server, "xeno"), signUp(t, r.server, "yuri")
	if status, body, _ := r.x.post("/settings/access", "level", "private"); status != http.StatusSeeOther {
		t.Fatalf("go private: status %d\n%s", status, body)
	}
	r.x.comesBack("/everything")
	r.run("pg_dump", "-Fc", "-f", r.dump, db.PrimaryURL)
	return r
}

func (r *restored) start() {
	r.server = background(r.t, r.vars)
	for _, b := range []*browser{r.x, r.y} {
		if b != nil {
			b.base = strings.TrimPrefix(r.server.said, "riverrun serves ")
		}
	}
}

// happen does what the restore takes back.
func (r *restored) happen(narrowed bool) {
	r.t.Helper()
	r.x.post("/posts", "body", "the secret", "back", "/")
	if body := r.x.comesBack("/xeno"); !strings.Contains(body, "the secret") {
		r.t.Fatalf("xeno does not see the secret")
	}
	r.y.post("/posts", "body", "lost to all", "back", "/")
	body := r.y.comesBack("/everything")
	if !strings.Contains(body, "lost to all") {
		r.t.Fatalf("/everything lacks a post")
	}
	if narrowed {
		if status, body, _ := r.y.post("/xeno/ban"); status != http.StatusSeeOther {
			r.t.Fatalf("ban: status %d\n%s", status, body)
		}
	}
	r.secret = r.number(r.db.PrimaryURL, `SELECT id FROM posts WHERE body = 'the secret'`)
	r.epoch = r.number(r.db.SecondaryURL, `SELECT epoch FROM clock`)
	conn, err := pgx.Connect(r.t.Context(), r.db.PrimaryURL)
	if err == nil {
		err = conn.QueryRow(r.t.Context(), `SELECT code FROM posts WHERE body = 'lost to all'`).Scan(&r.lost)
		err = errors.Join(err, conn.Close(r.t.Context()))
	}
	if err != nil {
		r.t.Fatal(err)
	}
	r.follow()
}

// follow has somebody look at /everything while all of this happens.
func (r *restored) follow() {
	r.t.Helper()
	base := strings.TrimPrefix(r.server.said, "riverrun serves http")
	conn, _, err := websocket.Dial(r.t.Context(), "ws"+base+"/ws", nil)
	if err != nil {
		r.t.Fatal(err)
	}
	conn.SetReadLimit(-1)
	r.t.Cleanup(func() { _ = conn.CloseNow() }) // it may be closed already
	if err := conn.Write(r.t.Context(), websocket.MessageText, []byte(`{"t":"subscribe","page":"/everything","lang":"en","river":"","entries":{}}`)); err != nil {
		r.t.Fatal(err)
	}
	r.open = conn
	r.frame("entry", noticed)
}

// frame reads what the open page is sent about the lost post, until it is of that type.
func (r *restored) frame(kind string, within time.Duration) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), within)
	defer cancel()
	for {
		_, message, err := r.open.Read(ctx)
		if err != nil {
			r.t.Fatalf("the open page waits for %s of %s: %v", kind, r.lost, err)
		}
		var f struct {
			T    string `json:"t"`
			Post string `json:"post"`
		}
		if err := json.Unmarshal(message, &f); err != nil {
			r.t.Fatal(err)
		}
		if strings.Contains(string(message), "the secret") {
			r.t.Errorf("the open page is sent the secret: %s", message)
		}
		if f.T == kind && f.Post == r.lost {
			return
		}
	}
}

func (r *restored) restore(into string) {
	r.t.Helper()
	if into == "clean" {
		r.run("pg_restore", "--clean", "--if-exists", "-d", r.db.PrimaryURL, r.dump)
		return
	}
	admin, err := pgx.Connect(r.t.Context(), r.db.SecondaryURL)
	if err != nil {
		r.t.Fatal(err)
	}
	defer admin.Close(context.Background())
	name := pgx.Identifier{r.db.Primary.Config().ConnConfig.Database}.Sanitize()
	for _, sql := range []string{`DROP DATABASE ` + name + ` WITH (FORCE)`, `CREATE DATABASE ` + name} {
		if _, err := admin.Exec(r.t.Context(), sql); err != nil {
			r.t.Fatalf("%s: %v", sql, err)
		}
	}
	r.run("pg_restore", "-d", r.db.PrimaryURL, r.dump)
}

// run runs one of the programs that are installed together with the server's.
func (r *restored) run(program string, args ...string) {
	r.t.Helper()
	found, err := localpg.Find(0)
	if err != nil {
		r.t.Fatal(err)
	}
	server, err := filepath.EvalSymlinks(filepath.Join(found.Dir, "postgres"))
	if err != nil {
		r.t.Fatal(err)
	}
	out, err := exec.CommandContext(r.t.Context(), filepath.Join(filepath.Dir(server), program), args...).CombinedOutput()
	if err != nil {
		r.t.Fatalf("%s: %v\n%s", program, err, out)
	}
}

// number returns the number that a query returns, 0 if there is no row.
func (r *restored) number(address, query string, args ...any) (n int64) {
	r.t.Helper()
	conn, err := pgx.Connect(r.t.Context(), address)
	if err != nil {
		r.t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if err := conn.QueryRow(r.t.Context(), query, args...).Scan(&n); err != nil && !errors.Is(err, pgx.ErrNoRows) {
		r.t.Fatalf("%s: %v", query, err)
	}
	return n
}

// notices waits until the running node has noticed the restore, which is over.
func (r *restored) notices() {
	r.t.Helper()
	for until := time.Now().Add(noticed); ; {
		epoch := r.number(r.db.SecondaryURL, `SELECT epoch FROM clock`)
		if epoch != 0 && epoch != r.epoch {
			break
		}
		if time.Now().After(until) {
			r.t.Fatalf("%v after the restore the secondary store is as it was", noticed)
		}
	}
	r.frame("gone", noticed)
}

// has waits until a page shows these texts, as closed rivers follow within seconds. It never shows
// what was lost.
func (r *restored) has(b *browser, page string, texts ...string) {
	r.t.Helper()
	for until := time.Now().Add(20 * time.Second); ; {
		body := b.comesBack(page)
		if strings.Contains(body, "the secret") || strings.Contains(body, "lost to all") {
			r.t.Errorf("%s shows what was lost", page)
			return
		}
		lacks := slices.DeleteFunc(slices.Clone(texts), func(text string) bool { return strings.Contains(body, text) })
		if len(lacks) == 0 {
			return
		}
		if time.Now().After(until) {
			r.t.Errorf("%s lacks %q", page, lacks)
			return
		}
	}
}

// compare has new posts take the ids of lost ones, and looks at all pages that show them.
func (r *restored) compare() {
	r.t.Helper()
	nobody := &browser{t: r.t, base: r.y.base, client: &http.Client{Timeout: 30 * time.Second}}
	status, body, _ := nobody.get("/p/" + r.lost)
	if status != http.StatusNotFound {
		r.t.Errorf("the lost post's page: status %d, want 404\n%s", status, body)
	}
	r.y.comesBack("/")
	nobody.comesBack("/everything")
	if status, body, _ := r.y.post("/posts", "body", "all may read this", "back", "/"); status != http.StatusSeeOther {
		r.t.Fatalf("a new post: status %d\n%s", status, body)
	}
	if id := r.number(r.db.PrimaryURL, `SELECT id FROM posts WHERE body = 'all may read this'`); id != r.secret {
		r.t.Fatalf("the new post has id %d, want that of the lost one, %d", id, r.secret)
	}
	r.y.post("/posts", "body", "and a second one", "back", "/")
	r.has(nobody, "/everything", "all may read this", "and a second one") // by a job
	// Another process remembers nothing and finds what is stored.
	r.server.end(r.t)
	r.start()
	nobody.base = r.y.base
	for _, b := range []*browser{nobody, r.y, r.x} {
		for _, page := range []string{"/everything", "/yuri", "/feeds/yuri.json", "/feeds/everything.atom", "/"} {
			if b != r.y && page == "/" {
				continue
			}
			r.has(b, page, "all may read this", "and a second one")
		}
	}
	r.server.end(r.t)
	out, err := once(r.t, r.vars, "", "check")
	if err != nil || !strings.HasSuffix(out, "differences 0\n") {
		r.t.Errorf("check: got %q (%v), want no difference", out, err)
	}
}
