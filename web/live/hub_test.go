package live_test

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"riverrun/rivers"
	"riverrun/tiers"
	"riverrun/timelines"
	"riverrun/timelines/access"
	"riverrun/web/live"
	"riverrun/web/view"
	"riverrun/web/webtest"
)

// A pausedRivers calls before and after around visits, and flushed after a flush, to let a
// test act between two steps of the hub.
type pausedRivers struct {
	live.Rivers
	before, after func()
	flushed       func(posts []int64, seen []rivers.Seen)
}

func (p *pausedRivers) Visit(ctx context.Context, v timelines.Viewer, n rivers.Name, c rivers.Cursor) (*rivers.Page, error) {
	if p.before != nil {
		p.before()
	}
	page, err := p.Rivers.Visit(ctx, v, n, c)
	if p.after != nil {
		p.after()
	}
	return page, err
}

func (p *pausedRivers) Flush(ctx context.Context, w []rivers.Watch, posts []int64) ([]rivers.Seen, error) {
	seen, err := p.Rivers.Flush(ctx, w, posts)
	if p.flushed != nil && err == nil {
		p.flushed(posts, seen)
	}
	return seen, err
}

// flushes are the posts that each flush asked for.
type flushes chan []int64

func (f flushes) await(t *testing.T, post int64) {
	t.Helper()
	webtest.Await(t, "a flush of the post", func() bool {
		select {
		case posts := <-f:
			return slices.Contains(posts, post)
		default:
			return false
		}
	})
}

// countedPages counts what is rendered for sockets.
type countedPages struct {
	live.Pages
	rendered atomic.Int64
}

func (c *countedPages) Entry(ctx context.Context, l view.Context, n rivers.Name, sets *access.Sets, it rivers.Item) (view.Parts, []byte, error) {
	c.rendered.Add(1)
	return c.Pages.Entry(ctx, l, n, sets, it)
}

func TestSubscribeSendsTheDifference(t *testing.T) {
	s := webtest.New(t, nil)
	ann, bob := s.Person("ann"), s.Person("bob")
	stays, liked, goes := ann.Post("stays"), ann.Post("will be liked"), ann.Post("will go")

	g := s.Open(bob, "/everything")
	if got := len(g.Shown); got != 3 {
		t.Fatalf("an empty page was sent %d entries, want 3", got)
	}
	_ = g.Conn.CloseNow()
	bob.Like(liked.Code)
	ann.Remove(goes.Code)
	fresh := bob.Post("new meanwhile")

	g.Frames, g.Token = 0, g.SaidToken
	g.Follow(s, bob)
	// liked, goes, fresh and ok; nothing about what stayed as it was.
	if g.Frames != 4 {
		t.Errorf("the difference came in %d frames, want 4", g.Frames)
	}
	if _, there := g.Shown[goes.Code]; there {
		t.Errorf("%s is still shown", goes.Code)
	}
	for _, code := range []string{stays.Code, liked.Code, fresh.Code} {
		if _, there := g.Shown[code]; !there {
			t.Errorf("%s is not shown", code)
		}
	}
	g.SameAsReload(s, bob, rivers.Name{UserID: bob.Account.ID, Kind: rivers.Everything, Order: rivers.Fresh})
}

func TestPushesParts(t *testing.T) {
	s := webtest.New(t, nil)
	ann := s.Person("ann")
	post := ann.Post("something to like")
	g := s.Open(nil, "/everything")

	ann.Like(post.Code)
	if f := g.UntilEntry(post.Code); !strings.Contains(f.Parts["likes"], "ann") {
		t.Errorf("after a like: %+v, want ann in the likes", f)
	}
	ann.Edit(post.Code, "something better")
	f := g.UntilEntry(post.Code)
	if !strings.Contains(f.Parts["body"], "something better") {
		t.Errorf("after an edit: %+v, want the new text", f)
	}
	for _, part := range []string{"why", "acts", "likes", "comments", "box"} {
		if _, sent := f.Parts[part]; sent {
			t.Errorf("after an edit: %s was sent, and did not change", part)
		}
	}
	ann.Comment(post.Code, "a word")
	// A bump moves the entry: the whole article comes, be it after the comment.
	f = g.Until("the article", func(f webtest.Frame) bool { return f.T == "entry" && f.HTML != "" })
	if !strings.Contains(f.HTML, "a word") || !strings.Contains(f.HTML, `data-post="`+post.Code+`"`) {
		t.Errorf("after a comment: %+v, want the article with it", f)
	}
	ann.Remove(post.Code)
	g.UntilGone(post.Code)
	g.SameAsReload(s, nil, webtest.Everything)
}

// Step 9: whatever happens between lease and visit, or between visit and answer,
// is on the page in the end.
func TestNothingFallsBetweenPageAndSocket(t *testing.T) {
	for _, when := range []string{"before the visit", "after the visit"} {
		t.Run(when, func(t *testing.T) {
			paused := &pausedRivers{}
			s := webtest.New(t, func(c *live.Config) {
				paused.Rivers = c.Rivers
				c.Rivers = paused
				c.Beat = make(chan time.Time) // no comparison comes to help
			})
			ann := s.Person("ann")
			old := ann.Post("old")
			g := s.Open(nil, "/everything")
			_ = g.Conn.CloseNow()

			var fresh timelines.Change
			happens := sync.OnceFunc(func() {
				ann.Edit(old.Code, "edited")
				fresh = ann.Post("meanwhile")
				s.AwaitHeard(fresh) // too early for a socket that is registered after the visit
			})
			if when == "before the visit" {
				paused.before = happens
			} else {
				paused.after = happens
			}
			g.Follow(s, nil)
			want := map[string]string{old.Code: "edited", fresh.Code: "meanwhile"}
			for len(want) > 0 {
				for code, text := range want {
					if f := g.Shown[code]; strings.Contains(f.HTML+f.Parts["body"], text) {
						delete(want, code)
					}
				}
				if len(want) > 0 {
					if _, err := g.Read(); err != nil {
						t.Fatalf("waiting for %v: %v", want, err)
					}
				}
			}
		})
	}
}

func TestLostMessagesAreHealed(t *testing.T) {
	beat := make(chan time.Time)
	s := webtest.New(t, func(c *live.Config) {
		c.Hear, c.Beat, c.CompareEvery = webtest.Deaf, beat, 1
	})
	ann := s.Person("ann")
	edited, removed := ann.Post("first"), ann.Post("second")
	g := s.Open(nil, "/everything")

	ann.Edit(edited.Code, "changed")
	ann.Remove(removed.Code)
	fresh := ann.Post("third")
	// The river has everything; only this hub has not heard of it.
	webtest.Await(t, "the river to follow", func() bool {
		now, err := s.Rivers.Visit(t.Context(), timelines.Viewer{}, webtest.Everything, rivers.Cursor{})
		if err != nil {
			t.Fatal(err)
		}
		return len(now.Items) == 2 && now.Items[0].PostID == fresh.PostID && now.Items[1].Fold.Text.Body == "changed"
	})
	beat <- time.Now()
	want := map[string]string{edited.Code: "entry", removed.Code: "gone", fresh.Code: "entry"}
	for len(want) > 0 {
		f, err := g.Read()
		if err != nil {
			t.Fatalf("waiting for %v: %v", want, err)
		}
		if want[f.Post] == f.T {
			delete(want, f.Post)
		}
	}
	g.SameAsReload(s, nil, webtest.Everything)

	// At rest a comparison finds nothing and sends nothing.
	same := func() float64 { return s.Figure("riverrun_comparisons_total", "same") }
	frames := func() float64 { return s.Figure("riverrun_frames_sent_total", "entry") }
	was, sent := same(), frames()
	webtest.Await(t, "another comparison", func() bool {
		select {
		case beat <- time.Now(): // one that took too long to read is dropped, and the next beat's counts
		default:
		}
		return same() > was
	})
	if got := frames(); got != sent {
		t.Errorf("a comparison at rest sent %v entries", got-sent)
	}
}

func TestSwappedRiver(t *testing.T) {
	s := webtest.New(t, func(c *live.Config) { c.Beat = make(chan time.Time) })
	ann, bob := s.Person("ann"), s.Person("bob")
	post := bob.Post("hello from bob")
	mine := ann.Post("mine")
	g := s.Open(ann, "/")
	was := g.River
	if _, there := g.Shown[post.Code]; there {
		t.Fatal("ann sees bob's post before she follows him")
	}
	ann.Subscribe("bob")
	g.Until("ok of another river", func(f webtest.Frame) bool { return f.T == "ok" && f.River != was })
	for _, code := range []string{post.Code, mine.Code} {
		if f := g.Shown[code]; f.River != g.River {
			t.Errorf("%s is shown of river %q, want %q", code, f.River, g.River)
		}
	}
	g.SameAsReload(s, ann, rivers.Name{UserID: ann.Account.ID, Kind: rivers.Home, Order: rivers.Fresh})
	// And the new one is followed.
	late := bob.Post("and again")
	g.UntilEntry(late.Code)
}

// A page opened while rivers are far behind is brought up by its own subscription.
func TestOpenedWhileRiversLag(t *testing.T) {
	var lagging atomic.Bool
	// An answer to whether rivers lag is good for a second: the hub's clock goes on by more
	// when they begin to.
	now := func() time.Time {
		if lagging.Load() {
			return time.Now()
		}
		return time.Now().Add(-2 * time.Second)
	}
	s := webtest.New(t, func(c *live.Config) {
		c.Hear, c.Now = webtest.Deaf, now
		c.Beat = make(chan time.Time)
		c.Backlog = func(_ context.Context, than time.Duration) (bool, error) {
			return lagging.Load() && than <= time.Second, nil
		}
	})
	ann := s.Person("ann")
	ann.Post("old")
	g := s.Open(nil, "/everything")
	_ = g.Conn.CloseNow()
	webtest.Await(t, "the lease to be given up", func() bool {
		var n int
		if err := s.DB.Secondary.QueryRow(t.Context(), `SELECT count(*) FROM leases`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n == 0
	})
	// Nobody has the river open, and nothing does Tier 2.
	missed := ann.Post("missed")
	lagging.Store(true)
	g.Follow(s, nil)
	if _, there := g.Shown[missed.Code]; !there {
		t.Error("the page lacks what Tier 2 has not brought yet")
	}
	g.SameAsReload(s, nil, webtest.Everything)
}

func TestRenderedOncePerFlush(t *testing.T) {
	pages := &countedPages{}
	s := webtest.New(t, func(c *live.Config) {
		pages.Pages = c.Pages
		c.Pages = pages
	})
	ann := s.Person("ann")
	post := ann.Post("popular")
	const readers = 8
	open := make([]*webtest.Page, readers)
	for i := range open {
		open[i] = s.Open(nil, "/everything")
	}
	before := pages.rendered.Load()
	ann.Like(post.Code)
	for _, g := range open {
		g.UntilEntry(post.Code)
	}
	// Tier 1 may come in more than one flush, but never once per reader.
	if got := pages.rendered.Load() - before; got == 0 || got >= readers {
		t.Errorf("rendered %d times for %d readers who look the same, want once", got, readers)
	}
}

func TestOlderPage(t *testing.T) {
	s := webtest.New(t, nil)
	ann := s.Person("ann")
	codes := make([]string, 0, rivers.PageSize+4)
	for i := range cap(codes) {
		codes = append(codes, ann.Post("post "+strconv.Itoa(i)).Code)
	}
	top, err := s.Rivers.Visit(t.Context(), timelines.Viewer{}, webtest.Everything, rivers.Cursor{})
	if err != nil {
		t.Fatal(err)
	}
	last := top.Items[len(top.Items)-1]
	g := s.Open(nil, "/everything?before="+s.Rivers.FormatCursor(top.Next, last.Fold.Text.Code))
	if got := len(g.Shown); got != 4 {
		t.Fatalf("an older page shows %d entries, want 4", got)
	}
	fresh := ann.Post("new: not for an older page")
	ann.Like(codes[0])
	g.UntilEntry(codes[0])
	ann.Remove(codes[1])
	g.UntilGone(codes[1])
	if _, there := g.Shown[fresh.Code]; there {
		t.Error("a new entry came to an older page")
	}
}

// A first page that loses an entry takes the next one from below, as a reload.
func TestFirstPageIsFilledUp(t *testing.T) {
	s := webtest.New(t, func(c *live.Config) { c.Beat = make(chan time.Time) })
	ann := s.Person("ann")
	codes := make([]string, 0, rivers.PageSize+2)
	for i := range cap(codes) {
		codes = append(codes, ann.Post("post "+strconv.Itoa(i)).Code)
	}
	g := s.Open(nil, "/everything")
	ann.Remove(codes[len(codes)-1])
	g.UntilEntry(codes[1])
	g.SameAsReload(s, nil, webtest.Everything)

	// An entry that a client drops is not pushed any more, until it comes up again.
	lowest := codes[1]
	g.Say(map[string]any{"t": "drop", "river": g.River, "entries": map[string]string{lowest: g.Shown[lowest].Version}})
	delete(g.Shown, lowest)
	ann.Comment(lowest, "up again")
	if f := g.UntilEntry(lowest); f.HTML == "" {
		t.Errorf("a dropped entry came back in parts: %+v", f)
	}
}

// A client that took the last entries off the screen says by that that there are older ones. It
// is told so, even if the server said otherwise just then, and it is told when there are none
// any more.
func TestMoreAfterDrop(t *testing.T) {
	s := webtest.New(t, func(c *live.Config) { c.Hear, c.Beat = webtest.Deaf, make(chan time.Time) })
	ann := s.Person("ann")
	last := ann.Post("the first")
	for range rivers.PageSize - 1 {
		ann.Post("another")
	}
	g := s.Open(nil, "/everything")
	fresh := ann.Post("one too many")
	s.FollowUp()
	s.HearOf(fresh.PostID)
	g.UntilEntry(fresh.Code)
	g.Say(map[string]any{"t": "drop", "river": g.River, "entries": map[string]string{last.Code: g.Shown[last.Code].Version}})
	if f := g.Until("ok", func(f webtest.Frame) bool { return f.T == "ok" }); !f.More {
		t.Error("a page that let go of its last entry is told that there is none below")
	}
	ann.Remove(last.Code)
	s.FollowUp()
	s.Tell(tiers.Message{All: true})
	if f := g.Until("ok", func(f webtest.Frame) bool { return f.T == "ok" }); f.More {
		t.Error("a page that shows all there is is told of more")
	}
}
