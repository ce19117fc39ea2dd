package web

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
	"riverrun/web/view"
)

// A pausedRivers calls before and after around visits, and flushed after a flush, to let a
// test act between two steps of the hub.
type pausedRivers struct {
	HubRivers
	before, after func()
	flushed       func(posts []int64, seen []rivers.Seen)
}

func (p *pausedRivers) Visit(ctx context.Context, v timelines.Viewer, n rivers.Name, c rivers.Cursor) (*rivers.Page, error) {
	if p.before != nil {
		p.before()
	}
	page, err := p.HubRivers.Visit(ctx, v, n, c)
	if p.after != nil {
		p.after()
	}
	return page, err
}

func (p *pausedRivers) Flush(ctx context.Context, w []rivers.Watch, posts []int64) ([]rivers.Seen, error) {
	seen, err := p.HubRivers.Flush(ctx, w, posts)
	if p.flushed != nil && err == nil {
		p.flushed(posts, seen)
	}
	return seen, err
}

// flushes are the posts that each flush asked for.
type flushes chan []int64

func (f flushes) await(t *testing.T, post int64) {
	t.Helper()
	await(t, "a flush of the post", func() bool {
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
	HubPages
	rendered atomic.Int64
}

func (c *countedPages) Entry(ctx context.Context, l view.Context, n rivers.Name, sets *timelines.Sets, it rivers.Item) (view.Parts, []byte, error) {
	c.rendered.Add(1)
	return c.HubPages.Entry(ctx, l, n, sets, it)
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

	g.frames, g.sight = 0, g.said
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
	// A bump moves the entry: the whole article comes, be it after the comment.
	f = g.until("the article", func(f frame) bool { return f.T == "entry" && f.HTML != "" })
	if !strings.Contains(f.HTML, "a word") || !strings.Contains(f.HTML, `data-post="`+post.Code+`"`) {
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
			s := newLiveSite(t, func(c *HubConfig) {
				paused.HubRivers = c.Rivers
				c.Rivers = paused
				c.Beat = make(chan time.Time) // no comparison comes to help
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
	s := newLiveSite(t, func(c *HubConfig) {
		c.Hear, c.Beat, c.CompareEvery = deaf, beat, 1
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
	same := func() float64 { return s.figure("riverrun_comparisons_total", "same") }
	frames := func() float64 { return s.figure("riverrun_frames_sent_total", "entry") }
	was, sent := same(), frames()
	beat <- time.Now()
	await(t, "another comparison", func() bool { return same() > was })
	if got := frames(); got != sent {
		t.Errorf("a comparison at rest sent %v entries", got-sent)
	}
}

func TestSwappedRiver(t *testing.T) {
	s := newLiveSite(t, func(c *HubConfig) { c.Beat = make(chan time.Time) })
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
	s := newLiveSite(t, func(c *HubConfig) {
		c.Hear, c.Now = deaf, now
		c.Beat = make(chan time.Time)
		c.Behind = func(_ context.Context, than time.Duration) (bool, error) {
			return lagging.Load() && than <= time.Second, nil
		}
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
	lagging.Store(true)
	g.follow(s, nil)
	if _, there := g.shown[missed.Code]; !there {
		t.Error("the page lacks what Tier 2 has not brought yet")
	}
	g.sameAsReload(s, nil, everything)
}

func TestRenderedOncePerFlush(t *testing.T) {
	pages := &countedPages{}
	s := newLiveSite(t, func(c *HubConfig) {
		pages.HubPages = c.Pages
		c.Pages = pages
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
	s := newLiveSite(t, func(c *HubConfig) { c.Beat = make(chan time.Time) })
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

// Who took the last entries off the screen, and so says that there are older ones, is
// told so, should the server have said otherwise just then, and told when there are none
// any more.
func TestMoreAfterDrop(t *testing.T) {
	s := newLiveSite(t, func(c *HubConfig) { c.Hear, c.Beat = deaf, make(chan time.Time) })
	ann := s.person("ann")
	last := ann.post("the first")
	for range rivers.PageSize - 1 {
		ann.post("another")
	}
	g := s.open(nil, "/everything")
	fresh := ann.post("one too many")
	s.followUp()
	s.hearOf(fresh.PostID)
	g.untilEntry(fresh.Code)
	g.say(map[string]any{"t": "drop", "river": g.river, "entries": map[string]string{last.Code: g.shown[last.Code].Version}})
	if f := g.until("ok", func(f frame) bool { return f.T == "ok" }); !f.More {
		t.Error("a page that let go of its last entry is told that there is none below")
	}
	ann.remove(last.Code)
	s.followUp()
	s.tell(tiers.Message{All: true})
	if f := g.until("ok", func(f frame) bool { return f.T == "ok" }); f.More {
		t.Error("a page that shows all there is is told of more")
	}
}
