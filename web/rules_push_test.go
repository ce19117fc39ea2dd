package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/coder/websocket"

	"riverrun/timelines/kinds"
	"riverrun/web/view"
	"riverrun/web/webtest"
)

// morePushed is how many pages a viewer keeps open besides everything and a post's.
const morePushed = 1

// checkPushes lets every viewer keep pages open while each post gets a comment of
// the talker's, or another text, or both: those who may see it there are pushed exactly what
// a page would show them, and the others not a frame.
func (s *ruleSite) checkPushes(t *testing.T, checks *atomic.Int64) {
	// Nobody but their authors can do anything to posts that are held.
	rows := slices.DeleteFunc(slices.Clone(s.rows), func(r *ruleRow) bool { return r.held })
	var sockets []*ruleSocket
	for i, v := range s.viewers {
		r := rows[(7*i+s.offset)%len(rows)]
		pages := []*rulePage{s.pages[3], { // everything, a post
			address: "/p/" + r.code, whole: true,
			holds: func(_ *ruleViewer, at *ruleRow) bool { return at == r },
			opens: func(v *ruleViewer) int {
				if !v.mayRead(r) {
					return http.StatusNotFound
				}
				return http.StatusOK
			},
		}}
		more := morePushed
		for j := range s.pages { // and some more of those that are open to the viewer
			p := s.pages[(i+j+s.offset)%len(s.pages)]
			if (more > 0 || s.soaks) && p.status(v) == http.StatusOK && !slices.Contains(pages, p) && (v.signedIn() || !p.whys) {
				pages = append(pages, p)
				more--
			}
		}
		for _, p := range pages {
			c := &ruleCheck{t: t, s: s, v: v, i: i, checks: checks}
			if k := s.follows(t, c, p); k != nil {
				sockets = append(sockets, k)
			}
		}
	}
	for chunk := range slices.Chunk(rows, 10) {
		for _, r := range chunk {
			s.change(r)
		}
		for _, k := range sockets {
			k.awaitChanges(chunk)
		}
	}
	// A wrong push to one was decided together with a right one to another, and comes
	// before the answers to two subscribes.
	for range 2 {
		for _, k := range sockets {
			k.subscribe()
		}
		for _, k := range sockets {
			k.awaitOK()
		}
	}
	for _, k := range sockets {
		k.verdict()
		_ = k.conn.CloseNow() // ends its reader
		<-k.ended
	}
}

// change comments on the row, where the talker may, and edits it.
func (s *ruleSite) change(r *ruleRow) {
	s.T.Helper()
	if len(r.comments) > 0 {
		n := commentMarks*r.n + len(r.comments)
		c := s.people[ruleTalker].Comment(r.code, marker('c', n))
		r.comments = append(r.comments, ruleComment{by: ruleTalker, id: c.CommentID})
	}
	if len(r.comments) > 0 && r.n%4 != 0 {
		return
	}
	r.edited = true
	s.people[r.author].Edit(r.code, strings.Replace(r.body, marker('b', r.n), marker('b', r.n)+" "+marker('e', r.n), 1))
}

// A ruleSocket is an open page.
type ruleSocket struct {
	*ruleCheck
	p     *rulePage
	conn  *websocket.Conn
	ended chan struct{}

	mu     sync.Mutex // guards the fields below
	river  string
	sight  string
	shown  map[string]map[string]string // parts by name, by the post's code
	stamps map[string]string
	heard  map[string][]string // which parts came when, by the post's code: for failures
	oks    int
	wanted int    // how many oks there should be
	wrong  string // what cannot be read
}

// follows opens a page, or checks that it does not open.
func (s *ruleSite) follows(t *testing.T, c *ruleCheck, p *rulePage) *ruleSocket {
	t.Helper()
	conn, _, err := s.Dial(s.people[c.v.name], nil)
	if err != nil {
		t.Fatal(err)
	}
	k := &ruleSocket{
		ruleCheck: c, p: p, conn: conn, ended: make(chan struct{}),
		shown: map[string]map[string]string{}, stamps: map[string]string{}, heard: map[string][]string{},
	}
	go k.read()
	k.subscribe()
	if p.status(c.v) == http.StatusOK {
		k.awaitOK()
		return k
	}
	<-k.ended
	if !strings.Contains(k.wrong, "StatusCode(4004)") {
		t.Errorf("%s follows %s: %s, want a close that says there is no such page", c.v, p.address, k.wrong)
	}
	c.checks.Add(1)
	return nil
}

func (k *ruleSocket) subscribe() {
	k.t.Helper()
	k.mu.Lock()
	k.wanted++
	message, err := json.Marshal(map[string]any{"t": "subscribe", "page": k.p.address, "lang": "en", "river": k.river, "sight": k.sight, "entries": k.stamps})
	k.mu.Unlock()
	if err == nil {
		err = k.conn.Write(k.t.Context(), websocket.MessageText, message)
	}
	if err != nil {
		k.t.Fatalf("%s: subscribe to %s: %v", k.v, k.p.address, err)
	}
}

// read applies frames until the socket is closed.
func (k *ruleSocket) read() {
	defer close(k.ended)
	for {
		_, message, err := k.conn.Read(context.WithoutCancel(k.s.ctx()))
		var f webtest.Frame
		if err == nil {
			err = json.Unmarshal(message, &f)
		}
		k.mu.Lock()
		if err == nil {
			err = k.apply(f)
		}
		if err != nil {
			k.wrong = err.Error()
			k.mu.Unlock()
			return
		}
		k.mu.Unlock()
	}
}

// apply keeps what the page shows, and compares every frame with what may be said
// to this viewer on this page.
func (k *ruleSocket) apply(f webtest.Frame) error {
	switch f.T {
	case "ok":
		k.sight = f.Sight
		k.oks++
	case "river":
		k.river = f.River
		for code := range k.stamps {
			k.stamps[code] = "0.0"
		}
	case "gone":
		if _, known := k.shown[f.Post]; !known {
			return fmt.Errorf("told that %v is gone, which was not there", k.s.byCode[f.Post])
		}
		delete(k.shown, f.Post)
		delete(k.stamps, f.Post)
	case "entry":
		r := k.s.byCode[f.Post]
		if r == nil || !k.p.shows(k.v, r) {
			return fmt.Errorf("told of %v: %v %s", r, f.Parts, f.HTML)
		}
		parts := f.Parts
		if f.HTML != "" {
			parts = k.parts(&webtest.Answer{What: "a push to " + k.p.address}, r, f.HTML)
		}
		if k.shown[f.Post] == nil {
			k.shown[f.Post] = map[string]string{}
		}
		k.heard[f.Post] = append(k.heard[f.Post], fmt.Sprint(f.Version, slices.Sorted(maps.Keys(parts))))
		was, _ := view.ParseVersion(k.stamps[f.Post])
		now, ok := view.ParseVersion(f.Version)
		if !ok || webtest.Newer(was.Stamp, now.Stamp) && !webtest.Newer(now.Stamp, was.Stamp) {
			return fmt.Errorf("%v went back from %s to %s", r, k.stamps[f.Post], f.Version)
		}
		webtest.Take(k.shown[f.Post], parts, was.Stamp, now.Stamp)
		k.stamps[f.Post] = view.Version{Stamp: webtest.Later(was.Stamp, now.Stamp), Tag: now.Tag}.String()
		for name, text := range parts {
			for _, m := range markers.FindAllStringSubmatch(text, -1) {
				if m[1] == "n" && !k.mayName(m[0], r) {
					return fmt.Errorf("%v: %s names %v", r, name, k.spelt(m[:1]))
				}
			}
		}
	}
	return nil
}

// mayName: the marker is the title of somebody whom this viewer sees in the post.
func (k *ruleSocket) mayName(mark string, r *ruleRow) bool {
	return slices.ContainsFunc(k.s.names, func(name string) bool {
		// The parties of a message know each other.
		direct := slices.ContainsFunc(k.v.knows(r), func(p rulePlace) bool { return p.kind == kinds.Directs })
		return k.s.titleMark(name) == mark && (k.v.sees(name, r) || direct)
	})
}

func (k *ruleSocket) await(what, code string, so func() bool) {
	k.t.Helper()
	webtest.Await(k.t, fmt.Sprintf("%s at %s: %s", k.v, k.p.address, what), func() bool {
		k.mu.Lock()
		defer k.mu.Unlock()
		return k.wrong != "" || so()
	}, func() string {
		k.mu.Lock()
		defer k.mu.Unlock()
		return fmt.Sprint(k.heard[code], k.shown[code])
	})
}

func (k *ruleSocket) awaitOK() {
	k.t.Helper()
	k.await("the answer to a subscribe", "", func() bool { return k.oks >= k.wanted })
}

// awaitChanges waits until those of the rows have come, as they are now, that were
// lifted to the top of this page.
func (k *ruleSocket) awaitChanges(rows []*ruleRow) {
	k.t.Helper()
	for _, r := range rows {
		if len(r.comments) == 0 || k.p.told || !k.p.shows(k.v, r) {
			continue
		}
		last := `id="` + view.CommentID(r.comments[len(r.comments)-1].id) + `"`
		k.await(r.String(), r.code, func() bool {
			parts := k.shown[r.code]
			return strings.Contains(parts["comments"], last) && (!r.edited || strings.Contains(parts["body"], marker('e', r.n)))
		})
	}
}

// verdict compares what the page shows at last with the table.
func (k *ruleSocket) verdict() {
	k.t.Helper()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.wrong != "" {
		k.t.Errorf("%s at %s: %s", k.v, k.p.address, k.wrong)
		return
	}
	a := &webtest.Answer{What: "pushes to " + k.p.address}
	full := strings.HasPrefix(k.p.address, "/p/")
	for _, r := range k.s.rows {
		k.checks.Add(1)
		parts := k.shown[r.code]
		if parts == nil {
			continue // what should have come was waited for
		}
		if k.p.told {
			k.told(a, r, parts)
			continue
		}
		k.body(a, k.p, r, parts["body"])
		k.likes(a, r, parts["likes"], full)
		k.comments(a, r, parts["comments"], full)
	}
}
