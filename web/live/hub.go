package live

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/prometheus/client_golang/prometheus"

	"riverrun/rivers"
	"riverrun/tiers"
	"riverrun/timelines"
	"riverrun/web/view"
)

// A hub follows rivers for the pages that are open on this node and tells them
// what changed. What it promises to each page (DESIGN, Realtime contract):
//
//   - A push shows nothing that a page would not: everything sent was decided by
//     rivers.Visit, Flush or Fronts, which decide as a page does, and no frame is
//     begun more than staleAfter after its deciding statement was (R4).
//   - Nothing is lost between the page and the socket: the lease is committed
//     and the socket registered before the visit whose difference against the
//     page is sent. A reconnect does the same; there is no history to run out.
//   - Nothing is lost afterwards: what the bus loses, the comparison every
//     compareEvery heals.
//   - A slow reader delays nobody: a socket holds the newest state of each post,
//     not a queue, and is closed when it has been stuck for writeTimeout.
//
// Goroutines: one per shard (flush), one that brings searches up, one that keeps leases,
// one that beats; per socket the handler's own (reads), one that writes and one that pings. All end
// before Stop returns.
//
// Rejected: a goroutine per river (a flush of a thousand rivers would be a
// thousand statements); sending what a bus message says (it is not decided for
// the viewer); queues of frames (a slow reader's memory grows, and what it
// reads at last was decided long ago).
type Hub struct {
	cfg    Config
	shards []*shard
	// searches is the shard of all searches, and finder brings them up.
	searches *shard
	finder   *finder
	leases   *leaser
	metric   *hubMetrics

	// mu guards the fields below. It is held for moments only, and no other lock
	// is taken under it.
	mu        sync.Mutex
	sockets   map[*socket]struct{}
	perClient map[string]int // sockets per session or address
	stopping  bool

	// lagMu guards the fields below; it is held while it is asked whether rivers lag, so
	// that those who come together ask once, and are answered alike if that fails.
	backlogMu  sync.Mutex
	backlog    bool
	backlogErr error
	backlogAt  time.Time

	running sync.WaitGroup // shards, leaser, beat
	open    sync.WaitGroup // sockets; added to under mu while not stopping
	cancel  context.CancelFunc
	unhear  func()
}

// riverSource is what a hub asks of rivers.Store. Tests put a wrapper between
// the two, to stop the hub between two of its steps.
type Rivers interface {
	Visit(context.Context, timelines.Viewer, rivers.Name, rivers.Cursor) (*rivers.Page, error)
	Flush(context.Context, []rivers.Watch, []int64) ([]rivers.Seen, error)
	Fronts(context.Context, []rivers.Watch) ([]*rivers.Page, error)
	BringUp(context.Context, []rivers.Name) (left []rivers.Name, err error)
	Freshen(context.Context, rivers.Name) error
	Lease(context.Context, []int64) error
	Unlease(context.Context, []int64) error
	Cursor(context.Context, timelines.Viewer, string) (rivers.Cursor, error)
}

// hubPages is the rest of the server as the hub needs it.
type Pages interface {
	// ViewerName is the name of the account who looks, "" for nobody.
	ViewerName(ctx context.Context, v timelines.Viewer) (string, error)
	// PostIDs resolves codes; those of no post are left out.
	PostIDs(ctx context.Context, codes []string) (map[string]int64, error)
	// Tags are what the viewer's sets, and people's names, make of entries.
	Tags(ctx context.Context, items []rivers.Item, sets *timelines.Sets) ([]uint64, error)
	// common is the number of the last change of access, as far as this node has heard,
	// that may show on everybody's pages.
	LastCommonChange() int64
	// sightOf is what a page is decided with now, sightsOf what many are; seal makes a
	// word for what stands around its entries, and isSealed knows it again.
	Fingerprint(ctx context.Context, n rivers.Name, sets *timelines.Sets) (Fingerprint, error)
	Fingerprints(ctx context.Context, names []rivers.Name, sets []*timelines.Sets) ([]Fingerprint, error)
	Token(Fingerprint) string
	TokenFits(word string, of Fingerprint) bool
	// Entry makes an entry's HTML.
	Entry(ctx context.Context, l view.Context, n rivers.Name, sets *timelines.Sets, it rivers.Item) (view.Parts, []byte, error)
}

// hubConfig is what a hub runs on. Zero fields get the defaults of withDefaults;
// tests set some to hurry.
type Config struct {
	Rivers Rivers
	Pages  Pages
	// pageOf is the one function, for HTTP and the socket, that turns an address
	// into a river's name.
	PageOf func(ctx context.Context, v timelines.Viewer, path string, query url.Values) (rivers.Name, error)
	// maySearch counts a search that a page begins to follow, by its viewer and where the
	// socket comes from, and reports whether it is not one too many; nil: none is.
	MaySearch func(v timelines.Viewer, address string) bool
	// hear delivers what the bus says until the function it returns is called.
	Hear func(func(tiers.Message)) (cancel func())
	Log  *slog.Logger
	// metrics is where the hub's figures are registered; nil: nowhere.
	Metrics prometheus.Registerer
	// behind reports whether rivers that nobody has open may lack a change older than
	// that; nil: it is not asked.
	Backlog func(ctx context.Context, than time.Duration) (bool, error)
	// origins are hosts, besides the one asked for, whose pages may connect.
	Origins []string

	// now is the clock.
	Now func() time.Time
	// beat drives everything periodical, once a second.
	Beat <-chan time.Time
	// compareEvery is how many beats pass between two comparisons of one socket.
	CompareEvery int
	// leaseEvery is how many beats pass between two refreshments of the leases.
	LeaseEvery int
	// writeTimeout is how long one message may take before the socket is closed.
	WriteTimeout time.Duration
	// sendBuffer is how many bytes the system may hold for a client that has not read
	// them yet. (Linux doubles it, for its own bookkeeping.)
	SendBuffer int
	// staleAfter is how old a decision may be when it is sent; older ones are
	// made again.
	StaleAfter time.Duration
	// pingEvery and pongWithin find connections whose other end is gone, or does not
	// read: within half a minute together.
	PingEvery, PongWithin time.Duration
	// subscribeWithin is how long a new socket may say nothing.
	SubscribeWithin time.Duration
	// patience is how long each question to the stores may take.
	QueryTimeout time.Duration
	// spread is over how long clients are told to spread their coming back.
	Spread time.Duration
	// perSession and perAddress bound the sockets of one session, and of one
	// address (many people may stand behind it) without a session; total those of
	// the node.
	PerSession, PerAddress, Total int
}

func (c Config) withDefaults() Config {
	set := func(d *time.Duration, to time.Duration) {
		if *d == 0 {
			*d = to
		}
	}
	setN := func(n *int, to int) {
		if *n == 0 {
			*n = to
		}
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	set(&c.WriteTimeout, 10*time.Second)
	set(&c.StaleAfter, time.Second)
	set(&c.PingEvery, 18*time.Second)
	set(&c.PongWithin, 10*time.Second)
	set(&c.SubscribeWithin, 15*time.Second)
	set(&c.QueryTimeout, 5*time.Second)
	set(&c.Spread, 5*time.Second)
	setN(&c.SendBuffer, 128<<10)
	setN(&c.CompareEvery, 15)
	setN(&c.LeaseEvery, 10)
	setN(&c.PerSession, 64)
	setN(&c.PerAddress, 512)
	setN(&c.Total, 20_000)
	return c
}

// newHub returns a hub that follows nothing before start.
func New(cfg Config) (*Hub, error) {
	metric, err := newHubMetrics(cfg.Metrics)
	if err != nil {
		return nil, err
	}
	h := &Hub{
		cfg:       cfg.withDefaults().withTimeouts(),
		metric:    metric,
		sockets:   make(map[*socket]struct{}),
		perClient: make(map[string]int),
	}
	h.leases = newLeaser(h.cfg.Rivers, h.cfg.Log)
	for range min(runtime.GOMAXPROCS(0), 8) {
		h.shards = append(h.shards, newShard(h))
	}
	h.searches = newShard(h)
	h.finder = newFinder(h.searches)
	return h, nil
}

// start begins to follow. The hub runs until stop; ctx gives values only.
func (h *Hub) Start(ctx context.Context) error {
	ctx, h.cancel = context.WithCancel(context.WithoutCancel(ctx))
	h.running.Go(func() { h.leases.run(ctx) })
	for _, s := range h.allShards() {
		h.running.Go(func() { s.run(ctx) })
	}
	h.running.Go(func() { h.finder.run(ctx) })
	h.running.Go(func() { h.beat(ctx) })
	h.unhear = h.cfg.Hear(h.message)
	return nil
}

// stop closes every socket with closeReconnect and a delay of its own, waits
// until their goroutines and the hub's have ended, and gives the leases up.
// When ctx ends first, what is still open is cut, and ctx's error returned
// after the same wait. Safe to call without start, and more than once.
func (h *Hub) Stop(ctx context.Context) error {
	h.mu.Lock()
	again := h.stopping
	h.stopping = true
	open := make([]*socket, 0, len(h.sockets))
	for s := range h.sockets {
		open = append(open, s)
	}
	h.mu.Unlock()
	if again || h.cancel == nil {
		return nil
	}
	h.unhear()
	for _, s := range open {
		s.end(CloseReconnect, h.comeBack())
	}
	gone := make(chan struct{})
	go func() {
		h.open.Wait()
		close(gone)
	}()
	var err error
	select {
	case <-gone:
	case <-ctx.Done():
		err = ctx.Err()
		for _, s := range open {
			s.cut()
		}
		<-gone
	}
	h.cancel()
	h.running.Wait()
	return errors.Join(err, h.leases.giveUp(ctx))
}

// comeBack is the reason given with closeReconnect: after how many milliseconds
// the client should, drawn anew for each, so that a restart is not followed by
// everybody at once.
func (h *Hub) comeBack() string {
	return strconv.FormatInt(rand.Int64N(max(h.cfg.Spread.Milliseconds(), 1)), 10)
}

// admit counts a new socket in, unless there are too many of its crowd.
func (h *Hub) admit(s *socket) (status int) {
	bound := h.cfg.PerAddress
	if s.viewer.Session != (timelines.Session{}) {
		bound = h.cfg.PerSession
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.cancel == nil, h.stopping, len(h.sockets) >= h.cfg.Total:
		return http.StatusServiceUnavailable
	case h.perClient[s.clientKey] >= bound:
		return http.StatusTooManyRequests
	}
	h.sockets[s] = struct{}{}
	h.perClient[s.clientKey]++
	h.open.Add(1)
	h.metric.sockets.Inc()
	return http.StatusSwitchingProtocols
}

// dismiss undoes admit, when nothing of the socket runs any more.
func (h *Hub) dismiss(s *socket) {
	h.mu.Lock()
	delete(h.sockets, s)
	if h.perClient[s.clientKey]--; h.perClient[s.clientKey] == 0 {
		delete(h.perClient, s.clientKey)
	}
	h.mu.Unlock()
	h.metric.sockets.Dec()
	h.open.Done()
}

// message takes what the bus says. It is called from the bus's goroutine and
// only takes notes.
func (h *Hub) message(m tiers.Message) {
	now := h.cfg.Now()
	for _, s := range h.allShards() {
		s.receive(m, now)
	}
	h.finder.add(m.Posts)
}

func (h *Hub) allShards() []*shard { return append(slices.Clip(h.shards), h.searches) }

// beat drives leases, comparisons and the reading of the clock that lets a
// sign-out act even when the bus stands still.
func (h *Hub) beat(ctx context.Context) {
	beats := h.cfg.Beat
	if beats == nil {
		t := time.NewTicker(time.Second)
		defer t.Stop()
		beats = t.C
	}
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-beats:
		}
		if n%h.cfg.LeaseEvery == 0 {
			h.leases.refresh()
		}
		slot := n % h.cfg.CompareEvery
		for _, s := range h.shards {
			s.beat(slot)
		}
		h.searches.beat(noSlot) // the finder compares
		h.finder.beat(slot)
	}
}

// longLag is how old a change may be that rivers lack before a page that is opened is
// brought up by itself, and how old an answer to that question may be.
const longBacklog = time.Second

// behind reports whether rivers that nobody had open may lack what happened a
// while ago.
func (h *Hub) hasBacklog(ctx context.Context) (bool, error) {
	if h.cfg.Backlog == nil {
		return false, nil
	}
	h.backlogMu.Lock()
	defer h.backlogMu.Unlock()
	if now := h.cfg.Now(); now.Sub(h.backlogAt) >= longBacklog {
		within, cancel := context.WithTimeout(ctx, h.cfg.QueryTimeout)
		lagging, err := h.cfg.Backlog(within, longBacklog)
		cancel()
		h.backlog, h.backlogErr, h.backlogAt = lagging, err, h.cfg.Now()
	}
	return h.backlog, h.backlogErr
}

// Why a socket is closed that did nothing malformed.
var (
	errAnothersPage = errors.New("page was made for another viewer")
	errSearches     = errors.New("too many searches")
)

// noPage reports whether err says that there is no such page.
func IsNoPage(err error) bool {
	_, invalid := errors.AsType[*timelines.InvalidError](err)
	return invalid || errors.Is(err, rivers.ErrNotFound) || errors.Is(err, timelines.ErrNotFound)
}

// closeFor is how a socket ends when something it did failed.
func (h *Hub) closeFor(ctx context.Context, err error) (websocket.StatusCode, string) {
	var bad *malformedError
	switch {
	case errors.As(err, &bad):
		return CloseMalformed, bad.why
	case errors.Is(err, timelines.ErrSignedOut), errors.Is(err, rivers.ErrSignInNeeded), errors.Is(err, errAnothersPage):
		return CloseSignedOut, "signed out"
	case IsNoPage(err), errors.Is(err, rivers.ErrForbidden), errors.Is(err, timelines.ErrBroad):
		return CloseNoPage, "no such page"
	case errors.Is(err, errSearches):
		return CloseTooFast, "too many searches"
	}
	if ctx.Err() == nil {
		h.cfg.Log.WarnContext(ctx, "socket failed", "error", err)
	}
	return CloseReconnect, h.comeBack()
}
