package load

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Site is a running riverrun, as a client reaches it. It is safe for concurrent use.
type Site struct {
	url    string
	client *http.Client
}

// patience bounds a request. A site that takes longer has failed.
const patience = time.Minute

// NewSite returns the site at an address ("http://127.0.0.1:8080"). connections is how many of them
// stay open when no request uses them.
func NewSite(address string, connections int) *Site {
	return &Site{
		url: strings.TrimSuffix(address, "/"),
		client: &http.Client{
			Timeout: patience,
			Transport: &http.Transport{
				MaxIdleConns: connections, MaxIdleConnsPerHost: connections,
				DisableCompression: true, // a request says what it accepts
			},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// Close ends the connections that no request uses.
func (s *Site) Close() { s.client.CloseIdleConnections() }

// Person is somebody who is signed in. The zero Cookie is nobody.
type Person struct {
	Site   *Site
	Name   string
	Cookie string
}

// Nobody is a visitor who is not signed in.
func (s *Site) Nobody() *Person { return &Person{Site: s} }

// SignIn signs a person in by the form.
func (s *Site) SignIn(ctx context.Context, name, password string) (*Person, error) {
	p := &Person{Site: s, Name: name}
	answer, err := p.send(ctx, http.MethodPost, "/login", url.Values{"username": {name}, "password": {password}}, nil)
	if err != nil {
		return nil, err
	}
	for _, c := range (&http.Response{Header: answer.Header}).Cookies() {
		if strings.HasSuffix(c.Name, "riverrun") && c.Value != "" {
			p.Cookie = c.Name + "=" + c.Value
		}
	}
	if answer.Status != http.StatusSeeOther || p.Cookie == "" {
		return nil, fmt.Errorf("sign in as %s: status %d", name, answer.Status)
	}
	return p, nil
}

// Answer is what came back.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte // as it was sent, compressed or not
}

// Get loads a page, not compressed. A status other than 200 is an error.
func (p *Person) Get(ctx context.Context, path string) (string, error) {
	a, err := p.GetAs(ctx, path, "identity")
	return string(a.Body), err
}

// GetAs loads a page in one of the encodings, as Accept-Encoding lists them.
func (p *Person) GetAs(ctx context.Context, path, encodings string) (Answer, error) {
	a, err := p.send(ctx, http.MethodGet, path, nil, http.Header{"Accept-Encoding": {encodings}, "Accept": {"text/html"}})
	if err == nil && a.Status != http.StatusOK {
		err = fmt.Errorf("GET %s: status %d", path, a.Status)
	}
	return a, err
}

// Act sends a form as the script of a page does, from the page at that address, and returns the
// frame that answers it. A status other than 200 is an error.
func (p *Person) Act(ctx context.Context, path, page string, form url.Values) (string, error) {
	a, err := p.send(ctx, http.MethodPost, path, form, http.Header{"Accept": {"application/json"}, "X-River-Page": {page}})
	if err == nil && a.Status != http.StatusOK {
		err = fmt.Errorf("POST %s: status %d: %.200s", path, a.Status, a.Body)
	}
	return string(a.Body), err
}

// ActOn is Act on a post. It returns how new the post is in the entry that the frame brings.
func (p *Person) ActOn(ctx context.Context, post, act, page string, form url.Values) (fold int64, err error) {
	text, err := p.Act(ctx, "/p/"+post+"/"+act, page, form)
	if err != nil {
		return 0, err
	}
	_, fold, err = entryOf(text)
	if err != nil {
		err = fmt.Errorf("the answer to %s of post %s: %w", act, post, err)
	}
	return fold, err
}

// Write writes a post from the page at that address. It returns its code, and how new it is in the entry that the
// frame brings.
func (p *Person) Write(ctx context.Context, page, body string) (code string, fold int64, err error) {
	text, err := p.Act(ctx, "/posts", page, url.Values{"body": {body}})
	if err != nil {
		return "", 0, err
	}
	if code, fold, err = entryOf(text); err != nil {
		err = fmt.Errorf("the answer to a new post: %w", err)
	}
	return code, fold, err
}

// entryOf reads a frame.
func entryOf(frame string) (code string, fold int64, err error) {
	var said struct{ Post, Version string }
	if err := json.Unmarshal([]byte(frame), &said); err != nil {
		return "", 0, err
	}
	fold, err = Fold(said.Version)
	return said.Post, fold, err
}

// GetAgain loads a page that the client has, whose entity tag is tag. A page that changed is an error.
func (p *Person) GetAgain(ctx context.Context, path, tag string) error {
	a, err := p.send(ctx, http.MethodGet, path, nil, http.Header{"Accept-Encoding": {"zstd, gzip"}, "Accept": {"text/html"}, "If-None-Match": {tag}})
	if err == nil && a.Status != http.StatusNotModified {
		err = fmt.Errorf("GET %s again: status %d", path, a.Status)
	}
	return err
}

func (p *Person) send(ctx context.Context, method, path string, form url.Values, header http.Header) (_ Answer, err error) {
	r, err := http.NewRequestWithContext(ctx, method, p.Site.url+path, strings.NewReader(form.Encode()))
	if err != nil {
		return Answer{}, err
	}
	if header != nil {
		r.Header = header
	}
	if p.Cookie != "" {
		r.Header.Set("Cookie", p.Cookie)
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	response, err := p.Site.client.Do(r)
	if err != nil {
		return Answer{}, err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode == http.StatusServiceUnavailable {
		err = fmt.Errorf("%s %s: %w: %.200s", method, path, ErrBusy, body)
	}
	return Answer{Status: response.StatusCode, Header: response.Header, Body: body}, err
}
