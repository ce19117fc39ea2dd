package web

import (
	"context"
	"strconv"
	"testing"
	"time"

	"riverrun/rivers"
	"riverrun/timelines"
)

const (
	longPage = 60 // entries of a page that has grown
	upper    = 28 // where on it something opens, and where further down
	lower    = 48
)

// longTown is bob's posts with two of cat's among them, at upper and lower of the longPage
// newest, and more below those.
type longTown struct {
	*liveSite
	beat           chan time.Time
	ann, bob, cat  *person
	everything     rivers.Name
	codes          []string // oldest first
	upmost, lowest string   // of cat
}

func newLongTown(t *testing.T, change func(*HubConfig)) *longTown {
	t.Helper()
	w := &longTown{beat: make(chan time.Time)}
	w.liveSite = newLiveSite(t, func(c *HubConfig) {
		c.Hear, c.Beat, c.CompareEvery = deaf, w.beat, 1
		if change != nil {
			change(c)
		}
	})
	w.ann, w.bob, w.cat = w.person("ann"), w.person("bob"), w.person("cat")
	w.everything = rivers.Name{UserID: w.ann.account.ID, Kind: rivers.Everything, Order: rivers.Fresh}
	return w
}

// next makes the next post of the town, as it stands when there are longPage and ten more.
func (w *longTown) next() timelines.Change {
	w.t.Helper()
	place := longPage + 10 - len(w.codes)
	by := w.bob
	if place == upper || place == lower {
		by = w.cat
	}
	post := by.post("post " + strconv.Itoa(place))
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
func (w *longTown) grownByOlder() *page {
	w.t.Helper()
	for range longPage + 10 {
		w.next()
	}
	return w.openLong(w.ann, w.everything, longPage)
}

// grownOnTop is a page whose reader stayed below while new posts came.
func (w *longTown) grownOnTop() *page {
	w.t.Helper()
	for range rivers.PageSize + 10 {
		w.next()
	}
	g := w.open(w.ann, "/everything")
	for len(w.codes) < longPage+10 {
		post := w.next()
		w.followUp()
		w.hearOf(post.PostID)
		g.untilEntry(post.Code)
	}
	return g
}

// What closes and opens again in the midst of a long page is on it after one comparison,
// as it is after a reload, however the page grew.
func TestLongPagesShowWhatOpens(t *testing.T) {
	t.Parallel()
	hide := func(form func(*timelines.Store, context.Context, int64, string) (int64, timelines.Change, error)) func(*longTown) {
		return func(w *longTown) {
			for _, code := range []string{w.upmost, w.lowest} {
				w.ann.act(func(ctx context.Context) (timelines.Change, error) {
					_, c, err := form(w.store, ctx, w.ann.account.ID, code)
					return c, err
				})
			}
		}
	}
	grown := map[string]func(*longTown) *page{"older": (*longTown).grownByOlder, "on top": (*longTown).grownOnTop}
	for what, tc := range map[string]struct{ before, closes, opens func(*longTown) }{
		"a ban": {
			closes: func(w *longTown) { w.cat.ban("ann") },
			opens:  func(w *longTown) { w.cat.unban("ann") },
		},
		"a level": {
			closes: func(w *longTown) { w.cat.setAccess("", timelines.Private) },
			opens:  func(w *longTown) { w.cat.setAccess("", timelines.Public) },
		},
		"an admission": {
			before: func(w *longTown) { w.cat.setAccess("", timelines.Protected) },
			closes: func(w *longTown) { w.cat.exclude("", "ann") },
			opens: func(w *longTown) {
				w.cat.act(func(ctx context.Context) (timelines.Change, error) {
					return w.store.AdmitReader(ctx, w.cat.account.ID, "", "ann")
				})
			},
		},
		"a hide": {
			closes: hide((*timelines.Store).HidePost),
			opens:  hide((*timelines.Store).UnhidePost),
		},
	} {
		for how, grow := range grown {
			t.Run(what+" "+how, func(t *testing.T) {
				w := newLongTown(t, nil)
				if tc.before != nil {
					tc.before(w)
				}
				g := grow(w)
				if len(g.shown) != longPage {
					t.Fatalf("the page has %d entries, want %d", len(g.shown), longPage)
				}
				tc.closes(w)
				w.beat <- time.Now()
				for g.shows(w.upmost) || g.shows(w.lowest) {
					g.until("cat's entries to go", func(f frame) bool { return f.T == "gone" })
				}
				tc.opens(w)
				w.beat <- time.Now()
				for !g.shows(w.upmost) || !g.shows(w.lowest) {
					g.until("cat's entries", func(f frame) bool { return f.T == "entry" })
				}
				g.sameAsReload(w.liveSite, w.ann, w.everything)
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
		by.post("post " + strconv.Itoa(i))
	}
	g := w.openLong(w.ann, w.everything, 3*rivers.PageSize)
	for _, act := range []func(){func() { w.cat.ban("ann") }, func() { w.cat.unban("ann") }} {
		act()
		w.beat <- time.Now()
		g.until("ok", func(f frame) bool { return f.T == "ok" })
		g.sameAsReload(w.liveSite, w.ann, w.everything)
	}
	if len(g.shown) != 3*rivers.PageSize {
		t.Errorf("the page shows %d entries, want %d", len(g.shown), 3*rivers.PageSize)
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
			dropped[code] = g.shown[code].Version
			delete(g.shown, code)
		}
	}
	g.say(map[string]any{"t": "drop", "river": g.river, "entries": dropped})
	w.bob.like(w.codes[69]) // the drop is done before what comes of this
	w.hearOf(w.postID(w.codes[69]))
	g.untilEntry(w.codes[69])
	w.decidedAnew(w.ann, w.beat, 1, func() { w.ann.ban("cat") }) // decided anew, and compared
	w.bob.like(between)
	w.bob.like(kept)
	w.hearOf(w.postID(between), w.postID(kept))
	g.untilEntry(kept)
	w.beat <- time.Now()
	last := w.bob.post("the last")
	w.followUp()
	w.hearOf(last.PostID)
	g.untilEntry(last.Code)
	for code := range dropped {
		if g.shows(code) {
			t.Errorf("what was dropped came back: %+v", g.shown[code])
		}
	}
	if want := rivers.PageSize + 2; len(g.shown) != want {
		t.Errorf("the page shows %d entries, want %d", len(g.shown), want)
	}
}

// A page that shows all its viewer may see of a river is told nothing when it is
// compared, though the river holds more than a page.
func TestWholePagesAreQuiet(t *testing.T) {
	counted := &countedRivers{}
	w := newLongTown(t, func(c *HubConfig) { counted.HubRivers, c.Rivers = c.Rivers, counted })
	for range 10 {
		w.cat.post("from cat")
	}
	for range 20 {
		w.bob.post("from bob")
	}
	w.cat.ban("ann")
	g := w.open(w.ann, "/everything")
	frames := func() float64 { return w.figure("riverrun_frames_sent_total", "ok") }
	await(t, "the first word to be counted", func() bool { return frames() > 0 })
	was := frames()
	for range 3 {
		before := counted.answered.Load()
		w.beat <- time.Now()
		await(t, "the first page, and a visit that finds nothing below it", func() bool { return counted.answered.Load() == before+2 })
	}
	if told := fence(w.liveSite, w.bob, g)[0]; len(told) > 0 || frames() != was {
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
	s := newLiveSiteOver(t, opts, func(c *HubConfig) { c.Hear, c.Beat, c.CompareEvery = deaf, beat, 1 })
	ann, bob, cat := s.person("ann"), s.person("bob"), s.person("cat")
	ann.subscribe("bob")
	ann.subscribe("cat")
	var of string
	for i := range size + 5 {
		if i == size+5-160 {
			of = cat.post("from cat").Code
		} else {
			bob.post("from bob")
		}
	}
	name := rivers.Name{UserID: ann.account.ID, Kind: rivers.Home, Order: rivers.Fresh}
	g := s.openLong(ann, name, size)
	if !g.shows(of) || len(g.shown) != size {
		t.Fatalf("the page has %d entries, cat's among them: %t", len(g.shown), g.shows(of))
	}
	cat.ban("ann")
	beat <- time.Now()
	g.untilGone(of)
	cat.unban("ann")
	beat <- time.Now()
	g.untilEntry(of)
	if len(g.shown) != size {
		t.Errorf("the page shows %d entries, want %d", len(g.shown), size)
	}
}
