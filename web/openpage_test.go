package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/web/view"
)

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
		header.Set("Cookie", cookie+"="+p.token)
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
		old, _ := view.ParseVersion(was.Version)
		now, ok := view.ParseVersion(f.Version)
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
	veils, err := s.live.Pages.Tags(g.t.Context(), now.Items, now.Sets)
	if err != nil {
		g.t.Fatal(err)
	}
	for i, it := range now.Items {
		f := g.shown[it.Fold.Text.Code]
		if at := (view.Version{Stamp: it.Stamp, Tag: veils[i]}); f.Version != at.String() || f.Place != it.Place {
			g.t.Errorf("page shows %s at %q, place %d; a reload %s, place %d", it.Fold.Text.Code, f.Version, f.Place, at, it.Place)
		}
		is := g.parts[it.Fold.Text.Code]
		if is == nil {
			continue
		}
		would, _, err := s.live.Pages.Entry(g.t.Context(), view.Context{Viewer: v, Lang: "en", Page: g.address}, n, now.Sets, it)
		if err != nil {
			g.t.Fatal(err)
		}
		for i, html := range [view.PartCount][]byte{would.Why, would.Body, would.Acts, would.Likes, would.Comments} {
			if name := view.PartNames[i]; lasting(is[name]) != lasting(string(html)) {
				g.t.Errorf("page shows as %s of %s\n%s\na reload\n%s", name, it.Fold.Text.Code, is[name], html)
			}
		}
	}
}

// openLong opens a page that shows so many entries as they are, and has just connected.
func (s *liveSite) openLong(p *person, n rivers.Name, size int) *page {
	s.t.Helper()
	g := &page{t: s.t, address: "/everything", shown: map[string]frame{}}
	if n.Kind == rivers.Home {
		g.address = "/"
	}
	var at rivers.Cursor
	for len(g.shown) < size {
		now, err := s.rivers.Visit(s.t.Context(), p.viewer, n, at)
		if err != nil {
			s.t.Fatal(err)
		}
		g.river, at = strconv.FormatInt(now.River, 10), now.Next
		items := now.Items[:min(len(now.Items), size-len(g.shown))]
		veils, err := s.live.Pages.Tags(s.t.Context(), items, now.Sets)
		if err != nil {
			s.t.Fatal(err)
		}
		for i, it := range items {
			g.shown[it.Fold.Text.Code] = frame{
				Version: view.Version{Stamp: it.Stamp, Tag: veils[i]}.String(), Place: it.Place, River: g.river,
			}
		}
		if !now.More {
			break
		}
	}
	g.follow(s, p)
	return g
}

func (g *page) shows(code string) bool {
	_, shows := g.shown[code]
	return shows
}

// hear reads what a page is told, until it is told that, and returns all of it.
func (g *page) hear(what string, is func(frame) bool) string {
	g.t.Helper()
	var b strings.Builder
	g.until(what, func(f frame) bool {
		fmt.Fprintln(&b, f.T, f.Post, f.HTML, f.Parts)
		return is(f)
	})
	return b.String()
}

// hearPost is hear until the text of a post comes.
func (g *page) hearPost(code, text string) string {
	g.t.Helper()
	return g.hear(text, func(f frame) bool {
		return f.Post == code && strings.Contains(f.HTML+f.Parts["body"]+f.Parts["comments"], text)
	})
}
