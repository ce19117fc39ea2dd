package webtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/web/view"
)

// A Frame is any frame of the server.
type Frame struct {
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

// A Page is what a client shows, which it keeps up to date as PROTOCOL.md says.
type Page struct {
	T         testing.TB
	Conn      *websocket.Conn
	Address   string
	River     string
	Token     string // that the page was served with
	SaidToken string // of the last ok, which a client goes on with
	Shown     map[string]Frame
	Parts     map[string]map[string]string // of the entries that were sent whole
	Frames    int
}

// Newer reports whether a says anything b does not, and Later is the stamp of a page that
// has been shown both. Each number of a stamp only grows within one river (R2).
func Newer(a, b rivers.Stamp) bool { return a.Entry > b.Entry || a.Fold > b.Fold }

// Later is described with Newer.
func Later(a, b rivers.Stamp) rivers.Stamp {
	return rivers.Stamp{Entry: max(a.Entry, b.Entry), Fold: max(a.Fold, b.Fold)}
}

// Take puts into what is shown of an entry at one stamp those parts of a frame of another
// that are not older, as PROTOCOL.md tells a client to.
func Take(shown, parts map[string]string, was, is rivers.Stamp) {
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

// Dial opens a socket as somebody, nil for nobody, and fails with the response's
// status if that is refused.
func (s *Site) Dial(p *Person, header http.Header) (*websocket.Conn, int, error) {
	s.T.Helper()
	if header == nil {
		header = http.Header{}
	}
	if p != nil {
		header.Set("Cookie", Cookie+"="+p.Token)
	}
	ctx, cancel := context.WithTimeout(s.T.Context(), Patience)
	defer cancel()
	conn, response, err := websocket.Dial(ctx, s.HTTP.URL+"/ws", &websocket.DialOptions{HTTPHeader: header})
	status := 0
	if response != nil {
		status = response.StatusCode
	}
	if err != nil {
		return nil, status, err
	}
	conn.SetReadLimit(-1)
	s.T.Cleanup(func() { _ = conn.CloseNow() }) // it may be closed already
	return conn, status, nil
}

// Open shows a page of the site to somebody and follows it.
func (s *Site) Open(p *Person, address string) *Page {
	s.T.Helper()
	g := &Page{T: s.T, Address: address, Shown: map[string]Frame{}}
	g.Follow(s, p)
	return g
}

// Follow connects and subscribes with what is shown, and returns after ok.
func (g *Page) Follow(s *Site, p *Person) {
	g.T.Helper()
	g.Connect(s, p)
	g.Until("ok", func(f Frame) bool { return f.T == "ok" })
}

// Connect is follow without waiting for an answer.
func (g *Page) Connect(s *Site, p *Person) {
	g.T.Helper()
	conn, status, err := s.Dial(p, nil)
	if err != nil {
		g.T.Fatalf("dial: %v (status %d)", err, status)
	}
	g.Conn = conn
	g.Subscribe()
}

// Subscribe sends what the page shows.
func (g *Page) Subscribe() {
	g.T.Helper()
	entries := map[string]string{}
	for code, f := range g.Shown {
		entries[code] = f.Version
	}
	said := map[string]any{"t": "subscribe", "page": g.Address, "lang": "en", "river": g.River, "sight": g.Token, "entries": entries}
	lowest := ""
	for code, f := range g.Shown {
		if f.Place > 0 && (lowest == "" || f.Place < g.Shown[lowest].Place) {
			lowest = code
		}
	}
	if lowest != "" {
		said["down"] = strconv.FormatInt(g.Shown[lowest].Place, 10) + "." + lowest
	}
	g.Say(said)
}

// Say sends a frame.
func (g *Page) Say(v any) {
	g.T.Helper()
	message, err := json.Marshal(v)
	if err != nil {
		g.T.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(g.T.Context(), Patience)
	defer cancel()
	if err := g.Conn.Write(ctx, websocket.MessageText, message); err != nil {
		g.T.Fatalf("write %s: %v", message, err)
	}
}

// Read takes the next frame and applies it. It passes beat frames over, so that a test that waits
// for a frame that does not come fails in time.
func (g *Page) Read() (Frame, error) {
	ctx, cancel := context.WithTimeout(g.T.Context(), Patience)
	defer cancel()
	f := Frame{T: "beat"}
	for f.T == "beat" {
		_, message, err := g.Conn.Read(ctx)
		if err != nil {
			return Frame{}, err
		}
		f = Frame{}
		if err := json.Unmarshal(message, &f); err != nil {
			return Frame{}, fmt.Errorf("frame %s: %w", message, err)
		}
	}
	g.Frames++
	switch f.T {
	case "river":
		g.River = f.River
		for code, old := range g.Shown {
			old.Version = "0.0"
			g.Shown[code] = old
		}
	case "entry":
		was, known := g.Shown[f.Post]
		if f.HTML == "" && !known {
			return f, fmt.Errorf("parts of %s, which is not shown", f.Post)
		}
		old, _ := view.ParseVersion(was.Version)
		now, ok := view.ParseVersion(f.Version)
		if known && (!ok || Newer(old.Stamp, now.Stamp) && !Newer(now.Stamp, old.Stamp)) {
			return f, fmt.Errorf("%s went back from %s to %s", f.Post, was.Version, f.Version)
		}
		g.Shown[f.Post] = f
		g.keep(f, old.Stamp, now.Stamp)
	case "gone":
		delete(g.Shown, f.Post)
		delete(g.Parts, f.Post)
	case "ok":
		g.SaidToken = f.Sight
	}
	return f, nil
}

// keep puts an entry's frame into what is shown of it.
func (g *Page) keep(f Frame, was, is rivers.Stamp) {
	parts := maps.Clone(g.Parts[f.Post])
	switch {
	case f.HTML != "" && parts == nil:
		parts = PartsOf(f.HTML)
	case parts != nil:
		Take(parts, PartsOf(f.HTML), was, is)
		Take(parts, f.Parts, was, is)
	default:
		return // of an entry as the page was served
	}
	if g.Parts == nil {
		g.Parts = map[string]map[string]string{}
	}
	g.Parts[f.Post] = parts
}

// Until reads until a frame is what is waited for.
func (g *Page) Until(what string, is func(Frame) bool) Frame {
	g.T.Helper()
	for {
		f, err := g.Read()
		if err != nil {
			g.T.Fatalf("waiting for %s: %v", what, err)
		}
		if is(f) {
			return f
		}
	}
}

// UntilEntry reads until something of the entry is sent. A frame without parts does
// not count: it brings the stamp alone, of an entry whose fold was read first.
func (g *Page) UntilEntry(code string) Frame {
	g.T.Helper()
	return g.Until("entry "+code, func(f Frame) bool {
		return f.T == "entry" && f.Post == code && (f.HTML != "" || len(f.Parts) > 0)
	})
}

// UntilGone reads until the entry is taken off.
func (g *Page) UntilGone(code string) Frame {
	g.T.Helper()
	return g.Until("gone "+code, func(f Frame) bool { return f.T == "gone" && f.Post == code })
}

// Closed reads until the server closes the socket, and returns how.
func (g *Page) Closed() websocket.CloseError {
	g.T.Helper()
	for {
		if _, err := g.Read(); err != nil {
			var closed websocket.CloseError
			if !errors.As(err, &closed) {
				g.T.Fatalf("read: %v, want a close code", err)
			}
			return closed
		}
	}
}

// SameAsReload compares what is shown with the page as it is now, and one that has grown
// past a first one with as many pages as it reaches down to.
func (g *Page) SameAsReload(s *Site, p *Person, n rivers.Name) {
	g.T.Helper()
	v := timelines.Viewer{}
	if p != nil {
		v = p.Viewer
	}
	now, err := s.Rivers.Visit(g.T.Context(), v, n, rivers.Cursor{})
	if err != nil {
		g.T.Fatal(err)
	}
	lowest := int64(math.MaxInt64)
	for _, f := range g.Shown {
		lowest = min(lowest, f.Place)
	}
	for now.More && now.Next.Place > lowest {
		older, err := s.Rivers.Visit(g.T.Context(), v, n, now.Next)
		if err != nil {
			g.T.Fatal(err)
		}
		within := slices.IndexFunc(older.Items, func(it rivers.Item) bool { return it.Place < lowest })
		if within >= 0 {
			older.Items, older.More = older.Items[:within], false
		}
		now.Items, now.More, now.Next = append(now.Items, older.Items...), older.More, older.Next
	}
	if got, want := g.River, strconv.FormatInt(now.River, 10); got != want {
		g.T.Errorf("page is of river %s, a reload of %s", got, want)
	}
	if len(g.Shown) != len(now.Items) {
		g.T.Errorf("page shows %d entries, a reload %d", len(g.Shown), len(now.Items))
	}
	veils, err := s.Live.Pages.Tags(g.T.Context(), now.Items, now.Sets)
	if err != nil {
		g.T.Fatal(err)
	}
	for i, it := range now.Items {
		f := g.Shown[it.Fold.Text.Code]
		if at := (view.Version{Stamp: it.Stamp, Tag: veils[i]}); f.Version != at.String() || f.Place != it.Place {
			g.T.Errorf("page shows %s at %q, place %d; a reload %s, place %d", it.Fold.Text.Code, f.Version, f.Place, at, it.Place)
		}
		is := g.Parts[it.Fold.Text.Code]
		if is == nil {
			continue
		}
		would, _, err := s.Live.Pages.Entry(g.T.Context(), view.Context{Viewer: v, Lang: "en", Page: g.Address}, n, now.Sets, it)
		if err != nil {
			g.T.Fatal(err)
		}
		for i, html := range [view.PartCount][]byte{would.Why, would.Body, would.Acts, would.Likes, would.Comments} {
			if name := view.PartNames[i]; Lasting(is[name]) != Lasting(string(html)) {
				g.T.Errorf("page shows as %s of %s\n%s\na reload\n%s", name, it.Fold.Text.Code, is[name], html)
			}
		}
	}
}

// OpenLong opens a page that shows this many entries as they are, and has just connected.
func (s *Site) OpenLong(p *Person, n rivers.Name, size int) *Page {
	s.T.Helper()
	g := &Page{T: s.T, Address: "/everything", Shown: map[string]Frame{}}
	if n.Kind == rivers.Home {
		g.Address = "/"
	}
	var at rivers.Cursor
	for len(g.Shown) < size {
		now, err := s.Rivers.Visit(s.T.Context(), p.Viewer, n, at)
		if err != nil {
			s.T.Fatal(err)
		}
		g.River, at = strconv.FormatInt(now.River, 10), now.Next
		items := now.Items[:min(len(now.Items), size-len(g.Shown))]
		veils, err := s.Live.Pages.Tags(s.T.Context(), items, now.Sets)
		if err != nil {
			s.T.Fatal(err)
		}
		for i, it := range items {
			g.Shown[it.Fold.Text.Code] = Frame{
				Version: view.Version{Stamp: it.Stamp, Tag: veils[i]}.String(), Place: it.Place, River: g.River,
			}
		}
		if !now.More {
			break
		}
	}
	g.Follow(s, p)
	return g
}

// Shows reports whether the page shows the post.
func (g *Page) Shows(code string) bool {
	_, shows := g.Shown[code]
	return shows
}

// Hear reads what a page is told, until it is told that, and returns all of it.
func (g *Page) Hear(what string, is func(Frame) bool) string {
	g.T.Helper()
	var b strings.Builder
	g.Until(what, func(f Frame) bool {
		fmt.Fprintln(&b, f.T, f.Post, f.HTML, f.Parts)
		return is(f)
	})
	return b.String()
}

// HearPost is hear until the text of a post comes.
func (g *Page) HearPost(code, text string) string {
	g.T.Helper()
	return g.Hear(text, func(f Frame) bool {
		return f.Post == code && strings.Contains(f.HTML+f.Parts["body"]+f.Parts["comments"], text)
	})
}

// freshForm is the mark of what is unread. A page keeps it while it is looked at; a reload, which
// reads it, does not.
var freshForm = regexp.MustCompile(`<span class="fresh[^>]*>[^<]*</span>`)

// Lasting is a part of an entry but for what depends on the hour, or on what was read.
func Lasting(html string) string {
	return freshForm.ReplaceAllString(momentForm.ReplaceAllString(StampForm.ReplaceAllString(html, ""), "$1"), "")
}

// PartsOf reads what stands in the parts of an entry.
func PartsOf(article string) map[string]string {
	parts := map[string]string{}
	names := []string{"why", "body", "acts", "likes", "comments", "box"}
	at := make([]int, 0, len(names)+1)
	for _, name := range names {
		m := strings.Index(article, `class="`+name+`"`)
		if m < 0 {
			return parts
		}
		at = append(at, m)
	}
	for i, name := range names[:len(names)-1] {
		_, text, _ := strings.Cut(article[at[i]:at[i+1]], ">")
		parts[name] = text[:max(strings.LastIndex(text, "</div>"), 0)]
	}
	return parts
}

var momentForm = regexp.MustCompile(`(<time [^>]*>)[^<]*`)

var StampForm = regexp.MustCompile(`<!--rendered (\d+)-->`)
