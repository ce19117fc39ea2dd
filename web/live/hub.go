package live

import (
	"cmp"
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
	"riverrun/timelines/access"
	"riverrun/timelines/snapshot"
	"riverrun/web/view"
)

// A Hub follows rivers for the pages that are open on this node and tells them what changed.
// It is safe for concurrent use. It promises to each page (PROTOCOL.md):
//
//   - A push shows nothing that a page would not show. Everything sent was decided by Visit,
//     Flush or FirstPages of [Rivers], which decide as a page does, and no frame is begun more
//     than StaleAfter after its deciding statement was begun (R4).
//   - Nothing is lost between the page and the socket. The lease is committed and the socket
//     registered before the visit whose difference from the page is sent. A reconnect does
//     the same: there is no history that could run out.
//   - Nothing is lost afterwards. A comparison, every CompareEvery beats, finds what the bus
//     lost.
//   - A slow reader delays nobody. A socket keeps the newest state of each post and no queue,
//     and is closed when a write has been stuck for WriteTimeout.
//
// Rejected: a goroutine for each river (a flush of a thousand rivers would be a thousand
// statements); sending what a message of the bus says (it was not decided for the viewer);
// queues of frames (the memory of a slow reader grows, and what it reads in the end was
// decided long ago).
type Hub struct {
	cfg    Config
	shards []*shard
	// searches is the shard of all searches, and finder brings them up to date.
	searches *shard
	finder   *finder
	leases   *leaser
	visits   *visits
	metric   *hubMetrics

	// mu guards the fields below. It is held for moments only, and no other lock is taken
	// while it is held.
	mu        sync.Mutex
	sockets   map[*socket]struct{}
	perClient map[string]int // sockets by clientKey
	refusing  int            // handshakes that are answered only to be closed
	stopping  bool

	// backlogMu guards the fields below. It is held while the stores are asked, so that
	// sockets that come together ask once and get the same answer, be it an error.
	backlogMu  sync.Mutex
	backlog    bool
	backlogErr error
	backlogAt  time.Time

	running sync.WaitGroup // shards, leaser, beat
	open    sync.WaitGroup // sockets; counted up only with mu held and while not stopping
	cancel  context.CancelFunc
	unhear  func()
}

// Rivers is what a hub asks of rivers.Store. Tests put a wrapper between the two, to stop the
// hub between two of its steps.
type Rivers interface {
	Visit(context.Context, timelines.Viewer, rivers.Name, rivers.Cursor) (*rivers.Page, error)
	Flush(context.Context, []rivers.Watch, []int64) ([]rivers.Seen, error)
	FirstPages(context.Context, []rivers.Watch) ([]*rivers.Page, error)
	BringUp(context.Context, []rivers.Name) (left []rivers.Name, err error)
	Freshen(context.Context, rivers.Name) error
	Lease(context.Context, []int64) error
	Unlease(context.Context, []int64) error
	Cursor(context.Context, timelines.Viewer, string) (rivers.Cursor, error)
	Unread(context.Context, []rivers.UnreadAsk) ([]int, error)
	MarkRead(account int64, posts []int64)
}

// Pages is what a hub asks about pages besides their entries; see [SitePages].
type Pages interface {
	// ViewerName returns the name of the viewer's account, "" for an anonymous viewer.
	ViewerName(ctx context.Context, v timelines.Viewer) (string, error)
	// Epoch returns the epoch of rivers that this node knows of. Ids belong to it.
	Epoch() int64
	// PostIDs resolves the codes of posts. A code of no post is left out.
	PostIDs(ctx context.Context, codes []string) (map[string]int64, error)
	// Tags returns for each entry a hash of what the viewer's sets and people's names make of
	// it.
	Tags(ctx context.Context, items []rivers.Item, sets *access.Sets) ([]uint64, error)
	// LastCommonChange returns the number of the last change of access that this node has
	// heard of and that may show on everybody's pages.
	LastCommonChange() int64
	// LastCount returns the number of the last change of access that this node has heard of and
	// that changed how many follow an account or ask to.
	LastCount() int64
	// Fingerprint returns what a page is decided with now, and Fingerprints what several are,
	// in the order of names. Token returns a word for what stands around the entries, and
	// TokenFits reports whether a word was made of the same.
	Fingerprint(ctx context.Context, n rivers.Name, sets *access.Sets) (Fingerprint, error)
	Fingerprints(ctx context.Context, names []rivers.Name, sets []*access.Sets) ([]Fingerprint, error)
	Token(Fingerprint) string
	TokenFits(word string, of Fingerprint) bool
	// Seen notes that the viewer has seen a post with all its comments.
	Seen(v timelines.Viewer, it *rivers.Item)
	// SeenHome notes that the viewer looks at the home page.
	SeenHome(v timelines.Viewer)
	// Entry returns the HTML of an entry: its parts, and the whole article.
	Entry(ctx context.Context, l view.Context, n rivers.Name, sets *access.Sets, it rivers.Item) (view.Parts, []byte, error)
}

// Config is what a hub runs on. Zero fields get the defaults of withDefaults; tests set some
// to lose no time.
type Config struct {
	Rivers Rivers
	Pages  Pages
	// PageOf returns the name of the river behind a page's address. The site serves its pages
	// with the same function. Errors: as rivers.ErrNotFound, rivers.ErrSignInNeeded,
	// *timelines.InvalidError.
	PageOf func(ctx context.Context, v timelines.Viewer, path string, query url.Values) (rivers.Name, error)
	// Still reports whether the page of that name is served without a river. The hub tells such a
	// page nothing of its entries; nil: there is none.
	Still func(rivers.Name) bool
	// MaySearch counts a search that a page begins to follow, by its viewer and the address
	// that the socket comes from. It reports whether the limit still allows the search; nil:
	// there is no limit.
	MaySearch func(v timelines.Viewer, address string) bool
	// Hear delivers the messages of the bus until the function that it returns is called.
	Hear func(func(tiers.Message)) (cancel func())
	Log  *slog.Logger
	// Metrics is where the hub's figures are registered; nil: nowhere.
	Metrics prometheus.Registerer
	// Backlog reports whether rivers that nobody has open may lack a change that is older
	// than the given time; nil: none ever does.
	Backlog func(ctx context.Context, than time.Duration) (bool, error)
	// Origins are the hosts whose pages may connect, besides the host that is asked for.
	Origins []string

	// Now is the clock.
	Now func() time.Time
	// Beat drives everything periodical; nil: a beat comes each second.
	Beat <-chan time.Time
	// CompareEvery is how many beats pass between two comparisons of one socket.
	CompareEvery int
	// LeaseEvery is how many beats pass until all leases are refreshed again.
	LeaseEvery int
	// WriteTimeout is how long the write of one frame may take until the socket is closed.
	WriteTimeout time.Duration
	// SendBuffer is how many bytes the system may hold that a client has not read yet. (Linux
	// doubles the number, for its own bookkeeping.)
	SendBuffer int
	// StaleAfter is how old a decision may be when it is sent. An older one is made again.
	StaleAfter time.Duration
	// PingEvery and PongWithin find connections whose other end is gone or does not read:
	// together within half a minute.
	PingEvery, PongWithin time.Duration
	// SubscribeWithin is how long a new socket may say nothing.
	SubscribeWithin time.Duration
	// QueryTimeout is how long each question to the stores may take.
	QueryTimeout time.Duration
	// Spread is the longest delay after which a client is told to come back.
	Spread time.Duration
	// PerSession is how many sockets one session may have, PerAddress how many one address
	// may have that no session comes with (many people may share it), and Total how many the
	// node may have.
	PerSession, PerAddress, Total int
}

func (c Config) withDefaults() Config {
	if c.Now == nil {
		c.Now = time.Now
	}
	c.WriteTimeout = cmp.Or(c.WriteTimeout, 10*time.Second)
	c.StaleAfter = cmp.Or(c.StaleAfter, time.Second)
	c.PingEvery = cmp.Or(c.PingEvery, 18*time.Second)
	c.PongWithin = cmp.Or(c.PongWithin, 10*time.Second)
	c.SubscribeWithin = cmp.Or(c.SubscribeWithin, 15*time.Second)
	c.QueryTimeout = cmp.Or(c.QueryTimeout, 5*time.Second)
	c.Spread = cmp.Or(c.Spread, 5*time.Second)
	c.SendBuffer = cmp.Or(c.SendBuffer, 128<<10)
	c.CompareEvery = cmp.Or(c.CompareEvery, 15)
	c.LeaseEvery = cmp.Or(c.LeaseEvery, 10)
	c.PerSession = cmp.Or(c.PerSession, 64)
	c.PerAddress = cmp.Or(c.PerAddress, 512)
	c.Total = cmp.Or(c.Total, 20_000)
	return c
}

// New returns a hub that follows nothing before Start. Errors: the figures cannot be
// registered.
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
	h.visits = newVisits()
	for range min(runtime.GOMAXPROCS(0), 8) {
		h.shards = append(h.shards, newShard(h))
	}
	h.searches = newShard(h)
	h.finder = newFinder(h.searches)
	return h, nil
}

// Start begins to follow rivers. The hub runs until Stop: of ctx only the values are used, and
// its end ends nothing.
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

// Stop closes every socket with CloseReconnect and a delay of its own, waits until all
// goroutines of sockets and of the hub have ended, and gives up the leases. If ctx ends before
// that, the connections that are left are cut, and Stop returns ctx's error after the same
// wait. It may be called without Start, and more than once.
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

// comeBack returns the reason that is sent with CloseReconnect: the number of milliseconds
// after which the client should come back. It is drawn anew for each client, so that not
// everybody comes at once after a restart.
func (h *Hub) comeBack() string {
	return strconv.FormatInt(rand.Int64N(max(h.cfg.Spread.Milliseconds(), 1)), 10)
}

// admit counts a new socket, unless its client or the node has too many. The status says
// which: only http.StatusSwitchingProtocols admits it.
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

// maxRefusing is how many handshakes may be answered at once only to say when to come back.
const maxRefusing = 64

// maxRefusal is how long such a handshake may take, with the answer to its close.
const maxRefusal = 2 * time.Second

// fullFor is the least that a client stays away from a node that has no room, and half of the most.
const fullFor = 10 * time.Second

// refuse counts a handshake that was not admitted, and reports whether it may be answered with a code. A
// script cannot read the status of a refused handshake, and would try again in a moment.
func (h *Hub) refuse() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.cancel == nil || h.stopping || h.refusing == maxRefusing {
		return false
	}
	h.refusing++
	return true
}

// refused undoes refuse.
func (h *Hub) refused() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.refusing--
}

// dismiss undoes admit. By then nothing of the socket runs any more.
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

// message takes a message of the bus. The bus's goroutine calls it, so it only notes what is
// to be done.
func (h *Hub) message(m tiers.Message) {
	now := h.cfg.Now()
	for _, s := range h.allShards() {
		s.receive(m, now)
	}
	h.finder.add(m.Posts)
}

func (h *Hub) allShards() []*shard { return append(slices.Clip(h.shards), h.searches) }

// beat has leases refreshed, pages compared, and the clock of access read: by that a sign-out
// closes sockets even if the bus delivers nothing.
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

// longBacklog: if the tiers are behind by more than that, a page that is opened brings its
// river up to date itself. The answer whether they are is used for as long.
const longBacklog = time.Second

// hasBacklog reports whether rivers that nobody had open may lack what happened a while ago.
func (h *Hub) hasBacklog(ctx context.Context) (bool, error) {
	if h.cfg.Backlog == nil {
		return false, nil
	}
	h.backlogMu.Lock()
	defer h.backlogMu.Unlock()
	if now := h.cfg.Now(); now.Sub(h.backlogAt) >= longBacklog {
		within, cancel := context.WithTimeout(ctx, h.cfg.QueryTimeout)
		backlog, err := h.cfg.Backlog(within, longBacklog)
		cancel()
		h.backlog, h.backlogErr, h.backlogAt = backlog, err, h.cfg.Now()
	}
	return h.backlog, h.backlogErr
}

// Reasons to close a socket that sent nothing malformed.
var (
	errAnothersPage = errors.New("page was made for another viewer")
	errSearches     = errors.New("too many searches")
)

// IsNoPage reports whether an error of a page's address says that there is no such page.
func IsNoPage(err error) bool {
	_, invalid := errors.AsType[*timelines.InvalidError](err)
	return invalid || errors.Is(err, rivers.ErrNotFound) || errors.Is(err, timelines.ErrNotFound)
}

// closeFor returns the code and the reason to close a socket with after an error.
func (h *Hub) closeFor(ctx context.Context, err error) (websocket.StatusCode, string) {
	var bad *malformedError
	switch {
	case errors.As(err, &bad):
		return CloseMalformed, bad.why
	case errors.Is(err, timelines.ErrSignedOut), errors.Is(err, rivers.ErrSignInNeeded), errors.Is(err, errAnothersPage):
		return CloseSignedOut, "signed out"
	case IsNoPage(err), errors.Is(err, rivers.ErrForbidden), errors.Is(err, snapshot.ErrBroad):
		return CloseNoPage, "no such page"
	case errors.Is(err, errSearches):
		return CloseTooFast, "too many searches"
	}
	if ctx.Err() == nil {
		h.cfg.Log.WarnContext(ctx, "socket failed", "error", err)
	}
	return CloseReconnect, h.comeBack()
}
