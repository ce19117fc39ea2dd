package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"riverrun/rivers"
	"riverrun/rivers/strategies"
	"riverrun/tiers"
	"riverrun/timelines"
	"riverrun/timelines/blobs"
	"riverrun/timelines/bulk"
	"riverrun/timelines/changes"
	"riverrun/timelines/doors"
	"riverrun/timelines/exports"
	"riverrun/timelines/hooks"
	"riverrun/timelines/leaving"
	"riverrun/timelines/moderation"
	"riverrun/timelines/push"
	"riverrun/timelines/reads"
	"riverrun/timelines/reports"
	"riverrun/timelines/signins"
	"riverrun/timelines/sources"
	"riverrun/timelines/sources/dictionary"
	"riverrun/timelines/stages"
	"riverrun/timelines/tokens"
	"riverrun/web/adminpages"
	"riverrun/web/api"
	"riverrun/web/live"
	"riverrun/web/pulse"
	"riverrun/web/view"
)

// Config is what a Server is made of.
type Config struct {
	Timelines *timelines.Store
	Rivers    *rivers.Store
	Tiers     *tiers.Tiers
	// Home makes home pages; nil: rivers do. Tiers must have the same.
	Home *strategies.Homes
	// Blobs keeps the content of uploads.
	Blobs blobs.Store
	// PushKeys makes the key pair by which browsers know the site's pushes, at their first use;
	// nil: there are no pushes.
	PushKeys func() (push.Keys, error)
	// FileSize is the most bytes of one upload, 0: DefaultFileSize.
	FileSize int64
	// Sources are feeds from elsewhere; nil: those of Timelines, within the usual limits.
	Sources *sources.Store
	Log     *slog.Logger
	// URL is the site's public address, such as https://river.example. Its scheme
	// decides whether cookies are Secure; forms and sockets from there are the
	// site's own.
	URL string
	// OwnHost: requests for another host than that of URL are refused. Otherwise those for a
	// host that is neither this machine's own nor the one in Listen are.
	OwnHost bool
	// Listen is the host and port that the site listens on, as the operator names them;
	// empty: those of URL.
	Listen string
	// Ready reports whether everything a page needs answers; nil: always.
	Ready func(context.Context) error
	// MetricsPage answers /metrics; nil: there is no such page. It and /readyz are for this machine
	// alone.
	MetricsPage http.Handler
	// Metrics is where the package's own figures are registered; nil: nowhere.
	Metrics prometheus.Registerer
	// SessionAge is how long a browser keeps the cookie of a session, 0: as long
	// as a store's sessions live if nothing else is said.
	SessionAge time.Duration
	// DatabaseTimeout is how long a request may wait for the databases before it is
	// answered 503, and each question of a socket, 0: DefaultDatabaseTimeout.
	DatabaseTimeout time.Duration
	// Limits bound how fast people may write and try passwords.
	Limits Limits
	// TrustedProxies are the networks of the proxies whose X-Forwarded-For is believed;
	// nil: Loopback.
	TrustedProxies []netip.Prefix
	// Backlog reports whether closed rivers may lack a change older than that; then a page
	// that is opened brings its river up to date by itself. nil: never.
	Backlog func(ctx context.Context, than time.Duration) (bool, error)
	// ChangesDays is how many days the log of changes is kept; 0: changes.DefaultDays.
	ChangesDays int
	// Figures are those of this process, for the page /admin/health; nil: it has none. They are gathered
	// every ten seconds and must not ask a database.
	Figures prometheus.Gatherer
	// Waiting counts the jobs of all processes that wait; nil: nobody knows.
	Waiting func(context.Context) (int64, error)
	// Jobs says how the jobs of all processes stand, for the same page; nil: nobody knows.
	Jobs func(context.Context, pgx.Tx) ([]adminpages.JobKind, error)
	// LimitsInForce are the operator's settings of limits, for the page /admin/limits.
	LimitsInForce []adminpages.Limit
	// Live changes how open pages are followed, for tests; nil: nothing.
	Live func(*live.Config)
}

// DefaultDatabaseTimeout is how long a request waits for the databases where nothing is
// set.
const DefaultDatabaseTimeout = 5 * time.Second

// DefaultFileSize is the most bytes of one upload where nothing is set.
const DefaultFileSize = 10_000_000

// Server answers requests. It is safe for concurrent use.
type Server struct {
	timelines *timelines.Store
	rivers    *rivers.Store
	homes     *strategies.Homes
	tiers     *tiers.Tiers
	blobs     blobs.Store
	fileSize  int64
	pushKeys  func() (push.Keys, error)
	log       *slog.Logger
	url       *url.URL
	ownHost   bool
	listen    string
	health    Health
	pageTook  *prometheus.HistogramVec // by river kind
	// sessionAge is how long a browser keeps the cookie; the store decides how long
	// the session behind it lives.
	sessionAge time.Duration
	// databaseTimeout is Config's.
	databaseTimeout time.Duration
	limits          *limits
	// uploadGrace is slowestGrace, unless a test has less patience.
	uploadGrace time.Duration
	addresses   addresses
	suggestions *suggestions
	// delay waits; tests put another in its place.
	delay  func(context.Context, time.Duration) error
	view   *view.Renderer
	pages  *live.SitePages
	static *staticFiles
	packed *packedPages
	now    func() time.Time
	hub    *live.Hub
	reads  *reads.Cache
	// dictionary has the words that give posts tags.
	dictionary *dictionary.Store
	admin      *adminpages.Pages
	pulse      *pulse.Recorder
	signins    *signins.Store
	tokens     *tokens.Store
	hooks      *hooks.Store
	used       *used
	reports    *reports.Store
	doors      *doors.Store
	exports    *exports.Store
	bulk       *bulk.Store
	leaving    *leaving.Store
	api        *api.API
	// sources are read over the connections of pages; pushing has some of its own from Start to
	// Stop, which are closed by pushingPool.
	sources, pushing *sources.Store
	pushingPool      *pgxpool.Pool
	// unhear ends the hearing of what other nodes' people have read.
	unhear func()
}

// New returns a server. Start must be called before sockets are accepted.
func New(c Config) (*Server, error) {
	address, err := url.Parse(c.URL)
	if err != nil {
		return nil, fmt.Errorf("the site's address: %w", err)
	}
	if address.Scheme != "http" && address.Scheme != "https" || address.Host == "" {
		return nil, fmt.Errorf("the site's address %q is not like https://river.example", c.URL)
	}
	host, ok := view.PlainHost(address.Hostname())
	if !ok {
		return nil, fmt.Errorf("the site's address %q names no host", c.URL)
	}
	if port := address.Port(); port != "" {
		host += ":" + port
	}
	address.Host = host
	if c.SessionAge == 0 {
		c.SessionAge = timelines.DefaultOptions().SessionAge
	}
	if c.TrustedProxies == nil {
		c.TrustedProxies = Loopback()
	}
	if c.DatabaseTimeout == 0 {
		c.DatabaseTimeout = DefaultDatabaseTimeout
	}
	static, err := loadStatic()
	if err != nil {
		return nil, err
	}
	marks := reads.New(c.Timelines.Pool(), c.Log, c.Tiers.PublishSeen)
	pages := view.NewRenderer(view.Config{Access: c.Rivers.Access(), Asset: static.url, Reads: marks})
	s := &Server{
		timelines: c.Timelines, rivers: c.Rivers, homes: cmp.Or(c.Home, strategies.NewHomes(strategies.NameRivers, strategies.Stores{Primary: c.Timelines, Rivers: c.Rivers})), tiers: c.Tiers, blobs: c.Blobs, pushKeys: c.PushKeys, fileSize: cmp.Or(c.FileSize, DefaultFileSize), sources: cmp.Or(c.Sources, sources.Open(c.Timelines)), log: c.Log, url: address, ownHost: c.OwnHost, listen: cmp.Or(c.Listen, address.Host),
		health: Health{Ready: c.Ready, Metrics: c.MetricsPage, Timeout: c.DatabaseTimeout, Log: c.Log},
		pageTook: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "riverrun_page_seconds",
			Help:    "Time to answer a page, by the kind of its river.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 2, 14),
		}, []string{"kind"}),
		sessionAge:      c.SessionAge,
		databaseTimeout: c.DatabaseTimeout,
		limits:          newLimits(c.Limits),
		uploadGrace:     slowestGrace,
		addresses:       addresses{c.TrustedProxies},
		delay:           delay,
		suggestions:     newSuggestions(),
		view:            pages,
		pages:           live.NewPages(pages, c.Rivers.Access(), c.Timelines),
		static:          static,
		reads:           marks,
		dictionary:      dictionary.Open(c.Timelines),
		pulse:           pulse.New(c.Figures, c.Waiting, c.Log),
		signins:         signins.Open(c.Timelines),
		tokens:          tokens.Open(c.Timelines),
		hooks:           hooks.Open(c.Timelines),
		used:            newUsed(signins.Open(c.Timelines), c.Log),
		reports:         reports.Open(c.Timelines),
		doors:           doors.Open(c.Timelines),
		exports:         exports.Open(c.Timelines),
		bulk:            bulk.Open(c.Timelines),
		leaving:         leaving.Open(c.Timelines),
		now:             time.Now,
	}
	s.packed = newPackedPages()
	if c.Metrics != nil {
		for _, of := range []prometheus.Collector{s.pageTook, rendered{s.rivers, pages, s.packed}} {
			if err := c.Metrics.Register(of); err != nil {
				return nil, fmt.Errorf("register metrics: %w", err)
			}
		}
	}
	s.rivers.OnEpoch(marks.Forget)
	s.rivers.OnEpoch(s.suggestions.forget)
	hub := live.Config{
		Rivers: s.rivers,
		Pages:  s.pages,
		PageOf: s.pageOf,
		Still:  s.homes.Still,
		// A page and its socket ask for the same search, each within the limit.
		MaySearch: func(v timelines.Viewer, address string) bool {
			return s.limits.liveSearch.allow(searcher(v, address)) == nil
		},
		Hear:         s.tiers.Subscribe,
		Backlog:      c.Backlog,
		Log:          s.log,
		Metrics:      c.Metrics,
		Origins:      []string{s.url.Host},
		QueryTimeout: s.databaseTimeout,
	}
	if c.Live != nil {
		c.Live(&hub)
	}
	if s.hub, err = live.New(hub); err != nil {
		return nil, err
	}
	s.api = api.New(api.Config{
		Rivers: s.rivers, Tiers: s.tiers, Timelines: s.timelines, Changes: changes.Open(s.timelines, c.ChangesDays), Stages: stages.Open(s.timelines), Opinions: moderation.Open(s.timelines), PageOf: s.pageOf,
		MayWrite: s.mayWrite, Problem: s.apiProblem, Timeout: s.databaseTimeout, Base: s.publicBase(), Log: s.log,
		Sources: pushAPI{s}.calls(), Hubs: hubCalls{s}.calls(),
		Used: func(session timelines.Session) { s.used.note(session, s.now()) },
	})
	s.admin = adminpages.New(c.Timelines, adminpages.Process{
		Rivers: s.rivers, Tiers: s.tiers, Pulse: s.pulse, Sockets: s.hub.Count, Jobs: c.Jobs, Limits: c.LimitsInForce, Log: c.Log,
		RiverOf: func(ctx context.Context, page, as string) (rivers.Name, error) {
			return RiverOf(ctx, s.timelines, s.rivers, page, as)
		},
	})
	return s, nil
}

// Start begins to serve sockets, to write how far people have read, and to take what programs push.
func (s *Server) Start(ctx context.Context) error {
	var err error
	if s.pushingPool, err = openPushing(s.timelines.Pool()); err != nil {
		return err
	}
	s.pushing = s.sources.On(s.pushingPool)
	s.unhear = s.tiers.Subscribe(func(m tiers.Message) {
		s.reads.Take(m.Seen)
		if m.All {
			s.reads.Stale()
		}
	})
	s.reads.Start(ctx)
	s.used.start(ctx)
	s.pulse.Start(ctx)
	return s.hub.Start(ctx)
}

// Stop closes all sockets with "reconnect", and writes what was read. It returns when no socket
// is left.
func (s *Server) Stop(ctx context.Context) error {
	s.api.Close()
	err := s.hub.Stop(ctx)
	if s.unhear != nil {
		s.unhear()
	}
	if s.pushingPool != nil {
		s.pushingPool.Close()
	}
	return errors.Join(err, s.reads.Stop(ctx), s.used.stop(ctx), s.pulse.Stop(ctx))
}

// router is what handlers add their addresses to; *http.ServeMux is one.
type router interface {
	Handle(pattern string, handler http.Handler)
	HandleFunc(pattern string, handler func(http.ResponseWriter, *http.Request))
}

// downloads are the routes that send whole files.
var downloads = []string{"GET " + view.DataFile, "GET /files/{code}", "GET /files/{code}/{size}", "GET /p/{code}/preview"}

// timed is a router whose answers are timed by their routes. Downloads are not: they take as long as the
// reader's line does. Nor is the time that a form takes to come.
type timed struct {
	router
	pulse *pulse.Recorder
}

func (t timed) Handle(pattern string, handler http.Handler) {
	if slices.Contains(downloads, pattern) {
		t.router.Handle(pattern, handler)
		return
	}
	t.router.Handle(pattern, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		body, bounded := r.Body.(*boundedBody) // the handler may put another one in its place
		handler.ServeHTTP(w, r)
		if bounded {
			if last := body.whole.last.Load(); last != nil {
				began = *last
			}
		}
		t.pulse.Took(pattern, time.Since(began))
	}))
}

func (t timed) HandleFunc(pattern string, handler func(http.ResponseWriter, *http.Request)) {
	t.Handle(pattern, http.HandlerFunc(handler))
}

// route adds all addresses of the site but "/".
func (s *Server) route(mux router) {
	s.routeHealth(mux)
	s.routeStatic(mux)
	for _, of := range []interface{ routes(mux router) }{
		riverPages{s},
		searches{s},
		feedFiles{s},
		filePages{s},
		pushes{s},
		posts{s},
		comments{s},
		unsent{s},
		mine{s},
		schedules{s},
		reactions{s},
		market{s},
		lists{s},
		groups{s},
		directory{s},
		signing{s},
		settings{s},
		introduction{s},
		hiding{s},
		notifications{s},
		subfeeds{s},
		sourcePages{s},
		tagWords{s},
		accounts{s},
		feedHelp{s},
		apiHelp{s},
		postHelp{s},
		staffPages{s},
		sessions{s},
		appTokens{s},
		webhooks{s},
		reporting{s},
		held{s},
		approvals{s},
		invitations{s},
		ownData{s},
		aboutPages{s},
	} {
		of.routes(timed{mux, s.pulse})
	}
	s.api.Routes(timed{mux, s.pulse})
	mux.HandleFunc("GET /ws", s.follow)
}

// Handler returns the whole site.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	s.route(mux)
	mux.Handle("/", s.page(func(w http.ResponseWriter, r *request) error { return nowhere(mux, w, r) }))

	guard := http.NewCrossOriginProtection()
	if err := guard.AddTrustedOrigin(s.url.Scheme + "://" + s.url.Host); err != nil {
		s.log.Warn("the site's address is no origin; forms are compared with the Host header alone", "error", err)
	}
	guard.AddInsecureBypassPattern("/api/") // no cookie counts there
	guard.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.refuseUnread(w, s.newRequest(r), errCrossOrigin)
	}))

	return compress(s.observe(s.secure(s.misdirected(s.bound(guard.Handler(oldAddresses(mux)))))))
}

// follow serves the socket of an open page. A session that has ended gets its socket
// closed with the code that says so: a refused handshake tells a browser's script nothing.
//
// It reads the session and nothing else: after a restart the sockets of all open pages come at
// once.
func (s *Server) follow(w http.ResponseWriter, plain *http.Request) {
	bounded, cancel := s.bounded(plain)
	defer cancel()
	r := s.newRequest(bounded)
	v, err := s.viewer(r.Request)
	ended := errors.Is(err, timelines.ErrSignedOut)
	if err != nil && !ended {
		s.fail(w, r, err)
		return
	}
	if !v.Anonymous() {
		s.used.note(v.Session, s.now())
	}
	s.hub.Serve(w, r.Request, v, s.addresses.key(r.Request), ended)
}

// slashed is the address of an account's page but for the slash at its end.
var slashed = regexp.MustCompile(`^/([a-z0-9-]+)/$`)

// movedTo sends the browser to the right address of the page, query and all.
func movedTo(w http.ResponseWriter, r *http.Request, path string) error {
	if r.URL.RawQuery != "" {
		path += "?" + r.URL.RawQuery
	}
	http.Redirect(w, r, path, http.StatusMovedPermanently)
	return nil
}

// nowhere answers a request that no other pattern matches: there is no such address, or it
// has other methods. An account's address with a slash at its end leads to its page, whether
// or not there is such an account.
func nowhere(mux *http.ServeMux, w http.ResponseWriter, r *request) error {
	if m := slashed.FindStringSubmatch(strings.ToLower(r.URL.EscapedPath())); m != nil && timelines.IsName(m[1]) &&
		!slices.Contains(timelines.ReservedNames, m[1]) && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
		return movedTo(w, r.Request, "/"+m[1])
	}
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		other := r.Clone(r.Context())
		other.Method = method
		if _, pattern := mux.Handler(other); strings.HasPrefix(pattern, method+" ") {
			allowed = append(allowed, method)
		}
	}
	if len(allowed) == 0 {
		return errNoPage
	}
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	return errMethod
}
