package web

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"riverrun/timelines"
)

// maxForm bounds a request's body: the longest post, with room for its destinations. A
// browser's form lets through as many UTF-16 units as a post may have characters, and each
// takes up to nine bytes: three of UTF-8, percent-encoded.
const maxForm = 9*timelines.MaxPostRunes + 128<<10

// bound limits what a request may send. A form with files is bounded by withFiles instead.
func (s *Server) bound(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		whole := &arriving{ReadCloser: r.Body}
		r.Body = &boundedBody{http.MaxBytesReader(w, whole, maxForm), whole}
		next.ServeHTTP(w, r)
	})
}

// bounded gives a request the time it may take from here on. However many statements it
// runs in either store, and whether one waits for a connection, an answer or a lock, it is
// answered by then.
//
// The bound is not on connections or statements (a statement_timeout), where it would also
// end work that may take longer: builds, which go on when a visitor stops waiting for them,
// jobs, imports, migrations. Sockets have bounds of their own (package live).
func (s *Server) bounded(r *http.Request) (*http.Request, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(r.Context(), s.databaseTimeout)
	return r.WithContext(ctx), cancel
}

// secure tells browsers what a page of ours may do: load and call this site,
// and nothing else.
func (s *Server) secure(next http.Handler) http.Handler {
	const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
		"connect-src 'self'; manifest-src 'self'; worker-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		if s.overTLS() {
			h.Set("Strict-Transport-Security", "max-age=31536000")
		}
		next.ServeHTTP(w, r)
	})
}

type codeKey struct{}

// requestCode returns the code of a request, which is in the log and which people can quote.
func requestCode(ctx context.Context) string {
	code, _ := ctx.Value(codeKey{}).(string)
	return code
}

// observe gives a request its code, logs it, and survives its panic.
func (s *Server) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(plain http.ResponseWriter, r *http.Request) {
		began := time.Now()
		code := rand.Text()[:8]
		ctx := context.WithValue(r.Context(), codeKey{}, code)
		r = r.WithContext(ctx)
		w := &watchedWriter{ResponseWriter: plain}
		defer func() {
			if v := recover(); v != nil {
				s.survive(w, r, v)
			}
			level := slog.LevelInfo
			if quiet(r.URL.Path) {
				level = slog.LevelDebug
			}
			s.log.LogAttrs(ctx, level, "request",
				slog.String("code", code), slog.String("method", r.Method), slog.String("path", loggedPath(r)),
				slog.Int("status", w.status), slog.Int64("bytes", w.bytes), slog.Duration("took", time.Since(began)))
		}()
		next.ServeHTTP(w, r)
	})
}

// loggedPath is the path of a request as the log has it: without the secret that ends the address
// which a hub calls. Other secrets are in queries and forms, which are not logged.
func loggedPath(r *http.Request) string {
	if of, ok := strings.CutPrefix(r.URL.Path, hubCallsPath); ok {
		source, _, _ := strings.Cut(of, "/")
		return hubCallsPath + source
	}
	return r.URL.Path
}

func quiet(path string) bool { return path == "/healthz" || path == "/readyz" || path == "/metrics" }

// survive answers a request whose handler panicked, unless it already began to
// answer.
func (s *Server) survive(w *watchedWriter, r *http.Request, v any) {
	if err, ok := v.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(v) // meant for net/http
	}
	s.log.ErrorContext(r.Context(), "handler panicked", "code", requestCode(r.Context()), "method", r.Method,
		"path", loggedPath(r), "panic", v, "stack", string(debug.Stack()))
	if w.status == 0 {
		s.fail(w, s.newRequest(r), errPanic)
	}
}

// watchedWriter records the status and size of the answer. Unwrap lets the socket take over
// the connection.
type watchedWriter struct {
	http.ResponseWriter
	status int
	bytes  int64
}

func (w *watchedWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *watchedWriter) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(b)
	w.bytes += int64(n)
	return n, err
}

func (w *watchedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
