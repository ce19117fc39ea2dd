package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"riverrun/rivers"
	"riverrun/tiers"
	"riverrun/timelines"
	"riverrun/web/view"
)

func TestProblemOf(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want int
	}{
		{errNoPage, http.StatusNotFound},
		{errMethod, http.StatusMethodNotAllowed},
		{fmt.Errorf("post: %w", timelines.ErrNotFound), http.StatusNotFound},
		{fmt.Errorf("page: %w", rivers.ErrNotFound), http.StatusNotFound},
		{timelines.ErrForbidden, http.StatusForbidden},
		{rivers.ErrForbidden, http.StatusForbidden},
		{errCrossOrigin, http.StatusForbidden},
		{errOtherViewer, http.StatusConflict},
		{errLimited, http.StatusTooManyRequests},
		{malformedForm(errors.New("x")), http.StatusBadRequest},
		{malformedForm(&http.MaxBytesError{}), http.StatusRequestEntityTooLarge},
		{fmt.Errorf("visit: %w", rivers.ErrUnavailable), http.StatusServiceUnavailable},
		{fmt.Errorf("%w: %w", tiers.ErrBehind, errors.New("x")), http.StatusServiceUnavailable},
		{&pgconn.PgError{Code: "57P01"}, http.StatusServiceUnavailable},
		{fmt.Errorf("read page: %w", io.ErrUnexpectedEOF), http.StatusServiceUnavailable},
		{&pgconn.PgError{Code: "42P01"}, http.StatusServiceUnavailable},
		{fmt.Errorf("%w: %w", timelines.ErrNotSaved, errors.New("x")), http.StatusServiceUnavailable},
		{&pgconn.PgError{Code: "23505"}, http.StatusInternalServerError},
		{context.DeadlineExceeded, http.StatusServiceUnavailable},
		{errors.New("anything"), http.StatusInternalServerError},
		{errPanic, http.StatusInternalServerError},
	} {
		p := problemOf(tt.err)
		if p.status != tt.want {
			t.Errorf("%v: status %d, want %d", tt.err, p.status, tt.want)
		}
		for _, l := range view.Locales {
			if l.T(p.title) == p.title || l.T(p.text) == p.text {
				t.Errorf("%v: %s has no words for %q, %q", tt.err, l.Lang, p.title, p.text)
			}
		}
	}
}

// That nothing was saved is said only where that is so.
func TestNotSavedIsSaidWhereItIsSo(t *testing.T) {
	full := &pgconn.PgError{Code: "53100"}
	for _, tt := range []struct {
		err  error
		text string
	}{
		{fmt.Errorf("%w: %w", timelines.ErrNotSaved, full), "error.notsaved"},
		{fmt.Errorf("%w: %w", tiers.ErrBehind, fmt.Errorf("%w: %w", timelines.ErrNotSaved, full)), "error.behind"},
		{full, "error.busy"},
		{io.ErrUnexpectedEOF, "error.busy"},
		{context.DeadlineExceeded, "error.busy"},
	} {
		if p := problemOf(tt.err); p.status != http.StatusServiceUnavailable || p.text != tt.text {
			t.Errorf("%v: %d %s, want 503 %s", tt.err, p.status, p.text, tt.text)
		}
	}
}

func TestLocalAddress(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"/", "/"},
		{"/alice?order=created#p-1", "/alice?order=created#p-1"},
		{"", "/else"},
		{"//example.org", "/else"},
		{"/\\example.org", "/else"},
		{"https://example.org/", "/else"},
		{"javascript:alert(1)", "/else"},
		{"/x\r\nSet-Cookie: a=b", "/else"},
		{"/\t/example.org", "/else"},
		{"/\x00", "/else"},
		{"/a\x1fb", "/else"},
		{"/a\x7f", "/else"},
	} {
		if got := localAddress(tt.in, "/else"); got != tt.want {
			t.Errorf("localAddress(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

// testServer is a server without stores.
func testServer(t *testing.T) *Server {
	t.Helper()
	static, err := loadStatic()
	if err != nil {
		t.Fatal(err)
	}
	nowhere := rivers.Open(nil, timelines.Open(nil, nil, timelines.DefaultOptions()), slog.New(slog.DiscardHandler), rivers.DefaultOptions())
	return &Server{rivers: nowhere, view: view.NewRenderer(view.Config{Asset: static.url}), static: static, now: time.Now}
}

// Only a hub knows the secret in the address that it calls, so the log has the address without it.
func TestSecretOfAHubIsNotLogged(t *testing.T) {
	s := testServer(t)
	logged := new(strings.Builder)
	s.log = slog.New(slog.NewTextHandler(logged, nil))
	h := s.observe(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("a fault") }))
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/api/websub/abcdefghij/s3cret", nil))
	if got := logged.String(); strings.Contains(got, "s3cret") || !strings.Contains(got, "path=/api/websub/abcdefghij ") {
		t.Errorf("logged %s", got)
	}
}

// TestPanicIsSurvived: a panic becomes an error page with a code that stands in
// the log, and nothing of the panic itself.
func TestPanicIsSurvived(t *testing.T) {
	s := testServer(t)
	logged := new(strings.Builder)
	s.log = slog.New(slog.NewTextHandler(logged, nil))
	h := s.observe(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("secret") }))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/x", nil))
	if w.Code != http.StatusInternalServerError {
		t.Errorf("status %d, want %d", w.Code, http.StatusInternalServerError)
	}
	if strings.Contains(w.Body.String(), "secret") {
		t.Errorf("the page tells what panicked:\n%s", w.Body)
	}
	_, after, ok := strings.Cut(logged.String(), "code=")
	if !ok || !strings.Contains(logged.String(), "panic=secret") {
		t.Fatalf("logged %q, want a code and the panic", logged)
	}
	code, _, _ := strings.Cut(after, " ")
	if !strings.Contains(w.Body.String(), code) {
		t.Errorf("the page has no code %s:\n%s", code, w.Body)
	}
}
