package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"riverrun/jobs"
	"riverrun/timelines/blobs"
	"riverrun/web"
)

// health says how this process is, which works these jobs and keeps uploads there.
func (n *node) health(work *jobs.Jobs, files blobs.Store) web.Health {
	return web.Health{
		Ready:   n.ready(work, blobs.NewHealth(files)),
		Metrics: promhttp.HandlerFor(prometheus.Gatherers{n.metrics, n.counts}, promhttp.HandlerOpts{ErrorLog: slog.NewLogLogger(n.log.Handler(), slog.LevelWarn)}),
		Timeout: n.config.databaseTimeout,
		Log:     n.log,
	}
}

// listenOps takes the address of RIVERRUN_OPS_LISTEN, so that one in use is an error before anything
// starts; nil without that setting.
func (c *config) listenOps(ctx context.Context) (net.Listener, error) {
	if c.opsListen == "" {
		return nil, nil
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", c.opsListen)
	if err != nil {
		return nil, fmt.Errorf("RIVERRUN_OPS_LISTEN: %w", err)
	}
	return listener, nil
}

// serveOps serves health, metrics and profiles to those who run the site until stop is called, or does
// nothing without a listener.
func (n *node) serveOps(listener net.Listener, health web.Health) (stop func() error) {
	if listener == nil {
		return func() error { return nil }
	}
	mux := http.NewServeMux()
	health.Routes(mux)
	routeProfiles(mux)
	return serveAside(listener, onlyNamed(n.config.opsListen, mux), "health and metrics")
}

// serveAside serves beside the site until stop is called, which waits for nobody.
func serveAside(listener net.Listener, handler http.Handler, what string) (stop func() error) {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	return func() error {
		closed := server.Close()
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			return errors.Join(fmt.Errorf("serve %s: %w", what, err), closed)
		}
		return closed
	}
}

// onlyNamed refuses requests under a name that is neither localhost nor the one of listen: a page of any
// site, in a browser that reaches this address, could have had its own name resolved to it. Nobody
// can do that to an address in numbers.
func onlyNamed(listen string, next http.Handler) http.Handler {
	name := strings.ToLower(hostOf(listen))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := strings.ToLower(hostOf(r.Host))
		if _, err := netip.ParseAddr(host); err != nil && host != "localhost" && (host != name || host == "") {
			http.Error(w, "answered at an address in numbers, at localhost, and at the name in RIVERRUN_OPS_LISTEN", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// hostOf is an address without its port, if it has one.
func hostOf(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return strings.Trim(address, "[]")
	}
	return host
}
