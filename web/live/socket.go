package live

import (
	"context"
	"errors"
	"math/rand/v2"
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
)

// A socket is the connection of one open page. Shards put what they find into its inbox
// (offer, touch, offerFirstPage, resync, end) and never wait for it. Its writer goroutine, which
// alone knows what the page shows (see shownPage), empties the inbox. So the number of posts
// bounds what is still to be sent, however slow the reader is.
type socket struct {
	hub    *Hub
	conn   *websocket.Conn
	viewer timelines.Viewer
	// address is where the socket comes from, as limits count it. clientKey is what the
	// sockets of one client are counted by.
	address, clientKey string
	// cut ends everything at once, without a close frame. It is set before the socket is
	// admitted.
	cut context.CancelFunc

	// beyond: the page shows entries below the depth to which its river is kept. No flush
	// finds those, so the socket is told of each post that was flushed.
	beyond atomic.Bool

	// writing is held while a frame is written, and until a ping is answered. A frame that is
	// checked with it held is then sent without another wait.
	writing sync.Mutex

	wake chan struct{} // the inbox is not empty
	over chan struct{} // closed by end

	// unread is how many unread notifications the page shows; unasked, it does not show any.
	unread atomic.Int64

	// fingerprint is what the whole page was last decided with, nil before its first visit.
	fingerprint atomic.Pointer[Fingerprint]
	// readMarks is the Fingerprint's field of that name when the page was last visited or compared.
	// A comparison that came to nothing leaves it, so that the next beat has another made.
	readMarks atomic.Uint64

	// same is what the page was last compared with, if nothing differed and the writer has done nothing
	// since; otherwise nil.
	same atomic.Pointer[firstPage]

	// own are the goroutines of the socket besides its reader. Once gone is set, none begins.
	own sync.WaitGroup

	// mu guards the fields below. No other lock is taken while it is held.
	mu     sync.Mutex
	gone   bool
	inbox  inbox
	ended  bool
	code   websocket.StatusCode
	reason string
}

// An inbox is what has happened since the writer last looked.
type inbox struct {
	subscribe *subscribeFrame
	drop      []*dropFrame
	seen      bool // the reader has seen what the page shows
	resync    bool
	firstPage *stretch
	pending   map[int64]*update  // the newest of each post
	touched   map[int64]struct{} // posts flushed, for pages beyond the depth
	unread    *unreadNow
}

// unreadNow is how many notifications the viewer has not read, and when that began to be decided.
type unreadNow struct {
	count int
	began time.Time
}

// unasked is the number of unread notifications on a page that does not show it.
const unasked = -1

// maxPending is how many posts may wait for one socket. If there are more, the page is visited
// again instead.
const maxPending = 1024

// maxDrops is how many drop frames may wait until a writer that is stuck goes on.
const maxDrops = 16

// The limits of what a client may send: a page subscribes once and drops entries now and then.
const (
	framesPerSecond = 4
	frameBurst      = 16
)

// Serve answers the handshake of a socket for viewer v, and returns then. The socket goes on without the
// goroutine of the request, which would keep the request and all that it grew for. Stop waits for it.
// address is where the request comes from, as limits count it. With signedOut the socket is
// closed at once with CloseSignedOut: a script cannot read the status of a refused handshake.
//
// A browser says in Origin which site's page opens the socket. Another site's is refused, as
// the browser would send the cookie with it. A client without an Origin is no browser and has
// the cookie because somebody gave it to the client, so it is served.
func (h *Hub) Serve(w http.ResponseWriter, r *http.Request, v timelines.Viewer, address string, signedOut bool) {
	// The request's own context says nothing about a connection that was hijacked.
	ctx, cut := context.WithCancel(context.WithoutCancel(r.Context()))
	s := &socket{
		hub: h, viewer: v, address: address, clientKey: clientKey(v, address), cut: cut,
		wake: make(chan struct{}, 1), over: make(chan struct{}),
	}
	s.unread.Store(unasked)
	if status := h.admit(s); status != http.StatusSwitchingProtocols {
		cut()
		if !h.refuse() {
			w.Header().Set("Retry-After", "10")
			http.Error(w, http.StatusText(status), status)
			return
		}
		defer h.refused()
		if conn, err := h.accept(w, r, time.Now().Add(maxRefusal)); err == nil {
			code, reason := CloseTooFast, "too many pages open"
			if status == http.StatusServiceUnavailable {
				code, reason = CloseReconnect, strconv.FormatInt((fullFor+rand.N(fullFor)).Milliseconds(), 10)
			}
			_ = conn.Close(code, reason) // an error says that the other end is gone
		}
		return
	}
	handed := false // to its own goroutine
	defer func() {
		if !handed {
			cut()
			h.dismiss(s)
		}
	}()
	conn, err := h.accept(w, r, time.Time{})
	if err != nil {
		return // accept has answered
	}
	conn.SetReadLimit(maxFrame)
	s.conn = conn
	if signedOut {
		s.end(CloseSignedOut, "signed out")
	}
	handed = true
	go s.live(ctx)
}

// accept answers a handshake. The connection ends at until, unless that is the zero time.
func (h *Hub) accept(w http.ResponseWriter, r *http.Request, until time.Time) (*websocket.Conn, error) {
	return websocket.Accept(&pipe{w, h.cfg.SendBuffer, until}, r, &websocket.AcceptOptions{
		// Frames are small, and a compressor for each connection is large.
		CompressionMode: websocket.CompressionDisabled,
		// The host that is asked for is always allowed. A proxy may ask for another one
		// than the site's, so the site's own is allowed too.
		OriginPatterns: h.cfg.Origins,
	})
}

// live is a socket's life from the handshake to its end.
func (s *socket) live(ctx context.Context) {
	defer s.hub.dismiss(s)
	s.own.Go(func() { s.survive(ctx, func() { s.write(ctx) }) })
	beat := s.beat(ctx)
	s.survive(ctx, func() { s.read(ctx) })
	s.cut()
	beat.Stop()
	s.mu.Lock()
	s.gone = true
	s.mu.Unlock()
	s.own.Wait()
}

func clientKey(v timelines.Viewer, address string) string {
	if v.Session != (timelines.Session{}) {
		return "session " + string(v.Session[:])
	}
	return "address " + address
}

// end has the socket closed with that code, after the frame that is being written. A socket
// that takes more than a second for that is cut. Only the first call counts.
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

// checkFingerprint takes what the page would be decided with now, and the number of the last
// change of access that may show on everybody's pages. If the page was decided otherwise, it
// is visited again. checkFingerprint reports whether the page is to be compared with its river,
// as it may differ by something that no fingerprint says.
func (s *socket) checkFingerprint(now Fingerprint, common int64) (compare bool) {
	was := s.fingerprint.Load()
	// The node may have forgotten the marks meanwhile. A comparison would have it read them again,
	// and forget those of another page.
	readMore := now.readMarks != 0 && s.readMarks.Load() != now.readMarks
	switch {
	case was == nil: // the first visit is under way
		return false
	case was.differs(now):
		s.resync()
		return false
	}
	return was.sets != now.sets || was.clock < common || readMore
}

// offer puts into the inbox what a flush found.
func (s *socket) offer(updates []*update) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inbox.pending == nil {
		s.inbox.pending = make(map[int64]*update)
	}
	for _, u := range updates {
		s.inbox.pending[u.post] = u
	}
	if len(s.inbox.pending) > maxPending {
		s.inbox.pending, s.inbox.resync = nil, true
	}
	nudge(s.wake)
}

// offerUnread puts into the inbox how many notifications are unread, if the page shows another
// number.
func (s *socket) offerUnread(count int, began time.Time) {
	if shown := s.unread.Load(); shown == unasked || shown == int64(count) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inbox.unread = &unreadNow{count, began}
	nudge(s.wake)
}

// touch puts into the inbox which posts were flushed, whatever happened to them.
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

// offerFirstPage puts into the inbox the first page of the river as a comparison read it.
func (s *socket) offerFirstPage(f *stretch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inbox.firstPage = f
	nudge(s.wake)
}

// resync has the page visited again.
func (s *socket) resync() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inbox.resync = true
	nudge(s.wake)
}

// take empties the inbox.
func (s *socket) take() inbox {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.inbox
	s.inbox = inbox{}
	return n
}

// read takes what the client sends until the connection is gone. It always reads, as only a
// reader gets pongs and close frames.
func (s *socket) read(ctx context.Context) {
	allowed := rate.NewLimiter(framesPerSecond, frameBurst)
	for {
		_, message, err := s.conn.Read(ctx)
		if err != nil {
			return // the connection is gone, or the library has answered too large a message with 1009
		}
		frame, err := s.parse(ctx, message)
		switch {
		case err != nil:
			var bad *malformedError
			errors.As(err, &bad)
			s.end(CloseMalformed, clip(bad.why))
		case !allowed.Allow():
			s.end(CloseTooFast, "too fast")
		default:
			s.mu.Lock()
			switch {
			case frame.subscribe != nil:
				s.inbox.subscribe = frame.subscribe
			case frame.drop != nil:
				s.inbox.drop = append(s.inbox.drop, frame.drop)
			default:
				s.inbox.seen = true
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

// parse is parseFrame in a goroutine that ends, as one that has read JSON keeps the stack that it grew
// for that.
func (s *socket) parse(ctx context.Context, message []byte) (frame clientFrame, err error) {
	var parsing sync.WaitGroup
	err = malformed("cannot be read") // stays if it panics
	parsing.Go(func() { s.survive(ctx, func() { frame, err = parseFrame(message) }) })
	parsing.Wait()
	return frame, err
}

// survive does something that may panic. As with a page over HTTP, the process goes on without the socket.
func (s *socket) survive(ctx context.Context, do func()) {
	defer func() {
		if v := recover(); v != nil {
			s.hub.cfg.Log.ErrorContext(ctx, "socket panicked", "panic", v, "stack", string(debug.Stack()))
			s.cut()
		}
	}()
	do()
}

// clip shortens a reason so that it fits into a close frame, which holds 123 bytes.
func clip(reason string) string {
	if len(reason) <= 100 {
		return reason
	}
	return strings.ToValidUTF8(reason[:100], "") // the cut may be inside a character
}

// beat pings the other end again and again, until the timer is stopped or the socket ends. Between two
// pings no goroutine waits.
func (s *socket) beat(ctx context.Context) (timer *time.Timer) {
	s.mu.Lock() // until the timer is set
	defer s.mu.Unlock()
	timer = time.AfterFunc(together(time.Now(), s.hub.cfg.PingEvery), func() {
		s.mu.Lock()
		over := s.gone || s.ended
		if !over {
			s.own.Add(1)
		}
		s.mu.Unlock()
		if over {
			return
		}
		defer s.own.Done()
		if s.ping(ctx) {
			timer.Reset(together(time.Now(), s.hub.cfg.PingEvery))
		}
	})
	return timer
}

// beatStep is how far apart the moments are at which sockets are pinged. The processor wakes up once for all that
// are pinged at one moment.
const beatStep = 200 * time.Millisecond

// together returns how long it is from now to the moment for pings that comes last within d.
func together(now time.Time, d time.Duration) time.Duration {
	if d <= beatStep {
		return d
	}
	return now.Add(d).Truncate(beatStep).Sub(now)
}

// ping finds out that the other end has gone without a word. It also sends a beat frame, by
// which a script, which sees no pings, knows that this end is there. It reports whether the socket goes
// on.
func (s *socket) ping(ctx context.Context) bool {
	within, cancel := context.WithTimeout(ctx, s.hub.cfg.PongWithin)
	defer cancel()
	s.writing.Lock()
	err := s.conn.Ping(within)
	s.writing.Unlock()
	if err != nil {
		s.cut()
		return false
	}
	return s.send(ctx, "beat", frameBeat) == nil
}

// write does what the inbox asks for until the socket ends.
func (s *socket) write(ctx context.Context) {
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
			// An error says that the other end is gone, which is what is wanted.
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
		// A goroutine that has rendered a page keeps the stack that it grew for that.
		var work sync.WaitGroup
		work.Go(func() { s.survive(ctx, func() { s.work(ctx, v, n) }) })
		work.Wait()
	}
}

// work does what an inbox asks for.
func (s *socket) work(ctx context.Context, v *shownPage, n inbox) {
	if err := v.work(ctx, n); err != nil && !errors.Is(err, errEnding) {
		code, reason := s.hub.closeFor(ctx, err)
		s.end(code, reason)
	}
}

// send writes one frame, or returns errEnding. A reader that is stuck for WriteTimeout loses
// the connection: no close frame could pass through its full pipe.
func (s *socket) send(ctx context.Context, kind string, frame []byte) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	return s.put(ctx, kind, frame)
}

// sendDecided is send for a frame whose decision began at that time. It returns errStale if
// that is too long ago when the frame can be written. So no frame that is begun StaleAfter
// after a change was acknowledged lacks that change: neither one that waited for the frame
// before it, nor one that took long to decide or to render.
func (s *socket) sendDecided(ctx context.Context, kind string, frame []byte, began time.Time) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.hub.stale(began) {
		return errStale
	}
	return s.put(ctx, kind, frame)
}

// stale reports whether a decision that began at that time is to be made again before it is
// sent.
func (h *Hub) stale(began time.Time) bool {
	return h.cfg.Now().Sub(began) > h.cfg.StaleAfter
}

// put is send for a caller that holds writing.
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

// errEnding stops a writer in the middle of its work: the connection is gone, or the socket has
// been told to end and what is left to send may not be shown any more.
var errEnding = errors.New("socket ends")
