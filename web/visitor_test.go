package web

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

func testLog(w io.Writer) *slog.Logger { return slog.New(slog.NewTextHandler(w, nil)) }

// visitor is a browser without JavaScript.
type visitor struct {
	t      testing.TB
	base   string
	client *http.Client
	header http.Header
}

// plainly does not ask for compression, which costs time on both sides; the tests of
// compression ask for it themselves.
var plainly = func() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DisableCompression = true
	return t
}()

func (s *liveSite) visitor() *visitor {
	s.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return &visitor{t: s.t, base: s.http.URL, header: http.Header{}, client: &http.Client{
		Transport: plainly, Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// cookie is the name of a session's cookie where the site is reached without TLS.
const cookie = "riverrun"

// visitor is the person's browser, signed in.
func (p *person) visitor() *visitor {
	p.site.t.Helper()
	v := p.site.visitor()
	base, err := url.Parse(v.base)
	if err != nil {
		p.site.t.Fatal(err)
	}
	v.client.Jar.SetCookies(base, []*http.Cookie{{Name: cookie, Value: p.token}})
	return v
}

// answer is what a request brought.
type answer struct {
	t      testing.TB
	what   string
	status int
	header http.Header
	body   string
}

func (v *visitor) do(method, address string, form url.Values) *answer {
	v.t.Helper()
	r, err := http.NewRequestWithContext(v.t.Context(), method, v.base+address, strings.NewReader(form.Encode()))
	if err != nil {
		v.t.Fatal(err)
	}
	r.Header = v.header.Clone()
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	response, err := v.client.Do(r)
	if err != nil {
		v.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return &answer{v.t, method + " " + address, response.StatusCode, response.Header, string(body)}
}

func (v *visitor) get(address string) *answer {
	v.t.Helper()
	return v.do(http.MethodGet, address, nil)
}

func (v *visitor) post(address string, pairs ...string) *answer {
	v.t.Helper()
	form := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		form.Add(pairs[i], pairs[i+1])
	}
	return v.do(http.MethodPost, address, form)
}

// asRiver sends a form without fields as river.js does from a page, and returns the
// frame that answers it.
func (v *visitor) asRiver(address, page string) string {
	v.t.Helper()
	was := v.header
	defer func() { v.header = was }()
	v.header = http.Header{"Accept": {"application/json"}, "X-River-Page": {page}}
	return v.post(address).wants(http.StatusOK).body
}

func (a *answer) wants(status int) *answer {
	a.t.Helper()
	if a.status != status {
		a.t.Errorf("%s: status %d, want %d\n%.600s", a.what, a.status, status, readText([]byte(a.body)))
	}
	return a
}

func (a *answer) leadsTo(address string) *answer {
	a.t.Helper()
	a.wants(http.StatusSeeOther)
	if got := a.header.Get("Location"); got != address {
		a.t.Errorf("%s: leads to %q, want %q", a.what, got, address)
	}
	return a
}

func (a *answer) has(texts ...string) *answer {
	a.t.Helper()
	for _, text := range texts {
		if !strings.Contains(a.body, text) {
			a.t.Errorf("%s: no %q in\n%s", a.what, text, a.body)
		}
	}
	return a
}

func (a *answer) lacks(texts ...string) *answer {
	a.t.Helper()
	for _, text := range texts {
		if strings.Contains(a.body, text) {
			a.t.Errorf("%s: %q in\n%s", a.what, text, a.body)
		}
	}
	return a
}

// firstCode finds the code of the first entry on a page.
var firstCode = regexp.MustCompile(`data-post="([0-9a-z]{10})"`)

func (a *answer) code() string {
	a.t.Helper()
	m := firstCode.FindStringSubmatch(a.body)
	if m == nil {
		a.t.Fatalf("%s: no entry in\n%s", a.what, a.body)
	}
	return m[1]
}

var commentIDs = regexp.MustCompile(`id="c-(\d+)"`)

var tags = regexp.MustCompile(`<[^>]*>`)

// readText is the text of HTML as a browser shows it, on one line.
func readText(html []byte) string {
	return strings.Join(strings.Fields(string(tags.ReplaceAll(html, nil))), " ")
}
