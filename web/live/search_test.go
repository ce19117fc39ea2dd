package live_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"riverrun/rivers"
	"riverrun/tiers"
	"riverrun/timelines"
	"riverrun/timelines/snapshot"
	"riverrun/web/live"
	"riverrun/web/webtest"
)

// A new match is pushed to an open search at the next beat. One beat brings the searches up to
// date once, whatever the number of viewers and changes, and not at all if nothing changed.
func TestSearchIsPushed(t *testing.T) {
	beat := make(chan time.Time)
	found := make(chan []rivers.Name, 100)
	s := webtest.New(t, func(c *live.Config) {
		c.Beat, c.CompareEvery = beat, 1000
		c.Rivers = countedFinds{c.Rivers, found}
	})
	ann, bob := s.Person("ann"), s.Person("bob")
	first := ann.Post("first word")
	g, again := s.Open(nil, "/search?q=Words"), s.Open(nil, "/search?q=Words")
	if len(g.Shown) != 1 {
		t.Fatalf("%d entries are shown, want 1", len(g.Shown))
	}
	second, other := bob.Post("second word"), bob.Post("something else")
	bob.Comment(other.Code, "a word at last")
	bob.Edit(other.Code, "something else still")
	s.AwaitHeard(second, other)
	if len(found) > 0 {
		t.Error("the searches were brought up before the beat")
	}
	beat <- time.Now()
	for _, p := range []*webtest.Page{g, again} {
		for len(p.Shown) < 3 {
			p.Until("an entry", func(f webtest.Frame) bool { return f.T == "entry" })
		}
		for _, c := range []timelines.Change{first, second, other} {
			if _, there := p.Shown[c.Code]; !there {
				t.Errorf("%s is not shown", c.Code)
			}
		}
	}
	if names := <-found; len(names) == 0 || len(found) > 0 {
		t.Errorf("the beat brought up %v, and others %d times more; want it to do so once", names, len(found))
	}
	third := ann.Post("third word")
	ann.Remove(third.Code)
	s.AwaitHeard(third)
	beat <- time.Now()
	<-found
	beat <- time.Now()
	beat <- time.Now() // the one before was heard
	if len(found) > 0 {
		t.Error("searches were brought up though nothing changed")
	}
	// The first word is said no more.
	ann.Edit(first.Code, "nothing")
	g.UntilGone(first.Code)
	n := rivers.Name{Kind: rivers.Search, Term: "words", Order: rivers.Fresh}
	g.SameAsReload(s, nil, n)
}

// countedFinds tells which searches are brought up.
type countedFinds struct {
	live.Rivers
	found chan []rivers.Name
}

func (c countedFinds) BringUp(ctx context.Context, names []rivers.Name) ([]rivers.Name, error) {
	c.found <- names
	return c.Rivers.BringUp(ctx, names)
}

// A match that a change takes away leaves an open search at once, as it leaves all pages: no beat
// comes, and the finder is busy meanwhile.
func TestSearchLosesAtOnce(t *testing.T) {
	s := webtest.New(t, func(c *live.Config) {
		c.Beat = make(chan time.Time)
		c.Rivers = busyFinder{c.Rivers}
	})
	ann, bob, cat := s.Person("ann"), s.Person("bob"), s.Person("cat")
	write := func(change func(context.Context) (timelines.Change, error)) { bob.Act(change) }
	for _, c := range []struct {
		what string
		do   func(code string)
	}{
		{"an edit", func(code string) { bob.Edit(code, "nothing") }},
		{"a deletion", func(code string) { bob.Remove(code) }},
		{"a move to eyes-only", func(code string) {
			write(func(ctx context.Context) (timelines.Change, error) {
				return s.Store.Posts.Revise(ctx, bob.Account.ID, code, timelines.Revision{To: []string{timelines.ToEyes}})
			})
		}},
		{"a level", func(string) {
			write(func(ctx context.Context) (timelines.Change, error) {
				return s.Store.Feeds.SetAccess(ctx, bob.Account.ID, "", timelines.Private)
			})
		}},
		{"somebody's exclusion", func(string) {
			write(func(ctx context.Context) (timelines.Change, error) {
				return s.Store.Feeds.Exclude(ctx, bob.Account.ID, "", "ann")
			})
		}},
		{"a ban by its author", func(string) { bob.Ban("ann") }},
		{"a ban by the reader", func(string) { ann.Ban("bob") }},
	} {
		t.Run(c.what, func(t *testing.T) {
			level := timelines.Public
			if c.what == "somebody's exclusion" {
				level = timelines.Protected
			}
			write(func(ctx context.Context) (timelines.Change, error) {
				return s.Store.Feeds.SetAccess(ctx, bob.Account.ID, "", level)
			})
			cats, bobs := cat.Post("the word of cat"), bob.Post("the word of bob")
			g := s.Open(ann, "/search?q=word")
			if _, shows := g.Shown[bobs.Code]; !shows {
				t.Fatalf("%d entries are shown, and not bob's", len(g.Shown))
			}
			c.do(bobs.Code)
			g.UntilGone(bobs.Code)
			if _, shows := g.Shown[cats.Code]; !shows {
				t.Error("what is still found is gone too")
			}
			// A match that stays changes at once as well.
			cat.Edit(cats.Code, "the word of cat again")
			g.Until("the edit", func(f webtest.Frame) bool { return strings.Contains(f.HTML+f.Parts["body"], "cat again") })
			_ = g.Conn.CloseNow()
			ann.Unban("bob")
			bob.Unban("ann")
		})
	}
}

// busyFinder never comes to bring searches up.
type busyFinder struct{ live.Rivers }

func (busyFinder) BringUp(ctx context.Context, _ []rivers.Name) ([]rivers.Name, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// busySearch lets something happen after each visit.
type busySearch struct {
	live.Rivers
	visits atomic.Int64
	then   atomic.Pointer[func()]
}

func (b *busySearch) Visit(ctx context.Context, v timelines.Viewer, n rivers.Name, c rivers.Cursor) (*rivers.Page, error) {
	page, err := b.Rivers.Visit(ctx, v, n, c)
	b.visits.Add(1)
	if then := b.then.Load(); then != nil {
		(*then)()
	}
	return page, err
}

// A search can be subscribed to in the busiest town: however much changes between any two
// steps, and though what is stored is built anew each time.
func TestSubscribeToASearchInABusyTown(t *testing.T) {
	busy := &busySearch{}
	s := webtest.New(t, func(c *live.Config) {
		busy.Rivers = c.Rivers
		c.Rivers, c.Hear, c.Beat = busy, webtest.Deaf, make(chan time.Time)
	})
	first := s.Person("ann").Post("a word")
	changes := func(n int) func() {
		const folds = `
			INSERT INTO folds (post_id, version, decisive, text_folded, likes_folded, comments_folded, attachments_folded)
			SELECT 1000000 + i, 1, '{}', '{}', '{}', '{}', '[]' FROM generate_series(1, $1::int) i
			ON CONFLICT (post_id) DO UPDATE SET version = folds.version + 1, written = excluded.written`
		return func() {
			if _, err := s.DB.Secondary.Exec(t.Context(), folds, n); err != nil {
				t.Error(err)
			}
		}
	}
	standing := func() (id string) {
		const query = `SELECT id::text FROM rivers WHERE kind = 'search' AND state = 'live'`
		if err := s.DB.Secondary.QueryRow(t.Context(), query).Scan(&id); err != nil {
			t.Fatal(err)
		}
		return id
	}
	for _, c := range []struct {
		what  string
		then  func()
		stays bool // the generation does
	}{
		{"much changes", changes(2000), true},
		{"more changes than it is worth to look at", changes(6000), false},
		{"it is built anew", func() { s.Replace(timelines.Replace{Everybody: true}) }, false},
	} {
		t.Run(c.what, func(t *testing.T) {
			g := s.Open(nil, "/search?q=word")
			_ = g.Conn.CloseNow()
			was := g.River
			busy.visits.Store(0)
			busy.then.Store(&c.then)
			g.Follow(s, nil)
			visits := busy.visits.Load()
			busy.then.Store(nil)
			if most := int64(live.MaxSwaps + 2); visits > most {
				t.Errorf("answered after %d visits, want %d at most", visits, most)
			}
			if c.stays && g.River != was {
				t.Error("the search was asked for anew")
			}
			if _, shows := g.Shown[first.Code]; !shows {
				t.Errorf("%d entries are shown, and not the one there is", len(g.Shown))
			}
			// A reload finds what came last first.
			name := rivers.Name{Kind: rivers.Search, Term: "word", Order: rivers.Fresh}
			if _, err := s.Rivers.Visit(t.Context(), timelines.Viewer{}, name, rivers.Cursor{}); err != nil {
				t.Fatal(err)
			}
			for g.River != standing() {
				s.Tell(tiers.Message{All: true})
				g.Until("what stands", func(f webtest.Frame) bool { return f.T == "ok" })
			}
			g.SameAsReload(s, nil, name)
			_ = g.Conn.CloseNow()
		})
	}
}

// A comparison finds what the bus lost.
func TestSearchIsHealed(t *testing.T) {
	beat := make(chan time.Time)
	s := webtest.New(t, func(c *live.Config) {
		c.Beat, c.CompareEvery = beat, 1
		c.Hear = func(func(tiers.Message)) func() { return func() {} }
	})
	ann := s.Person("ann")
	g := s.Open(nil, "/search?q=word")
	code := ann.Post("a word").Code
	beat <- time.Now()
	g.UntilEntry(code)
}

// A search of somebody else's making closes, and no node minds.
func TestSearchSocketOfNothing(t *testing.T) {
	s := webtest.New(t, func(c *live.Config) { c.Rivers = broadRivers{c.Rivers} })
	for what, address := range map[string]string{"nothing": "/search", "too much": "/search?q=word"} {
		g := &webtest.Page{T: t, Address: address}
		g.Connect(s, nil)
		if c := g.Closed(); c.Code != live.CloseNoPage {
			t.Errorf("a search for %s closes with %v, want %d", what, c, live.CloseNoPage)
		}
	}
}

// broadRivers find that what is searched for is too broad.
type broadRivers struct{ live.Rivers }

func (broadRivers) Visit(context.Context, timelines.Viewer, rivers.Name, rivers.Cursor) (*rivers.Page, error) {
	return nil, snapshot.ErrBroad
}
