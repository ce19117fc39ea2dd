package web_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"riverrun/timelines"
	"riverrun/web"
	"riverrun/web/view"
	"riverrun/web/webtest"
)

// signInSite is a site whose visitors come through a trusted proxy, with people in it
// and no waiting.
func signInSite(t *testing.T, signIns int, names ...string) *webtest.Site {
	t.Helper()
	s := webtest.New(t, nil)
	s.Server.SetLimits(web.Limits{SignIns: signIns})
	s.Server.SetProxies(web.Loopback()...)
	for _, name := range names {
		s.Person(name)
	}
	return s
}

// tries signs in from an address, as the site's proxy would say.
func tries(v *webtest.Visitor, from, name, with string) *webtest.Answer {
	v.T.Helper()
	v.Header.Set("X-Forwarded-For", from)
	return v.Post("/login", "username", name, "password", with)
}

// TestOnlyFailedSignInsCount: a club that signs in from one address is no attack, and
// neither is somebody who often signs in.
func TestOnlyFailedSignInsCount(t *testing.T) {
	t.Parallel()
	s := signInSite(t, 3, "anna", "bob")
	v := s.Visitor()
	for range 5 {
		tries(v, "192.0.2.1", "anna", webtest.Password).LeadsTo("/")
		tries(v, "192.0.2.1", "bob", webtest.Password).LeadsTo("/")
	}
	tries(v, "192.0.2.1", "anna", "wrong").Wants(422)
	tries(v, "192.0.2.1", "bob", "wrong").Wants(422)
	tries(v, "192.0.2.1", "anna", webtest.Password).LeadsTo("/")
	tries(v, "192.0.2.1", "nobody-here", "wrong").Wants(422)
	for _, name := range []string{"anna", "bob", "nobody-here"} {
		if a := tries(v, "192.0.2.1", name, webtest.Password).Wants(429).Has("tried too often"); a.Header.Get("Retry-After") == "" {
			t.Errorf("%s: no Retry-After", name)
		}
	}
	tries(v, "192.0.2.2", "anna", webtest.Password).LeadsTo("/")
}

// TestNobodyLocksOut: wrong passwords shut the door on the address they come from, for
// that name, and on nobody else.
func TestNobodyLocksOut(t *testing.T) {
	t.Parallel()
	s := signInSite(t, 50, "anna", "bob")
	v := s.Visitor()
	// Many at once are no more than many one after the other.
	statuses := make(chan int)
	for range 30 {
		go func() {
			r := httptest.NewRequest("POST", "/login", strings.NewReader("username=anna&password=wrong"))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Host, r.RemoteAddr = "localhost", "192.0.2.1:1"
			w := httptest.NewRecorder()
			s.HTTP.Config.Handler.ServeHTTP(w, r)
			statuses <- w.Code
		}()
	}
	got := map[int]int{}
	for range 30 {
		got[<-statuses]++
	}
	if got[422] != 10 || got[429] != 20 {
		t.Errorf("thirty wrong passwords at once: statuses %v, want 10 of 422 and 20 of 429", got)
	}
	tries(v, "192.0.2.1", "anna", webtest.Password).Wants(429)
	tries(v, "192.0.2.1", "bob", webtest.Password).LeadsTo("/") // her neighbour
	tries(v, "192.0.2.2", "anna", webtest.Password).LeadsTo("/")
}

// TestNameUnderAttackIsDelayed: a name that many addresses fail with is not refused; its
// sign-ins wait, those with the right password too, and nobody else's do.
func TestNameUnderAttackIsDelayed(t *testing.T) {
	t.Parallel()
	s := signInSite(t, 0, "anna", "bob")
	var mu sync.Mutex
	var waits []time.Duration
	began := time.Now()
	now := began
	s.Server.SetClock(func() time.Time { return now })
	s.Server.SetDelay(func(_ context.Context, d time.Duration) error {
		mu.Lock()
		defer mu.Unlock()
		waits = append(waits, d)
		return nil
	})
	waited := func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(waits)
	}
	v := s.Visitor()
	for i := range 100 {
		now = now.Add(5 * time.Second) // some eight minutes in all
		tries(v, fmt.Sprintf("192.0.2.%d", i), "anna", "wrong").Wants(422)
	}
	if n := waited(); n != 0 {
		t.Errorf("%d of a hundred failures were delayed, want none", n)
	}
	tries(v, "198.51.100.1", "anna", "wrong").Wants(422)
	tries(v, "198.51.100.2", "anna", webtest.Password).LeadsTo("/")
	if n := waited(); n != 2 {
		t.Errorf("after a hundred failures %d of two sign-ins were delayed", n)
	}
	for _, d := range waits {
		if d < time.Second || d > s.Server.DatabaseTimeout()/2 {
			t.Errorf("delayed by %v, want a second at least, and time for the rest", d)
		}
	}
	tries(v, "192.0.2.1", "bob", webtest.Password).LeadsTo("/")
	if n := waited(); n != 2 {
		t.Error("another name is delayed too")
	}
	now = began.Add(11 * time.Minute)
	tries(v, "198.51.100.3", "anna", webtest.Password).LeadsTo("/")
	if n := waited(); n != 2 {
		t.Error("the name is delayed for longer than ten minutes after one attack")
	}
	for range web.NameUnderAttack {
		s.Server.Attack("anna", now)
	}
	// A client that leaves while it waits has used nothing up.
	s.Server.SetDelay(func(context.Context, time.Duration) error { return context.Canceled })
	for range 20 {
		if err := s.Server.TryPassword(httptest.NewRequest("POST", "/login", nil), "anna", func() error {
			t.Error("tried without waiting")
			return nil
		}); !errors.Is(err, context.Canceled) {
			t.Fatalf("left while waiting: %v", err)
		}
	}
}

func TestDelay(t *testing.T) {
	t.Parallel()
	began := time.Now()
	if err := web.Delay(t.Context(), 20*time.Millisecond); err != nil || time.Since(began) < 20*time.Millisecond {
		t.Errorf("delay: %v after %v", err, time.Since(began))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := web.Delay(ctx, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("delay of somebody who left: %v", err)
	}
}

// failedLine is the filter that OPERATING.md gives for tools such as fail2ban.
var failedLine = regexp.MustCompile(`level=WARN msg="sign-in failed" address=(\S+) name=`)

// TestFailedSignInsAreLogged, on one line each, from which a tool reads the address
// whatever was typed as a name.
func TestFailedSignInsAreLogged(t *testing.T) {
	t.Parallel()
	s := signInSite(t, -1, "anna")
	s.Server.SetProxies(netip.MustParsePrefix("127.0.0.1/32"), netip.MustParsePrefix("10.0.0.0/8"))
	for _, tt := range []struct{ from, name, address, logged string }{
		{"203.0.113.9, 192.0.2.1:99, 10.1.2.3", "Anna", "192.0.2.1", "anna"},
		{"2001:db8::7", "nobody", "2001:db8::7", "nobody"},
		{"192.0.2.1", "x\nlevel=WARN msg=\"sign-in failed\" address=198.51.100.1 name=y", "192.0.2.1", `"x\nlevel`},
		{"192.0.2.1", `" address=198.51.100.1 name=`, "192.0.2.1", `"\" address=`},
		{"192.0.2.1", "\u202etxt", "192.0.2.1", `"\u202etxt"`},
		{"192.0.2.1", strings.Repeat("я", 5000), "192.0.2.1", strings.Repeat("я", web.MaxLogged) + "…"},
		{"192.0.2.1", "\xff\x00", "192.0.2.1", `"�\x00"`},
	} {
		var b bytes.Buffer
		s.Server.SetLog(slog.New(slog.NewTextHandler(&b, nil)))
		tries(s.Visitor(), tt.from, tt.name, "hunter2 is secret").Wants(422)
		s.Server.SetLog(slog.New(slog.NewTextHandler(io.Discard, nil)))
		var lines []string
		for line := range strings.Lines(b.String()) {
			if strings.Contains(line, "sign-in failed") && !strings.Contains(line, "msg=request") {
				lines = append(lines, line)
			}
		}
		if len(lines) != 1 {
			t.Errorf("name %.80q: %d lines %q, want one", tt.name, len(lines), lines)
			continue
		}
		m := failedLine.FindStringSubmatch(lines[0])
		if m == nil || m[1] != tt.address || !strings.Contains(lines[0], " name="+tt.logged) {
			t.Errorf("name %.80q: logged %q, want address %s and name %s", tt.name, lines[0], tt.address, tt.logged)
		}
		if strings.Contains(lines[0], "hunter2") {
			t.Error("the password is logged")
		}
	}
	var b bytes.Buffer
	s.Server.SetLog(slog.New(slog.NewTextHandler(&b, nil)))
	tries(s.Visitor(), "192.0.2.1", "anna", webtest.Password).LeadsTo("/")
	s.Server.SetLog(slog.New(slog.NewTextHandler(io.Discard, nil)))
	if strings.Contains(b.String(), "sign-in failed") {
		t.Errorf("one that succeeded is logged as failed: %s", b.String())
	}
}

// TestCrowdOfSignIns: while too many passwords wait, forms come back with what was typed,
// and say when to try again. Nothing of it counts as a failure.
func TestCrowdOfSignIns(t *testing.T) {
	t.Parallel()
	s := signInSite(t, 1)
	for _, show := range []func(*httptest.ResponseRecorder, *http.Request) error{
		func(w *httptest.ResponseRecorder, r *http.Request) error {
			return s.Server.SignInAgain(w, r, view.Login{Name: "anna"}, timelines.ErrBusy)
		},
		func(w *httptest.ResponseRecorder, r *http.Request) error {
			s.Server.Fail(w, r, timelines.ErrBusy)
			return nil
		},
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest("POST", "/login", nil)
		if err := show(w, r); err != nil {
			t.Fatal(err)
		}
		if w.Code != 503 || w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), "can’t answer right now") {
			t.Errorf("status %d, Retry-After %q, want 503 and when\n%s", w.Code, w.Header().Get("Retry-After"), w.Body)
		}
	}
	r := httptest.NewRequest("POST", "/login", nil)
	for range 5 {
		if err := s.Server.TryPassword(r, "anna", func() error { return timelines.ErrBusy }); !errors.Is(err, timelines.ErrBusy) {
			t.Fatalf("tried in a crowd: %v", err)
		}
	}
}

// One address, with however many names and right passwords, keeps nobody else waiting.
func TestOneAddressKeepsNobodyWaiting(t *testing.T) {
	t.Parallel()
	s := signInSite(t, 0)
	from := func(address string) *http.Request {
		r := httptest.NewRequest("POST", "/login", nil)
		r.RemoteAddr = address + ":1"
		return r
	}
	trying, release := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	for i := range web.MaxUnderWay {
		all.Go(func() {
			err := s.Server.TryPassword(from("192.0.2.1"), fmt.Sprint("name", i), func() error {
				trying <- struct{}{}
				<-release
				return nil
			})
			if err != nil {
				t.Errorf("try %d: %v", i, err)
			}
		})
		<-trying
	}
	if err := s.Server.TryPassword(from("192.0.2.1"), "anna", func() error { return nil }); !errors.Is(err, timelines.ErrBusy) {
		t.Errorf("one too many: got %v, want ErrBusy", err)
	}
	if err := s.Server.TryPassword(from("192.0.2.2"), "anna", func() error { return nil }); err != nil {
		t.Errorf("from another address: %v", err)
	}
	close(release)
	all.Wait()
	if err := s.Server.TryPassword(from("192.0.2.1"), "anna", func() error { return nil }); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}
