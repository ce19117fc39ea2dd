package fetch

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestGet(t *testing.T) {
	t.Parallel()
	var asked []http.Header
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Header.Clone())
		switch {
		case r.URL.Path == "/moved":
			w.Header().Set("Set-Cookie", "id=1; Path=/")
			http.Redirect(w, r, "/page?q=1", http.StatusFound)
		case r.Header.Get("If-None-Match") == `"v1"`:
			w.WriteHeader(http.StatusNotModified)
		default:
			w.Header().Set("Content-Type", "Text/HTML; charset=utf-8")
			w.Header().Set("ETag", `"v1"`)
			io.WriteString(w, "hello")
		}
	})
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	site := "http://page.test:" + port
	// The address that is not public is skipped.
	c, dialled := newClient(t, Config{Version: "1.2", Site: "https://river.example", Allow: loopback},
		map[string][]string{"page.test": {"10.0.0.1 127.0.0.1"}})

	r := Request{URL: site + "/moved", Accept: []string{"text/html", "image/*"}, MaxBytes: 5}
	response, text, err := get(t, c, r)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := response.FinalURL.String(), site+"/page?q=1"; got != want {
		t.Errorf("final address: got %q, want %q", got, want)
	}
	if response.Status != 200 || response.Type != "text/html" || text != "hello" {
		t.Errorf("got %d %q %q, want 200 of text/html, hello", response.Status, response.Type, text)
	}
	if want := []string{"127.0.0.1:" + port}; !cmp.Equal(want, dialled.all()) {
		t.Errorf("connected to %q, want one connection to %q", dialled.all(), want)
	}
	want := http.Header{
		"Accept": {"text/html, image/*"}, "Accept-Encoding": {"gzip"},
		"User-Agent": {"riverrun/1.2 (+https://river.example)"},
	}
	if diff := cmp.Diff([]http.Header{want, want}, asked); diff != "" {
		t.Errorf("header of the requests (-want +got):\n%s", diff)
	}

	if len(c.running) > 0 {
		t.Errorf("%d requests are remembered, want none when the body is closed", len(c.running))
	}

	r.ETag, r.LastModified = response.Header.Get("ETag"), "Sun, 06 Nov 1994 08:49:37 GMT"
	response, text, err = get(t, c, r)
	if err != nil || response.Status != http.StatusNotModified || text != "" {
		t.Errorf("with an ETag: got %+v %q %v, want status 304", response, text, err)
	}
	if got := asked[len(asked)-1].Get("If-Modified-Since"); got != r.LastModified {
		t.Errorf("If-Modified-Since: got %q, want %q", got, r.LastModified)
	}
}

func TestRedirects(t *testing.T) {
	t.Parallel()
	hit := make(chan string, 100)
	// It listens at another address of loopback, which is not allowed.
	other, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		t.Fatal(err)
	}
	private := &httptest.Server{Listener: other, Config: &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { hit <- r.URL.String() })}}
	private.Start()
	t.Cleanup(private.Close)
	_, privatePort, _ := net.SplitHostPort(other.Addr().String())

	jump := func(w http.ResponseWriter, r *http.Request) {
		if n, err := strconv.Atoi(r.URL.Query().Get("n")); err == nil {
			if n > 0 {
				w.Header().Set("Location", fmt.Sprintf("?n=%d", n-1))
				w.WriteHeader(http.StatusMovedPermanently)
			}
			return
		}
		w.Header().Set("Location", r.URL.Query().Get("to"))
		w.WriteHeader(http.StatusTemporaryRedirect)
	}
	s := serve(t, jump)
	secure := httptest.NewTLSServer(http.HandlerFunc(jump))
	t.Cleanup(secure.Close)
	roots := x509.NewCertPool()
	roots.AddCert(secure.Certificate())

	plain, tls := s.URL+"/?to=", secure.URL+"/?to="
	for _, tt := range []struct {
		url  string
		want error
	}{
		{s.URL + "/?n=5", nil},
		{s.URL + "/?n=6", ErrRedirects},
		{plain + s.URL + "/?n=0", nil},
		{plain + secure.URL + "/?n=0", nil},
		{tls + "/?n=0", nil},
		{tls + s.URL + "/?n=0", ErrDowngrade},
		{plain + "", &StatusError{http.StatusTemporaryRedirect}},
		{plain + private.URL, ErrForbidden},
		{plain + plain + private.URL, ErrForbidden},
		{plain + "http://inside.test:" + privatePort, ErrForbidden},
		{plain + "http://rebound.test:" + privatePort, ErrForbidden},
		{tls + "https://inside.test/", ErrForbidden},
		{plain + "http://[::1]:" + privatePort, ErrForbidden},
		{plain + "http://169.254.169.254/", ErrForbidden},
		{plain + "http://93.184.216.34:25/", ErrForbidden},
		{plain + "http://2130706434:" + privatePort, ErrInvalid},
		{plain + "//:" + privatePort, ErrInvalid},
		{plain + "file:///etc/passwd", ErrInvalid},
		{plain + "gopher://127.0.0.2/", ErrInvalid},
		{plain + "data:text/html,x", ErrInvalid},
		{plain + "http://user:password@127.0.0.1/", ErrInvalid},
		{plain + "http://%255b", ErrBroken},
	} {
		c, _ := newClient(t, Config{Allow: loopback}, map[string][]string{
			"inside.test": {"127.0.0.2"}, "rebound.test": {"127.0.0.2", "127.0.0.1"},
		})
		c.roots = roots
		_, _, err := get(t, c, Request{URL: tt.url, MaxBytes: 100})
		if want, ok := tt.want.(*StatusError); ok {
			if got := new(StatusError); !errors.As(err, &got) || *got != *want {
				t.Errorf("Get(%q): got %v, want %v", tt.url, err, want)
			}
		} else if !errors.Is(err, tt.want) {
			t.Errorf("Get(%q): got %v, want %v", tt.url, err, tt.want)
		}
	}
	select {
	case url := <-hit:
		t.Errorf("the private server was asked for %q", url)
	default:
	}
}

// A reader gets no more bytes than it asked for, and the error says why.
func TestHostileServers(t *testing.T) {
	t.Parallel()
	const limit = 10_000
	chunk := bytes.Repeat([]byte("x"), 4096)
	endless := func(w io.Writer, what []byte) {
		for {
			if _, err := w.Write(what); err != nil {
				return
			}
		}
	}
	packed := func(what []byte, times int) []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		for range times {
			z.Write(what)
		}
		z.Close()
		return b.Bytes()
	}
	bomb, nothing := packed(chunk, 4096), packed(nil, 0)
	stop := make(chan struct{})
	stall := func(r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-stop:
		}
	}
	raw := func(w http.ResponseWriter, text string) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		io.WriteString(conn, text)
	}
	cases := map[string]struct {
		handler http.HandlerFunc
		want    error // nil: the body is "ok" or of the limit's length
		status  int
	}{
		"as large as may be": {handler: func(w http.ResponseWriter, _ *http.Request) {
			w.Write(bytes.Repeat([]byte("x"), limit))
		}},
		"a byte too many": {handler: func(w http.ResponseWriter, _ *http.Request) {
			w.Write(bytes.Repeat([]byte("x"), limit+1))
		}, want: ErrTooLarge},
		"endless body": {handler: func(w http.ResponseWriter, _ *http.Request) { endless(w, chunk) }, want: ErrTooLarge},
		"packed": {handler: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "x-GZIP")
			w.Write(packed([]byte("ok"), 1))
		}},
		"gzip bomb": {handler: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(bomb)
		}, want: ErrTooLarge},
		"endless gzip of nothing": {handler: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			endless(w, nothing)
		}, want: ErrTooLarge},
		"not gzip": {handler: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			io.WriteString(w, "this is no gzip at all")
		}, want: ErrBroken},
		"cut gzip": {handler: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(packed([]byte("some text"), 1)[:15])
		}, want: ErrBroken},
		"packed twice": {handler: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip, gzip")
		}, want: ErrType},
		"another encoding": {handler: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "br")
		}, want: ErrType},
		"another type": {handler: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/pdf")
		}, want: ErrType},
		"a longer type": {handler: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plainer")
		}, want: ErrType},
		"no type": {handler: func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = nil
		}, want: ErrType},
		"a malformed type": {handler: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain/x y")
		}, want: ErrType},
		"a malformed parameter": {handler: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain; charset=\"")
			io.WriteString(w, "ok")
		}},
		"not found": {handler: http.NotFound, status: 404},
		"failing": {handler: func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(503)
			endless(w, chunk)
		}, status: 503},
		"odd status":  {handler: func(w http.ResponseWriter, _ *http.Request) { raw(w, "HTTP/1.1 999 No\r\n\r\n") }, status: 999},
		"slow header": {handler: func(_ http.ResponseWriter, r *http.Request) { stall(r) }, want: ErrTimeout},
		"slow letters": {handler: func(w http.ResponseWriter, r *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-")
			conn.Read(make([]byte, 1)) // until the client closes it
		}, want: ErrTimeout},
		"slow body": {handler: func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, "some")
			http.NewResponseController(w).Flush()
			stall(r)
		}, want: ErrTimeout},
		"huge header": {handler: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Long", strings.Repeat("x", maxHeader))
		}, want: ErrBroken},
		"endless header": {handler: func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			io.WriteString(conn, "HTTP/1.1 200 OK\r\n")
			endless(conn, []byte("X-More: "+string(chunk)+"\r\n"))
		}, want: ErrBroken},
		"endless provisional answers": {handler: func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			endless(conn, []byte("HTTP/1.1 103 Early Hints\r\nX: "+string(chunk)+"\r\n\r\n"))
		}, want: ErrBroken},
		"not HTTP":  {handler: func(w http.ResponseWriter, _ *http.Request) { raw(w, "-ERR unknown command 'GET'\r\n") }, want: ErrBroken},
		"no answer": {handler: func(w http.ResponseWriter, _ *http.Request) { raw(w, "") }, want: ErrBroken},
		"cut body": {handler: func(w http.ResponseWriter, _ *http.Request) {
			raw(w, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 9\r\n\r\nsome")
		}, want: ErrBroken},
		"no chunks": {handler: func(w http.ResponseWriter, _ *http.Request) {
			raw(w, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\nsome")
		}, want: ErrBroken},
		"two bodies": {handler: func(w http.ResponseWriter, _ *http.Request) {
			raw(w, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\nContent-Length: 9\r\n\r\nok")
		}, want: ErrBroken},
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		cases[r.URL.Query().Get("case")].handler(w, r)
	}))
	t.Cleanup(func() { close(stop); s.Close() })
	for name, tt := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := Config{Allow: loopback}
			if tt.want == ErrTimeout {
				cfg.Timeout = 100 * time.Millisecond
			}
			c, _ := newClient(t, cfg, nil)
			_, text, err := get(t, c, Request{URL: s.URL + "/?case=" + strings.ReplaceAll(name, " ", "+"), Accept: []string{"text/plain"}, MaxBytes: limit})
			var status *StatusError
			switch {
			case tt.status > 0:
				if !errors.As(err, &status) || status.Code != tt.status {
					t.Errorf("got %v, want status %d", err, tt.status)
				}
			case !errors.Is(err, tt.want):
				t.Errorf("got %v, want %v", err, tt.want)
			case err == nil && text != "ok" && len(text) != limit:
				t.Errorf("got a body of %d bytes", len(text))
			}
			if err != nil && strings.Contains(err.Error(), "request body") {
				t.Errorf("got %q, which blames the request", err)
			}
			if len(text) > limit {
				t.Errorf("got %d bytes, want at most %d", len(text), limit)
			}
		})
	}
}

func TestConnections(t *testing.T) {
	t.Parallel()
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody.Close()
	silent, err := net.Listen("tcp", "127.0.0.1:0") // the system accepts for it, and nothing follows
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { silent.Close() })
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = quiet
	secure.StartTLS()
	t.Cleanup(secure.Close)
	plain := serve(t, http.NotFound)
	for _, tt := range []struct {
		url  string
		want error
	}{
		{"http://" + nobody.Addr().String(), ErrRefused},
		{"https://" + nobody.Addr().String(), ErrRefused},
		{secure.URL, ErrTLS}, // by an unknown authority
		{"https://" + plain.Listener.Addr().String(), ErrTLS},
		{"https://" + silent.Addr().String(), ErrTimeout},
		{"http://" + silent.Addr().String(), ErrTimeout},
	} {
		c, _ := newClient(t, Config{Allow: loopback}, nil)
		if tt.want == ErrTimeout { // shorten both times, but not to 0
			c.times.tls /= 100
			c.transport.ResponseHeaderTimeout /= 200
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		if _, err := c.Get(ctx, Request{URL: tt.url}); !errors.Is(err, tt.want) || ctx.Err() != nil {
			t.Errorf("Get(%q): got %v, want %v, and not by the deadline of the caller", tt.url, err, tt.want)
		}
		cancel()
	}
}

func TestClose(t *testing.T) {
	t.Parallel()
	arrived := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/body" {
			io.WriteString(w, "some")
			http.NewResponseController(w).Flush()
		}
		arrived <- struct{}{}
		<-r.Context().Done() // the client closed the connection
	})
	c, _ := newClient(t, Config{Allow: loopback}, nil)
	response, err := c.Get(t.Context(), Request{URL: s.URL + "/body", MaxBytes: 100})
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	<-arrived
	failed := make(chan error)
	go func() {
		_, err := c.Get(t.Context(), Request{URL: s.URL, MaxBytes: 100})
		failed <- err
	}()
	<-arrived
	// It is no failure of the other side if the caller cancels.
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-arrived
		cancel()
	}()
	if _, err := c.Get(ctx, Request{URL: s.URL, MaxBytes: 100}); !errors.Is(err, context.Canceled) || errors.Is(err, ErrBroken) || errors.Is(err, ErrTimeout) {
		t.Errorf("cancelled: got %v, want context.Canceled alone", err)
	}
	c.Close()
	c.Close()
	if err := <-failed; !errors.Is(err, ErrClosed) {
		t.Errorf("a request when the client closes: got %v, want ErrClosed", err)
	}
	if _, err := io.ReadAll(response.Body); !errors.Is(err, ErrClosed) {
		t.Errorf("a body when the client closes: got %v, want ErrClosed", err)
	}
	if _, err := c.Get(t.Context(), Request{URL: s.URL}); !errors.Is(err, ErrClosed) {
		t.Errorf("a closed client: got %v, want ErrClosed", err)
	}
	if len(c.running) != 1 { // the body is still open
		t.Errorf("%d requests are remembered, want the one whose body is open", len(c.running))
	}
}

// A kept connection ends with the client, and not only after its own time.
func TestCloseIdle(t *testing.T) {
	t.Parallel()
	states := make(chan http.ConnState, 10)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok") }))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) { states <- state }
	s.Start()
	t.Cleanup(s.Close)
	c, dialled := newClient(t, Config{Allow: loopback}, nil)
	for range 2 {
		if _, text, err := get(t, c, Request{URL: s.URL, MaxBytes: 2}); err != nil || text != "ok" {
			t.Fatalf("got %q, %v", text, err)
		}
	}
	if got := dialled.all(); len(got) != 1 {
		t.Errorf("connected %d times for two requests, want once", len(got))
	}
	c.Close()
	late := time.After(c.transport.IdleConnTimeout - time.Second)
	for {
		select {
		case state := <-states:
			if state == http.StateClosed {
				return
			}
		case <-late:
			t.Fatal("the connection is still open")
		}
	}
}

// When the client closes while it connects, net reports a cancellation.
func TestClosedWhileConnecting(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(ErrClosed)
	if err := typed(ctx, "page.test", &net.OpError{Op: "dial", Err: context.Canceled}); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v, want ErrClosed", err)
	}
}
