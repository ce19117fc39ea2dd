package live_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/timelines/access"
	"riverrun/web/live"
	"riverrun/web/view"
	"riverrun/web/webtest"
)

// slowHub is what a hub asks, on a clock that stands still but for what the test lets
// take its time: on is told when something was decided, by a visit or a flush, with the
// texts of the posts in it, and when an entry was rendered, with its HTML. It decides one thing
// at a time, so that whatever shows a text was decided after on was told of it, or is what on
// was told of.
type slowHub struct {
	live.Rivers
	live.Pages
	deciding sync.Mutex
	elapsed  atomic.Int64 // nanoseconds
	on       atomic.Pointer[func(what, text string)]
}

func (h *slowHub) tell(what, text string) {
	if on := h.on.Load(); on != nil {
		(*on)(what, text)
	}
}

func (h *slowHub) now() time.Time { return time.Unix(1e9, h.elapsed.Load()) }

func (h *slowHub) Visit(ctx context.Context, v timelines.Viewer, n rivers.Name, c rivers.Cursor) (*rivers.Page, error) {
	h.deciding.Lock()
	defer h.deciding.Unlock()
	began := h.now()
	page, err := h.Rivers.Visit(ctx, v, n, c)
	if err == nil {
		page.Began = began
		h.tell("visit", textsOf(page.Items))
	}
	return page, err
}

func (h *slowHub) Flush(ctx context.Context, w []rivers.Watch, posts []int64) ([]rivers.Seen, error) {
	h.deciding.Lock()
	defer h.deciding.Unlock()
	began := h.now()
	seen, err := h.Rivers.Flush(ctx, w, posts)
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

func (h *slowHub) Entry(ctx context.Context, l view.Context, n rivers.Name, sets *access.Sets, it rivers.Item) (view.Parts, []byte, error) {
	made, whole, err := h.Pages.Entry(ctx, l, n, sets, it)
	h.tell("rendered", string(whole))
	return made, whole, err
}

// No frame that is begun more than a second after a change was acknowledged shows what the
// change took away: not on any page, and wherever that second went.
func TestNoFrameIsOld(t *testing.T) {
	t.Parallel()
	slow := &slowHub{}
	s := webtest.New(t, func(c *live.Config) {
		slow.Rivers, slow.Pages = c.Rivers, c.Pages
		c.Rivers, c.Pages, c.Now, c.Beat = slow, slow, slow.now, make(chan time.Time)
	})
	ann, bob := s.Person("anna"), s.Person("bob")
	ann.Visitor().Post("/groups", "name", "sailing", "title", "Sailing", "access", "public").Wants(303)
	bob.Subscribe("sailing")
	ann.Subscribe("bob")
	ann.Visitor().Post("/lists", "title", "Some").Wants(303)
	ann.EditList("some", "Some", "bob")
	bob.Visitor().Post("/settings/pages", "slug", "photos", "title", "Photos", "access", "public").Wants(303)
	text := "first #tag for @anna"
	post := bob.Post(text, "bob", "sailing", "bob/photos")
	direct := bob.Post(text, "anna")
	eyes := ann.Post(text, timelines.ToEyes)
	ann.Like(post.Code)
	ann.Comment(post.Code, "a word")
	fave := func(p *webtest.Person) {
		p.Act(func(ctx context.Context) (timelines.Change, error) {
			return s.Store.Posts.Fave(ctx, p.Account.ID, post.Code)
		})
	}
	fave(ann)
	for i := range 5 {
		p := s.Person(fmt.Sprint("liker-", i))
		p.Like(post.Code)
		fave(p)
	}
	s.FollowUp()

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
			follow := s.Open(ann, path)
			if _, shows := follow.Shown[changes.Code]; !shows {
				t.Fatalf("the page shows %d entries, and not the one to be changed", len(follow.Shown))
			}
			for _, late := range []string{"flush", "visit", "rendered"} {
				secret, public := "secret "+late+string(page.Kind), "public "+late+string(page.Kind)
				var once atomic.Bool
				takeAway := func(what, shown string) {
					if what == late && strings.Contains(shown, secret) && once.CompareAndSwap(false, true) {
						by.Edit(changes.Code, text+" "+public)
						second()
					}
				}
				slow.on.Store(&takeAway)
				if late == "visit" {
					_ = follow.Conn.CloseNow()
					by.Edit(changes.Code, text+" "+secret)
					follow.Connect(s, ann)
				} else {
					by.Edit(changes.Code, text+" "+secret)
				}
				follow.Until("the entry as it is", func(f webtest.Frame) bool {
					html := f.HTML + f.Parts["body"] + f.Parts["why"] // where notifications quote it
					if strings.Contains(html, secret) {
						t.Errorf("%s: a frame shows what was taken away more than a second ago:\n%s", late, html)
					}
					return strings.Contains(html, public)
				})
				slow.on.Store(nil)
			}
			_ = follow.Conn.CloseNow()
			webtest.Await(t, "the page to be gone", func() bool { return s.Figure("riverrun_sockets_open") == 0 })
		})
	}
}
