package web

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"time"

	"riverrun/rivers"
	"riverrun/rivers/bytecache"
	"riverrun/timelines"
	"riverrun/web/pulse"
	"riverrun/web/view"
)

// Tests of the whole site need these of a server's inside. They are a package of their own,
// as their harness is made of this one.

const (
	GzipLevel       = gzipLevel
	ZstdLevel       = zstdLevel
	MaxJitter       = maxJitter
	MaxForm         = maxForm
	MaxLogged       = maxLogged
	MaxUnderWay     = maxUnderWay
	MostAccounts    = mostAccounts
	NameUnderAttack = nameUnderAttack
)

// Compress and CompressAt are the middleware that compresses answers; Delay waits before a
// sign-in that may be an attack's.
var (
	Compress   = compress
	CompressAt = compressAt
	Delay      = delay
)

// RiverAt finds the page and the river of an address.
func (s *Server) RiverAt(ctx context.Context, v timelines.Viewer, path string, query url.Values) (view.Page, rivers.Name, error) {
	return s.riverAt(ctx, v, path, query)
}

// Asset is the address of one of the site's own files.
func (s *Server) Asset(name string) string { return s.static.url(name) }

// URL is the site's public address.
func (s *Server) URL() *url.URL { return s.url }

// DatabaseTimeout is how long a request waits for the databases.
func (s *Server) DatabaseTimeout() time.Duration { return s.databaseTimeout }

// The setters change a server that runs, between two requests of the test.

func (s *Server) SetLimits(l Limits)                                    { *s.limits = *newLimits(l) }
func (s *Server) SetURL(u *url.URL)                                     { s.url = u }
func (s *Server) SetUploadGrace(d time.Duration)                        { s.uploadGrace = d }
func (s *Server) SetArriving(account int64, n int)                      { s.limits.arriving.add(accountKey(account), n) }
func (s *Server) SetListen(address string)                              { s.listen = address }
func (s *Server) SetOwnHost(only bool)                                  { s.ownHost = only }
func (s *Server) SetSessionAge(d time.Duration)                         { s.sessionAge = d }
func (s *Server) SetRenderer(r *view.Renderer)                          { s.view = r }
func (s *Server) SetProxies(nets ...netip.Prefix)                       { s.addresses = addresses{nets} }
func (s *Server) SetClock(now func() time.Time)                         { s.now = now }
func (s *Server) SetLog(log *slog.Logger)                               { s.log = log }
func (s *Server) SetDelay(d func(context.Context, time.Duration) error) { s.delay = d }

// Fail answers a request with what an error becomes.
func (s *Server) Fail(w http.ResponseWriter, r *http.Request, err error) {
	s.fail(w, &request{Request: r, loc: view.LocaleOf("en")}, err)
}

// SignInAgain answers a sign-in that failed with the form.
func (s *Server) SignInAgain(w http.ResponseWriter, r *http.Request, form view.Login, err error) error {
	return signing{s}.signInAgain(w, &request{Request: r, loc: view.LocaleOf("en")}, form, err)
}

// TryPassword tries a password within the limits of the name and of the request's address.
func (s *Server) TryPassword(r *http.Request, name string, try func() error) error {
	return s.tryPassword(&request{Request: r}, name, try)
}

// Attack counts a failed sign-in of that name.
func (s *Server) Attack(name string, now time.Time) { s.limits.signInName.add(name, 1, now) }

// AccountForms are the addresses of the forms under an account's name.
func AccountForms() (acts []string) {
	s := &Server{timelines: timelines.Open(nil, nil, timelines.DefaultOptions())}
	for act := range (accounts{s}).forms() {
		acts = append(acts, act)
	}
	return acts
}

// NextBytesWithin is how long the next bytes of a form with files may take, after n bytes have
// come that were waited for so long.
func NextBytesWithin(n int, took time.Duration) (within time.Duration) {
	began := time.Now()
	p := &paced{
		ReadCloser: http.NoBody, grace: slowestGrace, until: began.Add(uploadTime), n: int64(n), took: took,
		deadline: func(t time.Time) error { within = t.Sub(began); return nil },
	}
	_, _ = p.Read(nil)
	return within
}

// patterns is a router that lists what is added to it.
type patterns []string

func (p *patterns) Handle(pattern string, _ http.Handler) { *p = append(*p, pattern) }

func (p *patterns) HandleFunc(pattern string, _ func(http.ResponseWriter, *http.Request)) {
	*p = append(*p, pattern)
}

// Patterns are the patterns of all addresses of the site but "/".
func (s *Server) Patterns() []string {
	var all patterns
	s.route(&all)
	return all
}

// Took returns how long the answer to a form takes that reads its whole body, as /admin/health has it.
func Took(body io.Reader) time.Duration {
	mux, p := http.NewServeMux(), pulse.New(nil, nil, nil)
	timed{mux, p}.HandleFunc("POST /", func(_ http.ResponseWriter, r *http.Request) {
		r.Body = r.Body.(*boundedBody).whole
		_, _ = io.Copy(io.Discard, r.Body)
	})
	new(Server).bound(mux).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/", body))
	return p.Routes(1)[0].Max
}

// PackedUse is how the cache of compressed pages was used.
func (s *Server) PackedUse() bytecache.Use { return s.packed.pages.Use() }
