package live_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/timelines/snapshot"
	"riverrun/web/live"
	"riverrun/web/webtest"
)

// farRivers are rivers whose pages below the first take long, or fail.
type farRivers struct {
	live.Rivers
	skew   atomic.Int64 // nanoseconds, of the hub's clock
	each   time.Duration
	fails  error
	visits atomic.Int64
	below  atomic.Int64 // of those, how many of pages below the first
}

// at has a decision begin when the hub's clock says that it did.
func (r *farRivers) at(began *time.Time) { *began = began.Add(time.Duration(r.skew.Load())) }

func (r *farRivers) Flush(ctx context.Context, watches []rivers.Watch, posts []int64) ([]rivers.Seen, error) {
	seen, err := r.Rivers.Flush(ctx, watches, posts)
	for i := range seen {
		r.at(&seen[i].Began)
	}
	return seen, err
}

func (r *farRivers) Visit(ctx context.Context, v timelines.Viewer, n rivers.Name, c rivers.Cursor) (*rivers.Page, error) {
	r.visits.Add(1)
	if !c.Top() {
		r.below.Add(1)
		if r.fails != nil {
			return nil, r.fails
		}
	}
	page, err := r.Rivers.Visit(ctx, v, n, c)
	if err == nil {
		r.at(&page.Began)
	}
	if !c.Top() {
		r.skew.Add(int64(r.each))
	}
	return page, err
}

// A long page is compared with its river page by page, each told as it is read: what takes
// long or fails below neither keeps it from being told how it stands nor closes it, and a
// client that claims to show what there is not makes the server read no more than the first
// page.
func TestLongPagesAreTold(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name    string
		page    string
		each    time.Duration
		fails   error
		claimed bool
		most    int64 // visits, two of them of the first page
	}{
		{name: "at once", page: "/everything", most: 6},
		{name: "slow", page: "/everything", each: 300 * time.Millisecond, most: 6},
		{name: "too broad below", page: "/search?q=common", fails: snapshot.ErrBroad, most: 3},
		{name: "away", page: "/everything", fails: rivers.ErrUnavailable, most: 3},
		{name: "claimed", page: "/everything", claimed: true, most: 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			far := &farRivers{each: tc.each, fails: tc.fails}
			s := webtest.New(t, func(c *live.Config) {
				far.Rivers = c.Rivers
				c.Rivers, c.Hear, c.Beat = far, webtest.Deaf, make(chan time.Time)
				c.Now = func() time.Time { return time.Now().Add(time.Duration(far.skew.Load())) }
			})
			ann, bob := s.Person("ann"), s.Person("bob")
			everything := rivers.Name{UserID: ann.Account.ID, Kind: rivers.Everything, Order: rivers.Fresh}
			g := &webtest.Page{T: t, Address: tc.page, Shown: map[string]webtest.Frame{}, River: "0"}
			for i := range 4*rivers.PageSize + 1 {
				code := bob.Post("a common post").Code
				if tc.claimed {
					code = fmt.Sprintf("%010d", i)
				}
				g.Shown[code] = webtest.Frame{Version: "1.1"}
			}
			s.FollowUp()
			for at, more := (rivers.Cursor{}), !tc.claimed; more; {
				now, err := s.Rivers.Visit(t.Context(), ann.Viewer, everything, at)
				if err != nil {
					t.Fatal(err)
				}
				for _, it := range now.Items {
					g.Shown[it.Fold.Text.Code] = webtest.Frame{Version: "1.1", Place: it.Place}
				}
				at, more = now.Next, now.More
			}
			g.Follow(s, ann)
			if got := far.visits.Load(); got > tc.most {
				t.Errorf("%d visits, want %d at most", got, tc.most)
			}
			if got := far.below.Load() > 0; got == tc.claimed {
				t.Errorf("it was read on below the first page: %t, want %t", got, !tc.claimed)
			}
		})
	}
}

// A page that shows the whole of its river, and more than a first page of it, goes on
// doing so when it is compared with a first page: what comes back below all it shows is
// on it, whether its reader hid it or its author went away for a while.
func TestWholePagesStayWhole(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		act  func(s *webtest.Site, ann, cat *webtest.Person, code string, away bool)
	}{
		{"hidden", func(s *webtest.Site, ann, _ *webtest.Person, code string, away bool) {
			form := s.Store.Hides.UnhidePost
			if away {
				form = s.Store.Hides.HidePost
			}
			ann.Act(func(ctx context.Context) (timelines.Change, error) {
				_, c, err := form(ctx, ann.Account.ID, code)
				return c, err
			})
		}},
		{"private", func(_ *webtest.Site, _, cat *webtest.Person, _ string, away bool) {
			level := timelines.Public
			if away {
				level = timelines.Private
			}
			cat.SetAccess("", level)
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			beat := make(chan time.Time)
			s := webtest.New(t, func(c *live.Config) { c.Hear, c.Beat, c.CompareEvery = webtest.Deaf, beat, 1 })
			ann, bob, cat := s.Person("ann"), s.Person("bob"), s.Person("cat")
			lowest := cat.Post("the oldest, of cat")
			for range rivers.PageSize - 1 {
				bob.Post("from bob")
			}
			page := s.Open(ann, "/everything")
			for range 5 {
				post := bob.Post("and another")
				s.FollowUp()
				s.HearOf(post.PostID)
				page.UntilEntry(post.Code)
			}
			same := func() float64 { return s.Figure("riverrun_comparisons_total", "same") }
			for _, away := range []bool{true, false} {
				was := same()
				webtest.Await(t, "a comparison", func() bool {
					beat <- time.Now()
					return same() > was
				})
				tc.act(s, ann, cat, lowest.Code, away)
				s.FollowUp()
				beat <- time.Now()
				s.HearOf(lowest.PostID)
				if away {
					page.UntilGone(lowest.Code)
				} else {
					page.UntilEntry(lowest.Code)
				}
			}
			if got, want := len(page.Shown), rivers.PageSize+5; got != want {
				t.Errorf("the page shows %d of %d entries", got, want)
			}
		})
	}
}

// A page that is whole goes on showing all that stands above its lowest entry, when what
// comes back makes its river longer than a first page.
func TestWholePagesKeepNoHoles(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, func(c *live.Config) { c.Hear, c.Beat = webtest.Deaf, make(chan time.Time) })
	ann, bob, cat := s.Person("ann"), s.Person("bob"), s.Person("cat")
	oldest := bob.Post("the oldest")
	low := cat.Post("almost the oldest")
	for range rivers.PageSize - 1 {
		bob.Post("from bob")
	}
	high := cat.Post("the newest")
	s.FollowUp()
	name := rivers.Name{UserID: ann.Account.ID, Kind: rivers.Everything, Order: rivers.Fresh}
	if _, err := s.Rivers.Visit(t.Context(), ann.Viewer, name, rivers.Cursor{}); err != nil {
		t.Fatal(err)
	}
	cat.SetAccess("", timelines.Private)
	page := s.Open(ann, "/everything")
	if len(page.Shown) != rivers.PageSize {
		t.Fatalf("the page shows %d entries, want %d", len(page.Shown), rivers.PageSize)
	}
	cat.SetAccess("", timelines.Public)
	s.HearOf(oldest.PostID)
	page.Until("ok", func(f webtest.Frame) bool { return f.T == "ok" && page.Shown[high.Code].HTML != "" })
	if _, shows := page.Shown[low.Code]; !shows {
		t.Error("of two posts that came back the page lacks the one between two that it shows")
	}
	page.SameAsReload(s, ann, name)
}

// A page that is whole and no longer than a first one is told of what came below all it
// shows, though nobody heard of it.
func TestWholePagesHearOfWhatIsBelow(t *testing.T) {
	beat := make(chan time.Time)
	s := webtest.New(t, func(c *live.Config) { c.Hear, c.Beat, c.CompareEvery = webtest.Deaf, beat, 1 })
	ann, bob, cat := s.Person("ann"), s.Person("bob"), s.Person("cat")
	cat.Post("the oldest, of cat")
	for range rivers.PageSize {
		bob.Post("from bob")
	}
	everything := rivers.Name{UserID: ann.Account.ID, Kind: rivers.Everything, Order: rivers.Fresh}
	if _, err := s.Rivers.Visit(t.Context(), ann.Viewer, everything, rivers.Cursor{}); err != nil {
		t.Fatal(err)
	}
	cat.SetAccess("", timelines.Private)
	page := &webtest.Page{T: t, Address: "/everything", Shown: map[string]webtest.Frame{}}
	page.Connect(s, ann)
	if f := page.Until("ok", func(f webtest.Frame) bool { return f.T == "ok" }); f.More || len(page.Shown) != rivers.PageSize {
		t.Fatalf("%d entries and more: %t, want a page and no more", len(page.Shown), f.More)
	}
	cat.SetAccess("", timelines.Public)
	told := make(chan struct{})
	go func() {
		defer close(told)
		if f, err := page.Read(); err != nil || f.T != "ok" || !f.More {
			t.Errorf("told %+v, %v, want that there is more", f, err)
		}
	}()
	for {
		select {
		case beat <- time.Now():
		case <-told:
			return
		}
	}
}
