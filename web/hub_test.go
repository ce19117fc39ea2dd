package web

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"riverrun/rivers"
	"riverrun/tiers"
	"riverrun/timelines"
)

var everything = rivers.Name{Kind: rivers.Everything, Order: rivers.Fresh}

// deaf is a bus of which nothing is heard.
func deaf(func(tiers.Message)) (cancel func()) { return func() {} }

// A pausedRivers calls before and after around visits, to let a test act between
// two steps of a subscribe.
type pausedRivers struct {
	riverSource
	before, after func()
	flushed       func(rivers []rivers.Watch, posts []int64)
}

func (p *pausedRivers) Visit(ctx context.Context, v timelines.Viewer, n rivers.Name, c rivers.Cursor) (*rivers.Page, error) {
	if p.before != nil {
		p.before()
	}
	page, err := p.riverSource.Visit(ctx, v, n, c)
	if p.after != nil {
		p.after()
	}
	return page, err
}

func (p *pausedRivers) Flush(ctx context.Context, w []rivers.Watch, posts []int64) ([]rivers.Seen, error) {
	if p.flushed != nil {
		p.flushed(w, posts)
	}
	return p.riverSource.Flush(ctx, w, posts)
}

// countedPages counts what is rendered for sockets.
type countedPages struct {
	hubPages
	rendered atomic.Int64
}

func (c *countedPages) renderEntry(ctx context.Context, l look, n rivers.Name, sets *timelines.Sets, it rivers.Item) (entryParts, []byte, error) {
	c.rendered.Add(1)
	return c.hubPages.renderEntry(ctx, l, n, sets, it)
}

func TestSubscribeSendsTheDifference(t *testing.T) {
	s := newLiveSite(t, nil)
	ann, bob := s.person("ann"), s.person("bob")
	stays, liked, goes := ann.post("stays"), ann.post("will be liked"), ann.post("will go")

	g := s.open(bob, "/everything")
	if got := len(g.shown); got != 3 {
		t.Fatalf("an empty page was sent %d entries, want 3", got)
	}
	_ = g.conn.CloseNow()
	bob.like(liked.Code)
	ann.remove(goes.Code)
	fresh := bob.post("new meanwhile")

	g.frames = 0
	g.follow(s, bob)
	// liked, goes, fresh and ok; nothing about what stayed as it was.
	if g.frames != 4 {
		t.Errorf("the difference came in %d frames, want 4", g.frames)
	}
	if _, there := g.shown[goes.Code]; there {
		t.Errorf("%s is still shown", goes.Code)
	}
	for _, code := range []string{stays.Code, liked.Code, fresh.Code} {
		if _, there := g.shown[code]; !there {
			t.Errorf("%s is not shown", code)
		}
	}
	g.sameAsReload(s, bob, rivers.Name{UserID: bob.account.ID, Kind: rivers.Everything, Order: rivers.Fresh})
}

func TestPushesParts(t *testing.T) {
	s := newLiveSite(t, nil)
	ann := s.person("ann")
	post := ann.post("something to like")
	g := s.open(nil, "/everything")

	ann.like(post.Code)
	if f := g.untilEntry(post.Code); !strings.Contains(f.Parts["likes"], "ann") {
		t.Errorf("after a like: %+v, want ann in the likes", f)
	}
	ann.edit(post.Code, "something better")
	f := g.untilEntry(post.Code)
	if !strings.Contains(f.Parts["body"], "something better") {
		t.Errorf("after an edit: %+v, want the new text", f)
	}
	for _, part := range []string{"why", "acts", "likes", "comments", "box"} {
		if _, sent := f.Parts[part]; sent {
			t.Errorf("after an edit: %s was sent, and did not change", part)
		}
	}
	ann.comment(post.Code, "a word")
	// A bump moves the entry: the whole article comes.
	if f := g.untilEntry(post.Code); !strings.Contains(f.HTML, "a word") || !strings.Contains(f.HTML, `data-post="`+post.Code+`"`) {
		t.Errorf("after a comment: %+v, want the article with it", f)
	}
	ann.remove(post.Code)
	g.untilGone(post.Code)
	g.sameAsReload(s, nil, everything)
}

// Step 9: whatever happens between lease and visit, or between visit and answer,
// is on the page in the end.
func TestNothingFallsBetweenPageAndSocket(t *testing.T) {
	for _, when := range []string{"before the visit", "after the visit"} {
		t.Run(when, func(t *testing.T) {
			paused := &pausedRivers{}
			s := newLiveSite(t, func(c *hubConfig) {
				paused.riverSource = c.rivers
				c.rivers = paused
				c.beat = make(chan time.Time) // no comparison comes to help
			})
			ann := s.person("ann")
			old := ann.post("old")
			g := s.open(nil, "/everything")
			_ = g.conn.CloseNow()

			var fresh timelines.Change
			happens := sync.OnceFunc(func() {
				ann.edit(old.Code, "edited")
				fresh = ann.post("meanwhile")
			})
			if when == "before the visit" {
				paused.before = happens
			} else {
				paused.after = happens
			}
			g.follow(s, nil)
			want := map[string]string{old.Code: "edited", fresh.Code: "meanwhile"}
			for len(want) > 0 {
				for code, text := range want {
					if f := g.shown[code]; strings.Contains(f.HTML+f.Parts["body"], text) {
						delete(want, code)
					}
				}
				if len(want) > 0 {
					if _, err := g.read(); err != nil {
						t.Fatalf("waiting for %v: %v", want, err)
					}
				}
			}
		})
	}
}

func TestLostMessagesAreHealed(t *testing.T) {
	beat := make(chan time.Time)
	s := newLiveSite(t, func(c *hubConfig) {
		c.hear, c.beat, c.compareEvery = deaf, beat, 1
	})
	ann := s.person("ann")
	edited, removed := ann.post("first"), ann.post("second")
	g := s.open(nil, "/everything")

	ann.edit(edited.Code, "changed")
	ann.remove(removed.Code)
	fresh := ann.post("third")
	// The river has everything; only this hub has not heard of it.
	await(t, "the river to follow", func() bool {
		now, err := s.rivers.Visit(t.Context(), timelines.Viewer{}, everything, rivers.Cursor{})
		if err != nil {
			t.Fatal(err)
		}
		return len(now.Items) == 2 && now.Items[0].PostID == fresh.PostID && now.Items[1].Fold.Text.Body == "changed"
	})
	beat <- time.Now()
	want := map[string]string{edited.Code: "entry", removed.Code: "gone", fresh.Code: "entry"}
	for len(want) > 0 {
		f, err := g.read()
		if err != nil {
			t.Fatalf("waiting for %v: %v", want, err)
		}
		if want[f.Post] == f.T {
			delete(want, f.Post)
		}
	}
	g.sameAsReload(s, nil, everything)

	// At rest a comparison finds nothing and sends nothing.
	same := s.server.hub.metric.compared.WithLabelValues("same")
	was := figure(t, same)
	frames := s.server.hub.metric.frames.WithLabelValues("entry")
	sent := figure(t, frames)
	beat <- time.Now()
	await(t, "another comparison", func() bool { return figure(t, same) > was })
	if got := figure(t, frames); got != sent {
		t.Errorf("a comparison at rest sent %v entries", got-sent)
	}
}

func TestSignOutCloses(t *testing.T) {
	t.Run("within a second", func(t *testing.T) {
		s := newLiveSite(t, nil)
		ann := s.person("ann")
		g := s.open(ann, "/")
		ann.signOut()
		out := time.Now()
		if c := g.closed(); c.Code != closeSignedOut {
			t.Errorf("closed with %v, want %d", c, closeSignedOut)
		}
		if took := time.Since(out); took > time.Second {
			t.Errorf("closed after %v, want within a second", took)
		}
		// And the cookie opens nothing any more.
		conn, _, err := s.dial(ann, nil)
		if err != nil {
			t.Fatal(err)
		}
		again := &page{t: t, conn: conn}
		if c := again.closed(); c.Code != closeSignedOut {
			t.Errorf("a dead session's socket closed with %v, want %d", c, closeSignedOut)
		}
	})
	t.Run("though the bus stands still", func(t *testing.T) {
		beat := make(chan time.Time)
		s := newLiveSite(t, func(c *hubConfig) { c.hear, c.beat = deaf, beat })
		ann, bob := s.person("ann"), s.person("bob")
		g, other := s.open(ann, "/"), s.open(bob, "/")
		ann.signOut()
		beat <- time.Now()
		if c := g.closed(); c.Code != closeSignedOut {
			t.Errorf("closed with %v, want %d", c, closeSignedOut)
		}
		// Bob's stays open.
		other.subscribe()
		other.until("ok", func(f frame) bool { return f.T == "ok" })
	})
}

func TestAccessLostCloses(t *testing.T) {
	beat := make(chan time.Time)
	s := newLiveSite(t, func(c *hubConfig) { c.hear, c.beat = deaf, beat })
	ann, bob := s.person("ann"), s.person("bob")
	ann.post("for all, still")
	g := s.open(bob, "/ann")
	ann.act(func(ctx context.Context) (timelines.Change, error) {
		return s.store.SetAccess(ctx, ann.account.ID, "", timelines.Private)
	})
	beat <- time.Now()
	if c := g.closed(); c.Code != closeNoPage {
		t.Errorf("closed with %v, want %d", c, closeNoPage)
	}
}

func TestSwappedRiver(t *testing.T) {
	s := newLiveSite(t, func(c *hubConfig) { c.beat = make(chan time.Time) })
	ann, bob := s.person("ann"), s.person("bob")
	post := bob.post("hello from bob")
	mine := ann.post("mine")
	g := s.open(ann, "/")
	was := g.river
	if _, there := g.shown[post.Code]; there {
		t.Fatal("ann sees bob's post before she follows him")
	}
	ann.subscribe("bob")
	g.until("ok of another river", func(f frame) bool { return f.T == "ok" && f.River != was })
	for _, code := range []string{post.Code, mine.Code} {
		if f := g.shown[code]; f.River != g.river {
			t.Errorf("%s is shown of river %q, want %q", code, f.River, g.river)
		}
	}
	g.sameAsReload(s, ann, rivers.Name{UserID: ann.account.ID, Kind: rivers.Home, Order: rivers.Fresh})
	// And the new one is followed.
	late := bob.post("and again")
	g.untilEntry(late.Code)
}

// A page opened while Tier 2 is far behind is brought up by its own subscription.
func TestOpenedWhileTierTwoLags(t *testing.T) {
	var lag atomic.Int64
	s := newLiveSite(t, func(c *hubConfig) {
		c.hear = deaf
		c.beat = make(chan time.Time)
		c.lag = func(context.Context) (time.Duration, error) { return time.Duration(lag.Load()), nil }
	})
	ann := s.person("ann")
	ann.post("old")
	g := s.open(nil, "/everything")
	_ = g.conn.CloseNow()
	await(t, "the lease to be given up", func() bool {
		var n int
		if err := s.db.Secondary.QueryRow(t.Context(), `SELECT count(*) FROM leases`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n == 0
	})
	// Nobody has the river open, and nothing does Tier 2.
	missed := ann.post("missed")
	lag.Store(int64(2 * time.Second))
	s.server.hub.lagMu.Lock()
	s.server.hub.lagAt = time.Time{} // an answer is good for a second
	s.server.hub.lagMu.Unlock()
	g.follow(s, nil)
	if _, there := g.shown[missed.Code]; !there {
		t.Error("the page lacks what Tier 2 has not brought yet")
	}
	g.sameAsReload(s, nil, everything)
}

func TestRenderedOncePerFlush(t *testing.T) {
	pages := &countedPages{}
	s := newLiveSite(t, func(c *hubConfig) {
		pages.hubPages = c.pages
		c.pages = pages
	})
	ann := s.person("ann")
	post := ann.post("popular")
	const readers = 8
	open := make([]*page, readers)
	for i := range open {
		open[i] = s.open(nil, "/everything")
	}
	before := pages.rendered.Load()
	ann.like(post.Code)
	for _, g := range open {
		g.untilEntry(post.Code)
	}
	// Tier 1 may come in more than one flush, but never once per reader.
	if got := pages.rendered.Load() - before; got == 0 || got >= readers {
		t.Errorf("rendered %d times for %d readers who look the same, want once", got, readers)
	}
}

func TestOlderPage(t *testing.T) {
	s := newLiveSite(t, nil)
	ann := s.person("ann")
	codes := make([]string, 0, rivers.PageSize+4)
	for i := range cap(codes) {
		codes = append(codes, ann.post("post "+strconv.Itoa(i)).Code)
	}
	top, err := s.rivers.Visit(t.Context(), timelines.Viewer{}, everything, rivers.Cursor{})
	if err != nil {
		t.Fatal(err)
	}
	last := top.Items[len(top.Items)-1]
	g := s.open(nil, "/everything?before="+s.rivers.FormatCursor(top.Next, last.Fold.Text.Code))
	if got := len(g.shown); got != 4 {
		t.Fatalf("an older page shows %d entries, want 4", got)
	}
	fresh := ann.post("new: not for an older page")
	ann.like(codes[0])
	g.untilEntry(codes[0])
	ann.remove(codes[1])
	g.untilGone(codes[1])
	if _, there := g.shown[fresh.Code]; there {
		t.Error("a new entry came to an older page")
	}
}

// A first page that loses an entry takes the next one from below, as a reload.
func TestFirstPageIsFilledUp(t *testing.T) {
	s := newLiveSite(t, func(c *hubConfig) { c.beat = make(chan time.Time) })
	ann := s.person("ann")
	codes := make([]string, 0, rivers.PageSize+2)
	for i := range cap(codes) {
		codes = append(codes, ann.post("post "+strconv.Itoa(i)).Code)
	}
	g := s.open(nil, "/everything")
	ann.remove(codes[len(codes)-1])
	g.untilEntry(codes[1])
	g.sameAsReload(s, nil, everything)

	// What a client drops is not pushed any more, until it comes up again.
	lowest := codes[1]
	g.say(map[string]any{"t": "drop", "river": g.river, "entries": map[string]string{lowest: g.shown[lowest].Version}})
	delete(g.shown, lowest)
	ann.comment(lowest, "up again")
	if f := g.untilEntry(lowest); f.HTML == "" {
		t.Errorf("a dropped entry came back in parts: %+v", f)
	}
}

func TestSlowReaderDelaysNobody(t *testing.T) {
	s := newLiveSite(t, func(c *hubConfig) { c.writeTimeout = 3 * time.Second })
	ann := s.person("ann")
	post := ann.post("long talk")
	slow, quick := s.open(nil, "/p/"+post.Code), s.open(nil, "/p/"+post.Code)
	stuck := s.server.hub.metric.closed.WithLabelValues("stuck")
	long := strings.Repeat("word ", 3900)
	for i := 0; figure(t, stuck) == 0; i++ {
		if i == 60 {
			t.Fatal("a reader who never reads was not closed")
		}
		ann.comment(post.Code, strconv.Itoa(i)+" "+long)
		quick.until("comment", func(f frame) bool {
			return strings.Contains(f.HTML+f.Parts["comments"], ">"+strconv.Itoa(i)+" word")
		})
	}
	await(t, "the slow reader's socket to end", func() bool { return figure(t, s.server.hub.metric.sockets) == 1 })
	_ = slow.conn.CloseNow()
}

// What was decided while a reader was stuck is decided again before it is sent:
// a narrowing acknowledged meanwhile holds (R4).
func TestStaleDecisionsAreMadeAgain(t *testing.T) {
	var now atomic.Int64 // nanoseconds
	paused := &pausedRivers{}
	s := newLiveSite(t, func(c *hubConfig) {
		c.now = func() time.Time { return time.Unix(1e9, now.Load()) }
		paused.riverSource = c.rivers
		c.rivers = paused
		c.beat = make(chan time.Time)
	})
	ann, bob := s.person("ann"), s.person("bob")
	post := ann.post("public yet")
	g := s.open(bob, "/everything")

	// The second flush after this asks for what the first decided too early.
	var mu sync.Mutex
	var asked [][]int64
	h := s.server.hub
	watch := rivers.Watch{
		Viewer: bob.viewer, River: parseID(t, g.river),
		Name: rivers.Name{UserID: bob.account.ID, Kind: rivers.Everything, Order: rivers.Fresh},
	}
	seen, err := s.rivers.Flush(t.Context(), []rivers.Watch{watch}, []int64{post.PostID})
	if err != nil {
		t.Fatal(err)
	}
	it := seen[0].Items[0]
	it.Stamp.Fold += 1000 // as if something had changed
	old := newBatch(h.cfg.pages, h.cfg.now())
	paused.flushed = func(_ []rivers.Watch, posts []int64) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, posts)
	}
	now.Store(int64(2 * time.Second))
	sh := h.shardOf(watch.Name)
	sh.mu.Lock()
	room := sh.rooms[watch]
	if room == nil {
		t.Fatalf("nobody follows %+v", watch)
	}
	room.each(func(s *socket) {
		s.offer([]*update{{batch: old, watch: watch, post: it.PostID, item: &it, sets: seen[0].Sets}})
	})
	sh.mu.Unlock()
	await(t, "the decision to be made again", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return slices.ContainsFunc(asked, func(posts []int64) bool { return slices.Contains(posts, post.PostID) })
	})
	fresh := ann.post("fresh")
	for code := ""; code != fresh.Code; {
		f, err := g.read()
		if err != nil {
			t.Fatal(err)
		}
		if f.Version == formatStamp(it.Stamp) {
			t.Errorf("a stale decision was sent: %+v", f)
		}
		code = f.Post
	}
}

func parseID(t *testing.T, s string) int64 {
	t.Helper()
	id, err := parseRiver(s)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestStopSaysComeBack(t *testing.T) {
	s := newLiveSite(t, nil)
	ann := s.person("ann")
	ann.post("something")
	ignore := goleak.IgnoreCurrent()
	// The hub of the site runs; one of our own is started and stopped here.
	if err := s.server.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.server.hub = makeHub(s.server.hub.cfg, s.server.hub.metric)
	if err := s.server.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.http.Config.Handler = s.server.Handler()
	var open []*page
	for _, p := range []*person{ann, nil, ann} {
		open = append(open, s.open(p, "/everything"))
	}
	codes := make(chan websocket.CloseError, len(open))
	for _, g := range open {
		go func() { codes <- g.closed() }()
	}
	if err := s.server.Stop(t.Context()); err != nil {
		t.Errorf("Stop: %v", err)
	}
	for range open {
		c := <-codes
		after, err := strconv.Atoi(c.Reason)
		if c.Code != closeReconnect || err != nil || after < 0 || after > 5000 {
			t.Errorf("closed with %v, want %d and milliseconds", c, closeReconnect)
		}
	}
	if _, status, err := s.dial(nil, nil); err == nil || status != http.StatusServiceUnavailable {
		t.Errorf("dial after Stop: status %d, %v; want 503", status, err)
	}
	var leases int
	if err := s.db.Secondary.QueryRow(t.Context(), `SELECT count(*) FROM leases`).Scan(&leases); err != nil || leases != 0 {
		t.Errorf("%d leases after Stop (%v), want none", leases, err)
	}
	for _, g := range open {
		_ = g.conn.CloseNow()
	}
	s.http.CloseClientConnections()
	goleak.VerifyNone(t, ignore)
}

func TestLeases(t *testing.T) {
	beat := make(chan time.Time)
	s := newLiveSite(t, func(c *hubConfig) { c.beat, c.leaseEvery = beat, 1 })
	s.person("ann").post("something")
	until := func() (at time.Time, n int) {
		t.Helper()
		err := s.db.Secondary.QueryRow(t.Context(), `SELECT coalesce(max(until), 'epoch'), count(*) FROM leases`).Scan(&at, &n)
		if err != nil {
			t.Fatal(err)
		}
		return at, n
	}
	g, h := s.open(nil, "/everything"), s.open(nil, "/everything")
	first, n := until()
	if n != 1 {
		t.Fatalf("two pages of one river hold %d leases, want 1", n)
	}
	beat <- time.Now()
	await(t, "the lease to be refreshed", func() bool { at, _ := until(); return at.After(first) })
	_ = g.conn.CloseNow()
	await(t, "one socket to be left", func() bool { return figure(t, s.server.hub.metric.sockets) == 1 })
	if _, n := until(); n != 1 {
		t.Errorf("%d leases while a page is open, want 1", n)
	}
	_ = h.conn.CloseNow()
	await(t, "the lease to be given up", func() bool { _, n := until(); return n == 0 })
}

func TestHandshake(t *testing.T) {
	s := newLiveSite(t, func(c *hubConfig) { c.perSession = 2 })
	ann := s.person("ann")
	for _, tt := range []struct {
		origin string
		status int
	}{
		{"", http.StatusSwitchingProtocols},
		{s.http.URL, http.StatusSwitchingProtocols},
		{"https://elsewhere.example", http.StatusForbidden},
		{"null", http.StatusForbidden},
	} {
		header := http.Header{}
		if tt.origin != "" {
			header.Set("Origin", tt.origin)
		}
		conn, status, err := s.dial(ann, header)
		if status != tt.status {
			t.Errorf("Origin %q: status %d (%v), want %d", tt.origin, status, err, tt.status)
		}
		if conn != nil {
			_ = conn.Close(websocket.StatusNormalClosure, "")
		}
	}
	await(t, "all sockets to end", func() bool { return figure(t, s.server.hub.metric.sockets) == 0 })
	for range 2 {
		if _, status, err := s.dial(ann, nil); err != nil {
			t.Fatalf("dial: %d %v", status, err)
		}
	}
	if _, status, err := s.dial(ann, nil); err == nil || status != http.StatusTooManyRequests {
		t.Errorf("third socket of a session: status %d (%v), want 429", status, err)
	}
	if _, _, err := s.dial(nil, nil); err != nil {
		t.Errorf("somebody else's socket: %v", err)
	}
}

func TestCloseCodes(t *testing.T) {
	s := newLiveSite(t, nil)
	ann, bob := s.person("ann"), s.person("bob")
	ann.act(func(ctx context.Context) (timelines.Change, error) {
		return s.store.SetAccess(ctx, ann.account.ID, "", timelines.Private)
	})
	for name, tt := range map[string]struct {
		as   *person
		says []string
		want websocket.StatusCode
	}{
		"malformed":         {says: []string{`{"t":"shout"}`}, want: closeMalformed},
		"no such account":   {says: []string{`{"t":"subscribe","page":"/nobody-here"}`}, want: closeNoPage},
		"no such page":      {says: []string{`{"t":"subscribe","page":"/settings/x/y"}`}, want: closeNoPage},
		"private":           {as: bob, says: []string{`{"t":"subscribe","page":"/ann"}`}, want: closeNoPage},
		"home of nobody":    {says: []string{`{"t":"subscribe","page":"/"}`}, want: closeSignedOut},
		"another's page":    {as: bob, says: []string{`{"t":"subscribe","page":"/everything","viewer":"ann"}`}, want: closeSignedOut},
		"signed-out's page": {as: bob, says: []string{`{"t":"subscribe","page":"/everything","viewer":""}`}, want: closeSignedOut},
		"bad cursor":        {says: []string{`{"t":"subscribe","page":"/everything?before=x"}`}, want: closeNoPage},
		"too fast": {
			says: slices.Repeat([]string{`{"t":"drop","entries":{}}`}, frameBurst+20), want: closeTooFast,
		},
		"too large": {says: []string{`{"t":"` + strings.Repeat("x", maxFrame+1) + `"}`}, want: websocket.StatusMessageTooBig},
	} {
		t.Run(name, func(t *testing.T) {
			conn, _, err := s.dial(tt.as, nil)
			if err != nil {
				t.Fatal(err)
			}
			g := &page{t: t, conn: conn, shown: map[string]frame{}}
			for _, message := range tt.says {
				if err := conn.Write(t.Context(), websocket.MessageText, []byte(message)); err != nil {
					break // closed already: that is what the test waits for
				}
			}
			if c := g.closed(); c.Code != tt.want {
				t.Errorf("closed with %v, want %d", c, tt.want)
			}
		})
	}
	t.Run("silent", func(t *testing.T) {
		s := newLiveSite(t, func(c *hubConfig) { c.subscribeWithin = time.Millisecond })
		conn, _, err := s.dial(nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c := (&page{t: t, conn: conn}).closed(); c.Code != closeSilent {
			t.Errorf("closed with %v, want %d", c, closeSilent)
		}
	})
}

// A lease made up by a client leases nothing for longer than the visit takes.
func TestMadeUpRiver(t *testing.T) {
	s := newLiveSite(t, nil)
	s.person("ann").post("something")
	g := &page{t: t, address: "/everything", river: "12345", shown: map[string]frame{"0000000000": {Version: "7.7"}}}
	g.follow(s, nil)
	if g.river == "12345" {
		t.Error("the made-up river was believed")
	}
	if len(g.shown) != 1 {
		t.Errorf("page shows %d entries, want the one there is", len(g.shown))
	}
	await(t, "one lease to be left", func() bool {
		var ids []int64
		if err := s.db.Secondary.QueryRow(t.Context(), `SELECT array_agg(river_id) FROM leases`).Scan(&ids); err != nil {
			t.Fatal(err)
		}
		return len(ids) == 1 && ids[0] == parseID(t, g.river)
	})
}

// BenchmarkPush is from the call that likes a post to the frame on another
// person's socket.
func BenchmarkPush(b *testing.B) {
	s := newLiveSite(b, nil)
	ann, bob := s.person("ann"), s.person("bob")
	post := ann.post("to like")
	g := s.open(ann, "/everything")
	for i := 0; b.Loop(); i++ {
		likes := i%2 == 0
		bob.act(func(ctx context.Context) (timelines.Change, error) {
			if likes {
				return s.store.Like(ctx, bob.account.ID, post.Code)
			}
			return s.store.Unlike(ctx, bob.account.ID, post.Code)
		})
		g.until("the likes", func(f frame) bool {
			line := f.HTML + f.Parts["likes"]
			_, sent := f.Parts["likes"]
			return f.Post == post.Code && (sent || f.HTML != "") && strings.Contains(line, "bob") == likes
		})
	}
}

func TestBeat(t *testing.T) {
	s := newLiveSite(t, func(c *hubConfig) { c.pingEvery = time.Millisecond })
	s.open(nil, "/everything").until("beat", func(f frame) bool { return f.T == "beat" })
}
