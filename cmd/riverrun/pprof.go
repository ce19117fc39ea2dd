package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"net/netip"
)

// profile serves the profiles of this process (net/http/pprof) at RIVERRUN_PPROF until stop is
// called, or does nothing without that setting.
func (c *config) profile(ctx context.Context) (stop func() error, err error) {
	if !c.pprof.IsValid() {
		return func() error { return nil }, nil
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", c.pprof.String())
	if err != nil {
		return nil, fmt.Errorf("RIVERRUN_PPROF: %w", err)
	}
	return serveProfiles(listener), nil
}

func serveProfiles(listener net.Listener) (stop func() error) {
	mux := http.NewServeMux()
	routeProfiles(mux)
	return serveAside(listener, onlyLoopback(mux), "profiles")
}

func routeProfiles(mux *http.ServeMux) {
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
}

// onlyLoopback refuses requests under another name: a page of any site in a browser on this
// machine could have had its name resolved to it.
func onlyLoopback(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := hostOf(r.Host)
		if address, err := netip.ParseAddr(host); host != "localhost" && (err != nil || !address.IsLoopback()) {
			http.Error(w, "profiles are served at a loopback address only", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}
