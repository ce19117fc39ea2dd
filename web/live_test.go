package web

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

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
		Limits: Limits{Writes: -1, SignIns: -1, SignUps: -1, Searches: -1},

		DatabaseTimeout: timeout,
		Live: func(c *hubConfig) {
			c.sendBuffer = 8 << 10 // so that a reader who does not read is felt soon
			if change != nil {
				change(c)
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
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
