//go:build soak

package soak

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"riverrun/rivers"
	"riverrun/web/webtest"
)

// shown is an entry as a page shows it.
type shown struct {
	version string
	place   int64
	parts   map[string]string
}

// openPage is a page that somebody has open: loaded once and followed from then on, on
// any node, as web/live/PROTOCOL.md tells clients to. It is loaded again only where the server
// says so.
type openPage struct {
	*visitor
	path string

	mu      sync.Mutex // guards what follows
	address string     // as the page says it
	river   string
	sight   string
	shows   map[string]*shown
	anew    map[string]bool // since a river frame, until its ok: what was named
	loads   int
}

var (
	riverForm = regexp.MustCompile(`data-river="(\d+)" data-page="([^"]*)"`)
	sightForm = regexp.MustCompile(`data-sight="([^"]*)"`)
	entryForm = regexp.MustCompile(`(?s)<article id="p-([0-9a-z]{10})"[^>]*data-version="([^"]*)" data-place="(\d+)".*?</article>`)
)

// partNames are the parts of an entry that change, and whether they belong to it and not
// to the post.
var partNames = map[string]bool{"why": true, "body": false, "acts": true, "likes": false, "comments": false}

func entriesOf(html string) map[string]*shown {
	found := map[string]*shown{}
	for _, m := range entryForm.FindAllStringSubmatch(html, -1) {
		place, _ := strconv.ParseInt(m[3], 10, 64) // digits
		found[m[1]] = &shown{version: m[2], place: place, parts: webtest.PartsOf(m[0])}
	}
	return found
}

// stampOf reads the two numbers of a version.
func stampOf(version string) (entry, fold int64) {
	words := strings.SplitN(version+"..", ".", 3)
	entry, _ = strconv.ParseInt(words[0], 10, 64) // 0 of none
	fold, _ = strconv.ParseInt(words[1], 10, 64)
	return entry, fold
}

// load loads the page, and reports whether it did.
func (p *openPage) load(n *node) bool {
	status, html := p.ask(n, http.MethodGet, p.path, nil)
	m := riverForm.FindStringSubmatch(html)
	if status != http.StatusOK || m == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.river, p.address, p.shows, p.anew = m[1], strings.ReplaceAll(m[2], "&amp;", "&"), entriesOf(html), nil
	if m := sightForm.FindStringSubmatch(html); m != nil {
		p.sight = m[1]
	}
	p.loads++
	return true
}

// follow keeps the page open until it is over.
func (p *openPage) follow(over <-chan struct{}) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { <-over; cancel() }()
	for loaded := false; ctx.Err() == nil; {
		n := p.node()
		if !loaded {
			loaded = p.load(n)
		}
		if loaded {
			err := p.listen(ctx, n)
			loaded = websocket.CloseStatus(err) != 4001 && websocket.CloseStatus(err) != 4004
		}
		wait := time.NewTimer(time.Duration(100+p.rng.IntN(400)) * time.Millisecond)
		select {
		case <-ctx.Done():
		case <-wait.C:
		}
		wait.Stop()
	}
}

// listen follows the page by one socket until that ends.
func (p *openPage) listen(ctx context.Context, n *node) error {
	within, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	conn, _, err := websocket.Dial(within, "ws://"+n.address+"/ws", &websocket.DialOptions{HTTPClient: &http.Client{Jar: p.client.Jar}})
	if err != nil {
		return err
	}
	defer conn.CloseNow() // however it ended
	conn.SetReadLimit(-1)
	p.mu.Lock()
	entries := map[string]string{}
	for code, e := range p.shows {
		entries[code] = e.version
	}
	said, err := json.Marshal(map[string]any{
		"t": "subscribe", "page": p.address, "lang": "en", "viewer": p.name, "river": p.river, "sight": p.sight, "entries": entries,
	})
	p.mu.Unlock()
	if err == nil {
		err = conn.Write(within, websocket.MessageText, said)
	}
	for err == nil {
		var message []byte
		// A client that has heard nothing for a minute connects anew.
		reading, cancel := context.WithTimeout(ctx, time.Minute)
		if _, message, err = conn.Read(reading); err == nil {
			err = p.take(message)
		}
		cancel()
	}
	return err
}

// take puts a frame onto the page.
func (p *openPage) take(message []byte) error {
	var f struct {
		T, River, Post, Version, HTML, Sight string
		Place                                int64
		Parts                                map[string]string
	}
	if err := json.Unmarshal(message, &f); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch f.T {
	case "river":
		p.river, p.anew = f.River, map[string]bool{}
		for _, e := range p.shows {
			e.version = "0.0"
		}
		return nil
	case "ok":
		p.sight = f.Sight
		for code := range p.shows {
			if p.anew != nil && !p.anew[code] {
				delete(p.shows, code)
			}
		}
		p.anew = nil
		return nil
	case "entry", "gone":
	default:
		return nil
	}
	if f.River != p.river {
		return nil
	}
	if p.anew != nil {
		p.anew[f.Post] = true
	}
	if f.T == "gone" {
		delete(p.shows, f.Post)
		return nil
	}
	is := p.shows[f.Post]
	parts := f.Parts
	if f.HTML != "" {
		parts = entriesOf(f.HTML)[f.Post].parts
	}
	if is == nil {
		if f.HTML == "" {
			return fmt.Errorf("parts of %s, which is not shown", f.Post)
		}
		is = &shown{parts: map[string]string{}}
		p.shows[f.Post] = is
	}
	wasEntry, wasFold := stampOf(is.version)
	entry, fold := stampOf(f.Version)
	if entry < wasEntry && fold < wasFold {
		p.site.t.Errorf("%s on %s went back from %s to %s", f.Post, p.path, is.version, f.Version)
	}
	for name, text := range parts {
		if ofEntry, known := partNames[name]; known && (ofEntry && entry >= wasEntry || !ofEntry && fold >= wasFold) {
			is.parts[name] = text
		}
	}
	if entry >= wasEntry {
		is.place = f.Place
	}
	is.version = f.Version
	return nil
}

// differs compares what is shown, as far as a first page goes, with a reload from each
// node.
func (p *openPage) differs() string {
	for _, n := range p.site.nodes {
		if wrong := p.differsFrom(n); wrong != "" {
			return wrong
		}
	}
	return ""
}

func (p *openPage) differsFrom(n *node) string {
	status, html := p.ask(n, http.MethodGet, p.path, nil)
	m := riverForm.FindStringSubmatch(html)
	p.mu.Lock()
	defer p.mu.Unlock()
	say := func(form string, args ...any) string {
		return fmt.Sprintf("%s of %q: ", p.path, p.name) + fmt.Sprintf(form, args...)
	}
	if status == http.StatusNotFound {
		if len(p.shows) == 0 || strings.HasPrefix(p.path, "/p/") {
			return ""
		}
	}
	if m == nil {
		return say("a reload is answered %d", status)
	}
	if p.river != m[1] {
		return say("shows river %s, a reload %s", p.river, m[1])
	}
	now := entriesOf(html)
	codes := slices.SortedFunc(maps.Keys(p.shows), func(a, b string) int { return int(p.shows[b].place - p.shows[a].place) })
	codes = codes[:min(len(codes), rivers.PageSize)]
	for _, code := range codes {
		if now[code] == nil {
			return say("shows %s at %s, a reload does not", code, p.shows[code].version)
		}
	}
	for code, e := range now {
		was := p.shows[code]
		if was == nil {
			return say("lacks %s at %s", code, e.version)
		}
		if was.version != e.version || was.place != e.place {
			return say("shows %s at %s, place %d, a reload at %s, place %d", code, was.version, was.place, e.version, e.place)
		}
		for name := range partNames {
			if _, there := e.parts[name]; !there {
				return say("a reload shows %s without the part %s", code, name)
			}
			if is, would := webtest.Lasting(was.parts[name]), webtest.Lasting(e.parts[name]); is != would {
				return say("%s of %s at %s is\n%s\na reload's\n%s", name, code, e.version, is, would)
			}
		}
	}
	return ""
}
