package webtest

import (
	"bytes"
	"cmp"
	"io"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// LogTo is a log that writes to w.
func LogTo(w io.Writer) *slog.Logger { return slog.New(slog.NewTextHandler(w, nil)) }

// Visitor is a browser without JavaScript.
type Visitor struct {
	T      testing.TB
	Base   string
	Client *http.Client
	Header http.Header
}

// plainly does not ask for compression, which costs time on both sides; the tests of
// compression ask for it themselves.
var plainly = func() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DisableCompression = true
	return t
}()

// Visitor is somebody's browser, signed out.
func (s *Site) Visitor() *Visitor {
	s.T.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.T.Fatal(err)
	}
	return &Visitor{T: s.T, Base: s.HTTP.URL, Header: http.Header{}, Client: &http.Client{
		Transport: plainly, Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Cookie is the name of a session's cookie where the site is reached without TLS.
const Cookie = "riverrun"

// Visitor is the person's browser, signed in.
func (p *Person) Visitor() *Visitor {
	p.Site.T.Helper()
	v := p.Site.Visitor()
	base, err := url.Parse(v.Base)
	if err != nil {
		p.Site.T.Fatal(err)
	}
	v.Client.Jar.SetCookies(base, []*http.Cookie{{Name: Cookie, Value: p.Token}})
	return v
}

// Answer is what a request brought.
type Answer struct {
	T      testing.TB
	What   string
	Status int
	Header http.Header
	Body   string
}

// Do sends a request, with form as its body.
func (v *Visitor) Do(method, address string, form url.Values) *Answer {
	v.T.Helper()
	r, err := http.NewRequestWithContext(v.T.Context(), method, v.Base+address, strings.NewReader(form.Encode()))
	if err != nil {
		v.T.Fatal(err)
	}
	r.Header = v.Header.Clone()
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	response, err := v.Client.Do(r)
	if err != nil {
		v.T.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		v.T.Fatal(err)
	}
	return &Answer{v.T, method + " " + address, response.StatusCode, response.Header, string(body)}
}

// Get asks for a page.
func (v *Visitor) Get(address string) *Answer {
	v.T.Helper()
	return v.Do(http.MethodGet, address, nil)
}

// Post sends a form of these names and values.
func (v *Visitor) Post(address string, pairs ...string) *Answer {
	v.T.Helper()
	form := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		form.Add(pairs[i], pairs[i+1])
	}
	return v.Do(http.MethodPost, address, form)
}

// AsRiver sends a form without fields as river.js does from a page, and returns the
// frame that answers it.
func (v *Visitor) AsRiver(address, page string) string {
	v.T.Helper()
	was := v.Header
	defer func() { v.Header = was }()
	v.Header = http.Header{"Accept": {"application/json"}, "X-River-Page": {page}}
	return v.Post(address).Wants(http.StatusOK).Body
}

// Wants fails the test if the status is another.
func (a *Answer) Wants(status int) *Answer {
	a.T.Helper()
	if a.Status != status {
		a.T.Errorf("%s: status %d, want %d\n%.600s", a.What, a.Status, status, ReadText([]byte(a.Body)))
	}
	return a
}

// LeadsTo fails the test if the answer is no redirect to that address.
func (a *Answer) LeadsTo(address string) *Answer {
	a.T.Helper()
	a.Wants(http.StatusSeeOther)
	if got := a.Header.Get("Location"); got != address {
		a.T.Errorf("%s: leads to %q, want %q", a.What, got, address)
	}
	return a
}

// Has fails the test if one of the texts is not in the body, and Lacks if one is.
func (a *Answer) Has(texts ...string) *Answer {
	a.T.Helper()
	for _, text := range texts {
		if !strings.Contains(a.Body, text) {
			a.T.Errorf("%s: no %q in\n%s", a.What, text, a.Body)
		}
	}
	return a
}

// Lacks is described with Has.
func (a *Answer) Lacks(texts ...string) *Answer {
	a.T.Helper()
	for _, text := range texts {
		if strings.Contains(a.Body, text) {
			a.T.Errorf("%s: %q in\n%s", a.What, text, a.Body)
		}
	}
	return a
}

// FirstCode finds the code of the first entry on a page.
var FirstCode = regexp.MustCompile(`data-post="([0-9a-z]{10})"`)

// Code is that of the first entry on the page.
func (a *Answer) Code() string {
	a.T.Helper()
	m := FirstCode.FindStringSubmatch(a.Body)
	if m == nil {
		a.T.Fatalf("%s: no entry in\n%s", a.What, a.Body)
	}
	return m[1]
}

var CommentIDs = regexp.MustCompile(`id="c-(\d+)"`)

var tags = regexp.MustCompile(`<[^>]*>`)

// ReadText is the text of HTML as a browser shows it, on one line.
func ReadText(html []byte) string {
	return strings.Join(strings.Fields(string(tags.ReplaceAll(html, nil))), " ")
}

// An Upload is a file that a form brings.
type Upload struct {
	Name    string
	Content []byte
	Field   string // "file" if empty
}

// PostFiles sends a form of these names and values, and these files.
func (v *Visitor) PostFiles(address string, list []Upload, pairs ...string) *Answer {
	v.T.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	must := func(err error) {
		v.T.Helper()
		if err != nil {
			v.T.Fatal(err)
		}
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		must(form.WriteField(pairs[i], pairs[i+1]))
	}
	for _, f := range list {
		part, err := form.CreateFormFile(cmp.Or(f.Field, "file"), f.Name)
		must(err)
		_, err = part.Write(f.Content)
		must(err)
	}
	must(form.Close())
	r, err := http.NewRequestWithContext(v.T.Context(), http.MethodPost, v.Base+address, &body)
	must(err)
	r.Header = v.Header.Clone()
	r.Header.Set("Content-Type", form.FormDataContentType())
	response, err := v.Client.Do(r)
	must(err)
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	must(err)
	return &Answer{v.T, "POST " + address, response.StatusCode, response.Header, string(answer)}
}
