package web_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
	"riverrun/web/view"
	"riverrun/web/webtest"
)

// TestStalledForms: a form whose body does not arrive is answered, by 408, and nothing is
// done.
func TestStalledForms(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	anna := s.Person("anna")
	impatient := httptest.NewUnstartedServer(s.Server.Handler())
	impatient.Config.ReadTimeout = 300 * time.Millisecond
	impatient.Start()
	defer impatient.Close()
	cookie := "Cookie: riverrun=" + anna.Token + "\r\n"
	const plainForm, parts = "Content-Type: application/x-www-form-urlencoded\r\n", "Content-Type: multipart/form-data; boundary=xx\r\n"
	for _, tt := range []struct{ name, address, header, body string }{
		{"sign-in", "/login", plainForm + "Content-Length: 100\r\n", "username=anna&passw"},
		{"sign-in of no bytes", "/login", plainForm + "Content-Length: 100\r\n", ""},
		{"sign-in in chunks", "/login", plainForm + "Transfer-Encoding: chunked\r\n", "5\r\nusern\r\n"},
		{"sign-in in parts", "/login", parts + "Content-Length: 1000\r\n", "--xx\r\nContent-Disposition: form-data; name=username\r\n\r\nan"},
		{"sign-up", "/signup", plainForm + "Content-Length: 100\r\n", "username=bob&passw"},
		{"sign-out", "/logout", cookie + plainForm + "Content-Length: 100\r\n", "x="},
		{"post", "/posts", cookie + plainForm + "Content-Length: 100\r\n", "body=half+a+po"},
		{"post from river.js", "/posts", cookie + plainForm + "Accept: application/json\r\nContent-Length: 100\r\n", "body=half+a+po"},
		{"settings", "/settings", cookie + plainForm + "Content-Length: 100\r\n", "title=A"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", impatient.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if err := conn.SetDeadline(time.Now().Add(webtest.Patience)); err != nil {
				t.Fatal(err)
			}
			if _, err := fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: localhost\r\n%s\r\n%s", tt.address, tt.header, tt.body); err != nil {
				t.Fatal(err)
			}
			response, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			body, err := io.ReadAll(response.Body)
			if err != nil {
				t.Fatal(err)
			}
			if response.StatusCode != http.StatusRequestTimeout || !strings.Contains(string(body), "didn’t arrive in time") {
				t.Errorf("status %d, want 408 and why\n%s", response.StatusCode, body)
			}
		})
	}
	anna.Visitor().Get("/").Has(`action="/logout"`).Lacks("half a po")
}

// TestLikeThatRacesSignOut: the like waits for a lock while its actor signs out, and is
// done after that. Then its answer says so. The window in which it was answered 401 and
// stood is between its commit and the reading of the entry for the reply.
func TestLikeThatRacesSignOut(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	anna := s.Person("anna")
	code := s.Person("bob").Post("A pear").Code
	for _, as := range []struct {
		name   string
		accept string
		status int
	}{{"river.js", "application/json", 200}, {"a browser without scripts", "text/html", 303}} {
		token, _, err := s.Store.Accounts.SignIn(t.Context(), "anna", webtest.Password)
		if err != nil {
			t.Fatal(err)
		}
		p := &webtest.Person{Site: s, Account: anna.Account, Token: token}
		v := p.Visitor()
		v.Header.Set("Accept", as.accept)
		v.Header.Set("X-River-Page", "/bob")
		likes := func() (n int) {
			t.Helper()
			err := s.DB.Primary.QueryRow(t.Context(), `SELECT count(*) FROM likes WHERE account_id = $1`, anna.Account.ID).Scan(&n)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		anna.Act(func(ctx context.Context) (timelines.Change, error) {
			return s.Store.Posts.Unlike(ctx, anna.Account.ID, code)
		})
		held, err := s.DB.Primary.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := held.Exec(t.Context(), `SELECT 1 FROM posts WHERE code = $1 FOR UPDATE`, code); err != nil {
			t.Fatal(err)
		}
		answered := make(chan *webtest.Answer)
		go func() { answered <- v.Do("POST", "/p/"+code+"/like", url.Values{}) }()
		webtest.Await(t, "the like to wait", func() bool {
			var n int
			err := s.DB.Primary.QueryRow(t.Context(), `
				SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&n)
			return err == nil && n > 0
		})
		p.Visitor().Post("/logout").LeadsTo("/")
		if err := held.Commit(t.Context()); err != nil && err != pgx.ErrTxClosed {
			t.Fatal(err)
		}
		a := <-answered
		if n := likes(); a.Status != as.status || n != 1 {
			t.Errorf("%s: a like that was under way at the sign-out is answered %d and stands %d times; want %d and once\n%s", as.name, a.Status, n, as.status, a.Body)
		}
		a.Lacks("A pear")
		// The session has ended all the same.
		refused := v.Post("/p/" + code + "/unlike")
		if refused.Status == 200 || likes() != 1 {
			t.Errorf("%s: an unlike after the sign-out is answered %d", as.name, refused.Status)
		}
	}
}

// TestHostIsChecked where the operator has set the site's address.
func TestHostIsChecked(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	s.Server.SetOwnHost(true)
	s.Server.SetURL(&url.URL{Scheme: "https", Host: "river.example"})
	site := s.Server.Handler()
	ask := func(method, host, address string, header ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, address, nil)
		r.Host = host
		for i := 0; i+1 < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		w := httptest.NewRecorder()
		site.ServeHTTP(w, r)
		return w
	}
	for _, host := range []string{"river.example", "River.Example", "river.example:443"} {
		if w := ask("GET", host, "/everything"); w.Code != 200 {
			t.Errorf("host %s: status %d, want 200", host, w.Code)
		}
	}
	for _, host := range []string{"", "evil.example", "river.example.evil.example", "river.example:80", "river.example:8080", "127.0.0.1:8080", "river.example@evil.example", "river.example."} {
		for _, tt := range []struct{ method, address string }{{"GET", "/everything"}, {"HEAD", "/"}, {"POST", "/login"}, {"GET", "/ws"}, {"GET", "/static/river.js"}, {"GET", "//evil.example/"}} {
			w := ask(tt.method, host, tt.address, "Connection", "Upgrade", "Upgrade", "websocket")
			if w.Code != http.StatusMisdirectedRequest || w.Header().Get("Location") != "" {
				t.Errorf("%s %s at host %q: status %d, want 421", tt.method, tt.address, host, w.Code)
			}
			if body := w.Body.String(); host != "" && strings.Contains(body, host) && !strings.HasPrefix(host, "river.example") || !strings.Contains(body, "https://river.example.\n") {
				t.Errorf("at host %q: %q", host, body)
			}
		}
		if w := ask("GET", host, "/healthz"); w.Code != 200 {
			t.Errorf("/healthz at host %q: status %d, want 200", host, w.Code)
		}
		for _, address := range []string{"/readyz", "/metrics"} {
			r := httptest.NewRequest("GET", address, nil)
			r.Host, r.RemoteAddr = host, "127.0.0.1:1234"
			w := httptest.NewRecorder()
			if site.ServeHTTP(w, r); w.Code != 200 {
				t.Errorf("%s from this machine at host %q: status %d, want 200", address, host, w.Code)
			}
			if w := ask("GET", host, address); w.Code != http.StatusMisdirectedRequest {
				t.Errorf("%s from elsewhere at host %q: status %d, want 421", address, host, w.Code)
			}
		}
	}
}

// Where the operator has set no address, the site answers at this machine's own names and at
// the host that it listens on, and at no name that anybody can point at it.
func TestHostWithoutAnAddress(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	site := s.Server.Handler()
	machine := []string{"localhost", "localhost:8080", "LocalHost:9000", "river.localhost", "127.0.0.1", "127.0.0.1:8080", "127.3.2.1:1", "[::1]", "[::1]:8080", "[::ffff:127.0.0.1]:8080"}
	others := []string{"", "evil.example", "evil.example:8080", "127.0.0.1.evil.example", "localhost.evil.example", "notlocalhost", "127.0.0.1@evil.example", "river.lan.evil.example", "0x7f000001", "2130706433"}
	addresses := []string{"192.0.2.7", "192.0.2.7:8080", "[2001:db8::7]:8080"}
	for _, tt := range []struct {
		listen        string
		ours, refused []string
	}{
		{"127.0.0.1:8080", nil, append(addresses, "river.lan")},
		{"192.0.2.7:8080", []string{"192.0.2.7", "192.0.2.7:8080", "192.0.2.7:80"}, []string{"192.0.2.8:8080", "[2001:db8::7]:8080", "river.lan"}},
		{"river.lan:8080", []string{"river.lan:8080", "River.LAN"}, addresses},
		{"0.0.0.0:8080", addresses, []string{"river.lan:8080", "0.0.0.0.evil.example"}},
		{"[::]:8080", addresses, []string{"river.lan:8080"}},
		{":8080", addresses, []string{"river.lan:8080"}},
	} {
		s.Server.SetListen(tt.listen)
		ask := func(host, address string) *httptest.ResponseRecorder {
			r := httptest.NewRequest("GET", address, nil)
			r.Host = host
			w := httptest.NewRecorder()
			site.ServeHTTP(w, r)
			return w
		}
		for _, host := range slices.Concat(machine, tt.ours) {
			if w := ask(host, "/everything"); w.Code != 200 {
				t.Errorf("listening on %s, host %q: status %d, want 200", tt.listen, host, w.Code)
			}
		}
		for _, host := range slices.Concat(others, tt.refused) {
			for _, address := range []string{"/everything", "/ws", "/static/river.js", "/api/sources/x/items", "/metrics"} {
				w := ask(host, address)
				if body := w.Body.String(); w.Code != http.StatusMisdirectedRequest || !strings.Contains(body, "RIVERRUN_URL=https://") {
					t.Errorf("listening on %s, %s at host %q: status %d, want 421 that names RIVERRUN_URL: %.300q", tt.listen, address, host, w.Code, body)
				}
			}
			if w := ask(host, "/healthz"); w.Code != 200 {
				t.Errorf("listening on %s, /healthz at host %q: status %d, want 200", tt.listen, host, w.Code)
			}
		}
	}
}

// TestCopies: what browsers may keep of a page.
func TestCopies(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	p := s.Person("anna")
	c := p.Post("A pear")
	anna := p.Visitor()
	for _, tt := range []struct {
		what string
		a    *webtest.Answer
		want string
	}{
		{"the home page", anna.Get("/"), "private, no-cache"},
		{"a post", anna.Get("/p/" + c.Code), "private, no-cache"},
		{"direct messages", anna.Get("/filter/messages"), "no-store"},
		{"the text to be edited", anna.Get("/p/" + c.Code + "/edit"), "no-store"},
		{"a post that goes nowhere", anna.Post("/posts", "body", "typed", "to", "nobody-at-all").Wants(422).Has("typed"), "no-store"},
		{"a sign-in that failed", s.Visitor().Post("/login", "username", "anna", "password", "wrong one").Wants(422), "no-store"},
		{"a form that needs a session", s.Visitor().Post("/posts", "body", "typed").Wants(401).Has("typed"), "no-store"},
		{"a form at no address", anna.Post("/p/0123456789/comments", "body", "typed").Wants(404).Has("typed"), "no-store"},
		{"This page doesn’t exist", anna.Get("/nothing/here/at-all").Wants(404), "private, no-cache"},
		{"settings that are wrong", anna.Post("/settings", "title", "", "about", "typed").Wants(422).Has("typed"), "no-store"},
	} {
		if got := tt.a.Header.Get("Cache-Control"); got != tt.want {
			t.Errorf("%s: Cache-Control %q, want %q", tt.what, got, tt.want)
		}
	}
	if a := anna.Get("/"); a.Header.Get("Clear-Site-Data") != "" {
		t.Error("a page clears the site's data")
	}
	a := anna.Post("/logout").LeadsTo("/")
	if got, want := a.Header.Get("Clear-Site-Data"), `"cache", "storage"`; got != want {
		t.Errorf("sign-out: Clear-Site-Data %q, want %q", got, want)
	}
}

// TestDirectionIsIsolated: what people wrote turns nothing that stands beside it, and names
// hold nothing that would.
func TestDirectionIsIsolated(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	p := s.Person("anna")
	anna := p.Visitor()
	const turn = "\u202e"
	for _, form := range [][]string{
		{"/settings", "title", "An" + turn + "na"},
		{"/settings", "title", "\u2066Anna"},
		{"/groups", "name", "club", "title", "Cl\u2069ub", "access", "public"},
		{"/lists", "title", "Li" + turn + "st"},
		{"/settings/pages", "title", "Fe\u202aed", "slug", "feed2", "access", "public"},
	} {
		anna.Post(form[0], form[1:]...).Wants(422).Has("changes the direction of the text")
	}
	s.Visitor().Post("/signup", "username", "bob", "password", "quite long enough", "title", "B\u202eob").Wants(422).Has("changes the direction of the text")

	anna.Post("/settings", "title", "\u05d3\u05e0\u05d4", "about", "ab"+turn+"out").Wants(303)
	code := p.Post("po" + turn + "st \u2069 end").Code
	p.Comment(code, "com"+turn+"ment")
	for _, address := range []string{"/anna", "/p/" + code, "/everything", "/", "/people", "/search?q=" + url.QueryEscape("po"+turn+"st")} {
		page := anna.Get(address)
		checkTurns(t, address, page.Body)
		if strings.Contains(page.Body, "\u05d3\u05e0\u05d4") && !strings.Contains(page.Body, "<bdi>\u05d3\u05e0\u05d4</bdi>") {
			t.Errorf("%s: the name is not isolated", address)
		}
	}
	for _, address := range []string{"/feeds/p/" + code + ".atom", "/feeds/anna.json"} {
		for line := range strings.Lines(s.Visitor().Get(address).Wants(200).Body) {
			if strings.Contains(line, "title") && strings.ContainsFunc(line, view.Turns) {
				t.Errorf("%s: a title turns the direction: %q", address, line)
			}
		}
	}
}

// checkTurns reports text of a page that turns the direction where nothing keeps that
// to itself: outside of a paragraph with dir="auto", of <bdi>, and of what a form holds.
func checkTurns(t *testing.T, address, page string) {
	t.Helper()
	rest := page
	for {
		i := strings.IndexFunc(rest, view.Turns)
		if i < 0 {
			return
		}
		before := rest[:i]
		open := max(strings.LastIndex(before, `<p dir="auto">`), strings.LastIndex(before, "<bdi"), strings.LastIndex(before, `value="`))
		closed := max(strings.LastIndex(before, "</p>"), strings.LastIndex(before, "</bdi>"), strings.LastIndex(before, `>`+"\n"))
		if open < closed || open < 0 {
			t.Errorf("%s: turned outside of people's words: %.60q", address, rest[max(0, i-40):])
		}
		end := strings.IndexAny(rest[i:], `<"`)
		if end < 0 {
			return
		}
		var b view.Balance
		if inForm := strings.HasPrefix(before[max(open, 0):], "value="); inForm {
			rest = rest[i+end:]
			continue
		}
		if words := before[max(open, 0):] + rest[i:i+end]; b.Pass(words) != words || b.End() != "" {
			t.Errorf("%s: turned beyond people's words: %.60q", address, words)
		}
		rest = rest[i+end:]
	}
}
