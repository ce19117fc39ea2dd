package main

import (
	"archive/zip"
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/jackc/pgx/v5"

	"riverrun/migrations/testdb"
)

// asRiverrun, when set, makes the test binary a riverrun: one that can be killed.
const asRiverrun = "RIVERRUN_TEST_AS_RIVERRUN"

// whole is how long after a node was killed everything acknowledged is to be seen.
const whole = 5 * time.Second

// A node is killed just after it acknowledged posts, while jobs about them run in it.
// Another node's pages have all of them soon.
func TestPostsOfAKilledNodeShowOnAnother(t *testing.T) {
	s := newKilled(t)
	other := s.spawn()
	reader := s.signIn(other, "bob")
	page, release := s.post(reader)
	s.kill(release)
	s.untilWhole(reader, page)
}

// The only node is killed, and started again.
func TestPostsOfAKilledNodeShowWhenItIsBack(t *testing.T) {
	s := newKilled(t)
	reader := s.signIn(s.node, "bob")
	page, release := s.post(reader)
	s.kill(release)
	reader.node = s.spawn()
	s.untilWhole(reader, page)
}

// While jobs wait, and nobody does them, a page that subscribes has all posts.
func TestAPageIsBroughtUpWhileJobsWait(t *testing.T) {
	s := newKilled(t)
	reader := s.signIn(s.node, "bob")
	page, release := s.post(reader)
	defer release()
	s.until("the changes to be old", `
		SELECT min(created_at) < now() - interval '1.1 seconds' FROM queue.river_job WHERE finalized_at IS NULL`)
	s.at = time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), whole)
	defer cancel()
	if err := s.follow(ctx, reader, page); err != nil {
		t.Error(err)
	}
}

// A node is killed while it makes an archive. The next one makes it whole.
func TestAnArchiveOfAKilledNode(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("RIVERRUN_FILES", folder)
	s := newKilled(t)
	alice := s.signIn(s.node, "alice")
	alice.form("/posts", url.Values{"body": {"Words to keep"}})
	s.untilIdle()
	hold, err := s.db.Primary.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	release := func() {
		if err := hold.Rollback(context.WithoutCancel(t.Context())); err != nil && !errors.Is(err, pgx.ErrTxClosed) {
			t.Error(err)
		}
	}
	t.Cleanup(release)
	if _, err := hold.Exec(t.Context(), `LOCK TABLE comment_likes`); err != nil { // which comes after the posts
		t.Fatal(err)
	}
	alice.form("/settings/data", nil)
	s.until("the posts to be in it", `SELECT EXISTS (SELECT FROM exports WHERE state = 'making' AND done > 0)`)
	s.kill(release)
	alice.node = s.spawn()
	s.until("the archive", `SELECT EXISTS (SELECT FROM exports WHERE state = 'ready')`)
	content := alice.page("/settings/data/archive.zip")
	archive, err := zip.NewReader(strings.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	if f := archive.File; len(f) != 3 || f[0].Name != "data.json" || f[2].Name != "index.html" {
		t.Errorf("the archive has %d files", len(f))
	}
	blobs := 0
	err = filepath.WalkDir(folder, func(_ string, f fs.DirEntry, err error) error {
		if err == nil && len(f.Name()) == 64 {
			blobs++
		}
		return err
	})
	if err != nil || blobs != 1 {
		t.Errorf("%d blobs, want 1 (%v)", blobs, err)
	}
}

// killed is a site with a node that is to be killed. Alice writes there, and bob
// follows her.
type killed struct {
	t      *testing.T
	db     *testdb.DB
	vars   []string
	node   *child
	client string // the node's name in the job queue
	posts  []string
	at     time.Time // when it was killed, or what is measured began
}

// child is a process of riverrun's own.
type child struct {
	cmd *exec.Cmd
	url string
}

func newKilled(t *testing.T) *killed {
	t.Helper()
	db := testdb.New(t)
	vars := map[string]string{"DATABASE_URL": db.PrimaryURL, "RIVERS_DATABASE_URL": db.SecondaryURL, "RIVERRUN_LISTEN": "127.0.0.1:0", "RIVERRUN_LOG_LEVEL": "warn"}
	s := &killed{t: t, db: db}
	for name, value := range vars {
		s.vars = append(s.vars, name+"="+value)
	}
	for _, name := range []string{"alice", "bob"} {
		out, err := once(t, vars, "correct horse\n", "account", "create", name)
		must(t, "created "+name+"\n", out, err)
	}
	s.node = s.spawn()
	s.signIn(s.node, "bob").form("/alice/follow", nil)
	s.untilIdle()
	err := db.Primary.QueryRow(t.Context(), `
		SELECT DISTINCT attempted_by[1] FROM queue.river_job WHERE attempted_by IS NOT NULL`).Scan(&s.client)
	if err != nil {
		t.Fatalf("the node's name in the job queue: %v", err)
	}
	return s
}

// spawn starts a process that serves. It is killed when the test ends, at the latest.
func (s *killed) spawn() *child {
	s.t.Helper()
	c := spawn(s.t, s.vars)
	s.t.Cleanup(func() { c.kill(s.t) })
	return c
}

// spawn starts a process that serves.
func spawn(t testing.TB, vars []string) *child {
	t.Helper()
	return spawnLogging(t, &logOf{t: t}, vars)
}

// spawnLogging starts a process that serves and logs to a writer.
func spawnLogging(t testing.TB, log io.Writer, vars []string) *child {
	t.Helper()
	cmd := exec.Command(os.Args[0], "serve")
	cmd.Env = append(append(os.Environ(), vars...), asRiverrun+"=1")
	cmd.Stderr = log
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := &child{cmd: cmd}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("riverrun serve ended without a word: %v", err)
	}
	c.url = strings.TrimPrefix(strings.TrimSpace(line), "riverrun serves ")
	return c
}

// kill is kill -9. It does no harm to kill a child twice.
func (c *child) kill(t testing.TB) {
	t.Helper()
	if c.cmd.ProcessState != nil {
		return
	}
	if err := c.cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	if err := c.cmd.Wait(); err == nil {
		t.Error("a killed riverrun ended well")
	}
}

// stop lets the process end well.
func (c *child) stop(t testing.TB) {
	t.Helper()
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Wait(); err != nil {
		t.Errorf("riverrun serve after a signal: %v", err)
	}
}

// untilIdle waits until everything announced is in all rivers.
func (s *killed) untilIdle() {
	s.t.Helper()
	s.until("all jobs to be done", `
		SELECT NOT EXISTS (SELECT FROM behind) AND NOT EXISTS (SELECT FROM queue.river_job WHERE finalized_at IS NULL)`)
}

// until waits until a query of the primary store answers yes.
func (s *killed) until(what, query string, args ...any) {
	s.t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(time.Minute); ; <-tick.C {
		var yes bool
		if err := s.db.Primary.QueryRow(s.t.Context(), query, args...).Scan(&yes); err != nil {
			s.t.Fatal(err)
		}
		if yes {
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("waited in vain for %s", what)
		}
	}
}

// post has alice post ten times at her node, until jobs about the posts run there, and
// returns what the reader's home page shows then. At their end the jobs wait for a lock,
// which release gives up.
func (s *killed) post(reader *visitor) (page string, release func()) {
	s.t.Helper()
	t := s.t
	alice := s.signIn(s.node, "alice")
	reader.page("/") // the river is made
	s.untilIdle()
	s.crowd()
	hold, err := s.db.Primary.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	release = func() {
		if err := hold.Rollback(context.WithoutCancel(t.Context())); err != nil && !errors.Is(err, pgx.ErrTxClosed) {
			t.Error(err)
		}
	}
	t.Cleanup(release)
	if _, err := hold.Exec(t.Context(), `LOCK TABLE behind IN SHARE MODE`); err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		s.posts = append(s.posts, fmt.Sprintf("acknowledged %d of ten", i))
		alice.form("/posts", url.Values{"body": {s.posts[i]}})
	}
	s.until("jobs to run", `
		SELECT EXISTS (SELECT FROM queue.river_job
			WHERE kind = 'distribute' AND state = 'running' AND attempted_by[cardinality(attempted_by)] = $1)`, s.client)
	page = reader.page("/")
	if got := s.missing(page); len(got) != len(s.posts) {
		t.Fatalf("the page lacks %d posts, want all %d: nothing would be tried", len(got), len(s.posts))
	}
	return page, release
}

// crowd makes two hundred rivers like the reader's, so that posts reach the reader by jobs alone
// (rivers.Options.Few).
func (s *killed) crowd() {
	s.t.Helper()
	conn, err := s.db.Secondary.Acquire(s.t.Context()) // temporary tables are a connection's own
	if err != nil {
		s.t.Fatal(err)
	}
	defer conn.Release()
	for _, query := range []string{
		`CREATE TEMPORARY TABLE one AS SELECT * FROM rivers WHERE state = 'live'
			ORDER BY (SELECT count(*) FROM rivers_timelines WHERE river_id = id) DESC LIMIT 1`,
		`INSERT INTO rivers (id, user_id, their_id, epoch, floor, finished, state, kind, term, ord, knows)
			SELECT i, 1000000 + i, their_id, epoch, floor, finished, state, kind, term, ord, knows FROM one, generate_series(1, 200) i`,
		`INSERT INTO rivers_timelines (river_id, timeline_id)
			SELECT i, timeline_id FROM one JOIN rivers_timelines ON river_id = id, generate_series(1, 200) i`,
		`INSERT INTO visits (river_id, visited_at) SELECT i, now() FROM generate_series(1, 200) i`,
		`DROP TABLE one`,
	} {
		if _, err := conn.Exec(s.t.Context(), query); err != nil {
			s.t.Fatal(err)
		}
	}
}

// kill kills alice's node, and then lets the jobs of others go on.
func (s *killed) kill(release func()) {
	s.t.Helper()
	s.node.kill(s.t)
	s.at = time.Now()
	release()
}

// missing are the posts that stand nowhere in a text.
func (s *killed) missing(text string) (missing []string) {
	for _, post := range s.posts {
		if !strings.Contains(text, post) {
			missing = append(missing, post)
		}
	}
	return missing
}

// untilWhole waits until all posts show, after a reload and on the page that was there
// before and subscribes now.
func (s *killed) untilWhole(reader *visitor, page string) {
	s.t.Helper()
	ctx, cancel := context.WithDeadline(s.t.Context(), s.at.Add(whole))
	defer cancel()
	subscribed := make(chan error, 1)
	go func() { subscribed <- s.follow(ctx, reader, page) }()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	missing := s.missing(reader.page("/"))
	for len(missing) > 0 && ctx.Err() == nil {
		<-tick.C
		missing = s.missing(reader.page("/"))
	}
	if len(missing) > 0 {
		s.t.Errorf("%v after the kill a reload lacks %q", whole, missing)
	} else {
		s.t.Logf("a reload is whole after %v", time.Since(s.at).Round(time.Millisecond))
	}
	if err := <-subscribed; err != nil {
		s.t.Error(err)
	}
}

// follow subscribes to the reader's home page as it is given and returns when the page
// shows all posts.
func (s *killed) follow(ctx context.Context, reader *visitor, page string) error {
	conn, err := reader.subscribe(ctx, page)
	if err != nil {
		return err
	}
	defer func() { _ = conn.CloseNow() }()
	for got := page; ; {
		missing := s.missing(got)
		if len(missing) == 0 {
			s.t.Logf("a page that subscribed is whole after %v", time.Since(s.at).Round(time.Millisecond))
			return nil
		}
		_, text, err := conn.Read(ctx)
		if err != nil {
			return fmt.Errorf("a page that subscribed lacks %q after %v: %w", missing, time.Since(s.at), err)
		}
		got += string(text)
	}
}

// visitor is somebody with a browser, at one node.
type visitor struct {
	t      testing.TB
	node   *child
	client *http.Client
	site   *url.URL // whose cookies are sent
}

func (s *killed) signIn(node *child, name string) *visitor { return signIn(s.t, node, name) }

func signIn(t testing.TB, node *child, name string) *visitor {
	t.Helper()
	return signInOver(t, nil, node, name)
}

// signInOver is signIn over connections of the caller's.
func signInOver(t testing.TB, over http.RoundTripper, node *child, name string) *visitor {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	site, err := url.Parse(node.url)
	if err != nil {
		t.Fatal(err)
	}
	v := &visitor{t: t, node: node, site: site, client: &http.Client{Transport: over, Jar: jar}}
	v.form("/login", url.Values{"username": {name}, "password": {"correct horse"}})
	if v.cookie() == "" {
		t.Fatalf("%s has no session", name)
	}
	return v
}

// subscribe opens a socket and subscribes to the home page as it is given. The caller closes it.
func (v *visitor) subscribe(ctx context.Context, page string) (_ *websocket.Conn, err error) {
	header := http.Header{"Cookie": {v.cookie()}}
	conn, response, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(v.node.url, "http")+"/ws", &websocket.DialOptions{
		HTTPHeader: header, HTTPClient: &http.Client{Transport: v.client.Transport},
	})
	if err != nil {
		return nil, err
	}
	if response.Body != nil {
		defer response.Body.Close()
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, conn.CloseNow())
		}
	}()
	conn.SetReadLimit(1 << 20)
	entries := map[string]string{}
	for _, m := range regexp.MustCompile(`data-post="(\w+)" data-version="([^"]+)"`).FindAllStringSubmatch(page, -1) {
		entries[m[1]] = m[2]
	}
	river := regexp.MustCompile(`data-river="(\d+)"`).FindStringSubmatch(page)
	if river == nil {
		return nil, fmt.Errorf("no river in the page %.200q", page)
	}
	say, err := json.Marshal(map[string]any{"t": "subscribe", "page": "/", "lang": "en", "river": river[1], "entries": entries})
	if err != nil {
		return nil, err
	}
	return conn, conn.Write(ctx, websocket.MessageText, say)
}

// cookie is what the browser sends: to any port of a host the same.
func (v *visitor) cookie() string {
	var all []string
	for _, c := range v.client.Jar.Cookies(v.site) {
		all = append(all, c.String())
	}
	return strings.Join(all, "; ")
}

// form sends one that must succeed.
func (v *visitor) form(path string, values url.Values) {
	v.t.Helper()
	v.answer(v.client.PostForm(v.node.url+path, values))
}

// page loads one.
func (v *visitor) page(path string) string {
	v.t.Helper()
	return v.answer(v.client.Get(v.node.url + path))
}

func (v *visitor) answer(response *http.Response, err error) string {
	v.t.Helper()
	if err != nil {
		v.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		v.t.Fatalf("%s: got %s (%v)\n%.500s", response.Request.URL, response.Status, err, body)
	}
	return string(body)
}
