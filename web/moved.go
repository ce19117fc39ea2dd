package web

import (
	"net/http"
	"net/url"
	"strings"
)

// moved are the pages that had another address before. Links to the old address, forms on
// pages that were open, and other programs go on working.
var moved = []struct{ old, now string }{
	{"/filter/directs", "/filter/messages"},
	{"/filter/eyes", "/filter/only-me"},
	{"/filter/faves", savedPath},
	{"/most-faved", "/best/saved"},
	{"/settings/feeds", ownPagesPath},
	{"/settings/unseen", hiddenPath},
}

const savedPath = "/filter/saved"

// present returns the present path of a page: the path itself, unless the page has
// moved.
func present(path string) string {
	for _, m := range moved {
		if rest, ok := strings.CutPrefix(path, m.old); ok && (rest == "" || rest[0] == '/') {
			return m.now + rest
		}
	}
	return path
}

// oldAddresses redirects an old page to the present one. A form that was sent to an old
// address is done as if it had been sent to the present one: a redirect would lose it.
func oldAddresses(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		now := url.URL{Path: present(r.URL.Path), RawQuery: r.URL.RawQuery}
		switch {
		case now.Path == r.URL.Path:
			next.ServeHTTP(w, r)
		case r.Method == http.MethodGet || r.Method == http.MethodHead:
			http.Redirect(w, r, now.String(), http.StatusMovedPermanently)
		default:
			there := *r
			there.URL = &now
			next.ServeHTTP(w, &there)
		}
	})
}
