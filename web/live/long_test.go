package live_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/web/live"
	"riverrun/web/webtest"
)

const (
	longPage = 60 // entries of a page that has grown
	upper    = 28 // where on it something opens, and where further down
	lower    = 48
)

// longTown is bob's posts with two of cat's among them, at upper and lower of the longPage
// newest, and more below those.
type longTown struct {
	*webtest.Site
	beat           chan time.Time
	ann, bob, cat  *webtest.Person
	everything     rivers.Name
	codes          []string // oldest first
	upmost, lowest string   // of cat
}

func newLongTown(t *testing.T, change func(*live.Config)) *longTown {
	t.Helper()
	w := &longTown{beat: make(chan time.Time)}
	w.Site = webtest.New(t, func(c *live.Config) {
		c.Hear, c.Beat, c.CompareEvery = webtest.Deaf, w.beat, 1
		if change != nil {
			change(c)
		}
	})
	w.ann, w.bob, w.cat = w.Person("ann"), w.Person("bob"), w.Person("cat")
	w.everything = rivers.Name{UserID: w.ann.Account.ID, Kind: rivers.Everything, Order: rivers.Fresh}
	return w
}

// next makes the next post of the town, as it stands when there are longPage and ten more.
func (w *longTown) next() timelines.Change {
	w.T.Helper()
	place := longPage + 10 - len(w.codes)
	by := w.bob
	if place == upper || place == lower {
		by = w.cat
	}
	post := by.Post("post " + strconv.Itoa(place))
	w.codes = append(w.codes, post.Code)
	switch place {
	case upper:
		w.upmost = post.Code
	case lower:
		w.lowest = post.Code
	}
	return post
}

// grownByOlder is a page that went on to older entries by itself, and has just connected.
func (w *longTown) grownByOlder() *webtest.Page {
	w.T.Helper()
	for range longPage + 10 {
		w.next()
	}
	return w.OpenLong(w.ann, w.everything, longPage)
}

// grownOnTop is a page whose reader stayed below while new posts came.
func (w *longTown) grownOnTop() *webtest.Page {
	w.T.Helper()
	for range rivers.PageSize + 10 {
		w.next()
	}
	g := w.Open(w.ann, "/everything")
	for len(w.codes) < longPage+10 {
		post := w.next()
		w.FollowUp()
		w.HearOf(post.PostID)
		g.UntilEntry(post.Code)
	}
	return g
}

// An entry in the midst of a long page that closes and opens again is on the page after one
// comparison, as it is after a reload, however the page grew.
func TestLongPagesShowWhatOpens(t *testing.T) {
	t.Parallel()
	hide := func(form func(timelines.Hides, context.Context, int64, string) (int64, timelines.Change, error)) func(*longTown) {
		return func(w *longTown) {
			for _, code := range []string{w.upmost, w.lowest} {
				w.ann.Act(func(ctx context.Context) (timelines.Change, error) {
					_, c, err := form(w.Store.Hides, ctx, w.ann.Account.ID, code)
					return c, err
				})
			}
		}
	}
	grown := map[string]func(*longTown) *webtest.Page{"older": (*longTown).grownByOlder, "on top": (*longTown).grownOnTop}
	for what, tc := range map[string]struct{ before, closes, opens func(*longTown) }{
		"a ban": {
			closes: func(w *longTown) { w.cat.Ban("ann") },
			opens:  func(w *longTown) { w.cat.Unban("ann") },
		},
		"a level": {
			closes: func(w *longTown) { w.cat.SetAccess("", timelines.Private) },
			opens:  func(w *longTown) { w.cat.SetAccess("", timelines.Public) },
		},
		"an admission": {
			before: func(w *longTown) { w.cat.SetAccess("", timelines.Protected) },
			closes: func(w *longTown) { w.cat.Exclude("", "ann") },
			opens: func(w *longTown) {
				w.cat.Act(func(ctx context.Context) (timelines.Change, error) {
					return w.Store.Feeds.Admit(ctx, w.cat.Account.ID, "", "ann")
				})
			},
		},
		"a hide": {
			closes: hide(timelines.Hides.HidePost),
			opens:  hide(timelines.Hides.UnhidePost),
		},
	} {
		for how, grow := range grown {
			t.Run(what+" "+how, func(t *testing.T) {
				w := newLongTown(t, nil)
				if tc.before != nil {
					tc.before(w)
				}
				g := grow(w)
				if len(g.Shown) != longPage {
					t.Fatalf("the page has %d entries, want %d", len(g.Shown), longPage)
				}
				tc.closes(w)
				w.beat <- time.Now()
				for g.Shows(w.upmost) || g.Shows(w.lowest) {
					g.Until("cat's entries to go", func(f webtest.Frame) bool { return f.T == "gone" })
				}
				tc.opens(w)
				w.beat <- time.Now()
				for !g.Shows(w.upmost) || !g.Shows(w.lowest) {
					g.Until("cat's entries", func(f webtest.Frame) bool { return f.T == "entry" })
				}
				g.SameAsReload(w.Site, w.ann, w.everything)
			})
		}
	}
}

// A whole page's worth in a row that comes back in the midst of a long page is on it too.
func TestLongPagesShowAllThatOpens(t *testing.T) {
	t.Parallel()
	w := newLongTown(t, nil)
	for i := range 3 * rivers.PageSize {
		by := w.bob
		if i >= rivers.PageSize/2 && i < 2*rivers.PageSize {
			by = w.cat
		}
		by.Post("post " + strconv.Itoa(i))
	}
	g := w.OpenLong(w.ann, w.everything, 3*rivers.PageSize)
	for _, act := range []func(){func() { w.cat.Ban("ann") }, func() { w.cat.Unban("ann") }} {
		act()
		w.beat <- time.Now()
		g.Until("ok", func(f webtest.Frame) bool { return f.T == "ok" })
		g.SameAsReload(w.Site, w.ann, w.everything)
	}
	if len(g.Shown) != 3*rivers.PageSize {
		t.Errorf("the page shows %d entries, want %d", len(g.Shown), 3*rivers.PageSize)
	}
}

// A page that let go of its lower end, but for an entry that somebody writes on, is not
// brought what stands between: neither when it is compared nor when that changes.
func TestDroppedEntriesStayOff(t *testing.T) {
	t.Parallel()
	w := newLongTown(t, nil)
	g := w.grownByOlder()
	kept, between := w.codes[70-40], w.codes[70-30]
	dropped := map[string]string{}
	for place := rivers.PageSize + 1; place <= longPage; place++ {
		if code := w.codes[70-place]; code != kept {
			dropped[code] = g.Shown[code].Version
			delete(g.Shown, code)
		}
	}
	g.Say(map[string]any{"t": "drop", "river": g.River, "entries": dropped})
	w.bob.Like(w.codes[69]) // the drop is done before what comes of this
	w.HearOf(w.PostID(w.codes[69]))
	g.UntilEntry(w.codes[69])
	w.DecidedAnew(w.ann, w.beat, 1, func() { w.ann.Ban("cat") }) // decided anew, and compared
	w.bob.Like(between)
	w.bob.Like(kept)
	w.HearOf(w.PostID(between), w.PostID(kept))
	g.UntilEntry(kept)
	w.beat <- time.Now()
	last := w.bob.Post("the last")
	w.FollowUp()
	w.HearOf(last.PostID)
	g.UntilEntry(last.Code)
	for code := range dropped {
		if g.Shows(code) {
			t.Errorf("what was dropped came back: %+v", g.Shown[code])
		}
	}
	if want := rivers.PageSize + 2; len(g.Shown) != want {
		t.Errorf("the page shows %d entries, want %d", len(g.Shown), want)
	}
}

// A page that shows all its viewer may see of a river is told nothing when it is
// compared, though the river holds more than a page.
func TestWholePagesAreQuiet(t *testing.T) {
	counted := &countedRivers{}
	w := newLongTown(t, func(c *live.Config) { counted.Rivers, c.Rivers = c.Rivers, counted })
	for range 10 {
		w.cat.Post("from cat")
	}
	for range 20 {
		w.bob.Post("from bob")
	}
	w.cat.Ban("ann")
	g := w.Open(w.ann, "/everything")
	frames := func() float64 { return w.Figure("riverrun_frames_sent_total", "ok") }
	webtest.Await(t, "the first word to be counted", func() bool { return frames() > 0 })
	was := frames()
	for range 3 {
		before := counted.answered.Load()
		w.beat <- time.Now()
		webtest.Await(t, "the first page, and a visit that finds nothing below it", func() bool { return counted.answered.Load() == before+2 })
	}
	if told := fence(w.Site, w.bob, g)[0]; len(told) > 0 || frames() != was {
		t.Errorf("told %q and %v times that this is all", told, frames()-was)
	}
}

// A page that reaches below the depth to which its river is kept is a long page like any
// other.
func TestLongPagesBeyondTheDepth(t *testing.T) {
	t.Parallel()
	const depth, size = 150, 170 // the least depth, which a first build fills
	opts := rivers.DefaultOptions()
	opts.Depth = depth
	beat := make(chan time.Time)
	s := webtest.NewOver(t, opts, func(c *live.Config) { c.Hear, c.Beat, c.CompareEvery = webtest.Deaf, beat, 1 })
	ann, bob, cat := s.Person("ann"), s.Person("bob"), s.Person("cat")
	ann.Subscribe("bob")
	ann.Subscribe("cat")
	var of string
	for i := range size + 5 {
		if i == size+5-160 {
			of = cat.Post("from cat").Code
		} else {
			bob.Post("from bob")
		}
	}
	name := rivers.Name{UserID: ann.Account.ID, Kind: rivers.Home, Order: rivers.Fresh}
	g := s.OpenLong(ann, name, size)
	if !g.Shows(of) || len(g.Shown) != size {
		t.Fatalf("the page has %d entries, cat's among them: %t", len(g.Shown), g.Shows(of))
	}
	cat.Ban("ann")
	beat <- time.Now()
	g.UntilGone(of)
	cat.Unban("ann")
	beat <- time.Now()
	g.UntilEntry(of)
	if len(g.Shown) != size {
		t.Errorf("the page shows %d entries, want %d", len(g.Shown), size)
	}
}
