package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"riverrun/migrations"
	"riverrun/migrations/testdb"
	"riverrun/timelines/backup"
	"riverrun/timelines/blobs"
	"riverrun/timelines/files"
	"riverrun/web/webtest"
)

// backedUp is a site with what a backup must hold.
type backedUp struct {
	t      *testing.T
	vars   map[string]string
	server *process
	// Alice is private, bob is not.
	alice, bob *browser
	photo      string // the path of bob's picture
	file       string // of the backup
}

// newBackedUp starts a site and writes a backup of it, while bob goes on writing.
func newBackedUp(t *testing.T, vars map[string]string) *backedUp {
	t.Helper()
	s := &backedUp{t: t, vars: vars, file: filepath.Join(t.TempDir(), "site.backup")}
	vars["RIVERRUN_LISTEN"] = "127.0.0.1:0"
	vars["RIVERRUN_FIRST_DAY"] = "0"   // people here write more than strangers may,
	vars["RIVERRUN_WRITES"] = "100000" // and bob, however long the backup takes, more than others
	s.start()
	s.alice, s.bob = signUp(t, s.server, "alice"), signUp(t, s.server, "bob")
	if status, body, _ := s.alice.post("/settings/access", "level", "private"); status != http.StatusSeeOther {
		t.Fatalf("go private: status %d\n%s", status, body)
	}
	s.says(s.alice, "for alice alone")
	s.photo = s.posts("a lake", webtest.Photo(600, 500))
	s.backup()
	return s
}

func (s *backedUp) start() {
	s.server = background(s.t, s.vars)
	for _, b := range []*browser{s.alice, s.bob} {
		if b != nil {
			b.base = strings.TrimPrefix(s.server.said, "riverrun serves ")
		}
	}
}

func (s *backedUp) says(b *browser, text string) {
	s.t.Helper()
	if status, body, _ := b.post("/posts", "body", text, "back", "/"); status != http.StatusSeeOther {
		s.t.Fatalf("post %q: status %d\n%s", text, status, body)
	}
}

// posts has bob post a picture, and waits until it is made.
func (s *backedUp) posts(text string, picture []byte) (path string) {
	s.t.Helper()
	v := &webtest.Visitor{T: s.t, Base: s.bob.base, Client: s.bob.client, Header: http.Header{}}
	v.PostFiles("/posts", []webtest.Upload{{Name: "lake.jpg", Content: picture}}, "body", text, "back", "/").Wants(http.StatusSeeOther)
	webtest.Await(s.t, "the picture", func() bool {
		path = regexp.MustCompile(`/files/\w+/thumb`).FindString(s.bob.comesBack("/bob"))
		return path != "" && path != s.photo // the newest comes first
	})
	return path
}

// backup writes a backup while bob writes.
func (s *backedUp) backup() {
	s.t.Helper()
	ctx, stop := context.WithCancel(s.t.Context())
	wrote := make(chan error)
	begun := make(chan bool)
	go func() {
		for i := 0; ctx.Err() == nil; i++ {
			post := url.Values{"body": {fmt.Sprint("meanwhile ", i)}, "back": {"/"}}
			if i >= 5 {
				post.Set("to", "~eyes") // however long it takes, a stranger's first page shows the posts before
			}
			response, err := s.bob.client.PostForm(s.bob.base+"/posts", post)
			if err != nil {
				wrote <- err
				return
			}
			_ = response.Body.Close() // nothing was written to it
			if i == 0 {
				close(begun)
			}
		}
		wrote <- nil
	}()
	<-begun
	out, err := once(s.t, s.vars, "", "backup", s.file)
	stop()
	if err := errors.Join(err, <-wrote); err != nil {
		s.t.Fatal(err)
	}
	if ok, _ := regexp.MatchString(`^database \d+ bytes, files \d+ with \d+ bytes\n$`, out); !ok {
		s.t.Errorf("backup: got %q", out)
	}
	if info, err := os.Stat(s.file); err != nil || info.Mode().Perm() != 0o600 {
		s.t.Errorf("the backup has mode %v (%v), want 0600", info.Mode(), err)
	}
	if _, err := os.Stat(s.file + ".part"); !errors.Is(err, os.ErrNotExist) {
		s.t.Errorf("the part is left: %v", err)
	}
}

// isBack starts the site and looks at it.
func (s *backedUp) isBack() {
	s.t.Helper()
	out, err := once(s.t, s.vars, "", "check")
	if err != nil || !strings.HasSuffix(out, "differences 0\n") || !strings.Contains(out, " missing 0 orphaned 0\n") {
		s.t.Errorf("check after the restore: got %q (%v), want no difference", out, err)
	}
	s.start()
	defer s.server.end(s.t)
	stranger := &browser{t: s.t, base: s.bob.base, client: &http.Client{Timeout: 30 * time.Second}}
	// Sessions are back too.
	for _, look := range []struct {
		who        *browser
		page, want string
	}{{s.alice, "/alice", "for alice alone"}, {stranger, "/bob", "a lake"}, {stranger, "/bob", "meanwhile 0"}} {
		if body := look.who.comesBack(look.page); !strings.Contains(body, look.want) || strings.Contains(body, "came later") {
			s.t.Errorf("%s: got %s\nwant %q, and nothing that came later", look.page, body, look.want)
		}
	}
	if status, _, _ := stranger.get("/alice"); status != http.StatusOK && status != http.StatusNotFound && status != http.StatusForbidden {
		s.t.Errorf("/alice: status %d", status)
	} else if _, body, _ := stranger.get("/alice"); strings.Contains(body, "for alice alone") {
		s.t.Error("a stranger reads what is private")
	}
	if status, body, _ := stranger.get(s.photo); status != http.StatusOK || len(body) < 1000 {
		s.t.Errorf("the picture %s: status %d with %d bytes", s.photo, status, len(body))
	}
	s.says(s.bob, "on we go")
	webtest.Await(s.t, "rivers without a difference", func() bool { // the post comes by a job
		out, err := once(s.t, s.vars, "", "check")
		return err == nil && !strings.Contains(out, "rivers 0 ")
	})
}

// A site whose data directory is gone is back after one command.
func TestRestoreIntoNothing(t *testing.T) {
	t.Parallel()
	data := testdb.Dir(t)
	s := newBackedUp(t, map[string]string{"RIVERRUN_DATA": data})
	s.server.end(t)
	inside, err := os.ReadDir(data)
	for _, e := range inside {
		err = errors.Join(err, os.RemoveAll(filepath.Join(data, e.Name())))
	}
	if err != nil {
		t.Fatal(err)
	}
	out, err := once(t, s.vars, "", "restore", s.file)
	if err != nil || !strings.HasPrefix(out, "restored the state of ") {
		t.Fatalf("restore: got %q (%v)", out, err)
	}
	s.isBack()
}

// onServer is a site in two databases of the test's server, whose address has a password.
func onServer(t *testing.T) (*backedUp, *testdb.DB) {
	t.Helper()
	db := testdb.New(t)
	s := newBackedUp(t, map[string]string{"DATABASE_URL": withPassword(t, db.PrimaryURL), "RIVERS_DATABASE_URL": db.SecondaryURL, "RIVERRUN_DATA": testdb.Dir(t)})
	return s, db
}

const password = "opensesame"

func withPassword(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(u.User.Username(), password)
	// It is for pgx alone: libpq refuses an address with it.
	q := u.Query()
	q.Set("jit", "off")
	u.RawQuery = q.Encode()
	return u.String()
}

// refused runs restore, which must say so, leave the site as it is, and tell no secret.
func (s *backedUp) refused(stdin io.Reader, want string, args ...string) {
	s.t.Helper()
	var out, said bytes.Buffer
	err := run(s.t.Context(), append([]string{"restore"}, args...), environment(s.vars), stdin, &out, &said)
	if err == nil || !strings.Contains(err.Error(), want) {
		s.t.Errorf("restore %q: got %q (%v), want an error that says %q", args, out.String(), err, want)
	}
	if all := fmt.Sprint(err, out.String(), said.String()); strings.Contains(all, password) {
		s.t.Errorf("restore %q tells the password: %s", args, all)
	}
}

func TestRestoreOverALaterState(t *testing.T) {
	t.Parallel()
	s, db := onServer(t)
	s.says(s.bob, "came later")
	late := s.posts("came later", webtest.Photo(500, 600))
	s.refused(nil, "riverrun runs with this database: stop every serve", "-over", s.file)
	s.server.end(t)
	// The lock of a process that has just ended may stand for a moment.
	conn, err := db.Primary.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), `SELECT pg_advisory_lock(1)`); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(300*time.Millisecond, func() {
		if _, err := conn.Exec(t.Context(), `SELECT pg_advisory_unlock(1)`); err != nil {
			t.Error(err)
		}
		conn.Release()
	})
	s.refused(nil, "replace it by the state of 20", s.file)

	// A later version has tables that refer to ours.
	if _, err := db.Primary.Exec(t.Context(), `CREATE TABLE later (post_id bigint REFERENCES posts); CREATE TYPE lateness AS ENUM ('late');
		CREATE VIEW late_posts AS SELECT * FROM posts; CREATE SCHEMA "operator's"; CREATE TABLE "operator's".own AS SELECT 1 AS n`); err != nil {
		t.Fatal(err)
	}
	out, err := once(t, s.vars, "", "restore", "-over", s.file)
	if err != nil || !strings.HasPrefix(out, "restored the state of ") {
		t.Fatalf("restore: got %q (%v)", out, err)
	}
	var left, own int
	err = db.Primary.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM pg_class WHERE relname IN ('later', 'late_posts')), (SELECT n FROM "operator's".own)`).Scan(&left, &own)
	if err != nil || left != 0 || own != 1 {
		t.Errorf("%d later tables are left, and the operator's own table has %d (%v), want 0 and 1", left, own, err)
	}
	s.isBack()
	s.start()
	if status, _, _ := s.bob.get(late); status != http.StatusNotFound {
		t.Errorf("a picture that came later: status %d, want 404", status)
	}
	s.server.end(t)
}

func TestRestoreOverAnotherSite(t *testing.T) {
	t.Parallel()
	s, db := onServer(t)
	s.server.end(t)
	if _, err := db.Primary.Exec(t.Context(), `UPDATE schema_migrations SET applied_at = applied_at - interval '1 day'`); err != nil {
		t.Fatal(err)
	}
	s.refused(nil, "holds another site", "-over", s.file)
	if _, err := once(t, s.vars, "", "restore", "-over-another", s.file); err != nil {
		t.Fatal(err)
	}
	// Tables that are not riverrun's are not replaced by chance either.
	if _, err := db.Primary.Exec(t.Context(), `DROP SCHEMA public CASCADE; CREATE SCHEMA public; CREATE TABLE theirs (n int)`); err != nil {
		t.Fatal(err)
	}
	s.refused(nil, "tables that are not riverrun's", "-over", s.file)
	// An empty one may be one that riverrun made already.
	if _, err := db.Primary.Exec(t.Context(), `DROP TABLE theirs; DROP SCHEMA queue CASCADE`); err != nil {
		t.Fatal(err)
	}
	if _, err := once(t, s.vars, "", "migrate"); err != nil {
		t.Fatal(err)
	}
	if _, err := once(t, s.vars, "", "restore", s.file); err != nil {
		t.Fatal(err)
	}
	s.isBack()
}

// A file that is damaged changes nothing: if it can be read twice, not even for a moment.
func TestRestoreOfADamagedFile(t *testing.T) {
	t.Parallel()
	s, db := onServer(t)
	s.server.end(t)
	whole, err := os.ReadFile(s.file)
	if err != nil {
		t.Fatal(err)
	}
	var before string
	const marks = `SELECT string_agg(concat(oid, relfilenode), ' ' ORDER BY oid) FROM pg_class WHERE relkind = 'r'`
	if err := db.Primary.QueryRow(t.Context(), marks).Scan(&before); err != nil {
		t.Fatal(err)
	}
	changed, named := bytes.Clone(whole), bytes.Clone(whole)
	changed[len(changed)/2] ^= 1
	named[bytes.Index(named, []byte("account_id"))] ^= 1 // which PostgreSQL may stumble over
	for _, tc := range []struct {
		want string
		data []byte
	}{
		{"it ends too early", whole[:len(whole)*9/10]},
		{"damaged", changed},
		{"damaged", named},
	} {
		file := filepath.Join(t.TempDir(), "damaged")
		if err := os.WriteFile(file, tc.data, 0o600); err != nil {
			t.Fatal(err)
		}
		s.refused(nil, tc.want, "-over", file)
		s.refused(bytes.NewReader(tc.data), tc.want, "-over", "-")
	}
	s.refused(bytes.NewReader(whole[:len(whole)/5]), "it ends too early", "-over", "-")
	s.refused(strings.NewReader(strings.Repeat("no backup\n", 100)), "this is not a backup of riverrun", "-")
	var after string
	if err := db.Primary.QueryRow(t.Context(), marks).Scan(&after); err != nil || after != before {
		t.Errorf("the tables changed (%v): got %s, want %s", err, after, before)
	}

	for want, m := range map[string]migrationsOf{
		migrations.ErrNewer.Error():        {add: "a later one"},
		migrations.ErrEarlierBuild.Error(): {change: true},
	} {
		s.refused(bytes.NewReader(m.write(t, db)), want, "-over", "-")
	}

	// Standard input works as well.
	var out bytes.Buffer
	if err := run(t.Context(), []string{"restore", "-over", "-"}, environment(s.vars), bytes.NewReader(whole), &out, &logOf{t: t}); err != nil {
		t.Fatal(err)
	}
	s.isBack()
}

// migrationsOf is a backup without a dump, of a database that took other migrations.
type migrationsOf struct {
	add    string
	change bool
}

func (o migrationsOf) write(t *testing.T, db *testdb.DB) []byte {
	t.Helper()
	taken, err := migrations.ReadTaken(t.Context(), db.Primary)
	if err != nil {
		t.Fatal(err)
	}
	if o.add != "" {
		taken.Names = append(taken.Names, o.add)
	}
	if o.change {
		taken.Names[3] += " of old"
	}
	var data bytes.Buffer
	w, err := backup.NewWriter(&data, backup.Manifest{Site: taken.Site, Migrations: taken.Names, PostgreSQL: 15})
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return data.Bytes()
}

// A backup of an earlier version is migrated.
func TestRestoreOfAnEarlierVersion(t *testing.T) {
	t.Parallel()
	db := testdb.New(t)
	vars := map[string]string{"DATABASE_URL": db.PrimaryURL, "RIVERS_DATABASE_URL": db.SecondaryURL, "RIVERRUN_DATA": t.TempDir()}
	newest, err := migrations.Newest()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "site.backup")
	for _, args := range [][]string{
		{"account", "create", "alice"},
		{"migrate", "-store", "primary", "-to", fmt.Sprint(newest - 1)},
		{"backup", file},
		{"restore", "-over", file},
	} {
		if _, err := once(t, vars, "correct horse\n", args...); err != nil {
			t.Fatalf("%q: %v", args, err)
		}
	}
	if version, err := migrations.Version(t.Context(), db.Primary); version != newest || err != nil {
		t.Errorf("after the restore: version %d (%v), want %d", version, err, newest)
	}
	out, err := once(t, vars, "", "account", "list")
	must(t, "alice  user  alice\n", out, err)
}

// Standard output gets the same as a file, and messages go elsewhere.
func TestBackupToStandardOutput(t *testing.T) {
	t.Parallel()
	s, _ := onServer(t)
	defer s.server.end(t)
	var out, said bytes.Buffer
	if err := run(t.Context(), []string{"backup", "-"}, environment(s.vars), strings.NewReader(""), &out, &said); err != nil {
		t.Fatal(err)
	}
	m, totals, err := backup.Verify(t.Context(), bytes.NewReader(out.Bytes()))
	if err != nil || totals.Files == 0 || totals.Spoilt != 0 || len(m.Migrations) == 0 {
		t.Errorf("the backup holds %+v of %+v (%v)", totals, m, err)
	}
	if !strings.Contains(said.String(), "files ") || strings.Contains(said.String(), password) {
		t.Errorf("backup said %q", said.String())
	}
}

func TestBackupThatFails(t *testing.T) {
	t.Parallel()
	db := testdb.New(t)
	vars := map[string]string{"DATABASE_URL": withPassword(t, db.PrimaryURL), "RIVERRUN_DATA": t.TempDir()}
	folder := t.TempDir()
	file := filepath.Join(folder, "site.backup")
	fails := func(what, want string) {
		t.Helper()
		var out bytes.Buffer
		err := run(t.Context(), []string{"backup", file}, environment(vars), strings.NewReader(""), &out, &out)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", what, err, want)
		}
		for _, secret := range []string{password, "topsecret"} {
			if strings.Contains(fmt.Sprint(err, out.String()), secret) {
				t.Errorf("%s: a secret is told: %v\n%s", what, err, out.String())
			}
		}
		if left, err := os.ReadDir(folder); err != nil || len(left) != 0 {
			t.Errorf("%s: left %v (%v), want nothing", what, left, err)
		}
	}
	vars["RIVERRUN_FILES"] = "s3://key:topsecret@127.0.0.1:1/bucket?insecure=1&region=here"
	fails("without an object storage", "RIVERRUN_FILES")
	vars["RIVERRUN_FILES"] = ""
	if _, err := db.Primary.Exec(t.Context(), `DROP SCHEMA public CASCADE; CREATE SCHEMA public`); err != nil {
		t.Fatal(err)
	}
	fails("of an empty database", migrations.ErrNone.Error())
}

// A file that nothing refers to any more stays while a backup is written whose dump refers to it.
func TestNoFileGoesDuringABackup(t *testing.T) {
	t.Parallel()
	db := testdb.New(t)
	store, err := blobs.Location{}.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := store.Put(t.Context(), strings.NewReader("a picture"), 100); err != nil {
		t.Fatal(err)
	}
	conn, err := db.Primary.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := files.Hold(t.Context(), conn.Conn()); err != nil {
		t.Fatal(err)
	}
	sweep := func() int {
		n, err := files.Sweep(t.Context(), db.Primary, store, time.Now().Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := sweep(); n != 0 {
		t.Errorf("the sweep removed %d during a backup, want 0", n)
	}
	_ = conn.Conn().Close(t.Context()) // as a backup ends, or its process
	conn.Release()
	webtest.Await(t, "the sweep", func() bool { return sweep() == 1 })
}
