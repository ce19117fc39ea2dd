package live

import (
	"context"
	"errors"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
	"golang.org/x/time/rate"

	"riverrun/timelines"
	"riverrun/timelines/mutants"
)

// A socket is one open page's connection. Others leave notes in it (offer,
// front, resync, end) and never wait for it; its writer goroutine, which alone
// knows what the page shows (see shownPage), works them off. So what is still to be
// sent is bounded by how many posts there are, not by how slow the reader is.
type socket struct {
	hub    *Hub
	conn   *websocket.Conn
	viewer timelines.Viewer
	// address is where it comes from, as limits count; crowd what its kind of client is
	// counted by.
	address, clientKey string
	// cut ends everything at once, without a close frame. Set before the socket
	// is admitted.
	cut context.CancelFunc

	// beyond: the page shows entries below the depth to which its river is kept; no
	// flush finds those, so the socket is told of each post flushed.
	beyond atomic.Bool

	// writing is held while something is written, and until a ping is answered: what is
	// checked under it before it is sent waits for nothing else.
	writing sync.Mutex

	wake chan struct{} // there are notes
	over chan struct{} // closed by end

	// sight is what the page was last wholly decided with, nil before its first visit.
	fingerprint atomic.Pointer[Fingerprint]

	// mu guards the notes below. No other lock is taken under it.
	mu     sync.Mutex
	inbox  inbox
	ended  bool
	code   websocket.StatusCode
	reason string
}

// notes are what has happened since the writer last looked.
type inbox struct {
	subscribe *subscribeFrame
	drop      []*dropFrame
	resync    bool
	firstPage *stretch
	pending   map[int64]*update  // the newest of each post
	touched   map[int64]struct{} // posts flushed, for pages beyond the depth
}

// maxPending is how many posts may wait for one socket; one that is further
// behind visits its page instead.
const maxPending = 1024

// maxDrops is how many drop frames may wait for a writer that is stuck.
const maxDrops = 16

// How often a client may speak: a page subscribes once and drops now and then.
const (
	framesPerSecond = 4
	frameBurst      = 16
)

// serve follows GET /ws. A browser says where the page comes from that opens a
// socket; another site's is refused, because the cookie would come with it. A
// client that sends no Origin is no browser, has the cookie because somebody
// gave it to it, and is served.
func (h *Hub) Serve(w http.ResponseWriter, r *http.Request, v timelines.Viewer, address string, signedOut bool) {
	// Not the request's context, which says nothing about a hijacked connection.
	ctx, cut := context.WithCancel(context.WithoutCancel(r.Context()))
	defer cut()
	s := &socket{
		hub: h, viewer: v, address: address, clientKey: clientKey(v, address), cut: cut,
		wake: make(chan struct{}, 1), over: make(chan struct{}),
	}
	if status := h.admit(s); status != http.StatusSwitchingProtocols {
		w.Header().Set("Retry-After", "10")
		http.Error(w, http.StatusText(status), status)
		return
	}
	defer h.dismiss(s)
	conn, err := websocket.Accept(&pipe{w, h.cfg.SendBuffer}, r, &websocket.AcceptOptions{
		// Frames are small, and a compressor per connection is not.
		CompressionMode: websocket.CompressionDisabled,
		// The host asked for is always allowed; behind a proxy that asks for
		// another, the site's own address must be too.
		OriginPatterns: h.cfg.Origins,
	})
	if err != nil {
		return // Accept has answered
	}
	conn.SetReadLimit(maxFrame)
	s.conn = conn
	if signedOut {
		s.end(CloseSignedOut, "signed out")
	}
	var own sync.WaitGroup
	own.Go(func() { s.write(ctx) })
	own.Go(func() { s.ping(ctx) })
	s.read(ctx)
	cut()
	own.Wait()
}

func clientKey(v timelines.Viewer, address string) string {
	if v.Session != (timelines.Session{}) {
		return "session " + string(v.Session[:])
	}
	return "address " + address
}

// end closes the socket with that code, soon: after what is being written. One
// that does not get to it within a second is cut. Only the first call counts.
func (s *socket) end(code websocket.StatusCode, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	s.ended, s.code, s.reason = true, code, reason
	close(s.over)
	time.AfterFunc(time.Second, s.cut)
	s.hub.metric.closed.WithLabelValues(strconv.Itoa(int(code))).Inc()
}

// see is told with which sight the page would be decided now, and the number of the last
// change that may show on everybody's. It reports whether the page may differ from its
// river by what no sight says.
func (s *socket) checkFingerprint(now Fingerprint, common int64) (compare bool) {
	was := s.fingerprint.Load()
	switch {
	case was == nil: // its first visit is under way
		return false
	case was.differs(now):
		s.resync()
		return false
	}
	return was.sets != now.sets || was.clock < common
}

// offer notes what a flush found.
func (s *socket) offer(updates []*update) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inbox.pending == nil {
		s.inbox.pending = make(map[int64]*update)
	}
	for _, u := range updates {
		if s.inbox.pending[u.post] == nil || !mutants.On(mutants.OldestWaits) {
			s.inbox.pending[u.post] = u
		}
	}
	if len(s.inbox.pending) > maxPending {
		s.inbox.pending, s.inbox.resync = nil, true
	}
	nudge(s.wake)
}

// touch notes which posts were flushed, whatever was found of them.
func (s *socket) touch(posts map[int64]time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inbox.touched == nil {
		s.inbox.touched = make(map[int64]struct{}, len(posts))
	}
	for id := range posts {
		s.inbox.touched[id] = struct{}{}
	}
	if len(s.inbox.touched) > maxPending {
		s.inbox.touched, s.inbox.resync = nil, true
	}
	nudge(s.wake)
}

// front notes the page's river as a comparison read it.
func (s *socket) offerFirstPage(f *stretch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inbox.firstPage = f
	nudge(s.wake)
}

// resync notes that the page is to be visited again.
func (s *socket) resync() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inbox.resync = true
	nudge(s.wake)
}

func (s *socket) take() inbox {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.inbox
	s.inbox = inbox{}
	return n
}

// read takes what the client says until the connection is gone. It always
// reads, as pongs and close frames arrive only so.
func (s *socket) read(ctx context.Context) {
	allowed := rate.NewLimiter(framesPerSecond, frameBurst)
	for {
		_, message, err := s.conn.Read(ctx)
		if err != nil {
			return // gone, or too large a message: the library has answered 1009
		}
		frame, err := parseFrame(message)
		switch {
		case err != nil:
			var bad *malformedError
			errors.As(err, &bad)
			s.end(CloseMalformed, clip(bad.why))
		case !allowed.Allow():
			s.end(CloseTooFast, "too fast")
		default:
			s.mu.Lock()
			if frame.subscribe != nil {
				s.inbox.subscribe = frame.subscribe
			} else {
				s.inbox.drop = append(s.inbox.drop, frame.drop)
			}
			much := len(s.inbox.drop) > maxDrops
			s.mu.Unlock()
			nudge(s.wake)
			if much {
				s.end(CloseTooFast, "too fast")
			}
		}
	}
}

// clip makes a reason fit into a close frame, which holds 123 bytes.
func clip(reason string) string {
	if len(reason) <= 100 {
		return reason
	}
	return strings.ToValidUTF8(reason[:100], "") // it may be cut inside a character
}

// ping finds out when the other end is gone without having said so, and tells a
// script, which sees no pings, that this end is not.
func (s *socket) ping(ctx context.Context) {
	t := time.NewTicker(s.hub.cfg.PingEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.over:
			return
		case <-t.C:
		}
		within, cancel := context.WithTimeout(ctx, s.hub.cfg.PongWithin)
		s.writing.Lock()
		err := s.conn.Ping(within)
		s.writing.Unlock()
		cancel()
		if err != nil {
			s.cut()
			return
		}
		if err := s.send(ctx, "beat", frameBeat); err != nil {
			return
		}
	}
}

// write works the notes off until the socket ends.
func (s *socket) write(ctx context.Context) {
	defer func() {
		// As with a page: one that cannot be rendered does not take all down.
		if v := recover(); v != nil {
			s.hub.cfg.Log.ErrorContext(ctx, "socket panicked", "panic", v, "stack", string(debug.Stack()))
			s.cut()
		}
	}()
	v := &shownPage{socket: s}
	defer v.leave()
	silent := time.AfterFunc(s.hub.cfg.SubscribeWithin, func() { s.end(CloseSilent, "nothing subscribed to") })
	defer silent.Stop()
	for {
		select {
		case <-s.over:
			s.mu.Lock()
			code, reason := s.code, s.reason
			s.mu.Unlock()
			// An error says that the other end is gone, which is what we want.
			_ = s.conn.Close(code, reason)
			return
		case <-ctx.Done():
			return
		case <-s.wake:
		}
		n := s.take()
		if n.subscribe != nil {
			silent.Stop()
		}
		if err := v.work(ctx, n); err != nil && !errors.Is(err, errEnding) {
			code, reason := s.hub.closeFor(ctx, err)
			s.end(code, reason)
		}
	}
}

// send writes one frame, or returns errEnding. A reader stuck for writeTimeout
// loses the connection: a close frame could not reach it through its full pipe.
func (s *socket) send(ctx context.Context, kind string, frame []byte) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	return s.put(ctx, kind, frame)
}

// sendDecided is send of what began to be decided at that time: errStale if that is too
// long ago when writing is. So no frame that is begun staleAfter after a change was
// acknowledged can lack it: not even one that waited for the one before, or took long to
// decide or to render.
func (s *socket) sendDecided(ctx context.Context, kind string, frame []byte, began time.Time) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.hub.stale(began) {
		return errStale
	}
	return s.put(ctx, kind, frame)
}

// stale reports whether what began to be decided at that time is to be decided again
// before it is sent.
func (h *Hub) stale(began time.Time) bool {
	return h.cfg.Now().Sub(began) > h.cfg.StaleAfter && !mutants.On(mutants.StaleDecision)
}

// put is send with writing held.
func (s *socket) put(ctx context.Context, kind string, frame []byte) error {
	select {
	case <-s.over:
		return errEnding
	default:
	}
	within, cancel := context.WithTimeout(ctx, s.hub.cfg.WriteTimeout)
	defer cancel()
	if err := s.conn.Write(within, websocket.MessageText, frame); err != nil {
		if errors.Is(within.Err(), context.DeadlineExceeded) {
			s.hub.metric.closed.WithLabelValues("stuck").Inc()
		}
		s.cut()
		return errEnding
	}
	s.hub.metric.frames.WithLabelValues(kind).Inc()
	return nil
}

// errEnding stops a writer in the middle of its work when the socket has been
// told to end, as what it still has to say may not be shown any more, or when
// the connection is gone.
var errEnding = errors.New("socket ends")
