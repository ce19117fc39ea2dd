package web

import (
	"errors"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"
)

func TestLimiter(t *testing.T) {
	l := newLimiter(3, time.Hour)
	for i := range 3 {
		if err := l.allow("a"); err != nil {
			t.Fatalf("try %d: %v", i+1, err)
		}
	}
	if err := l.allow("a"); !errors.Is(err, errLimited) {
		t.Errorf("fourth try: %v, want %v", err, errLimited)
	}
	if err := l.allow("b"); err != nil {
		t.Errorf("another key: %v", err)
	}
	for i := range maxLimited + 100 {
		if err := l.allow(strconv.Itoa(i)); err != nil {
			t.Fatalf("key %d: %v", i, err)
		}
	}
	if n := l.keys.Len(); n > maxLimited {
		t.Errorf("%d keys remembered, want at most %d", n, maxLimited)
	}
	free := newLimiter(-1, time.Hour)
	for range 1000 {
		if err := free.allow("a"); err != nil {
			t.Fatalf("without a limit: %v", err)
		}
	}
}

// TestLimiterRemembersLittle: a key is what somebody sent, and must not hold
// what it came in.
func TestLimiterRemembersLittle(t *testing.T) {
	l := newLimiter(1, time.Hour)
	form := strings.Repeat("x", maxForm)
	for _, key := range []string{form[:3], form} {
		if err := l.allow(key); err != nil {
			t.Fatalf("key of %d bytes: %v", len(key), err)
		}
		if err := l.allow(key); !errors.Is(err, errLimited) {
			t.Errorf("key of %d bytes again: %v, want %v", len(key), err, errLimited)
		}
	}
	for _, key := range l.keys.Keys() {
		if len(key) > maxLimitedKey {
			t.Errorf("a key of %d bytes is remembered, want at most %d", len(key), maxLimitedKey)
		}
		if unsafe.StringData(key) == unsafe.StringData(form) {
			t.Errorf("the key of %d bytes keeps the form it stands in", len(key))
		}
	}
}

func TestAddressKey(t *testing.T) {
	for _, tt := range []struct{ peer, forwarded, want string }{
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
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = tt.peer
		if tt.forwarded != "" {
			r.Header.Set("X-Forwarded-For", tt.forwarded)
		}
		if got := addressKey(r); got != tt.want {
			t.Errorf("peer %s, forwarded for %q: %q, want %q", tt.peer, tt.forwarded, got, tt.want)
		}
	}
}
