package web

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
)

func TestAddressKey(t *testing.T) {
	behind := addresses{append(Loopback(), netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8:ffff::/48"))}
	for _, tt := range []struct {
		peer, forwarded, want string // lines of the header are parted by |
	}{
		{"192.0.2.1:1234", "", "192.0.2.1"},
		{"192.0.2.1:1234", "198.51.100.7", "192.0.2.1"}, // a claim
		{"127.0.0.1:1234", "", "127.0.0.1"},
		{"127.0.0.1:1234", "203.0.113.9, 198.51.100.7", "198.51.100.7"}, // what the proxy saw
		{"[::1]:1234", "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"},
		{"[2001:db8:1:2::9]:80", "", "2001:db8:1:2::/64"},
		{"[fe80::1%eth0]:80", "", "fe80::/64"},
		{"127.0.0.1:1234", "nonsense", "127.0.0.1"},
		{"[::ffff:192.0.2.1]:1234", "", "192.0.2.1"},
		{"@", "", "@"},
		{"@", "198.51.100.7", "@"},
		// A proxy elsewhere, and several.
		{"10.0.0.1:1234", "198.51.100.7", "198.51.100.7"},
		{"[::ffff:10.0.0.1]:1234", "198.51.100.7", "198.51.100.7"},
		{"10.0.0.1:1234", "203.0.113.9, 198.51.100.7, 10.2.3.4, 127.0.0.1", "198.51.100.7"},
		{"10.0.0.1:1234", "203.0.113.9|198.51.100.7, 10.2.3.4|10.9.9.9", "198.51.100.7"},
		{"[2001:db8:ffff::1]:1234", "2001:db8::1, 2001:db8:ffff::2", "2001:db8::/64"},
		{"10.0.0.1:1234", "10.2.3.4, 10.5.6.7", "10.2.3.4"}, // a client within the network of the proxies
		// With ports.
		{"10.0.0.1:1234", "1.2.3.4:567", "1.2.3.4"},
		{"10.0.0.1:1234", "[2001:db8::1]:443", "2001:db8::/64"},
		{"10.0.0.1:1234", "[2001:db8::1]", "2001:db8::/64"},
		{"10.0.0.1:1234", "2001:db8::1", "2001:db8::/64"},
		{"10.0.0.1:1234", "198.51.100.7:1,10.1.1.1:2\t", "198.51.100.7"},
		{"10.0.0.1:1234", "::ffff:198.51.100.7", "198.51.100.7"},
		{"10.0.0.1:1234", "[::ffff:10.1.1.1]:80", "10.1.1.1"},
		// A text that is no address stops the way back.
		{"10.0.0.1:1234", "198.51.100.7, unknown, 10.2.3.4", "10.2.3.4"},
		{"10.0.0.1:1234", "198.51.100.7,, 10.2.3.4", "10.2.3.4"},
		{"10.0.0.1:1234", "198.51.100.7,", "10.0.0.1"},
		{"10.0.0.1:1234", "198.51.100.7||10.2.3.4", "10.2.3.4"},
		{"10.0.0.1:1234", "1.2.3.4:", "10.0.0.1"},
		{"10.0.0.1:1234", "1.2.3.4:99999", "10.0.0.1"},
		{"10.0.0.1:1234", "[2001:db8::1", "10.0.0.1"},
		{"10.0.0.1:1234", "010.1.1.1", "10.0.0.1"},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = tt.peer
		if tt.forwarded != "" {
			r.Header["X-Forwarded-For"] = strings.Split(tt.forwarded, "|")
		}
		if got := behind.key(r); got != tt.want {
			t.Errorf("peer %s, forwarded for %q: %q, want %q", tt.peer, tt.forwarded, got, tt.want)
		}
	}
	r := httptest.NewRequest("GET", "/", nil)
	r.RemoteAddr = "10.0.0.1:1234"
	r.Header.Set("X-Forwarded-For", "198.51.100.7")
	if got := (addresses{Loopback()}).key(r); got != "10.0.0.1" {
		t.Errorf("a proxy that nobody has named is believed: %q", got)
	}
}

// FuzzForwardedFor: whatever a client writes into the header, the address its proxy
// appended stands, be it on a line of its own or behind a comma.
func FuzzForwardedFor(f *testing.F) {
	for _, seed := range []string{
		"", "1.2.3.4:567", "[2001:db8::1]:443, 10.0.0.1", "unknown", ",,,", "[::1", "::1%x,y", "127.0.0.1,127.0.0.1", "\x00", "fe80::1%eth0",
	} {
		f.Add(seed, "198.51.100.7", true)
		f.Add(seed, "[2001:db8::7]:80", false)
	}
	from := addresses{Loopback()}
	f.Fuzz(func(t *testing.T, claim, seen string, line bool) {
		at, ok := hopAddress(seen)
		if strings.Contains(seen, ",") || ok && from.trusts(at) {
			return
		}
		r := &http.Request{RemoteAddr: "127.0.0.1:80", Header: http.Header{}}
		if line {
			r.Header["X-Forwarded-For"] = []string{claim, seen}
		} else {
			r.Header["X-Forwarded-For"] = []string{claim + "," + seen}
		}
		want := at
		if !ok {
			want = netip.MustParseAddr("127.0.0.1")
		}
		if got := from.client(r); got != want {
			t.Errorf("claimed %q, seen %q: %v, want %v", claim, seen, got, want)
		}
		if key := from.key(r); len(key) > 45 || strings.ContainsAny(key, " ,%\"") {
			t.Errorf("claimed %q, seen %q: key %q", claim, seen, key)
		}
	})
}
