package sources_test

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"riverrun/jobs/fetch"
	jobs "riverrun/jobs/sources"
	"riverrun/timelines/blobs"
	"riverrun/timelines/sources"
)

const (
	feed = `<?xml version="1.0"?><rss version="2.0"><channel><title>A blog</title><ttl>120</ttl><item><guid>1</guid><title>One</title></item></channel></rss>`
	page = `<!doctype html><html><head><title>A site</title><link rel="alternate" type="application/rss+xml" href="%s"></head><body>Hello</body></html>`
)

// site is a server whose answers a test sets, and a source with one of its addresses.
type site struct {
	*world
	fetcher jobs.Fetcher
	client  *fetch.Client
	server  *httptest.Server
	mu      sync.Mutex // guards what follows
	answers map[string]http.HandlerFunc
	asked   []string
}

func newSite(t *testing.T) *site {
	t.Helper()
	t.Parallel()
	s := &site{world: newWorld(t, sources.Append), answers: map[string]http.HandlerFunc{}}
	s.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked = append(s.asked, r.URL.Path)
		answer := s.answers[r.URL.Path]
		s.mu.Unlock()
		if answer == nil {
			answer = http.NotFound
		}
		answer(w, r)
	}))
	t.Cleanup(s.server.Close)
	var err error
	s.client, err = fetch.New(fetch.Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}})
	s.must(err)
	t.Cleanup(s.client.Close)
	s.fetcher = jobs.Fetcher{
		Sources: s.run.Sources, Blobs: s.run.Blobs, Client: s.client, Dir: t.TempDir(), MaxBytes: 1 << 16,
		Chance: func() float64 { return 0.5 }, Log: slog.New(slog.DiscardHandler),
	}
	s.source = s.link(s.server.URL + "/feed")
	return s
}

// link adds another source of the same owner.
func (s *site) link(url string) (id int64) {
	s.Helper()
	s.must(s.pool.QueryRow(s.Context(), `
		INSERT INTO sources (owner_id, added_by, code, way, mode, title, url, next_at)
		SELECT owner_id, owner_id, lpad((SELECT max(id) FROM sources)::text, 10, '0'), 'link', 'append', 'A feed', $1, now()
		FROM sources LIMIT 1 RETURNING id`, url).Scan(&id))
	return id
}

func (s *site) serve(path string, answer http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[path] = answer
}

func text(kind, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		io.WriteString(w, body)
	}
}

func redirect(status int, to string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", to)
		w.WriteHeader(status)
	}
}

// fetch fetches the source, whose host may be asked, and checks that nothing is left behind.
func (s *site) fetch() jobs.Outcome {
	s.Helper()
	s.hostsRest()
	o, err := s.fetcher.Fetch(s.Context(), s.source)
	s.must(err)
	s.clean()
	return o
}

// clean checks that no lock is held and no file is left (F11: whatever happened).
func (s *site) clean() {
	s.Helper()
	if held := s.list(`SELECT 'locked' FROM pg_locks WHERE locktype = 'advisory' AND classid = 7245017
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`); len(held) > 0 {
		s.Error("the lock is still held")
	}
	left, err := readDir(s.fetcher.Dir)
	s.must(err)
	if len(left) > 0 {
		s.Errorf("left behind: %v", left)
	}
}

// state returns what is stored for the source.
func (s *site) state() string {
	s.Helper()
	return strings.ReplaceAll(s.list(fmt.Sprintf(`
		SELECT format('%%s v%%s %%s %%s loads=%%s failures=%%s %%s in %%s min', status, version, url, problem, loads, failures, etag,
			round(extract(epoch FROM next_at - fetched_at) / 60)) FROM sources WHERE id = %d`, s.source))[0], s.server.URL, "")
}

func (s *site) want(what, state string) {
	s.Helper()
	if d := cmp.Diff(state, s.state()); d != "" {
		s.Errorf("%s (-want +got):\n%s", what, d)
	}
}

// F9, F10, F11: a feed is fetched by its link once. If it did not change, it is not loaded again.
func TestFetch(t *testing.T) {
	s := newSite(t)
	var conditions []string
	etag := `"v1"`
	s.serve("/feed", func(w http.ResponseWriter, r *http.Request) {
		conditions = append(conditions, r.Header.Get("If-None-Match"))
		w.Header().Set("ETag", etag)
		if r.Header.Get("If-None-Match") == `"v1"` {
			w.Header().Set("ETag", `"v9"`)
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("Content-Type", "application/rss+xml; charset=utf-8")
		io.WriteString(w, feed)
	})
	if d := cmp.Diff(jobs.Outcome{Load: 1, After: 126 * time.Minute}, s.fetch()); d != "" {
		t.Errorf("first fetch (-want +got):\n%s", d)
	}
	s.want("first fetch", `active v1 /feed  loads=1 failures=0 "v1" in 126 min`)
	// Until the file is loaded, an equal file does not make another load.
	if o := s.fetch(); o.Load != 0 || o.Problem != "" {
		t.Errorf("while it waits: %+v", o)
	}
	s.must(s.run.Run(t.Context(), s.source))
	if got := s.list(`SELECT split_part(body, E'\n', 1) FROM posts`); len(got) != 1 || got[0] != "One" {
		t.Errorf("posts: %q", got)
	}
	if l := s.load(1); l.State != sources.Done || l.Base != s.server.URL+"/feed" || l.MediaType != "application/rss+xml" || l.Charset != "utf-8" {
		t.Errorf("load: %+v", l)
	}
	// A 304 is about the content that we have, so its own ETag stays, even if the 304 brings another
	// one.
	s.fetch()
	s.want("not modified", `active v1 /feed  loads=1 failures=0 "v1" in 126 min`)
	// The same file comes with another ETag.
	etag = `"v2"`
	_, err := s.pool.Exec(t.Context(), `UPDATE sources SET etag = '"v0"' WHERE id = $1`, s.source)
	s.must(err)
	if o := s.fetch(); o.Load != 0 || o.Problem != "" {
		t.Errorf("an equal file: %+v", o)
	}
	if d := cmp.Diff([]string{"", "", `"v1"`, `"v0"`}, conditions); d != "" {
		t.Errorf("conditions (-want +got):\n%s", d)
	}
}

// F11, F19: after a load with errors the same file is loaded again, and requests have no condition.
func TestSameFileAfterErrors(t *testing.T) {
	s := newSite(t)
	s.serve("/feed", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-None-Match") != "" {
			t.Error("it is asked for conditionally")
		}
		w.Header().Set("ETag", `"v1"`)
		io.WriteString(w, `<rss version="2.0"><channel><title>x</title><item><guid>1</guid></item></channel></rss>`)
	})
	for i := range int64(3) {
		if o := s.fetch(); o.Load != i+1 {
			t.Errorf("fetch %d: %+v", i, o)
		}
		s.must(s.run.Run(t.Context(), s.source))
	}
	// A broken file is loaded again as well, after longer and longer times.
	s.serve("/feed", text("text/xml", `<rss version="2.0"><channel><item>`))
	s.fetch()
	s.must(s.run.Run(t.Context(), s.source))
	s.fetch()
	s.must(s.run.Run(t.Context(), s.source))
	s.want("two failures", `active v1 /feed truncated loads=5 failures=2  in 32 min`)
	s.fetch()
	s.want("after two failures", `active v1 /feed truncated loads=6 failures=2  in 38 min`)
}

// F10, F15: each failure has its code. The source is fetched after longer and longer times, and never
// given up.
func TestFetchFailures(t *testing.T) {
	s := newSite(t)
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	s.must(err)
	s.must(gone.Close())
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	secure.StartTLS()
	t.Cleanup(secure.Close)
	// It listens at an address that may not be reached.
	inside, err := net.Listen("tcp", "127.0.0.2:0")
	s.must(err)
	var dialled atomic.Int32
	hidden := &httptest.Server{Listener: inside, Config: &http.Server{
		Handler:   http.NotFoundHandler(),
		ConnState: func(net.Conn, http.ConnState) { dialled.Add(1) },
	}}
	hidden.Start()
	t.Cleanup(hidden.Close)
	status := func(code int, retry string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			if retry != "" {
				w.Header().Set("Retry-After", retry)
			}
			w.WriteHeader(code)
			io.WriteString(w, feed)
		}
	}
	raw := func(answer string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			io.WriteString(conn, answer)
		}
	}
	const soon = 23 * time.Minute
	for _, tt := range []struct {
		what   string
		answer http.HandlerFunc
		url    string
		want   sources.Problem
		after  time.Duration
	}{
		{what: "401", answer: status(401, ""), want: sources.Unauthorized},
		{what: "403", answer: status(403, ""), want: sources.Denied},
		{what: "404", answer: status(404, ""), want: sources.NotFound},
		{what: "418", answer: status(418, ""), want: sources.BadStatus},
		{what: "204", answer: raw("HTTP/1.1 204 No Content\r\n\r\n"), want: sources.BadStatus},
		{what: "304 without a condition", answer: raw("HTTP/1.1 304 Not Modified\r\n\r\n"), want: sources.BadStatus},
		{what: "500 with a body", answer: status(500, ""), want: sources.ServerFails},
		{what: "503, retry in 2 hours", answer: status(503, "7200"), want: sources.ServerFails, after: 126 * time.Minute},
		{what: "503, retry soon", answer: status(503, "1"), want: sources.ServerFails},
		{what: "429, retry in a year", answer: status(429, "31536000"), want: sources.TooOften, after: 7 * 24 * time.Hour},
		{what: "429, retry at a time", answer: status(429, time.Now().Add(10*time.Hour).UTC().Format(http.TimeFormat)), want: sources.TooOften, after: 630 * time.Minute},
		{what: "reset", answer: raw("HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n<rss>"), want: sources.BadAnswer},
		{what: "no HTTP", answer: raw("220 mail.example.org\r\n"), want: sources.BadAnswer},
		{what: "endless", answer: func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 1<<12)); err != nil {
					return
				}
			}
		}, want: sources.FileTooLarge},
		{what: "gzip bomb", answer: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			z.Write(make([]byte, 1<<22))
			z.Close()
		}, want: sources.FileTooLarge},
		{what: "brotli", answer: func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Encoding", "br") }, want: sources.BadEncoding},
		{what: "loop", answer: redirect(301, "/feed"), want: sources.Redirects},
		{what: "redirect inside", answer: redirect(301, hidden.URL), want: sources.AddressForbidden},
		{what: "redirect to the machine's own address", answer: redirect(302, "http://[::1]/"), want: sources.AddressForbidden},
		{what: "redirect to metadata", answer: redirect(307, "http://169.254.169.254/latest"), want: sources.AddressForbidden},
		{what: "redirect to a file", answer: redirect(301, "file:///etc/passwd"), want: sources.AddressInvalid},
		{what: "inside", url: hidden.URL, want: sources.AddressForbidden},
		{what: "by a number", url: "http://2130706434/", want: sources.AddressInvalid},
		{what: "nobody listens", url: "http://" + gone.Addr().String(), want: sources.NotReached},
		{what: "an unknown authority", url: secure.URL, want: sources.NotSecure},
		{what: "a page without a feed", answer: text("text/html", "<html><body>Hello"), want: sources.NoFeed},
		{what: "a page that names itself", answer: text("text/html", fmt.Sprintf(page, "/feed")), want: sources.NoFeed},
		{what: "a page that names another", answer: text("text/html", fmt.Sprintf(page, "/page")), want: sources.NoFeed},
		{what: "a page that names nothing there", answer: text("text/html", fmt.Sprintf(page, "/nothing")), want: sources.NotFound},
		{what: "a page that names what is inside", answer: text("text/html", fmt.Sprintf(page, hidden.URL)), want: sources.AddressForbidden},
		{what: "a page that names another source", answer: text("text/html", fmt.Sprintf(page, "/other")), want: sources.URLTaken},
	} {
		s.serve("/page", text("text/html", fmt.Sprintf(page, "/feed")))
		s.source = s.link(s.server.URL + "/other")
		if tt.url == "" {
			s.serve("/feed", tt.answer)
			tt.url = s.server.URL + "/feed"
		}
		_, err := s.pool.Exec(t.Context(), `DELETE FROM sources WHERE url = $1`, tt.url)
		s.must(err)
		s.source = s.link(tt.url)
		if tt.after == 0 {
			tt.after = soon
		}
		o := s.fetch()
		o.After = o.After.Round(time.Minute)
		if d := cmp.Diff(jobs.Outcome{Problem: tt.want, After: tt.after}, o); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.what, d)
		}
		got := s.list(fmt.Sprintf(`SELECT format('%%s %%s %%s %%s %%s', status, version, loads, failures, problem) FROM sources WHERE id = %d`, s.source))
		if want := "active 1 0 1 " + string(tt.want); got[0] != want {
			t.Errorf("%s: stored %q, want %q", tt.what, got[0], want)
		}
		_, err = s.pool.Exec(t.Context(), `DELETE FROM sources WHERE url <> ''`)
		s.must(err)
	}
	if dialled.Load() > 0 {
		t.Errorf("the hidden server was connected to")
	}
}

// F10: a source whose address is gone for good is paused.
func TestGoneIsPaused(t *testing.T) {
	s := newSite(t)
	s.serve("/feed", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) })
	if d := cmp.Diff(jobs.Outcome{Problem: sources.Gone}, s.fetch()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	s.want("gone", "paused v1 /feed gone loads=0 failures=1  in  min")
	_, err := s.fetcher.Fetch(t.Context(), s.source)
	if !errors.Is(err, sources.ErrNotFound) {
		t.Errorf("a paused source: got %v, want ErrNotFound", err)
	}
	s.clean()
}

// F10, F33: the address of the source changes if all redirects are permanent, unless another source
// has the new one.
func TestMoves(t *testing.T) {
	s := newSite(t)
	s.serve("/feed", redirect(301, "/b"))
	s.serve("/b", redirect(308, "/c"))
	s.serve("/c", text("text/xml", feed))
	s.fetch()
	s.want("moved", "active v2 /c  loads=1 failures=0  in 126 min")
	s.serve("/c", redirect(301, "/d"))
	s.serve("/d", redirect(302, "/e"))
	s.serve("/e", text("text/xml", feed))
	s.fetch()
	s.want("moved for a while", "active v2 /c  loads=1 failures=0  in 126 min")
	s.link(s.server.URL + "/e")
	s.serve("/d", redirect(301, "/e"))
	s.fetch()
	s.want("where another source is", "active v2 /c  loads=1 failures=0  in 126 min")
	s.serve("/d", redirect(301, "/f"))
	s.fetch()
	s.want("to what is not there", "active v2 /c not_found loads=1 failures=1  in 23 min")
}

// A feed that says it has moved counts as redirected for good, if there is a feed at the new address,
// that feed stays there, and it is no other source of the owner.
func TestMovesByItself(t *testing.T) {
	s := newSite(t)
	says := func(to string) http.HandlerFunc {
		return text("text/xml", fmt.Sprintf(`<?xml version="1.0"?><rss version="2.0" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"><channel><title>A blog</title>
			<itunes:new-feed-url>%s</itunes:new-feed-url><item><guid>1</guid><title>One</title></item></channel></rss>`, to))
	}
	at := s.server.URL
	s.link(at + "/taken")
	s.serve("/feed", says(at+"/feed"))
	s.serve("/page", text("text/html", "<!doctype html><title>Hello</title>"))
	s.serve("/poem", text("text/plain", "no feed"))
	s.serve("/back", says(at+"/feed"))
	s.serve("/taken", says(at+"/taken"))
	s.fetch()
	s.want("where it is", "active v1 /feed  loads=1 failures=0  in 32 min")
	loads := 1
	for _, to := range []string{at + "/nowhere", at + "/page", at + "/poem", at + "/back", at + "/taken", "http://192.168.0.1/"} {
		s.serve("/feed", says(to))
		s.fetch()
		loads++
		s.want("to "+to, fmt.Sprintf("active v1 /feed  loads=%d failures=0  in 32 min", loads))
	}
	s.serve("/feed", says(at+"/new"))
	s.serve("/new", text("text/xml", feed))
	s.fetch()
	s.want("moved", fmt.Sprintf("active v2 /new  loads=%d failures=0  in 126 min", loads+1))
	if l := s.load(int64(loads + 1)); l.Base != at+"/new" {
		t.Errorf("base %q", l.Base)
	}
}

// The address of a site is enough: its page names the feed, in any format.
func TestFeedOfAPage(t *testing.T) {
	s := newSite(t)
	s.serve("/feed", text("text/html; charset=utf-8", fmt.Sprintf(page, "/rss.xml#top")))
	s.serve("/rss.xml", text("text/xml", feed))
	if o, err := s.fetcher.Preview(t.Context(), s.source); err != nil || o.Load != 1 {
		t.Errorf("a preview of a page: %+v, %v", o, err)
	}
	s.fetch()
	s.want("found", "active v2 /rss.xml  loads=2 failures=0  in 126 min")
	if l := s.load(2); l.Dry || l.Base != s.server.URL+"/rss.xml" {
		t.Errorf("base %q", l.Base)
	}
	// Later on a page means that the site is broken, whatever the page names.
	s.serve("/rss.xml", text("text/html", fmt.Sprintf(page, "/ads.xml")))
	s.fetch()
	s.want("a page later", "active v2 /rss.xml page loads=2 failures=1  in 23 min")
	if d := cmp.Diff([]string{"/feed", "/rss.xml", "/feed", "/rss.xml", "/rss.xml"}, s.asked); d != "" {
		t.Errorf("asked for (-want +got):\n%s", d)
	}
}

// The feeds of a page are known with the source, and each can be its address, also if the first cannot. A
// page of very many, and of addresses that are none, is harmless.
func TestFeedsOfAPage(t *testing.T) {
	s := newSite(t)
	var links strings.Builder
	for _, href := range []string{"javascript:alert(1)", "data:text/xml,<rss/>", "/gone", "/feed", "/rss.xml", "/rss.xml#again", "/comments.xml", "http://10.0.0.1/"} {
		fmt.Fprintf(&links, `<link rel="alternate" type="application/rss+xml" title="Feed %s" href="%s">`, strings.Repeat("<", 1000), href)
	}
	for i := range 10_000 {
		fmt.Fprintf(&links, `<link rel=feed type="%s" href="/%d">`, strings.Repeat("x", i%200), i)
	}
	s.fetcher.MaxBytes = 4 << 20
	s.serve("/feed", text("text/html", "<!doctype html>"+links.String()))
	s.serve("/rss.xml", text("text/xml", feed))
	if o := s.fetch(); o.Problem != sources.NotFound {
		t.Errorf("the first is not there: %+v", o)
	}
	s.want("page", "active v1 /feed not_found loads=0 failures=1  in 23 min")
	found, err := s.run.Sources.ByCode(t.Context(), s.code())
	s.must(err)
	if len(found.Feeds) < 10 || len(found.Feeds) > 20 {
		t.Fatalf("%d feeds", len(found.Feeds))
	}
	var addresses []string
	for _, f := range found.Feeds {
		if len([]rune(f.Title)) > 100 || len(f.Type) > 100 {
			t.Errorf("not cut: %+v", f)
		}
		addresses = append(addresses, strings.TrimPrefix(f.URL, s.server.URL))
	}
	if d := cmp.Diff([]string{"/gone", "/rss.xml", "/comments.xml", "http://10.0.0.1/", "/0"}, addresses[:5]); d != "" {
		t.Errorf("feeds (-want +got):\n%s", d)
	}
	choose := func(address string) {
		t.Helper()
		_, err := s.run.Sources.SetFrom(t.Context(), found.AddedBy, found.Code, sources.From{URL: address})
		s.must(err)
	}
	choose(s.server.URL + "/rss.xml")
	s.fetch()
	s.want("chosen", "active v2 /rss.xml  loads=1 failures=0  in 126 min")
	s.must(s.run.Run(t.Context(), s.source))
	choose("http://10.0.0.1/")
	if o := s.fetch(); o.Problem != sources.AddressForbidden {
		t.Errorf("a private address: %+v", o)
	}
	if got, err := s.run.Sources.ByCode(t.Context(), found.Code); err != nil || len(got.Feeds) != len(found.Feeds) {
		t.Errorf("feeds afterwards: %v %v", got.Feeds, err)
	}

	// Another site is a page again, although there was a feed before.
	s.serve("/site", text("text/html", fmt.Sprintf(page, "/rss.xml")))
	choose(s.server.URL + "/site")
	s.fetch()
	s.want("another site", "active v5 /rss.xml  loads=2 failures=0  in 126 min")
	if got, err := s.run.Sources.ByCode(t.Context(), found.Code); err != nil || len(got.Feeds) != 0 {
		t.Errorf("feeds of another site: %v %v", got.Feeds, err)
	}
}

// code is that of the source.
func (s *site) code() string {
	return s.list(fmt.Sprintf(`SELECT code FROM sources WHERE id = %d`, s.source))[0]
}

// F11: a process that finds the lock taken stops. The lock is free afterwards, whatever happened.
func TestOneFetchesASource(t *testing.T) {
	s := newSite(t)
	arrived, release := make(chan struct{}), make(chan struct{})
	s.serve("/feed", func(w http.ResponseWriter, _ *http.Request) {
		close(arrived)
		<-release
		io.WriteString(w, feed)
	})
	first := make(chan error, 1)
	go func() {
		_, err := s.fetcher.Fetch(t.Context(), s.source)
		first <- err
	}()
	<-arrived
	_, err := s.fetcher.Fetch(t.Context(), s.source)
	if !errors.Is(err, sources.ErrBusy) {
		t.Errorf("a second fetch: got %v, want ErrBusy", err)
	}
	// F10: another source on the same host waits its turn.
	same := s.source
	s.source = s.link(s.server.URL + "/second")
	o, err := s.fetcher.Fetch(t.Context(), s.source)
	s.must(err)
	if !o.Postponed || o.After != 0 { // the process that asks the host goes on with the due sources
		t.Errorf("another source of the host: %+v", o)
	}
	close(release)
	s.must(<-first)
	s.clean()
	// The same holds in the gap.
	if o, err = s.fetcher.Fetch(t.Context(), s.source); err != nil || !o.Postponed {
		t.Errorf("in the gap: %+v, %v", o, err)
	}

	// The source is changed while it is fetched: the fetched file is thrown away (F34).
	s.source = same
	s.serve("/feed", func(w http.ResponseWriter, _ *http.Request) {
		_, err := s.pool.Exec(context.Background(), `UPDATE sources SET version = version + 1 WHERE id = $1`, same)
		if err != nil {
			t.Error(err)
		}
		io.WriteString(w, feed+" ")
	})
	s.hostsRest()
	if _, err = s.fetcher.Fetch(t.Context(), s.source); !errors.Is(err, sources.ErrStale) {
		t.Errorf("a stale version: got %v, want ErrStale", err)
	}
	s.clean()
	if n := len(s.list(`SELECT no::text FROM loads`)); n != 1 {
		t.Errorf("%d loads, want 1", n)
	}
}

var errDisk = errors.New("the disk is full")

type fullBlobs struct{ blobs.Store }

func (fullBlobs) Put(context.Context, io.Reader, int64) (sum blobs.Sum, n int64, err error) {
	return sum, 0, errDisk
}

// F11, F15: a failure of this node is no failure of the source. It frees the lock and the host.
func TestOwnFaults(t *testing.T) {
	s := newSite(t)
	s.serve("/feed", text("text/xml", feed))
	before := s.state()
	full := s.fetcher
	full.Blobs = fullBlobs{s.fetcher.Blobs}
	if _, err := full.Fetch(t.Context(), s.source); !errors.Is(err, errDisk) {
		t.Errorf("got %v, want %v", err, errDisk)
	}
	s.clean()
	ctx, cancel := context.WithCancel(t.Context())
	s.serve("/feed", func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	s.hostsRest()
	if _, err := s.fetcher.Fetch(ctx, s.source); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	s.clean()
	if left := s.list(`SELECT host FROM fetch_hosts WHERE next_at > now() + interval '2 s'`); len(left) > 0 {
		t.Errorf("hosts that wait: %v", left)
	}
	s.want("as before", before)
}

// A host is left alone for as long as its answers suggest: for a moment if it answers quickly, longer
// if it fails, and for as long as it asks for.
func TestGapsFollowAnswers(t *testing.T) {
	s := newSite(t)
	status := func(code int, retry string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			if retry != "" {
				w.Header().Set("Retry-After", retry)
			}
			w.WriteHeader(code)
		}
	}
	for _, tt := range []struct {
		answer      http.HandlerFunc
		least, most time.Duration
	}{
		{text("text/xml", feed), 0, 3 * time.Second},
		{status(500, ""), 4 * time.Second, sources.LongGap},
		{status(404, ""), 4 * time.Second, sources.LongGap},
		{status(503, "600"), 9 * time.Minute, 10 * time.Minute},
		{status(429, ""), 4 * time.Second, sources.LongGap},
	} {
		s.serve("/feed", tt.answer)
		s.fetch()
		var left time.Duration
		s.must(s.pool.QueryRow(t.Context(), `SELECT greatest(next_at - now(), '0') FROM fetch_hosts`).Scan(&left))
		if left < tt.least || left > tt.most {
			t.Errorf("the host is left alone for %v, want %v to %v", left, tt.least, tt.most)
		}
	}
}

// F10: two nodes fetch many sources of two hosts: each source once, and never two of one host at a
// time.
func TestTwoNodesShareHosts(t *testing.T) {
	s := newSite(t)
	_, err := s.pool.Exec(t.Context(), `DELETE FROM sources WHERE url <> ''`)
	s.must(err)
	var at, most, all atomic.Int32
	for i := range 12 {
		path := fmt.Sprint("/feed/", i)
		s.serve(path, func(w http.ResponseWriter, _ *http.Request) {
			now := at.Add(1)
			defer at.Add(-1)
			if now > most.Load() {
				most.Store(now)
			}
			all.Add(1)
			io.WriteString(w, feed)
		})
		s.link(s.server.URL + path)
	}
	var nodes sync.WaitGroup
	for range 2 {
		nodes.Go(func() {
			for all.Load() < 12 && t.Context().Err() == nil {
				// Time passes: gaps end, and postponed sources are due. A host that is being asked stays
				// reserved.
				_, err := s.pool.Exec(t.Context(), `
					WITH hosts AS (UPDATE fetch_hosts SET next_at = now() WHERE next_at < now() + interval '2 s')
					UPDATE sources SET next_at = now() WHERE fetched_at IS NULL AND url <> '' AND next_at < now() + interval '1 min'`)
				if err != nil {
					t.Error(err)
					return
				}
				ids, err := s.fetcher.Sources.Claim(t.Context(), 3)
				if err != nil {
					t.Error(err)
					return
				}
				for _, id := range ids {
					_, err := s.fetcher.Fetch(t.Context(), id)
					if errors.Is(err, sources.ErrBusy) { // the other node has postponed it, and is about to end
						err = s.fetcher.Sources.Again(t.Context(), id, 0)
					}
					if err != nil {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	nodes.Wait()
	if most.Load() != 1 || all.Load() != 12 {
		t.Errorf("%d requests, up to %d at a time; want 12, one at a time", all.Load(), most.Load())
	}
	if got := s.list(`SELECT count(*)::text FROM loads`); got[0] != "12" {
		t.Errorf("%s loads, want 12", got[0])
	}
}

// A preview makes a load that applies nothing, and leaves the source as it is.
func TestPreviewOfALink(t *testing.T) {
	s := newSite(t)
	s.serve("/feed", redirect(301, "/new"))
	s.serve("/new", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"v1"`)
		if r.Header.Get("If-None-Match") != "" {
			t.Error("a preview asks conditionally")
		}
		io.WriteString(w, feed)
	})
	const unfetched = `active v1 /feed  loads=%d failures=0  in  min`
	for i := range int64(2) {
		s.hostsRest()
		o, err := s.fetcher.Preview(t.Context(), s.source)
		s.must(err)
		s.clean()
		if d := cmp.Diff(jobs.Outcome{Load: i + 1}, o); d != "" {
			t.Errorf("preview (-want +got):\n%s", d)
		}
		s.want("after a preview", fmt.Sprintf(unfetched, i+1))
	}
	s.must(s.run.Run(t.Context(), s.source))
	if l := s.load(1); l.State != sources.Previewed || l.Added != 1 || !l.Dry {
		t.Errorf("preview: %+v", l)
	}
	if posts := s.list(`SELECT body FROM posts`); len(posts) > 0 {
		t.Errorf("a preview made posts: %q", posts)
	}
	s.serve("/new", nil)
	s.hostsRest()
	if o, err := s.fetcher.Preview(t.Context(), s.source); err != nil || o.Problem != sources.NotFound {
		t.Errorf("a preview of nothing: %+v, %v", o, err)
	}
	if o, err := s.fetcher.Preview(t.Context(), s.source); err != nil || !o.Postponed {
		t.Errorf("a preview in the gap: %+v, %v", o, err)
	}
	if _, err := s.pool.Exec(t.Context(), `UPDATE fetch_hosts SET next_at = now() + interval '1 hour'`); err != nil {
		t.Fatal(err)
	}
	if o, err := s.fetcher.Preview(t.Context(), s.source); err != nil || !o.Postponed || o.After < 59*time.Minute {
		t.Errorf("a preview when the host asked for an hour: %+v, %v", o, err)
	}
	s.want("after a preview of nothing", fmt.Sprintf(unfetched, 2))
}
