package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"riverrun/migrations/testdb"
	"riverrun/rivers"
	"riverrun/tiers"
	"riverrun/timelines"
)

// patience is how long a test waits for what must come; it fails after that.
const patience = 20 * time.Second

// liveSite is a whole server on real stores, listening.
type liveSite struct {
	t      testing.TB
	db     *testdb.DB
	store  *timelines.Store
	rivers *rivers.Store
	tiers  *tiers.Tiers
	server *Server
	http   *httptest.Server

	mu     sync.Mutex // guards behind
	behind []timelines.Touched
	wrong  []timelines.Replace
}

// newLiveSite starts a site whose hub is configured by change.
func newLiveSite(t testing.TB, change func(*hubConfig)) *liveSite {
	t.Helper()
	return newLiveSiteOver(t, rivers.DefaultOptions(), change)
}

// newLiveSiteOver is newLiveSite over rivers of these options.
func newLiveSiteOver(t testing.TB, opts rivers.Options, change func(*hubConfig)) *liveSite {
	t.Helper()
	return newNode(t, testdb.New(t), 0, opts, change)
}

// storeOptions are those of production, but that a password takes next to nothing where
// nothing is measured: people sign up in every test.
func storeOptions(t testing.TB) timelines.Options {
	o := timelines.DefaultOptions()
	if _, measures := t.(*testing.B); !measures {
		o.HashCost = timelines.HashCost{MemoryKiB: 64, Passes: 1, Threads: 1}
	}
	return o
}

// newNode starts another node on the stores of a site, with that bound on waiting for
// them.
func newNode(t testing.TB, db *testdb.DB, timeout time.Duration, opts rivers.Options, change func(*hubConfig)) *liveSite {
	t.Helper()
	ctx := t.Context()
	s := &liveSite{t: t, db: db}
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	s.store = timelines.Open(s.db.Primary, nil, storeOptions(t))
	s.rivers = rivers.Open(s.db.Secondary, s.store, log, opts)
	s.tiers = tiers.New(tiers.Config{Timelines: s.store, Rivers: s.rivers, Secondary: s.db.Secondary, Log: log})
	s.http = httptest.NewUnstartedServer(nil)
	var err error
	s.server, err = New(Config{
		Timelines: s.store, Rivers: s.rivers, Tiers: s.tiers, Log: log,
		URL:    "http://" + s.http.Listener.Addr().String(),
		Limits: Limits{Writes: -1, SignIns: -1, SignUps: -1},

		DatabaseTimeout: timeout,
	})
	if err != nil {
		t.Fatal(err)
	}
	cfg := s.server.hub.cfg
	cfg.sendBuffer = 8 << 10 // so that a reader who does not read is felt soon
	if change != nil {
		change(&cfg)
	}
	s.server.hub = makeHub(cfg, s.server.hub.metric)
	for _, start := range []func(context.Context) error{s.rivers.Start, s.tiers.Start, s.server.Start} {
		if err := start(ctx); err != nil {
			t.Fatal(err)
		}
	}
	s.http.Config.Handler = s.server.Handler()
	s.http.Start()
	t.Cleanup(s.stop)
	return s
}

func (s *liveSite) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for _, stop := range []func(context.Context) error{s.server.Stop, s.tiers.Stop, s.rivers.Stop} {
		if err := stop(ctx); err != nil {
			s.t.Errorf("stop: %v", err)
		}
	}
	s.http.Close()
}

// person is somebody signed in.
type person struct {
	site    *liveSite
	account timelines.Account
	viewer  timelines.Viewer
	token   string
}

const password = "a long enough one"

func (s *liveSite) person(name string) *person {
	s.t.Helper()
	ctx := s.t.Context()
	if _, err := s.store.SignUp(ctx, timelines.SignUp{Name: name, Title: name, Password: password}); err != nil {
		s.t.Fatalf("sign up %s: %v", name, err)
	}
	token, account, err := s.store.SignIn(ctx, name, password)
	if err != nil {
		s.t.Fatalf("sign in %s: %v", name, err)
	}
	session, ok := timelines.SessionOf(token)
	if !ok {
		s.t.Fatalf("token %q is none", token)
	}
	return &person{site: s, account: account, token: token, viewer: timelines.Viewer{AccountID: account.ID, Session: session}}
}

// act makes a change as a handler does: when it returns, the person's own rivers
// show it.
func (p *person) act(change func(context.Context) (timelines.Change, error)) timelines.Change {
	p.site.t.Helper()
	c, err := p.site.tiers.Act(p.site.t.Context(), change)
	if err != nil {
		p.site.t.Fatalf("%s: %v", p.account.Name, err)
	}
	p.site.mu.Lock()
	defer p.site.mu.Unlock()
	p.site.behind = append(p.site.behind, timelines.Touched{PostID: c.PostID, Timelines: c.Touched})
	for _, r := range c.Replace {
		if len(r.Terms) > 0 {
			p.site.wrong = append(p.site.wrong, timelines.Replace{Everybody: true, Kinds: r.Kinds, Terms: r.Terms})
		}
	}
	return c
}

// followUp does what the job queue would: rivers nobody has open follow too, and
// those of tags first used are replaced.
func (s *liveSite) followUp() {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.tiers.Follow(s.t.Context(), s.behind); err != nil {
		s.t.Fatal(err)
	}
	for _, r := range s.wrong {
		s.replace(r)
	}
	s.behind, s.wrong = nil, nil
}

// replace does what the jobs of a Replace do.
func (s *liveSite) replace(r timelines.Replace) {
	s.t.Helper()
	open, err := s.tiers.Spread(s.t.Context(), r)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, n := range open {
		if err := s.tiers.Rebuild(s.t.Context(), n); err != nil {
			s.t.Fatal(err)
		}
	}
}

func (p *person) post(body string, to ...string) timelines.Change {
	p.site.t.Helper()
	return p.act(func(ctx context.Context) (timelines.Change, error) {
		return p.site.store.CreatePost(ctx, timelines.NewPost{Author: p.account.ID, Body: body, To: to})
	})
}

func (p *person) like(code string) {
	p.site.t.Helper()
	p.act(func(ctx context.Context) (timelines.Change, error) { return p.site.store.Like(ctx, p.account.ID, code) })
}

func (p *person) comment(code, body string) timelines.Change {
	p.site.t.Helper()
	return p.act(func(ctx context.Context) (timelines.Change, error) {
		return p.site.store.CreateComment(ctx, timelines.NewComment{Author: p.account.ID, Code: code, Body: body})
	})
}

func (p *person) likeComment(code string, id int64) {
	p.site.t.Helper()
	p.act(func(ctx context.Context) (timelines.Change, error) {
		return p.site.store.LikeComment(ctx, p.account.ID, code, id)
	})
}

func (p *person) edit(code, body string) {
	p.site.t.Helper()
	p.act(func(ctx context.Context) (timelines.Change, error) {
		return p.site.store.EditPost(ctx, p.account.ID, code, body)
	})
}

func (p *person) remove(code string) {
	p.site.t.Helper()
	p.act(func(ctx context.Context) (timelines.Change, error) {
		return p.site.store.DeletePost(ctx, p.account.ID, code)
	})
}

func (p *person) subscribe(name string) {
	p.site.t.Helper()
	p.act(func(ctx context.Context) (timelines.Change, error) {
		c, _, err := p.site.store.Subscribe(ctx, p.account.ID, name)
		return c, err
	})
}

func (p *person) signOut() {
	p.site.t.Helper()
	p.act(func(ctx context.Context) (timelines.Change, error) { return p.site.store.SignOut(ctx, p.viewer) })
}

// frame is any frame of the server.
type frame struct {
	T       string            `json:"t"`
	River   string            `json:"river"`
	Post    string            `json:"post"`
	Version string            `json:"version"`
	Place   int64             `json:"place"`
	Parts   map[string]string `json:"parts"`
	HTML    string            `json:"html"`
	More    bool              `json:"more"`
	Sight   string            `json:"sight"`
}

// page is what a client shows, kept as PROTOCOL.md tells a client to.
type page struct {
	t       testing.TB
	conn    *websocket.Conn
	address string
	viewer  *string
	river   string
	sight   string // as the page was served with; a client keeps up with said
	said    string // by the last ok
	shown   map[string]frame
	parts   map[string]map[string]string // of those entries it was sent whole
	frames  int
}

// take puts into what is shown of an entry at one stamp those parts of a frame of another
// that are not older, as PROTOCOL.md tells a client to.
func take(shown, parts map[string]string, was, is rivers.Stamp) {
	for name, text := range parts {
		switch name {
		case "why", "acts", "box":
			if is.Entry < was.Entry {
				continue
			}
		default:
			if is.Fold < was.Fold {
				continue
			}
		}
		shown[name] = text
	}
}

// dial opens a socket as somebody, nil for nobody, and fails with the response's
// status if that is refused.
func (s *liveSite) dial(p *person, header http.Header) (*websocket.Conn, int, error) {
	s.t.Helper()
	if header == nil {
		header = http.Header{}
	}
	if p != nil {
		header.Set("Cookie", s.server.cookieName()+"="+p.token)
	}
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	conn, response, err := websocket.Dial(ctx, s.http.URL+"/ws", &websocket.DialOptions{HTTPHeader: header})
	status := 0
	if response != nil {
		status = response.StatusCode
	}
	if err != nil {
		return nil, status, err
	}
	conn.SetReadLimit(-1)
	s.t.Cleanup(func() { _ = conn.CloseNow() }) // it may be closed already
	return conn, status, nil
}

// open shows a page of the site to somebody and follows it.
func (s *liveSite) open(p *person, address string) *page {
	s.t.Helper()
	g := &page{t: s.t, address: address, shown: map[string]frame{}}
	g.follow(s, p)
	return g
}

// follow connects and subscribes with what is shown, and returns after ok.
func (g *page) follow(s *liveSite, p *person) {
	g.t.Helper()
	g.connect(s, p)
	g.until("ok", func(f frame) bool { return f.T == "ok" })
}

// connect is follow without waiting for an answer.
func (g *page) connect(s *liveSite, p *person) {
	g.t.Helper()
	conn, status, err := s.dial(p, nil)
	if err != nil {
		g.t.Fatalf("dial: %v (status %d)", err, status)
	}
	g.conn = conn
	g.subscribe()
}

func (g *page) subscribe() {
	g.t.Helper()
	entries := map[string]string{}
	for code, f := range g.shown {
		entries[code] = f.Version
	}
	said := map[string]any{"t": "subscribe", "page": g.address, "lang": "en", "river": g.river, "sight": g.sight, "entries": entries}
	lowest := ""
	for code, f := range g.shown {
		if f.Place > 0 && (lowest == "" || f.Place < g.shown[lowest].Place) {
			lowest = code
		}
	}
	if lowest != "" {
		said["down"] = strconv.FormatInt(g.shown[lowest].Place, 10) + "." + lowest
	}
	if g.viewer != nil {
		said["viewer"] = *g.viewer
	}
	g.say(said)
}

func (g *page) say(v any) {
	g.t.Helper()
	message, err := json.Marshal(v)
	if err != nil {
		g.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(g.t.Context(), patience)
	defer cancel()
	if err := g.conn.Write(ctx, websocket.MessageText, message); err != nil {
		g.t.Fatalf("write %s: %v", message, err)
	}
}

// read takes the next frame and applies it. Signs of life are none: who waits for a frame
// that does not come must not wait for ever.
func (g *page) read() (frame, error) {
	ctx, cancel := context.WithTimeout(g.t.Context(), patience)
	defer cancel()
	f := frame{T: "beat"}
	for f.T == "beat" {
		_, message, err := g.conn.Read(ctx)
		if err != nil {
			return frame{}, err
		}
		f = frame{}
		if err := json.Unmarshal(message, &f); err != nil {
			return frame{}, fmt.Errorf("frame %s: %w", message, err)
		}
	}
	g.frames++
	switch f.T {
	case "river":
		g.river = f.River
		for code, old := range g.shown {
			old.Version = "0.0"
			g.shown[code] = old
		}
	case "entry":
		was, known := g.shown[f.Post]
		if f.HTML == "" && !known {
			return f, fmt.Errorf("parts of %s, which is not shown", f.Post)
		}
		old, _ := parseVersion(was.Version)
		now, ok := parseVersion(f.Version)
		if known && (!ok || newer(old.Stamp, now.Stamp) && !newer(now.Stamp, old.Stamp)) {
			return f, fmt.Errorf("%s went back from %s to %s", f.Post, was.Version, f.Version)
		}
		g.shown[f.Post] = f
		g.keep(f, old.Stamp, now.Stamp)
	case "gone":
		delete(g.shown, f.Post)
		delete(g.parts, f.Post)
	case "ok":
		g.said = f.Sight
	}
	return f, nil
}

// keep puts an entry's frame into what is shown of it.
func (g *page) keep(f frame, was, is rivers.Stamp) {
	parts := maps.Clone(g.parts[f.Post])
	switch {
	case f.HTML != "" && parts == nil:
		parts = partsOf(f.HTML)
	case parts != nil:
		take(parts, partsOf(f.HTML), was, is)
		take(parts, f.Parts, was, is)
	default:
		return // of an entry as the page was served
	}
	if g.parts == nil {
		g.parts = map[string]map[string]string{}
	}
	g.parts[f.Post] = parts
}

// until reads until a frame is what is waited for.
func (g *page) until(what string, is func(frame) bool) frame {
	g.t.Helper()
	for {
		f, err := g.read()
		if err != nil {
			g.t.Fatalf("waiting for %s: %v", what, err)
		}
		if is(f) {
			return f
		}
	}
}

// untilEntry reads until something of the entry is sent. A frame without parts does
// not count: it brings the stamp alone, of an entry whose fold was read first.
func (g *page) untilEntry(code string) frame {
	g.t.Helper()
	return g.until("entry "+code, func(f frame) bool {
		return f.T == "entry" && f.Post == code && (f.HTML != "" || len(f.Parts) > 0)
	})
}

func (g *page) untilGone(code string) frame {
	g.t.Helper()
	return g.until("gone "+code, func(f frame) bool { return f.T == "gone" && f.Post == code })
}

// closed reads until the server closes the socket, and returns how.
func (g *page) closed() websocket.CloseError {
	g.t.Helper()
	for {
		if _, err := g.read(); err != nil {
			var closed websocket.CloseError
			if !errors.As(err, &closed) {
				g.t.Fatalf("read: %v, want a close code", err)
			}
			return closed
		}
	}
}

// sameAsReload compares what is shown with the page as it is now, and one that has grown
// past a first one with as many pages as it reaches down to.
func (g *page) sameAsReload(s *liveSite, p *person, n rivers.Name) {
	g.t.Helper()
	v := timelines.Viewer{}
	if p != nil {
		v = p.viewer
	}
	now, err := s.rivers.Visit(g.t.Context(), v, n, rivers.Cursor{})
	if err != nil {
		g.t.Fatal(err)
	}
	lowest := int64(math.MaxInt64)
	for _, f := range g.shown {
		lowest = min(lowest, f.Place)
	}
	for now.More && now.Next.Place > lowest {
		older, err := s.rivers.Visit(g.t.Context(), v, n, now.Next)
		if err != nil {
			g.t.Fatal(err)
		}
		within := slices.IndexFunc(older.Items, func(it rivers.Item) bool { return it.Place < lowest })
		if within >= 0 {
			older.Items, older.More = older.Items[:within], false
		}
		now.Items, now.More, now.Next = append(now.Items, older.Items...), older.More, older.Next
	}
	if got, want := g.river, strconv.FormatInt(now.River, 10); got != want {
		g.t.Errorf("page is of river %s, a reload of %s", got, want)
	}
	if len(g.shown) != len(now.Items) {
		g.t.Errorf("page shows %d entries, a reload %d", len(g.shown), len(now.Items))
	}
	veils, err := s.server.veils(g.t.Context(), now.Items, now.Sets)
	if err != nil {
		g.t.Fatal(err)
	}
	for i, it := range now.Items {
		f := g.shown[it.Fold.Text.Code]
		if at := (version{it.Stamp, veils[i]}); f.Version != at.String() || f.Place != it.Place {
			g.t.Errorf("page shows %s at %q, place %d; a reload %s, place %d", it.Fold.Text.Code, f.Version, f.Place, at, it.Place)
		}
		is := g.parts[it.Fold.Text.Code]
		if is == nil {
			continue
		}
		would, _, err := s.server.renderEntry(g.t.Context(), look{v, "en", g.address}, n, now.Sets, it)
		if err != nil {
			g.t.Fatal(err)
		}
		for i, html := range [parts][]byte{would.Why, would.Body, would.Acts, would.Likes, would.Comments} {
			if name := partNames[i]; lasting(is[name]) != lasting(string(html)) {
				g.t.Errorf("page shows as %s of %s\n%s\na reload\n%s", name, it.Fold.Text.Code, is[name], html)
			}
		}
	}
}

// await waits until something is so, asking anew whenever the hub may have
// moved on; it fails after patience, saying what else there is to say.
func await(t testing.TB, what string, so func() bool, otherwise ...func() string) {
	t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	often := time.NewTicker(2 * time.Millisecond)
	defer often.Stop()
	for !so() {
		select {
		case <-deadline.C:
			more := ""
			for _, say := range otherwise {
				more += "\n" + say()
			}
			t.Fatalf("%s: not so after %v%s", what, patience, more)
		case <-often.C:
		}
	}
}

// figure reads a gauge or counter.
func figure(t testing.TB, m prometheus.Metric) float64 {
	t.Helper()
	var out dto.Metric
	if err := m.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.GetGauge().GetValue() + out.GetCounter().GetValue()
}

func sessionOf(t testing.TB, token string) timelines.Session {
	t.Helper()
	session, ok := timelines.SessionOf(token)
	if !ok {
		t.Fatalf("token %q is none", token)
	}
	return session
}
