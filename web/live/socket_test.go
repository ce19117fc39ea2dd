package live_test

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/web/live"
	"riverrun/web/webtest"
)

func TestStopSaysComeBack(t *testing.T) {
	s := webtest.New(t, nil)
	ann := s.Person("ann")
	ann.Post("something")
	ignore := goleak.IgnoreCurrent()
	// The hub of the site runs; one of our own is started and stopped here.
	cfg := s.Live
	cfg.Metrics = nil
	hub, err := live.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := hub.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.HTTP.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var v timelines.Viewer
		if _, err := r.Cookie(webtest.Cookie); err == nil {
			v = ann.Viewer
		}
		hub.Serve(w, r, v, "somewhere", false)
	})
	var open []*webtest.Page
	for _, p := range []*webtest.Person{ann, nil, ann} {
		open = append(open, s.Open(p, "/everything"))
	}
	codes := make(chan websocket.CloseError, len(open))
	for _, g := range open {
		go func() { codes <- g.Closed() }()
	}
	if err := hub.Stop(t.Context()); err != nil {
		t.Errorf("Stop: %v", err)
	}
	for range open {
		c := <-codes
		after, err := strconv.Atoi(c.Reason)
		if c.Code != live.CloseReconnect || err != nil || after < 0 || after > 5000 {
			t.Errorf("closed with %v, want %d and milliseconds", c, live.CloseReconnect)
		}
	}
	if _, status, err := s.Dial(nil, nil); err == nil || status != http.StatusServiceUnavailable {
		t.Errorf("dial after Stop: status %d, %v; want 503", status, err)
	}
	var leases int
	if err := s.DB.Secondary.QueryRow(t.Context(), `SELECT count(*) FROM leases`).Scan(&leases); err != nil || leases != 0 {
		t.Errorf("%d leases after Stop (%v), want none", leases, err)
	}
	for _, g := range open {
		_ = g.Conn.CloseNow()
	}
	s.HTTP.CloseClientConnections()
	goleak.VerifyNone(t, ignore)
}

func TestLeases(t *testing.T) {
	beat := make(chan time.Time)
	s := webtest.New(t, func(c *live.Config) { c.Beat, c.LeaseEvery = beat, 1 })
	s.Person("ann").Post("something")
	until := func() (at time.Time, n int) {
		t.Helper()
		err := s.DB.Secondary.QueryRow(t.Context(), `SELECT coalesce(max(until), 'epoch'), count(*) FROM leases`).Scan(&at, &n)
		if err != nil {
			t.Fatal(err)
		}
		return at, n
	}
	g, h := s.Open(nil, "/everything"), s.Open(nil, "/everything")
	first, n := until()
	if n != 1 {
		t.Fatalf("two pages of one river hold %d leases, want 1", n)
	}
	beat <- time.Now()
	webtest.Await(t, "the lease to be refreshed", func() bool { at, _ := until(); return at.After(first) })
	_ = g.Conn.CloseNow()
	webtest.Await(t, "one socket to be left", func() bool { return s.Figure("riverrun_sockets_open") == 1 })
	if _, n := until(); n != 1 {
		t.Errorf("%d leases while a page is open, want 1", n)
	}
	_ = h.Conn.CloseNow()
	webtest.Await(t, "the lease to be given up", func() bool { _, n := until(); return n == 0 })
}

func TestHandshake(t *testing.T) {
	s := webtest.New(t, func(c *live.Config) { c.PerSession = 2 })
	ann := s.Person("ann")
	for _, tt := range []struct {
		origin string
		status int
	}{
		{"", http.StatusSwitchingProtocols},
		{s.HTTP.URL, http.StatusSwitchingProtocols},
		{"https://elsewhere.example", http.StatusForbidden},
		{"null", http.StatusForbidden},
	} {
		header := http.Header{}
		if tt.origin != "" {
			header.Set("Origin", tt.origin)
		}
		conn, status, err := s.Dial(ann, header)
		if status != tt.status {
			t.Errorf("Origin %q: status %d (%v), want %d", tt.origin, status, err, tt.status)
		}
		if conn != nil {
			_ = conn.Close(websocket.StatusNormalClosure, "")
			// Only two are allowed at once, and those that follow are refused for something else.
			webtest.Await(t, "the socket to be gone", func() bool { return s.Figure("riverrun_sockets_open") == 0 })
		}
	}
	webtest.Await(t, "all sockets to end", func() bool { return s.Figure("riverrun_sockets_open") == 0 })
	for range 2 {
		if _, status, err := s.Dial(ann, nil); err != nil {
			t.Fatalf("dial: %d %v", status, err)
		}
	}
	if c := refused(s, ann); c.Code != live.CloseTooFast {
		t.Errorf("third socket of a session: closed with %v, want %d", c, live.CloseTooFast)
	}
	if _, _, err := s.Dial(nil, nil); err != nil {
		t.Errorf("somebody else's socket: %v", err)
	}
}

// refused is what a socket is told that cannot be had.
func refused(s *webtest.Site, p *webtest.Person) websocket.CloseError {
	s.T.Helper()
	conn, status, err := s.Dial(p, nil)
	if err != nil {
		s.T.Fatalf("dial: %d %v", status, err)
	}
	return (&webtest.Page{T: s.T, Conn: conn}).Closed()
}

// A node that has no room says when to come back, where a script can read it.
func TestFullNodeSaysWhenToComeBack(t *testing.T) {
	s := webtest.New(t, func(c *live.Config) { c.Total = 1 })
	s.Open(nil, "/everything")
	c := refused(s, nil)
	if after, err := strconv.Atoi(c.Reason); c.Code != live.CloseReconnect || err != nil || after < 10_000 || after > 20_000 {
		t.Errorf("closed with %v, want %d and 10 to 20 seconds", c, live.CloseReconnect)
	}
}

// A socket whose page panics ends by itself: the process, and other sockets, go on.
func TestAPanicEndsOneSocket(t *testing.T) {
	s := webtest.New(t, func(c *live.Config) {
		names := c.PageOf
		c.PageOf = func(ctx context.Context, v timelines.Viewer, path string, query url.Values) (rivers.Name, error) {
			if path == "/bob" {
				panic("the page of bob")
			}
			return names(ctx, v, path, query)
		}
	})
	ann, bob := s.Person("ann"), s.Person("bob")
	other := s.Open(ann, "/everything")
	broken := &webtest.Page{T: t, Address: "/bob", Shown: map[string]webtest.Frame{}}
	broken.Connect(s, ann)
	for {
		if _, err := broken.Read(); err != nil {
			break
		}
	}
	webtest.Await(t, "one socket to be left", func() bool { return s.Figure("riverrun_sockets_open") == 1 })
	p := bob.Post("still here")
	s.FollowUp()
	other.UntilEntry(p.Code)
}

func TestCloseCodes(t *testing.T) {
	s := webtest.New(t, nil)
	ann, bob := s.Person("ann"), s.Person("bob")
	ann.Act(func(ctx context.Context) (timelines.Change, error) {
		return s.Store.Feeds.SetAccess(ctx, ann.Account.ID, "", timelines.Private)
	})
	for name, tt := range map[string]struct {
		as   *webtest.Person
		says []string
		want websocket.StatusCode
	}{
		"malformed":         {says: []string{`{"t":"shout"}`}, want: live.CloseMalformed},
		"no such account":   {says: []string{`{"t":"subscribe","page":"/nobody-here"}`}, want: live.CloseNoPage},
		"no such page":      {says: []string{`{"t":"subscribe","page":"/settings/x/y"}`}, want: live.CloseNoPage},
		"private":           {as: bob, says: []string{`{"t":"subscribe","page":"/ann"}`}, want: live.CloseNoPage},
		"home of nobody":    {says: []string{`{"t":"subscribe","page":"/"}`}, want: live.CloseSignedOut},
		"another's page":    {as: bob, says: []string{`{"t":"subscribe","page":"/everything","viewer":"ann"}`}, want: live.CloseSignedOut},
		"signed-out's page": {as: bob, says: []string{`{"t":"subscribe","page":"/everything","viewer":""}`}, want: live.CloseSignedOut},
		"bad cursor":        {says: []string{`{"t":"subscribe","page":"/everything?before=x"}`}, want: live.CloseNoPage},
		"too fast": {
			says: slices.Repeat([]string{`{"t":"drop","entries":{}}`}, live.FrameBurst+20), want: live.CloseTooFast,
		},
		"too large": {says: []string{`{"t":"` + strings.Repeat("x", live.MaxFrame+1) + `"}`}, want: websocket.StatusMessageTooBig},
	} {
		t.Run(name, func(t *testing.T) {
			conn, _, err := s.Dial(tt.as, nil)
			if err != nil {
				t.Fatal(err)
			}
			g := &webtest.Page{T: t, Conn: conn, Shown: map[string]webtest.Frame{}}
			for _, message := range tt.says {
				if err := conn.Write(t.Context(), websocket.MessageText, []byte(message)); err != nil {
					break // closed already: that is what the test waits for
				}
			}
			if c := g.Closed(); c.Code != tt.want {
				t.Errorf("closed with %v, want %d", c, tt.want)
			}
		})
	}
	t.Run("silent", func(t *testing.T) {
		s := webtest.New(t, func(c *live.Config) { c.SubscribeWithin = time.Millisecond })
		conn, _, err := s.Dial(nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c := (&webtest.Page{T: t, Conn: conn}).Closed(); c.Code != live.CloseSilent {
			t.Errorf("closed with %v, want %d", c, live.CloseSilent)
		}
	})
}

// A lease made up by a client leases nothing for longer than the visit takes.
func TestMadeUpRiver(t *testing.T) {
	s := webtest.New(t, nil)
	s.Person("ann").Post("something")
	g := &webtest.Page{T: t, Address: "/everything", River: "12345", Shown: map[string]webtest.Frame{"0000000000": {Version: "7.7"}}}
	g.Follow(s, nil)
	if g.River == "12345" {
		t.Error("the made-up river was believed")
	}
	if len(g.Shown) != 1 {
		t.Errorf("page shows %d entries, want the one there is", len(g.Shown))
	}
	webtest.Await(t, "one lease to be left", func() bool {
		var ids []int64
		if err := s.DB.Secondary.QueryRow(t.Context(), `SELECT array_agg(river_id) FROM leases`).Scan(&ids); err != nil {
			t.Fatal(err)
		}
		return len(ids) == 1 && ids[0] == parseID(t, g.River)
	})
}

// BenchmarkPush is from the call that likes a post to the frame on another person's socket.
func BenchmarkPush(b *testing.B) {
	s := webtest.New(b, nil)
	ann, bob := s.Person("ann"), s.Person("bob")
	post := ann.Post("to like")
	g := s.Open(ann, "/everything")
	for i := 0; b.Loop(); i++ {
		likes := i%2 == 0
		bob.Act(func(ctx context.Context) (timelines.Change, error) {
			if likes {
				return s.Store.Posts.Like(ctx, bob.Account.ID, post.Code)
			}
			return s.Store.Posts.Unlike(ctx, bob.Account.ID, post.Code)
		})
		g.Until("the likes", func(f webtest.Frame) bool {
			line := f.HTML + f.Parts["likes"]
			_, sent := f.Parts["likes"]
			return f.Post == post.Code && (sent || f.HTML != "") && strings.Contains(line, "bob") == likes
		})
	}
}

func TestBeat(t *testing.T) {
	s := webtest.New(t, func(c *live.Config) { c.PingEvery = time.Millisecond })
	g := s.Open(nil, "/everything") // reads until all is told, and over what this asks for
	ctx, cancel := context.WithTimeout(t.Context(), webtest.Patience)
	defer cancel()
	_, message, err := g.Conn.Read(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"t":"beat"}`; string(message) != want {
		t.Errorf("got %s, want %s", message, want)
	}
}

// TestSubscribeTellsNothing claims to show posts that may not be read and posts
// that never were: the answers are the same.
func TestSubscribeTellsNothing(t *testing.T) {
	s := webtest.New(t, nil)
	ann := s.Person("ann")
	s.Person("bob")
	secret, gone := ann.Post("for bob alone", "bob"), ann.Post("soon gone")
	ann.Post("for everybody")
	ann.Remove(gone.Code)
	conn, _, err := s.Dial(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	g := &webtest.Page{T: t, Conn: conn, Address: "/everything", Shown: map[string]webtest.Frame{}}
	g.Say(map[string]any{"t": "subscribe", "page": "/everything", "lang": "en", "entries": map[string]string{
		secret.Code: "1.1", gone.Code: "1.1", "0000000000": "1.1",
	}})
	answers := map[string]webtest.Frame{}
	for {
		f, err := g.Read()
		if err != nil {
			t.Fatal(err)
		}
		if f.T == "ok" {
			break
		}
		if f.T == "gone" {
			answers[f.Post] = f
		}
	}
	want := answers["0000000000"]
	for _, code := range []string{secret.Code, gone.Code} {
		got := answers[code]
		got.Post = want.Post
		if diff := cmp.Diff(want, got); diff != "" || want.T == "" {
			t.Errorf("what may not be read (-none +%s):\n%s", code, diff)
		}
	}
}
