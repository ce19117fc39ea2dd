package fetch

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// F10, F11: the answer returns the headers that came with a feed.
func TestFeed(t *testing.T) {
	t.Parallel()
	var asked http.Header
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked = r.Header.Clone()
		if r.Header.Get("If-None-Match") == `"v1"` {
			w.Header().Set("ETag", `"v2"`)
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("Content-Type", `Application/RSS+XML; charset="KOI8-R"`)
		w.Header().Set("ETag", `"v1"`)
		w.Header().Set("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT")
		w.Header().Add("Cache-Control", "public, stale-if-error=7")
		w.Header().Add("Cache-Control", `Max-Age="600"`)
		w.Header().Set("Age", "100")
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		io.WriteString(z, "<rss/>")
		z.Close()
	})
	c, _ := newClient(t, Config{Allow: loopback, Timeout: time.Nanosecond}, nil)
	var out bytes.Buffer
	got, err := c.Feed(t.Context(), Request{URL: s.URL + "/#top", MaxBytes: 6}, &out)
	want := Feed{
		Status: 200, URL: s.URL + "/", ETag: `"v1"`, LastModified: "Sun, 06 Nov 1994 08:49:37 GMT",
		Type: "application/rss+xml", Charset: "koi8-r", Bytes: 6, MaxAge: 500 * time.Second,
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil || out.String() != "<rss/>" {
		t.Errorf("got %q, %v (-want +got):\n%s", &out, err, diff)
	}
	if !strings.HasPrefix(asked.Get("Accept"), "application/atom+xml, application/rss+xml") || asked.Get("If-None-Match") != "" {
		t.Errorf("header of the request: %q", asked)
	}

	out.Reset()
	got, err = c.Feed(t.Context(), Request{URL: s.URL, MaxBytes: 6, ETag: got.ETag, LastModified: got.LastModified}, &out)
	if err != nil || got.Status != http.StatusNotModified || got.ETag != `"v2"` || out.Len() > 0 {
		t.Errorf("with an ETag: got %+v %q %v, want status 304", got, &out, err)
	}
	if got := asked.Get("If-Modified-Since"); got != "Sun, 06 Nov 1994 08:49:37 GMT" {
		t.Errorf("If-Modified-Since: got %q", got)
	}
	if len(c.running) > 0 {
		t.Errorf("%d requests are remembered, want none", len(c.running))
	}
}

// F10: a feed has moved only if all redirects are permanent. No redirect leads to an address that is
// not public.
func TestFeedRedirects(t *testing.T) {
	t.Parallel()
	var s *httptest.Server
	s = serve(t, func(w http.ResponseWriter, r *http.Request) {
		// "/301/302/" is redirected by 301 to "/302/", and that by 302 to "/".
		code, rest, more := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		switch {
		case !more:
			io.WriteString(w, "feed")
		case code == "loop":
			http.Redirect(w, r, r.URL.Path, http.StatusMovedPermanently)
		case code == "inside":
			http.Redirect(w, r, "http://inside.test/", http.StatusMovedPermanently)
		case code == "410":
			w.WriteHeader(http.StatusGone)
		default:
			var status int
			fmt.Sscan(code, &status)
			w.Header().Set("Location", s.URL+"/"+rest)
			w.WriteHeader(status)
		}
	})
	for _, tt := range []struct {
		path      string
		permanent bool
		status    int
		want      error
	}{
		{path: "/", status: 200},
		{path: "/301/", status: 200, permanent: true},
		{path: "/308/301/", status: 200, permanent: true},
		{path: "/301/302/", status: 200},
		{path: "/307/301/", status: 200},
		{path: "/303/", status: 200},
		{path: "/301/410/", status: 410, permanent: true},
		{path: "/301/301/301/301/301/", status: 200, permanent: true},
		{path: "/301/301/301/301/301/301/", want: ErrRedirects},
		{path: "/loop/", want: ErrRedirects},
		{path: "/301/inside/", want: ErrForbidden},
	} {
		c, dialled := newClient(t, Config{Allow: loopback}, map[string][]string{"inside.test": {"10.0.0.1 fd00::1"}})
		var out bytes.Buffer
		got, err := c.Feed(t.Context(), Request{URL: s.URL + tt.path, MaxBytes: 100}, &out)
		if !errors.Is(err, tt.want) || got.Status != tt.status || got.Permanent != tt.permanent {
			t.Errorf("%s: got %+v, %v, want %d, permanent %t, %v", tt.path, got, err, tt.status, tt.permanent, tt.want)
		}
		if tt.status == 200 && (got.URL != s.URL+"/" || out.String() != "feed") {
			t.Errorf("%s: got %q of %q", tt.path, &out, got.URL)
		}
		for _, at := range dialled.all() {
			if !strings.HasPrefix(at, "127.0.0.1:") {
				t.Errorf("%s: connected to %q", tt.path, at)
			}
		}
	}
}

// F10, F15: whatever a server does, a fetch ends, with its reason.
func TestFeedFaults(t *testing.T) {
	t.Parallel()
	stop := make(chan struct{})
	raw := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			io.WriteString(conn, text)
			if c, ok := conn.(*net.TCPConn); ok {
				c.SetLinger(0) // the other side sees a reset
			}
			conn.Close()
		}
	}
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	z.Write(make([]byte, 1<<20))
	z.Close()
	cases := map[string]struct {
		handler http.HandlerFunc
		want    error
		status  int
	}{
		"500 with a body": {handler: func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(500)
			w.Write(make([]byte, 1<<20))
		}, status: 500},
		"no content":      {handler: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) }, status: 204},
		"a part":          {handler: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(206); io.WriteString(w, "part") }, status: 206},
		"endless":         {handler: func(w http.ResponseWriter, r *http.Request) { drip(w, r, stop, make([]byte, 1<<15), 0) }, want: ErrTooLarge},
		"slow":            {handler: func(w http.ResponseWriter, r *http.Request) { drip(w, r, stop, []byte("x"), 10*time.Millisecond) }, want: ErrTimeout},
		"silent":          {handler: func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, want: ErrTimeout},
		"reset":           {handler: raw("HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n<rss>"), want: ErrBroken},
		"too short":       {handler: raw("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n<rss>"), want: ErrBroken},
		"negative length": {handler: raw("HTTP/1.1 200 OK\r\nContent-Length: -9\r\n\r\n<rss>"), want: ErrBroken},
		"cut chunks":      {handler: raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n<rss>\r\n"), want: ErrBroken},
		"gzip bomb": {handler: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(bomb.Bytes())
		}, want: ErrTooLarge},
		"brotli": {handler: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "br")
			io.WriteString(w, "x")
		}, want: ErrType},
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		cases[r.URL.Query().Get("case")].handler(w, r)
	}))
	t.Cleanup(func() { close(stop); s.Close() })
	for name, tt := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _ := newClient(t, Config{Allow: loopback}, nil)
			if tt.want == ErrTimeout {
				c.times.feed = 100 * time.Millisecond
			}
			var out bytes.Buffer
			got, err := c.Feed(t.Context(), Request{URL: s.URL + "/?case=" + strings.ReplaceAll(name, " ", "+"), MaxBytes: 1 << 18}, &out)
			if !errors.Is(err, tt.want) || got.Status != tt.status {
				t.Errorf("got %+v, %v, want %d, %v", got, err, tt.status, tt.want)
			}
			if out.Len() > 1<<18 || tt.status != 0 && out.Len() > 0 {
				t.Errorf("wrote %d bytes", out.Len())
			}
		})
	}
}

// drip writes the same part again and again until the other side has enough.
func drip(w http.ResponseWriter, r *http.Request, stop <-chan struct{}, part []byte, every time.Duration) {
	tick := time.NewTicker(max(every, time.Microsecond))
	defer tick.Stop()
	for {
		if _, err := w.Write(part); err != nil || http.NewResponseController(w).Flush() != nil {
			return
		}
		select {
		case <-stop:
			return
		case <-r.Context().Done():
			return
		case <-tick.C:
		}
	}
}

type full struct{}

var errFull = errors.New("the disk is full")

func (full) Write([]byte) (int, error) { return 0, errFull }

// F15: a full disk, and a caller that stops, are no failures of the feed.
func TestFeedEndsHere(t *testing.T) {
	t.Parallel()
	arrived := make(chan struct{}, 1)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/wait" {
			arrived <- struct{}{}
			<-r.Context().Done()
		}
		io.WriteString(w, "feed")
	})
	c, _ := newClient(t, Config{Allow: loopback}, nil)
	_, err := c.Feed(t.Context(), Request{URL: s.URL, MaxBytes: 9}, full{})
	if !errors.Is(err, errFull) || errors.Is(err, ErrBroken) {
		t.Errorf("a full disk: got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-arrived; cancel() }()
	_, err = c.Feed(ctx, Request{URL: s.URL + "/wait", MaxBytes: 9}, io.Discard)
	if !errors.Is(err, context.Canceled) || errors.Is(err, ErrTimeout) || errors.Is(err, ErrBroken) {
		t.Errorf("cancelled: got %v", err)
	}
	go func() { <-arrived; c.Close() }()
	if _, err = c.Feed(t.Context(), Request{URL: s.URL + "/wait", MaxBytes: 9}, io.Discard); !errors.Is(err, ErrClosed) {
		t.Errorf("closed: got %v", err)
	}
}

// F10: Retry-After in both its forms, also from servers with a wrong clock, and max-age.
func TestWhenToComeAgain(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 24, 10, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		header string
		retry  time.Duration
		age    time.Duration
	}{
		{"Retry-After: 120", 2 * time.Minute, 0},
		{"Retry-After:  120 ", 2 * time.Minute, 0},
		{"Retry-After: -5", 0, 0},
		{"Retry-After: soon", 0, 0},
		{"Retry-After: 99999999999999999999", longest, 0},
		{"Retry-After: Tue, 24 Nov 2026 11:00:00 GMT", time.Hour, 0},
		{"Retry-After: Tue, 24 Nov 2026 09:00:00 GMT", 0, 0},
		{"Retry-After: Wed, 01 Jan 2003 00:10:00 GMT\r\nDate: Wed, 01 Jan 2003 00:00:00 GMT", 10 * time.Minute, 0},
		{"Retry-After: Fri, 31 Dec 9999 00:00:00 GMT", longest, 0},
		{"Cache-Control: max-age=60", 0, time.Minute},
		{"Cache-Control: no-cache, max-age=60", 0, time.Minute},
		{"Cache-Control: s-maxage=9", 0, 0},
		{"Cache-Control: max-age=60\r\nAge: 70", 0, 0},
		{"Cache-Control: max-age=x", 0, 0},
		{"Cache-Control: max-age", 0, 0},
	} {
		h := http.Header{}
		for line := range strings.SplitSeq(tt.header, "\r\n") {
			name, value, _ := strings.Cut(line, ":")
			h.Set(name, strings.TrimPrefix(value, " "))
		}
		if retry, age := retryAfter(h, now), maxAge(h); retry != tt.retry || age != tt.age {
			t.Errorf("%q: got %v and %v, want %v and %v", tt.header, retry, age, tt.retry, tt.age)
		}
	}
}

// Texts of a server are stored, so they hold no characters that cannot be.
func TestFeedTexts(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			w.Header().Set("Location", "/feed?\xff\xfe")
			w.WriteHeader(http.StatusMovedPermanently)
			return
		}
		w.Header().Set("ETag", "\"\xff\"")
		w.Header().Set("Last-Modified", strings.Repeat("x", maxValidator+1))
		w.Header().Set("Content-Type", "text/xml; charset*=utf-8''%00%FF")
	})
	c, _ := newClient(t, Config{Allow: loopback}, nil)
	got, err := c.Feed(t.Context(), Request{URL: s.URL + "/", MaxBytes: 9}, io.Discard)
	if diff := cmp.Diff(Feed{Status: 200, URL: s.URL + "/", Type: "text/xml"}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}
