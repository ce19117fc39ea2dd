package web_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"riverrun/web/webtest"
)

// Programs on this machine see how the site is. To others, to whom a proxy on this machine belongs,
// there is no such page.
func TestHealthIsForThisMachine(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	s.Server.SetOwnHost(true)
	s.Server.SetURL(&url.URL{Scheme: "https", Host: "river.example"})
	site := s.Server.Handler()
	ask := func(method, peer, address string, header ...string) (int, string) {
		r := httptest.NewRequest(method, address, nil)
		r.Host, r.RemoteAddr = "river.example", peer
		for i := 0; i+1 < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		w := httptest.NewRecorder()
		site.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	code := regexp.MustCompile(`the code [A-Z2-7]{8}`) // of the request
	plain := func(body string) string { return code.ReplaceAllString(body, "") }
	for _, tt := range []struct {
		peer   string
		header []string
		here   bool
	}{
		{"127.0.0.1:1234", nil, true},
		{"127.3.2.1:1234", nil, true},
		{"[::1]:1234", nil, true},
		{"[::ffff:127.0.0.1]:1234", nil, true},
		{"192.0.2.1:1234", nil, false},
		{"[2001:db8::1]:1234", nil, false},
		{"@", nil, false},
		{"192.0.2.1:1234", []string{"X-Forwarded-For", "127.0.0.1"}, false},
		{"127.0.0.1:1234", []string{"X-Forwarded-For", "192.0.2.1"}, false},
		{"127.0.0.1:1234", []string{"X-Forwarded-For", "127.0.0.1"}, false},
		{"127.0.0.1:1234", []string{"X-Forwarded-For", ""}, false},
		{"127.0.0.1:1234", []string{"Forwarded", "for=192.0.2.1"}, false},
		{"127.0.0.1:1234", []string{"X-Real-IP", "192.0.2.1"}, false},
		{"127.0.0.1:1234", []string{"X-Forwarded-Proto", "https"}, false},
	} {
		if status, body := ask("GET", tt.peer, "/healthz", tt.header...); status != http.StatusOK || body != "alive\n" {
			t.Errorf("%s with %q: /healthz is answered %d %q", tt.peer, tt.header, status, body)
		}
		for address, want := range map[string]string{"/readyz": "ready\n", "/metrics": "# HELP"} {
			status, body := ask("GET", tt.peer, address, tt.header...)
			if tt.here {
				if status != http.StatusOK || !strings.HasPrefix(body, want) {
					t.Errorf("%s with %q: %s is answered %d %.100q, want 200 with %q", tt.peer, tt.header, address, status, body, want)
				}
				continue
			}
			absent, page := ask("GET", tt.peer, "/nobody-here", tt.header...)
			if status != http.StatusNotFound || absent != status || plain(body) != plain(page) {
				t.Errorf("%s with %q: %s is answered %d, want the answer of an address that does not exist, %d:\n%s", tt.peer, tt.header, address, status, absent, cmp.Diff(plain(page), plain(body)))
			}
			posted, _ := ask("POST", tt.peer, address, tt.header...)
			if absent, _ := ask("POST", tt.peer, "/nobody-here", tt.header...); posted != absent {
				t.Errorf("%s with %q: POST %s is answered %d, and %d where there is nothing", tt.peer, tt.header, address, posted, absent)
			}
		}
	}
}
