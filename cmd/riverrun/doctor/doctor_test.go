package doctor

import (
	"context"
	"crypto/sha256"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgxpool"

	"riverrun/jobs"
	"riverrun/migrations/testdb"
	"riverrun/timelines/blobs"
	"riverrun/timelines/files"
	"riverrun/web"
	"riverrun/web/webtest"
)

func TestMain(m *testing.M) { testdb.Main(m, webtest.CloseChromium) }

// patient is a site with stores, a job queue and a directory of files.
type patient struct {
	*testing.T
	db  *testdb.DB
	dir string
	Config
}

func newPatient(t *testing.T) *patient {
	t.Helper()
	return patientOf(t, testdb.New(t))
}

func patientOf(t *testing.T, db *testdb.DB) *patient {
	t.Helper()
	if err := jobs.Migrate(t.Context(), db.Primary); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	store, err := blobs.Location{}.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	p := &patient{T: t, db: db, dir: dir, Config: Config{
		Blobs: store, BlobsAt: dir, BlobsDir: dir, Listen: "127.0.0.1:1", Patience: 10 * time.Second,
		Primary: Store{Opens: 10}, Secondary: Store{Opens: 5},
	}}
	for of, address := range map[*Store]string{&p.Primary: db.PrimaryURL, &p.Secondary: db.SecondaryURL} {
		if of.Config, err = pgxpool.ParseConfig(address); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func (p *patient) exec(sql string, args ...any) {
	p.Helper()
	if _, err := p.db.Primary.Exec(p.Context(), sql, args...); err != nil {
		p.Fatal(err)
	}
}

// shows checks that a row came out so, and says that.
func (p *patient) shows(name string, status Status, found string) Report {
	p.Helper()
	r := Examine(p.Context(), p.Config)
	for _, c := range r.Checks {
		if c.Name == name && c.Status == status && strings.Contains(c.Found, found) && (status == OK) == (c.Do == "") {
			return r
		}
	}
	p.Errorf("no row %q %q that says %q in\n%+v", status, name, found, r.Checks)
	return r
}

func TestJobsThatStand(t *testing.T) {
	p := newPatient(t)
	p.shows("jobs", OK, "0 wait, 0 run")
	p.shows("nodes", Warn, "none lives")
	insert := func(queue, state string, attempts int, further string) {
		p.Helper()
		p.exec(`DELETE FROM queue.river_job`)
		p.exec(`INSERT INTO queue.river_job (kind, queue, state, max_attempts, args, metadata, scheduled_at, attempted_at, attempted_by, finalized_at)
			SELECT 'x', $1::text, $2::text::queue.river_job_state, $3::smallint, '{}'::jsonb, metadata, scheduled_at, attempted_at, attempted_by,
				CASE WHEN $2::text = 'discarded' THEN now() END
			FROM (SELECT '{}'::jsonb AS metadata, now() AS scheduled_at, now() AS attempted_at, '{nobody}'::text[] AS attempted_by) d
			WHERE $4::text = ''
			UNION ALL
			SELECT 'x', $1::text, $2::text::queue.river_job_state, $3::smallint, '{}'::jsonb, '{"snoozes": 99}'::jsonb, now() - interval '1 hour', now() - interval '1 hour', '{nobody}'::text[],
				CASE WHEN $2::text = 'discarded' THEN now() END
			WHERE $4::text = 'long ago'`, queue, state, attempts, further)
	}
	for _, tt := range []struct {
		queue, state string
		attempts     int
		further      string
		status       Status
		found        string
	}{
		{"now", "discarded", 25, "", Fail, "1 discarded"},
		{"chores", "discarded", 1, "", Warn, "1 runs of chores failed"},
		{"now", "available", 25, "long ago", Warn, "1 wait, the oldest for 1h0m"},
		{"later", "available", 25, "long ago", Warn, "1 wait, the oldest for 1h0m"},
		{"later", "available", 25, "long ago", Warn, "1 fail again and again"},
		{"now", "running", 25, "long ago", Warn, "1 are running by the name of a node that does not live"},
	} {
		insert(tt.queue, tt.state, tt.attempts, tt.further)
		p.shows("jobs: "+tt.queue, tt.status, tt.found)
	}
	insert("now", "running", 25, "")
	p.shows("jobs", OK, "0 wait, 1 run")

	// A node lives that works nothing.
	lock, err := p.db.Primary.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	if _, err := lock.Exec(t.Context(), `SELECT pg_advisory_lock_shared(hashtextextended('somebody', 0))`); err != nil {
		t.Fatal(err)
	}
	p.shows("nodes", OK, "1 live")
	insert("now", "available", 25, "long ago")
	p.shows("jobs: now", Fail, "1 wait")
	if _, err := lock.Exec(t.Context(), `SELECT pg_advisory_unlock_shared(hashtextextended('somebody', 0))`); err != nil {
		t.Fatal(err)
	}
	p.exec(`DELETE FROM queue.river_job`)
	p.exec(`INSERT INTO behind (post_id, changed_at, timelines) VALUES (1, 0, '{}')`)
	p.shows("jobs: later", Warn, "1 changes wait")
}

func TestSchemas(t *testing.T) {
	p := newPatient(t)
	p.shows("primary: schema", OK, "version ")
	p.exec(`INSERT INTO schema_migrations (version, name) VALUES (9999, 'later')`)
	p.shows("primary: schema", Fail, "version 9999, this riverrun has ")
	p.exec(`DELETE FROM schema_migrations WHERE version > 9998 OR version = (SELECT max(version) FROM schema_migrations WHERE version < 9999)`)
	p.shows("primary: schema", Fail, "this riverrun has ")
	p.exec(`UPDATE schema_migrations SET name = 'initial' WHERE version = 1`)
	p.shows("primary: schema", Fail, "earlier, unreleased build")
	p.exec(`DROP TABLE schema_migrations`)
	r := p.shows("primary: schema", Fail, "never migrated")
	if len(r.Tables) == 0 {
		t.Error("no tables of a store that was never migrated")
	}
}

func TestFiles(t *testing.T) {
	p := newPatient(t)
	r := p.shows("files: content", OK, "blobs 0 missing 0 orphaned 0")
	if len(r.Files) != 0 {
		t.Errorf("no files are used for %+v", r.Files)
	}
	sum, size, err := p.Blobs.Put(t.Context(), strings.NewReader("a text"), 100)
	if err != nil {
		t.Fatal(err)
	}
	gone := sha256.Sum256([]byte("a picture"))
	p.exec(`INSERT INTO accounts (name, kind, title) VALUES ('anna', 'user', 'Anna')`)
	p.exec(`INSERT INTO files (owner_id, bytes, code, state, name, sum) SELECT id, $1, '0123456789', 'download', 'a.txt', $2 FROM accounts`, size, sum[:])
	p.exec(`INSERT INTO file_blobs (file_id, bytes, size, type, sum) SELECT id, $1, 'upload', 'text/plain', $2 FROM files`, size, sum[:])
	r = p.shows("files: content", OK, "blobs 1 missing 0 orphaned 0")
	if diff := cmp.Diff([]files.Usage{{Kind: "other files", Blobs: 1, Bytes: 6}}, r.Files); diff != "" {
		t.Errorf("used (-want +got):\n%s", diff)
	}
	p.exec(`INSERT INTO links (url, bytes, picture) VALUES ('https://example.org/', 9, $1)`, gone[:])
	r = p.shows("files: content", Fail, "blobs 2 missing 1 orphaned 0 (blob ")
	if diff := cmp.Diff([]files.Usage{{Kind: "pictures of links", Blobs: 1, Bytes: 9}, {Kind: "other files", Blobs: 1, Bytes: 6}}, r.Files); diff != "" {
		t.Errorf("used (-want +got):\n%s", diff)
	}
	p.exec(`DELETE FROM links`)
	p.exec(`DELETE FROM files`)
	old := time.Now().Add(-3 * files.Grace)
	if err := os.Chtimes(filepath.Join(p.dir, sum.String()[:2], sum.String()[2:4], sum.String()), old, old); err != nil {
		t.Fatal(err)
	}
	p.shows("files: content", Warn, "blobs 0 missing 0 orphaned 1")
	p.shows("files", OK, p.dir)
	if err := os.RemoveAll(filepath.Join(p.dir, "tmp")); err != nil {
		t.Fatal(err)
	}
	p.shows("files", Fail, "no such file")
}

func TestADatabaseThatIsAway(t *testing.T) {
	p := newPatient(t)
	p.Secondary.Config.ConnConfig.Database = "nowhere"
	r := p.shows("secondary store", Fail, `database "nowhere" does not exist`)
	for _, c := range r.Checks {
		if c.Status == Fail && c.Name != "secondary store" && c.Name != "primary: fsync" { // tests have no fsync
			t.Errorf("with the secondary store away: %+v", c)
		}
	}
	p.Primary.Config.ConnConfig.Host, p.Primary.Config.ConnConfig.Port = t.TempDir(), 1
	p.Primary.Config.ConnConfig.Fallbacks = nil
	r = p.shows("primary store", Fail, "connect")
	if len(r.Tables) != 0 {
		t.Errorf("tables of stores that are away: %+v", r.Tables)
	}
	p.shows("files", OK, p.dir)
}

// Nothing is written, whatever a check tries.
func TestSessionsAreReadOnly(t *testing.T) {
	p := newPatient(t)
	db := (examination{Config: p.Config, Report: &Report{}}).open(t.Context(), "primary", p.Primary)
	if db == nil {
		t.Fatal("the primary store does not answer")
	}
	defer db.pool.Close()
	if _, err := db.pool.Exec(t.Context(), `DELETE FROM accounts`); err == nil || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("a DELETE: got %v, want that the transaction is read-only", err)
	}
}

func TestSettings(t *testing.T) {
	good := settings{Number: 150000, Fsync: true, FullPageWrites: true, Autovacuum: true, SharedBuffers: 128 << 20, MaxConnections: 100, Reserved: 3, Age: 200_000_000}
	for _, c := range good.checks(true) {
		if c.Status != OK {
			t.Errorf("good settings: %+v", c)
		}
	}
	for _, tt := range []struct {
		name    string
		change  func(*settings)
		durable Status
		other   Status
	}{
		{"fsync", func(s *settings) { s.Fsync = false }, Fail, OK},
		{"full_page_writes", func(s *settings) { s.FullPageWrites = false }, Warn, OK},
		{"autovacuum", func(s *settings) { s.Autovacuum = false }, Warn, Warn},
		{"shared_buffers", func(s *settings) { s.SharedBuffers = 1 << 20 }, Warn, Warn},
		{"wraparound", func(s *settings) { s.Age = oldAge }, Warn, Warn},
		{"wraparound", func(s *settings) { s.Age = dangerousAge }, Fail, Fail},
	} {
		s := good
		tt.change(&s)
		for durable, want := range map[bool]Status{true: tt.durable, false: tt.other} {
			for _, c := range s.checks(durable) {
				if wants := map[bool]Status{true: want, false: OK}[c.Name == tt.name]; c.Status != wants || (c.Do == "") != (wants == OK) {
					t.Errorf("%s, durable %v: %+v, want %s", tt.name, durable, c, wants)
				}
			}
		}
	}
}

func TestConnections(t *testing.T) {
	p := newPatient(t)
	p.shows("both stores: max_connections", OK, "a process may open 15")
	p.Primary.Opens = 100_000
	p.shows("both stores: max_connections", Fail, "a process may open 100005")
}

func TestClocksAndDisks(t *testing.T) {
	for apart, want := range map[time.Duration]Status{0: OK, -time.Second: OK, 2 * time.Second: Warn, -3 * time.Second: Warn, time.Minute: Fail, -time.Hour: Fail} {
		if c := clockCheck("clock", apart); c.Status != want || (c.Do == "") != (want == OK) {
			t.Errorf("%v apart: %+v, want %s", apart, c, want)
		}
	}
	for free, want := range map[uint64]Status{500: OK, 100: OK, 99: Warn, 20: Warn, 19: Fail, 0: Fail} {
		if c := diskCheck("disk", "/", free, 1000); c.Status != want || (c.Do == "") != (want == OK) {
			t.Errorf("%d of 1000 free: %+v, want %s", free, c, want)
		}
	}
	p := newPatient(t)
	p.shows("primary: clock", OK, "apart from this machine's")
	p.shows("order of posts", OK, "no post is of the future")
	p.BlobsDir = "/nowhere"
	p.shows("files: disk", Fail, "/nowhere")
}

// A post of the future stands above all new ones.
func TestAPostOfTheFuture(t *testing.T) {
	s := webtest.New(t, nil)
	s.Person("anna").Post("Early")
	p := patientOf(t, s.DB)
	p.shows("order of posts", OK, "")
	p.exec(`UPDATE posts SET fresh_at = (extract(epoch FROM now() + interval '59 minutes 50 seconds') * 1000000)::bigint`)
	p.shows("order of posts", Warn, "a post stands 59m") // some seconds may have passed
}

// The site is asked by way of its proxy, which does more or less of what it should.
func TestProxies(t *testing.T) {
	s := webtest.New(t, nil)
	p := patientOf(t, s.DB)
	// serve starts the site behind a proxy, as if its RIVERRUN_URL were that of the proxy with this scheme.
	serve := func(scheme string, rewrite func(*httputil.ProxyRequest)) {
		t.Helper()
		backend := httptest.NewUnstartedServer(nil)
		at := &url.URL{Scheme: "http", Host: backend.Listener.Addr().String()}
		proxy := httptest.NewServer(&httputil.ReverseProxy{
			Rewrite:  func(r *httputil.ProxyRequest) { r.SetURL(at); rewrite(r) },
			ErrorLog: log.New(t.Output(), "", 0),
		})
		host := strings.TrimPrefix(proxy.URL, "http://")
		site, err := web.New(web.Config{
			Timelines: s.Store, Rivers: s.Rivers, Tiers: s.Tiers, Blobs: s.Blobs, URL: scheme + "://" + host, OwnHost: true,
			Log: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})),
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := site.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		backend.Config.Handler = site.Handler()
		backend.Start()
		t.Cleanup(func() {
			ctx, cancel := context.WithTimeout(context.Background(), webtest.Patience)
			defer cancel()
			if err := site.Stop(ctx); err != nil {
				t.Error(err)
			}
			proxy.Close()
			backend.Close()
		})
		p.URL = proxy.URL
	}
	good := func(r *httputil.ProxyRequest) { r.Out.Host = r.In.Host; r.SetXForwarded() }

	serve("http", good)
	for _, name := range []string{"site", "site: https", "site: host", "site: X-Forwarded-For", "site: websocket"} {
		p.shows(name, OK, "")
	}
	serve("http", func(r *httputil.ProxyRequest) { r.SetXForwarded() })
	p.shows("site: host", Fail, "another host")
	serve("http", func(r *httputil.ProxyRequest) { r.Out.Host = r.In.Host })
	p.shows("site: X-Forwarded-For", Fail, "all visitors count as one address")
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(p.URL, "http://")) // it has one
	listen := p.Listen
	p.Listen = "0.0.0.0:" + port
	p.shows("site: X-Forwarded-For", OK, "there is no proxy")
	p.Listen = listen
	serve("http", func(r *httputil.ProxyRequest) { good(r); r.Out.Header.Del("Upgrade"); r.Out.Header.Del("Connection") })
	p.shows("site: websocket", Fail, "no page is live")
	serve("https", good)
	p.shows("site: https", Fail, "one is https and one is not")

	other := httptest.NewServer(http.NotFoundHandler())
	p.URL = other.URL
	p.shows("site", OK, "not running") // no node lives here
	moved := httptest.NewServer(http.RedirectHandler("https://river.example/healthz", http.StatusMovedPermanently))
	defer moved.Close()
	p.URL = moved.URL
	p.shows("site", Fail, "leads to https://river.example/healthz")
	other.Close()
	p.URL = other.URL
	p.shows("site", OK, "not running")
	e := examination{Config: p.Config, Report: &Report{}}
	e.site(t.Context(), 1)
	if c := e.Checks[0]; c.Status != Fail || c.Do == "" {
		t.Errorf("nodes live and nothing answers: %+v", c)
	}
	p.URL = ""
	p.shows("site", OK, "RIVERRUN_URL is not set")
}
