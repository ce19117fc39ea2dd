package webtest

import (
	"cmp"
	"context"
	"encoding/binary"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"

	"riverrun/jobs"
	"riverrun/jobs/fetch"
	loads "riverrun/jobs/sources"
	"riverrun/jobs/uploads"
	"riverrun/migrations/testdb"
	"riverrun/rivers"
	"riverrun/rivers/lines"
	"riverrun/rivers/strategies"
	"riverrun/tiers"
	"riverrun/timelines"
	"riverrun/timelines/access"
	"riverrun/timelines/admin"
	"riverrun/timelines/blobs"
	"riverrun/timelines/bulk"
	"riverrun/timelines/changes"
	"riverrun/timelines/exports"
	"riverrun/timelines/hooks"
	"riverrun/timelines/leaving"
	"riverrun/timelines/sources"
	"riverrun/web"
	"riverrun/web/adminpages"
	"riverrun/web/live"
)

// Patience is how long a test waits for something that must come. Then it fails.
const Patience = 20 * time.Second

// A Site is a whole server on real stores, listening.
type Site struct {
	T      testing.TB
	DB     *testdb.DB
	Store  *timelines.Store
	Rivers *rivers.Store
	Tiers  *tiers.Tiers
	Blobs  blobs.Store
	Server *web.Server
	HTTP   *httptest.Server
	// BlobsFull makes the store of blobs refuse what is put; BlobsPut counts what was begun.
	BlobsFull atomic.Bool
	BlobsPut  atomic.Int64
	// Live is what the site's hub was made with. Tell hands the hub a message as the bus does.
	Live    live.Config
	Tell    func(tiers.Message)
	metrics *prometheus.Registry
	log     *watchedLog

	mu          sync.Mutex // guards the fields below
	behind      []timelines.Touched
	invalidated []timelines.Replace
	changes     []timelines.Event // that home feeds are behind

	// hubMu guards the fields below. It is held for moments only.
	hubMu   sync.Mutex
	sockets map[net.Conn]struct{}
	decided map[int64][]string // see Decisions
	heard   map[int64]struct{} // posts that the hub was told of
}

// New starts a site whose hub is configured by change.
func New(t testing.TB, change func(*live.Config)) *Site {
	t.Helper()
	return NewOver(t, rivers.DefaultOptions(), change)
}

// NewOver is New over rivers of these options.
func NewOver(t testing.TB, opts rivers.Options, change func(*live.Config)) *Site {
	t.Helper()
	return NewNode(t, testdb.New(t), 0, opts, change)
}

// StoreOptions are those of production. Only passwords take next to no time, unless a benchmark
// measures, as people sign up in every test.
func StoreOptions(t testing.TB) timelines.Options {
	o := timelines.DefaultOptions()
	if _, measures := t.(*testing.B); !measures {
		o.HashCost.Memory, o.HashCost.Iterations = 64, 1
	}
	return o
}

// NewNode starts another node on the stores of a site. It waits for them no longer than timeout,
// 0 for the default.
func NewNode(t testing.TB, db *testdb.DB, timeout time.Duration, opts rivers.Options, change func(*live.Config)) *Site {
	t.Helper()
	return newNode(t, db, timeout, opts, change, nil, "")
}

// NewHome starts another node on the stores of a site. It makes home pages by the strategy of that
// name.
func NewHome(t testing.TB, db *testdb.DB, strategy string) *Site {
	t.Helper()
	return newNode(t, db, 0, rivers.DefaultOptions(), nil, nil, strategy)
}

// NewLively is New of a site whose changes announce jobs, and that works them. Sources may be fetched
// from this machine.
func NewLively(t testing.TB) *Site {
	t.Helper()
	announcer, err := jobs.NewAnnouncer(newWatchedLog(t).logger())
	if err != nil {
		t.Fatal(err)
	}
	db := testdb.New(t)
	if err := jobs.Migrate(t.Context(), db.Primary); err != nil {
		t.Fatal(err)
	}
	s := newNode(t, db, 0, rivers.DefaultOptions(), nil, announcer, "")
	client, err := fetch.New(fetch.Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	if err != nil {
		t.Fatal(err)
	}
	work, err := jobs.New(jobs.Config{
		Pool: s.DB.Primary, Announcer: announcer, Tiers: s.Tiers, Rivers: s.Rivers, Timelines: s.Store.Maintenance, Staff: admin.Open(s.Store), Exports: exports.Open(s.Store), Changes: changes.Open(s.Store, 0), Hooks: hooks.Open(s.Store), Lines: lines.Open(s.Rivers, changes.Open(s.Store, 0), s.HTTP.URL), Bulk: bulk.Open(s.Store), Leaving: leaving.Open(s.Store), Files: s.Store.Files, Blobs: s.Blobs,
		Links: s.Store.Links, Fetch: client, Pushes: s.Store.Pushes, Sources: sources.Open(s.Store), Callback: s.HTTP.URL,
		DueEvery: 200 * time.Millisecond,
		Log:      s.log.logger(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), Patience)
		defer cancel()
		if err := work.Stop(ctx); err != nil {
			t.Errorf("stop jobs: %v", err)
		}
	})
	if err := work.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

func newNode(t testing.TB, db *testdb.DB, timeout time.Duration, opts rivers.Options, change func(*live.Config), announcer timelines.Announcer, home string) *Site {
	t.Helper()
	ctx := t.Context()
	s := &Site{
		T: t, DB: db, metrics: prometheus.NewRegistry(),
		sockets: map[net.Conn]struct{}{}, log: newWatchedLog(t),
	}
	log := s.log.logger()
	s.Store = timelines.Open(s.DB.Primary, announcer, StoreOptions(t))
	if _, measures := t.(*testing.B); !measures {
		opts.Few = -1 // the test says when changes reach others (FollowUp)
	}
	s.Rivers = rivers.Open(s.DB.Secondary, s.Store, log, opts)
	made := strategies.NewHomes(cmp.Or(home, strategies.NameRivers), strategies.Stores{Primary: s.Store, Rivers: s.Rivers, Secondary: s.DB.Secondary})
	s.Tiers = tiers.New(tiers.Config{Timelines: s.Store, Rivers: s.Rivers, Home: made, Secondary: s.DB.Secondary, Log: log})
	s.HTTP = httptest.NewUnstartedServer(nil)
	s.HTTP.Config.ConnState = s.notice
	directory, err := (blobs.Location{}).Open(ctx, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s.Blobs = watchedBlobs{directory, s}
	s.Server, err = web.New(web.Config{
		Timelines: s.Store, Rivers: s.Rivers, Home: made, Tiers: s.Tiers, Blobs: s.Blobs, Log: log,
		URL:    "http://" + s.HTTP.Listener.Addr().String(),
		Limits: web.Limits{Writes: -1, SignIns: -1, SignUps: -1, Searches: -1},

		DatabaseTimeout: timeout,
		Metrics:         s.metrics,
		Figures:         s.metrics,
		Jobs:            jobsOf(announcer),
		LimitsInForce:   []adminpages.Limit{{Setting: "RIVERRUN_WRITES", Value: "60", Meaning: "how many changes"}},
		MetricsPage:     promhttp.HandlerFor(s.metrics, promhttp.HandlerOpts{}),
		Live: func(c *live.Config) {
			c.SendBuffer = 8 << 10 // so that a reader who does not read is felt soon
			if change != nil {
				change(c)
			}
			s.Attach(c)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, start := range []func(context.Context) error{s.Rivers.Start, s.Tiers.Start, s.Server.Start} {
		if err := start(ctx); err != nil {
			t.Fatal(err)
		}
	}
	s.HTTP.Config.Handler = s.Server.Handler()
	s.HTTP.Start()
	t.Cleanup(s.Stop)
	return s
}

// jobsOf says how jobs stand, if the site announces any.
func jobsOf(announcer timelines.Announcer) func(context.Context, pgx.Tx) ([]adminpages.JobKind, error) {
	if announcer == nil {
		return nil
	}
	return func(ctx context.Context, tx pgx.Tx) ([]adminpages.JobKind, error) {
		standing, err := jobs.StandByKind(ctx, tx)
		kinds := make([]adminpages.JobKind, len(standing))
		for i, k := range standing {
			kinds[i] = adminpages.JobKind(k)
		}
		return kinds, err
	}
}

// Attach has the hub that is made with c watched and told things by the methods of the site.
func (s *Site) Attach(c *live.Config) {
	s.decided, s.heard = map[int64][]string{}, map[int64]struct{}{}
	c.Pages = decidedPages{c.Pages, s}
	hear := c.Hear
	c.Hear = func(tell func(tiers.Message)) (cancel func()) {
		s.Tell = func(m tiers.Message) {
			tell(m)
			s.hubMu.Lock()
			defer s.hubMu.Unlock()
			for _, post := range m.Posts {
				s.heard[post] = struct{}{}
			}
		}
		return hear(s.Tell)
	}
	s.Live = *c
}

// Stop stops the node, once all its tests have ended.
func (s *Site) Stop() {
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	for _, stop := range []func(context.Context) error{s.Server.Stop, s.Tiers.Stop, s.Rivers.Stop} {
		if err := stop(ctx); err != nil {
			s.T.Errorf("stop: %v", err)
		}
	}
	s.HTTP.Close()
}

// FollowUp does what the job queue would: rivers nobody has open follow too, and
// those of tags first used are replaced.
func (s *Site) FollowUp() {
	s.T.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.Tiers.Follow(s.T.Context(), s.behind); err != nil {
		s.T.Fatal(err)
	}
	for _, r := range s.invalidated {
		s.Replace(r)
	}
	for _, change := range s.changes {
		for from, more := (strategies.Progress{}), true; more; {
			var err error
			if from, more, err = s.Tiers.HomesStep(s.T.Context(), from, change); err != nil {
				s.T.Fatal(err)
			}
		}
	}
	s.behind, s.invalidated, s.changes = nil, nil, nil
}

// Replace does what the jobs of a Replace do.
func (s *Site) Replace(r timelines.Replace) {
	s.T.Helper()
	open, err := s.Tiers.Spread(s.T.Context(), r)
	if err != nil {
		s.T.Fatal(err)
	}
	for _, n := range open {
		if err := s.Tiers.Rebuild(s.T.Context(), n); err != nil {
			s.T.Fatal(err)
		}
	}
}

// Restore begins another epoch, as after a restore of the primary store: what was one person's name
// is the other's there.
func (s *Site) Restore(one, other *Person) {
	s.T.Helper()
	ctx := s.T.Context()
	const rename = `UPDATE accounts SET name = $2 WHERE id = $1`
	_, err := s.DB.Primary.Exec(ctx, rename, one.Account.ID, "former")
	if err == nil {
		_, err = s.DB.Primary.Exec(ctx, rename, other.Account.ID, one.Account.Name)
	}
	if err == nil {
		_, err = s.DB.Secondary.Exec(ctx, `UPDATE clock SET wal = wal + 1000000000`)
	}
	if err == nil {
		err = s.Rivers.PublishClock(ctx, 0)
	}
	if err != nil {
		s.T.Fatal(err)
	}
}

// Await waits until something is so, asking anew whenever the hub may have
// moved on; it fails after patience, saying what else there is to say.
func Await(t testing.TB, what string, so func() bool, otherwise ...func() string) {
	t.Helper()
	deadline := time.NewTimer(Patience)
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
			t.Fatalf("%s: not so after %v%s", what, Patience, more)
		case <-often.C:
		}
	}
}

// Figure reads a gauge or counter of the site's, the one with these values of its labels.
func (s *Site) Figure(name string, labels ...string) float64 {
	s.T.Helper()
	families, err := s.metrics.Gather()
	if err != nil {
		s.T.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.GetMetric() {
			if slices.EqualFunc(m.GetLabel(), labels, func(l *dto.LabelPair, value string) bool { return l.GetValue() == value }) {
				return m.GetGauge().GetValue() + m.GetCounter().GetValue()
			}
		}
	}
	return 0 // nothing was counted yet
}

// Faults is how many errors the site logged.
func (s *Site) Faults() int { return int(s.log.faults.Load()) }

// RelayChanges moves what changed to the log that programs read.
func (s *Site) RelayChanges() {
	s.T.Helper()
	if _, err := changes.Open(s.Store, 0).RelayAll(s.T.Context()); err != nil {
		s.T.Fatal(err)
	}
}

// HearOf tells the hub that these posts changed, as the bus would.
func (s *Site) HearOf(posts ...int64) { s.Tell(tiers.Message{Posts: posts}) }

// AwaitHeard waits until the hub has heard of all these changes.
func (s *Site) AwaitHeard(changes ...timelines.Change) {
	s.T.Helper()
	Await(s.T, "the hub to hear what changed", func() bool {
		s.hubMu.Lock()
		defer s.hubMu.Unlock()
		return !slices.ContainsFunc(changes, func(c timelines.Change) bool { _, ok := s.heard[c.PostID]; return !ok })
	})
}

// notice keeps the connections that have become sockets.
func (s *Site) notice(conn net.Conn, state http.ConnState) {
	if state != http.StateHijacked {
		return
	}
	s.hubMu.Lock()
	defer s.hubMu.Unlock()
	s.sockets[conn] = struct{}{}
}

// eachSocket does something with the connection of each socket there was. Many have ended
// long since, so an error says nothing.
func (s *Site) eachSocket(do func(net.Conn) error) {
	s.hubMu.Lock()
	defer s.hubMu.Unlock()
	for conn := range s.sockets {
		_ = do(conn)
	}
}

// CutAll ends all sockets without a word.
func (s *Site) CutAll() { s.eachSocket(net.Conn.Close) }

// CloseAll sends all sockets a close frame, as if the hub had.
func (s *Site) CloseAll(code websocket.StatusCode, reason string) {
	frame := binary.BigEndian.AppendUint16([]byte{0x88, byte(2 + len(reason))}, uint16(code))
	frame = append(frame, reason...)
	s.eachSocket(func(conn net.Conn) error {
		_, err := conn.Write(frame)
		return err
	})
}

// decidedPages note with which people in view each visit of a socket decided its page.
type decidedPages struct {
	live.Pages
	site *Site
}

func (d decidedPages) Fingerprint(ctx context.Context, n rivers.Name, sets *access.Sets) (live.Fingerprint, error) {
	now, err := d.Pages.Fingerprint(ctx, n, sets)
	if err == nil && sets != nil {
		d.site.hubMu.Lock()
		defer d.site.hubMu.Unlock()
		d.site.decided[sets.AccountID] = append(d.site.decided[sets.AccountID], sets.Fingerprint())
	}
	return now, err
}

// Decisions say, oldest first, with which people in view the visits of a person's sockets decided
// the pages.
func (s *Site) Decisions(p *Person) []string {
	s.hubMu.Lock()
	defer s.hubMu.Unlock()
	return slices.Clone(s.decided[p.Account.ID])
}

// DecidedAnew sends a beat after a change, and waits until this many open pages of a person
// were visited because other people are in view than before. The frames of later changes come
// after those of this one.
func (s *Site) DecidedAnew(p *Person, beat chan<- time.Time, pages int, change func()) {
	s.T.Helper()
	before := s.Decisions(p)
	if len(before) == 0 {
		s.T.Fatalf("no page of %s is open", p.Account.Name)
	}
	change()
	beat <- time.Now()
	Await(s.T, "the pages of "+p.Account.Name+" to be decided anew", func() bool {
		left := pages
		for _, people := range s.Decisions(p)[len(before):] {
			if people != before[len(before)-1] {
				left--
			}
		}
		return left <= 0
	})
}

// SessionOf is the session of a token.
func SessionOf(t testing.TB, token string) timelines.Session {
	t.Helper()
	session, ok := timelines.SessionOf(token)
	if !ok {
		t.Fatalf("token %q is none", token)
	}
	return session
}

// Get answers a request on this goroutine.
func Get(s *Site, p *Person, address string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, s.HTTP.URL+address, nil)
	r.AddCookie(&http.Cookie{Name: Cookie, Value: p.Token})
	w := httptest.NewRecorder()
	s.Server.Handler().ServeHTTP(w, r)
	return w
}

// PostID is the number of the post of a code.
func (s *Site) PostID(code string) int64 {
	s.T.Helper()
	ids, err := s.Store.Posts.IDs(s.T.Context(), []string{code})
	if err != nil {
		s.T.Fatal(err)
	}
	return ids[code]
}

// Deaf is a bus that hears nothing.
func Deaf(func(tiers.Message)) (cancel func()) { return func() {} }

// Everything is the river of all posts as anonymous viewers see it.
var Everything = rivers.Name{Kind: rivers.Everything, Order: rivers.Fresh}

// CountedStatements is a tracer that counts what is sent.
type CountedStatements struct{ N atomic.Int64 }

func (c *CountedStatements) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	c.N.Add(1)
	return ctx
}

func (c *CountedStatements) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// MakePictures does what the jobs of uploads do: it makes all pictures that wait.
func (s *Site) MakePictures() {
	s.T.Helper()
	ctx := s.T.Context()
	rows, err := s.DB.Primary.Query(ctx, `SELECT id FROM files WHERE state = 'waiting' ORDER BY id`)
	if err != nil {
		s.T.Fatal(err)
	}
	waiting, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		s.T.Fatal(err)
	}
	maker := uploads.Maker{Files: s.Store.Files, Blobs: s.Blobs, Carry: s.Tiers.Carry, Log: slog.New(slog.DiscardHandler)}
	for _, id := range waiting {
		if err := maker.Make(ctx, id); err != nil {
			s.T.Fatal(err)
		}
	}
}

// LoadSources works the loads of all sources, as their jobs do.
func (s *Site) LoadSources() {
	s.T.Helper()
	ctx := s.T.Context()
	rows, err := s.DB.Primary.Query(ctx, `SELECT id FROM sources ORDER BY id`)
	if err != nil {
		s.T.Fatal(err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		s.T.Fatal(err)
	}
	run := loads.Runner{
		Sources: sources.Open(s.Store), Blobs: s.Blobs, Carry: s.Tiers.Carry, Log: slog.New(slog.DiscardHandler),
		Yield: func(context.Context) error { return nil },
	}
	for _, id := range ids {
		if err := run.Run(ctx, id); err != nil {
			s.T.Fatal(err)
		}
	}
}

// watchedBlobs is a store of blobs that counts what is put, and whose disk may be full.
type watchedBlobs struct {
	blobs.Store
	site *Site
}

func (b watchedBlobs) Put(ctx context.Context, content io.Reader, limit int64) (blobs.Sum, int64, error) {
	b.site.BlobsPut.Add(1)
	if b.site.BlobsFull.Load() {
		return blobs.Sum{}, 0, syscall.ENOSPC
	}
	return b.Store.Put(ctx, content, limit)
}
