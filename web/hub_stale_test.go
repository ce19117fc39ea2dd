package web

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/web/view"
)

// slowHub is what a hub asks, on a clock that stands still but for what the test lets
// take its time: on is told when something was decided, by a visit or a flush, with the
// texts of the posts in it, and when an entry was rendered, with its HTML.
type slowHub struct {
	riverSource
	hubPages
	elapsed atomic.Int64 // nanoseconds
	on      atomic.Pointer[func(what, text string)]
}

func (h *slowHub) tell(what, text string) {
	if on := h.on.Load(); on != nil {
		(*on)(what, text)
	}
}

func (h *slowHub) now() time.Time { return time.Unix(1e9, h.elapsed.Load()) }

func (h *slowHub) Visit(ctx context.Context, v timelines.Viewer, n rivers.Name, c rivers.Cursor) (*rivers.Page, error) {
	began := h.now()
	page, err := h.riverSource.Visit(ctx, v, n, c)
	if err == nil {
		page.Began = began
		h.tell("visit", textsOf(page.Items))
	}
	return page, err
}

func (h *slowHub) Flush(ctx context.Context, w []rivers.Watch, posts []int64) ([]rivers.Seen, error) {
	began := h.now()
	seen, err := h.riverSource.Flush(ctx, w, posts)
	var texts string
	for i := range seen {
		seen[i].Began = began
		texts += textsOf(seen[i].Items)
	}
	if err == nil {
		h.tell("flush", texts)
	}
	return seen, err
}

func textsOf(items []rivers.Item) (texts string) {
	for i := range items {
		texts += items[i].Fold.Text.Body + "\n"
	}
	return texts
}

func (h *slowHub) Entry(ctx context.Context, l view.Context, n rivers.Name, sets *timelines.Sets, it rivers.Item) (view.Parts, []byte, error) {
	made, whole, err := h.hubPages.Entry(ctx, l, n, sets, it)
	h.tell("rendered", string(whole))
	return made, whole, err
}

// No frame that is begun more than a second after a change was acknowledged shows what the
// change took away: not on any page, and wherever that second went.
func TestNoFrameIsOld(t *testing.T) {
	t.Parallel()
	slow := &slowHub{}
	s := newLiveSite(t, func(c *hubConfig) {
		slow.riverSource, slow.hubPages = c.rivers, c.pages
		c.rivers, c.pages, c.now, c.beat = slow, slow, slow.now, make(chan time.Time)
	})
	ann, bob := s.person("anna"), s.person("bob")
	ann.visitor().post("/groups", "name", "sailing", "title", "Sailing", "access", "public").wants(303)
	bob.subscribe("sailing")
	ann.subscribe("bob")
	ann.visitor().post("/lists", "title", "Some").wants(303)
	ann.editList("some", "Some", "bob")
	bob.visitor().post("/settings/pages", "slug", "photos", "title", "Photos", "access", "public").wants(303)
	text := "first #tag for @anna"
	post := bob.post(text, "bob", "sailing", "bob/photos")
	direct := bob.post(text, "anna")
	eyes := ann.post(text, timelines.ToEyes)
	ann.like(post.Code)
	ann.comment(post.Code, "a word")
	fave := func(p *person) {
		p.act(func(ctx context.Context) (timelines.Change, error) { return s.store.Fave(ctx, p.account.ID, post.Code) })
	}
	fave(ann)
	for i := range 5 {
		p := s.person(fmt.Sprint("liker-", i))
		p.like(post.Code)
		fave(p)
	}
	s.followUp()

	second := func() { slow.elapsed.Add(int64(time.Second + time.Millisecond)) }
	for _, page := range view.Pages {
		name, by, changes := "bob", bob, post
		switch page.Kind {
		case rivers.Group:
			name = "sailing"
		case rivers.Likes, rivers.Comments, rivers.Faves, rivers.Discussions, rivers.Mentions:
			name = "anna"
		case rivers.Directs:
			name, changes = "anna", direct
		case rivers.Eyes:
			name, by, changes = "anna", ann, eyes
		}
		path := strings.NewReplacer("{name}", name, "{code}", post.Code, "{tag}", "tag", "{slug}", "photos").Replace(page.Path)
		if page.Kind == rivers.List {
			path = "/lists/some"
		}
		if page.By == "q" {
			path += "?q=tag"
		}
		t.Run(string(page.Kind)+" "+path, func(t *testing.T) {
			follow := s.open(ann, path)
			if _, shows := follow.shown[changes.Code]; !shows {
				t.Fatalf("the page shows %d entries, and not the one to be changed", len(follow.shown))
			}
			for _, late := range []string{"flush", "visit", "rendered"} {
				secret, public := "secret "+late+string(page.Kind), "public "+late+string(page.Kind)
				var once atomic.Bool
				takeAway := func(what, shown string) {
					if what == late && strings.Contains(shown, secret) && once.CompareAndSwap(false, true) {
						by.edit(changes.Code, text+" "+public)
						second()
					}
				}
				slow.on.Store(&takeAway)
				if late == "visit" {
					_ = follow.conn.CloseNow()
					by.edit(changes.Code, text+" "+secret)
					follow.connect(s, ann)
				} else {
					by.edit(changes.Code, text+" "+secret)
				}
				follow.until("the entry as it is", func(f frame) bool {
					html := f.HTML + f.Parts["body"]
					if strings.Contains(html, secret) {
						t.Errorf("%s: a frame shows what was taken away more than a second ago:\n%s", late, html)
					}
					return strings.Contains(html, public)
				})
				slow.on.Store(nil)
			}
			_ = follow.conn.CloseNow()
			await(t, "the page to be gone", func() bool { return figure(t, s.server.hub.metric.sockets) == 0 })
		})
	}
}
