package web

import (
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"riverrun/web/view"
)

// misdirected refuses requests for a host that is not this site's: a name that somebody else
// has pointed at this machine shows nothing of it (DNS rebinding). Health checks may use any
// name. A redirect would loop behind a proxy that replaces the Host header.
func (s *Server) misdirected(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Prometheus may use another name than people do, if people have one. To others than this
		// machine's own programs the address is as any other.
		open := r.URL.Path == "/healthz" || fromHere(r) && (r.URL.Path == "/readyz" || s.ownHost && r.URL.Path == "/metrics")
		if open || s.isOurs(r.Host) {
			next.ServeHTTP(w, r)
			return
		}
		text := view.LocaleFor(r, "", "").T("error.host.unset", "address", s.url.String())
		if s.ownHost {
			text = view.LocaleFor(r, "", "").T("error.host", "address", s.url.String())
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(http.StatusMisdirectedRequest)
		_, _ = io.WriteString(w, text+"\n") // the browser is gone
	})
}

// isOurs reports whether a Host header names this site: the public address if the operator
// has set one. Otherwise it is this machine as its own browsers call it, or the host that the
// operator listens on, whatever the port, which may be forwarded. A site that listens on all
// addresses is also any address: its own may be hidden by a network in between, and the
// owner of a name can point the name elsewhere, but nobody can do that to an address.
func (s *Server) isOurs(host string) bool {
	if s.ownHost {
		return withoutPort(host, s.url.Scheme) == withoutPort(s.url.Host, s.url.Scheme)
	}
	name := hostname(host)
	if name == "localhost" || strings.HasSuffix(name, ".localhost") || name != "" && name == hostname(s.listen) {
		return true
	}
	at, err := netip.ParseAddr(name)
	if err != nil {
		return false
	}
	on, err := netip.ParseAddr(hostname(s.listen))
	everywhere := hostname(s.listen) == "" || err == nil && on.IsUnspecified()
	return everywhere || at.Unmap().IsLoopback() || err == nil && at.Unmap() == on.Unmap()
}

// hostname is a host in lower case without its port and brackets.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.Trim(host, "[]"))
}

// withoutPort is a host in lower case without the port that its scheme has anyway.
func withoutPort(host, scheme string) string {
	port := ":80"
	if scheme == "https" {
		port = ":443"
	}
	return strings.TrimSuffix(strings.ToLower(host), port)
}
