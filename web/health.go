package web

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"time"
)

// Health says how a process is: /healthz, /readyz and /metrics.
type Health struct {
	// Ready reports whether everything the process needs answers; nil: always.
	Ready func(context.Context) error
	// Metrics answers /metrics; nil: there is no such page.
	Metrics http.Handler
	// Timeout bounds Ready.
	Timeout time.Duration
	Log     *slog.Logger
}

// Routes adds the three addresses to mux, for everybody who reaches it.
func (h Health) Routes(mux *http.ServeMux) {
	h.routes(mux, func(next http.Handler) http.Handler { return next })
}

// routes adds them, /readyz and /metrics within a guard: they tell how the site is built and how it
// fares.
func (h Health) routes(mux router, guard func(http.Handler) http.Handler) {
	plain := func(w http.ResponseWriter, status int, text string) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(text + "\n")) // the client is gone
	}
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		plain(w, http.StatusOK, "alive")
	})
	mux.Handle("GET /readyz", guard(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), h.Timeout)
		defer cancel()
		if h.Ready != nil {
			if err := h.Ready(ctx); err != nil {
				if !errors.Is(err, context.Canceled) {
					h.Log.WarnContext(ctx, "not ready", "error", err)
				}
				plain(w, http.StatusServiceUnavailable, "not ready")
				return
			}
		}
		plain(w, http.StatusOK, "ready")
	})))
	if h.Metrics != nil {
		mux.Handle("GET /metrics", guard(h.Metrics))
	}
}

// routeHealth serves the health checks and the metrics. To others than this machine's own programs
// /readyz and /metrics are addresses that do not exist.
func (s *Server) routeHealth(mux router) {
	nothing := s.page(func(http.ResponseWriter, *request) error { return errNoPage })
	s.health.routes(mux, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if fromHere(r) {
				next.ServeHTTP(w, r)
			} else {
				nothing.ServeHTTP(w, r)
			}
		})
	})
}

// proxied are headers that a proxy adds to what it passes on.
var proxied = []string{"X-Forwarded-For", "Forwarded", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip", "Via"}

// fromHere reports whether a program of this machine sent the request itself: over a loopback
// connection, and not as a proxy on this machine, whose visitors may be anywhere. It does not matter
// which proxies the site trusts: anybody may send such a header, and gets less for it.
func fromHere(r *http.Request) bool {
	for _, name := range proxied {
		if _, ok := r.Header[name]; ok {
			return false
		}
	}
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && at.Addr().Unmap().IsLoopback()
}
