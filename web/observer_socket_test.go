package web_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/coder/websocket"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/timelines/access"
	"riverrun/web/live"
	"riverrun/web/view"
	"riverrun/web/webtest"
)

// timedRivers notes when the hub read what it decides by.
type timedRivers struct {
	live.Rivers
	facts *facts

	mu    sync.Mutex // guards reads
	reads []change[struct{}]
}

// keptReads is more than a hub reads while a frame is on its way.
const keptReads = 8192

func (r *timedRivers) timed() (done func()) {
	from := r.facts.now()
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if len(r.reads) == keptReads {
			r.reads = slices.Delete(r.reads, 0, keptReads/2)
		}
		r.reads = append(r.reads, change[struct{}]{from: from, to: r.facts.now()})
	}
}

func (r *timedRivers) Visit(ctx context.Context, v timelines.Viewer, n rivers.Name, c rivers.Cursor) (*rivers.Page, error) {
	defer r.timed()()
	return r.Rivers.Visit(ctx, v, n, c)
}

func (r *timedRivers) Flush(ctx context.Context, w []rivers.Watch, posts []int64) ([]rivers.Seen, error) {
	defer r.timed()()
	return r.Rivers.Flush(ctx, w, posts)
}

func (r *timedRivers) FirstPages(ctx context.Context, w []rivers.Watch) ([]*rivers.Page, error) {
	defer r.timed()()
	return r.Rivers.FirstPages(ctx, w)
}

// earliest returns when the earliest read began whose result may have been
// rendered at that moment: a result that was decided longer ago is not sent.
func (r *timedRivers) earliest(rendered instant) instant {
	// Between the end of a read and the hub's own look at its clock a busy machine
	// may do other things.
	const busy = instant(100 * time.Millisecond)
	r.mu.Lock()
	defer r.mu.Unlock()
	found := rendered
	for _, c := range slices.Backward(r.reads) {
		if c.to <= rendered && c.to >= rendered-instant(observedStale)-busy {
			found = min(found, c.from)
		}
	}
	return found
}

// stampedPages writes into each entry rendered for a frame when that was. The
// parts that are compared by their HTML are left alone.
type stampedPages struct {
	live.Pages
	facts *facts
}

func (p stampedPages) Entry(ctx context.Context, l view.Context, n rivers.Name, sets *access.Sets, it rivers.Item) (view.Parts, []byte, error) {
	stamp := fmt.Appendf(nil, "<!--rendered %d-->", p.facts.now())
	parts, whole, err := p.Pages.Entry(ctx, l, n, sets, it)
	for _, part := range []*[]byte{&parts.Body, &parts.Comments, &whole} {
		*part = append(slices.Clone(*part), stamp...)
	}
	return parts, whole, err
}

// follower is an open page: what is shown on it is kept as PROTOCOL.md tells
// clients to keep it.
type follower struct {
	*observed
	who   *resident
	rng   *rand.Rand
	stays bool            // on a page as long as it is let
	from  []*webtest.Site // loads pages from these
	nodes []*webtest.Site // connects to these
	over  <-chan struct{}

	node    *webtest.Site
	address string
	page    string // as the page itself says its address
	conn    *websocket.Conn
	river   string
	sight   string
	// shown are the entries by code, gone the stamps of those taken off.
	shown     map[string]*shownEntry
	confirmed map[string]bool // since a river frame, until its ok
	ever      map[string]bool // codes of entries that were ever shown on it; the reader's
	ended     chan struct{}   // reading has
	mu        sync.Mutex      // guards the page while reading
	differing string          // the code of an entry that does not equal a reload
	said      []string        // the frames since it was loaded
	ready     chan struct{}   // closed once the page is known to be followed; nil if nobody waits
}

type shownEntry struct {
	version string
	place   int64
	parts   map[string]string
}

var (
	riverForm = regexp.MustCompile(`data-river="(\d+)"`)
	pageForm  = regexp.MustCompile(`data-page="([^"]*)"`)
	sightForm = regexp.MustCompile(`data-sight="([^"]*)"`)
	entryForm = regexp.MustCompile(`(?s)<article id="p-([0-9a-z]{10})"[^>]*data-version="([^"]*)" data-place="(\d+)".*?</article>`)
)

// entriesOf reads the entries of a page, or of a frame's HTML.
func entriesOf(html string) map[string]*shownEntry {
	found := map[string]*shownEntry{}
	for _, m := range entryForm.FindAllStringSubmatch(html, -1) {
		place, _ := strconv.ParseInt(m[3], 10, 64) // digits
		found[m[1]] = &shownEntry{version: m[2], place: place, parts: webtest.PartsOf(m[0])}
	}
	return found
}

// follow opens one page after the other, or the same again, until all is over.
func (fl *follower) follow() {
	for {
		select {
		case <-fl.over:
			return
		default:
		}
		if fl.address == "" || fl.rng.IntN(2) == 0 {
			if !fl.load() {
				continue
			}
		}
		if !fl.connect() {
			fl.address = ""
			continue
		}
		for {
			// A wanderer goes on after a while.
			wait := time.NewTimer(time.Duration(100+fl.rng.IntN(900)) * time.Millisecond)
			ended := false
			select {
			case <-fl.over:
				wait.Stop()
				return
			case <-fl.ended:
				ended = true
			case <-wait.C:
			}
			wait.Stop()
			if ended {
				break
			}
			if !fl.stays {
				fl.end()
				break
			}
		}
	}
}

// load loads some page, and forgets the one before.
func (fl *follower) load() bool { return fl.loadPage(fl.anyPage(fl.rng, nameOf(fl.who))) }

func (fl *follower) loadPage(address string) bool {
	node := fl.from[fl.rng.IntN(len(fl.from))]
	body := fl.get(node, fl.who, address, "")
	m := riverForm.FindStringSubmatch(body)
	if m == nil {
		fl.address = ""
		return false
	}
	if older := linksIn(body, olderForm); len(older) > 0 && !fl.stays && fl.rng.IntN(3) == 0 {
		address = older[0]
		body = fl.get(node, fl.who, address, "")
		if m = riverForm.FindStringSubmatch(body); m == nil {
			fl.address = ""
			return false
		}
	}
	fl.address, fl.page, fl.river, fl.sight = address, linksIn(body, pageForm)[0], m[1], linksIn(body, sightForm)[0]
	fl.shown, fl.confirmed, fl.said, fl.ever = entriesOf(body), nil, nil, map[string]bool{}
	for code := range fl.shown {
		fl.ever[code] = true
	}
	return true
}

// connect subscribes with what is shown, on either node, and reads from then on.
func (fl *follower) connect() bool {
	fl.node = fl.nodes[fl.rng.IntN(len(fl.nodes))]
	var p *webtest.Person
	if fl.who != nil {
		p = fl.who.Person
	}
	conn, status, err := fl.node.Dial(p, nil)
	if err != nil {
		fl.t.Errorf("dial: %v (status %d)", err, status)
		return false
	}
	stamps := map[string]string{}
	for code, e := range fl.shown {
		stamps[code] = e.version
	}
	message, err := json.Marshal(map[string]any{
		"t": "subscribe", "page": fl.page, "lang": "en", "viewer": nameOf(fl.who),
		"river": fl.river, "sight": fl.sight, "entries": stamps, "unread": 0,
	})
	if err != nil {
		fl.t.Error(err)
		return false
	}
	ctx, cancel := context.WithTimeout(fl.t.Context(), webtest.Patience)
	defer cancel()
	if err := conn.Write(ctx, websocket.MessageText, message); err != nil {
		fl.t.Errorf("subscribe: %v", err)
		return false
	}
	fl.conn, fl.ended, fl.confirmed = conn, make(chan struct{}), nil
	go fl.read(conn, fl.ended)
	return true
}

// end hangs up.
func (fl *follower) end() {
	if fl.conn == nil {
		return
	}
	_ = fl.conn.CloseNow() // it may be closed already
	<-fl.ended
	fl.conn = nil
}

// read takes frames until the connection ends.
func (fl *follower) read(conn *websocket.Conn, ended chan<- struct{}) {
	defer close(ended)
	for {
		_, message, err := conn.Read(fl.t.Context())
		if err != nil {
			var closed websocket.CloseError
			if errors.As(err, &closed) {
				fl.mu.Lock()
				defer fl.mu.Unlock()
				if closed.Code == live.CloseNoPage || closed.Code == live.CloseSignedOut && fl.who == nil && fl.facts.wasShut() {
					fl.address = "" // closed to this viewer
				} else if closed.Code != live.CloseReconnect {
					fl.t.Errorf("socket of %q on %s closed: %v", nameOf(fl.who), fl.address, closed)
				}
			}
			return
		}
		at := fl.facts.now()
		var f webtest.Frame
		if err := json.Unmarshal(message, &f); err != nil {
			fl.t.Errorf("frame %s: %v", message, err)
			return
		}
		fl.witness(&f, message, at)
		fl.mu.Lock()
		fl.said = append(fl.said, fmt.Sprintf("%d %s %s %s of %s", at, f.T, f.Post, f.Version, f.River))
		fl.take(f)
		fl.mu.Unlock()
	}
}

// witness shows the observer a frame, all of it.
func (fl *follower) witness(f *webtest.Frame, message []byte, at instant) {
	if f.T == "entry" && f.HTML == "" && len(f.Parts) == 0 {
		return // says that nothing differs
	}
	fl.pushes.Add(1)
	s := serving{viewer: nameOf(fl.who), address: fl.address, how: "frame", from: at, to: at, node: fl.node}
	body := plain(string(message))
	if m := webtest.StampForm.FindStringSubmatch(body); m != nil {
		rendered, _ := strconv.ParseInt(m[1], 10, 64) // digits
		s.from = fl.serve[fl.node].earliest(instant(rendered))
	} else {
		// Made of names only, and of what was there a moment ago.
		s.from -= instant(observedStale + 2*time.Second)
	}
	switch f.T {
	case "entry":
		fl.ever[f.Post] = true
	case "gone":
		if !fl.ever[f.Post] {
			fl.complain([]string{fmt.Sprintf("frame of %s for %q: %s is gone, which was never there", s.address, s.viewer, f.Post)})
		}
		s.about = f.Post
	}
	fl.judge(s, body)
	fl.facts.mu.RLock()
	defer fl.facts.mu.RUnlock()
	if f.T == "unread" {
		fl.complain(fl.facts.judgeUnread(s, countIn(body, `"n":(\d+)`), fl.facts.asking(s)))
	}
	p := fl.facts.codes[f.Post]
	if p == nil || f.T != "entry" {
		return
	}
	on := fl.facts.showingOf(s.address)
	if !fl.facts.ever(s.from, s.to, func(at instant) bool {
		return fl.facts.reads(at, s.viewer, p) && on.holds(fl.facts, at, s.viewer, p)
	}) {
		fl.complain([]string{fmt.Sprintf("frame of %s for %q, decided between %d and %d: an entry of %s, which it does not hold\n%s",
			s.address, s.viewer, s.from, s.to, f.Post, fl.facts.tell(p.text.last(), said{writing: p}, s.viewer))})
	}
	fl.complain(fl.facts.judgeNews(s, p, f.Parts["acts"]))
	if line, ok := f.Parts["likes"]; ok {
		fl.complain(fl.facts.judgeLikes(s, p, s.viewer, line))
	}
	if text, ok := f.Parts["comments"]; ok {
		fl.complain(fl.facts.judgeComments(s, p, s.viewer, text))
	}
}

// take does with a frame what a client does.
func (fl *follower) take(f webtest.Frame) {
	switch f.T {
	case "river":
		fl.river = f.River
		fl.confirmed = map[string]bool{}
		for _, e := range fl.shown {
			e.version = "0.0"
		}
	case "entry":
		if f.River != fl.river {
			return
		}
		if fl.confirmed != nil {
			fl.confirmed[f.Post] = true
		}
		was := fl.shown[f.Post]
		if was == nil && f.HTML == "" {
			fl.t.Errorf("%q on %s was sent parts of %s, which is not shown", nameOf(fl.who), fl.address, f.Post)
			return
		}
		now := &shownEntry{place: f.Place, parts: map[string]string{}}
		var old view.Version
		is, ok := view.ParseVersion(f.Version)
		if was != nil {
			old, _ = view.ParseVersion(was.version)
			if !ok || webtest.Newer(old.Stamp, is.Stamp) && !webtest.Newer(is.Stamp, old.Stamp) {
				fl.t.Errorf("%q on %s: %s went back from %s to %s", nameOf(fl.who), fl.address, f.Post, was.version, f.Version)
			}
			maps.Copy(now.parts, was.parts)
		}
		webtest.Take(now.parts, webtest.PartsOf(f.HTML), old.Stamp, is.Stamp)
		webtest.Take(now.parts, f.Parts, old.Stamp, is.Stamp)
		now.version = view.Version{Stamp: webtest.Later(old.Stamp, is.Stamp), Tag: is.Tag}.String()
		fl.shown[f.Post] = now
	case "gone":
		if f.River == fl.river {
			delete(fl.shown, f.Post)
		}
	case "ok":
		fl.sight = f.Sight
		if fl.confirmed != nil {
			maps.DeleteFunc(fl.shown, func(code string, _ *shownEntry) bool { return !fl.confirmed[code] })
			fl.confirmed = nil
		}
		if fl.ready != nil {
			close(fl.ready)
			fl.ready = nil
		}
	}
}
