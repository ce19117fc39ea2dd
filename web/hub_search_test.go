package web

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"riverrun/rivers"
	"riverrun/tiers"
	"riverrun/timelines"
)

// What comes is pushed to an open search at the next beat; one beat brings up the
// searches once, whoever looks and however much changed, and none where nothing did.
func TestSearchIsPushed(t *testing.T) {
	beat := make(chan time.Time)
	found := make(chan []rivers.Name, 100)
	s := newLiveSite(t, func(c *HubConfig) {
		c.Beat, c.CompareEvery = beat, 1000
		c.Rivers = countedFinds{c.Rivers, found}
	})
	ann, bob := s.person("ann"), s.person("bob")
	first := ann.post("first word")
	g, again := s.open(nil, "/search?q=Words"), s.open(nil, "/search?q=Words")
	if len(g.shown) != 1 {
		t.Fatalf("%d entries are shown, want 1", len(g.shown))
	}
	second, other := bob.post("second word"), bob.post("something else")
	bob.comment(other.Code, "a word at last")
	bob.edit(other.Code, "something else still")
	s.awaitHeard(second, other)
	if len(found) > 0 {
		t.Error("the searches were brought up before the beat")
	}
	beat <- time.Now()
	for _, p := range []*page{g, again} {
		for len(p.shown) < 3 {
			p.until("an entry", func(f frame) bool { return f.T == "entry" })
		}
		for _, c := range []timelines.Change{first, second, other} {
			if _, there := p.shown[c.Code]; !there {
				t.Errorf("%s is not shown", c.Code)
			}
		}
	}
	if names := <-found; len(names) == 0 || len(found) > 0 {
		t.Errorf("the beat brought up %v, and others %d times more; want it to do so once", names, len(found))
	}
	third := ann.post("third word")
	ann.remove(third.Code)
	s.awaitHeard(third)
	beat <- time.Now()
	<-found
	beat <- time.Now()
	beat <- time.Now() // the one before was heard
	if len(found) > 0 {
		t.Error("searches were brought up though nothing changed")
	}
	// The first word is said no more.
	ann.edit(first.Code, "nothing")
	g.untilGone(first.Code)
	n := rivers.Name{Kind: rivers.Search, Term: "words", Order: rivers.Fresh}
	g.sameAsReload(s, nil, n)
}

// countedFinds tells which searches are brought up.
type countedFinds struct {
	HubRivers
	found chan []rivers.Name
}

func (c countedFinds) BringUp(ctx context.Context, names []rivers.Name) ([]rivers.Name, error) {
	c.found <- names
	return c.HubRivers.BringUp(ctx, names)
}

// What a change takes from an open search goes at once, as from all pages: no beat comes,
// and nothing is found meanwhile.
func TestSearchLosesAtOnce(t *testing.T) {
	s := newLiveSite(t, func(c *HubConfig) {
		c.Beat = make(chan time.Time)
		c.Rivers = busyFinder{c.Rivers}
	})
	ann, bob, cat := s.person("ann"), s.person("bob"), s.person("cat")
	write := func(change func(context.Context) (timelines.Change, error)) { bob.act(change) }
	for _, c := range []struct {
		what string
		do   func(code string)
	}{
		{"an edit", func(code string) { bob.edit(code, "nothing") }},
		{"a deletion", func(code string) { bob.remove(code) }},
		{"a move to eyes-only", func(code string) {
			write(func(ctx context.Context) (timelines.Change, error) {
				return s.store.SetDestinations(ctx, bob.account.ID, code, []string{timelines.ToEyes})
			})
		}},
		{"a level", func(string) {
			write(func(ctx context.Context) (timelines.Change, error) {
				return s.store.SetAccess(ctx, bob.account.ID, "", timelines.Private)
			})
		}},
		{"somebody's exclusion", func(string) {
			write(func(ctx context.Context) (timelines.Change, error) {
				return s.store.ExcludeReader(ctx, bob.account.ID, "", "ann")
			})
		}},
		{"a ban by its author", func(string) { bob.ban("ann") }},
		{"a ban by the reader", func(string) { ann.ban("bob") }},
	} {
		t.Run(c.what, func(t *testing.T) {
			level := timelines.Public
			if c.what == "somebody's exclusion" {
				level = timelines.Protected
			}
			write(func(ctx context.Context) (timelines.Change, error) {
				return s.store.SetAccess(ctx, bob.account.ID, "", level)
			})
			cats, bobs := cat.post("the word of cat"), bob.post("the word of bob")
			g := s.open(ann, "/search?q=word")
			if _, shows := g.shown[bobs.Code]; !shows {
				t.Fatalf("%d entries are shown, and not bob's", len(g.shown))
			}
			c.do(bobs.Code)
			g.untilGone(bobs.Code)
			if _, shows := g.shown[cats.Code]; !shows {
				t.Error("what is still found is gone too")
			}
			// What it goes on showing changes at once as well.
			cat.edit(cats.Code, "the word of cat again")
			g.until("the edit", func(f frame) bool { return strings.Contains(f.HTML+f.Parts["body"], "cat again") })
			_ = g.conn.CloseNow()
			ann.unban("bob")
			bob.unban("ann")
		})
	}
}

// busyFinder never comes to bring searches up.
type busyFinder struct{ HubRivers }

func (busyFinder) BringUp(ctx context.Context, _ []rivers.Name) ([]rivers.Name, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// busySearch lets something happen after each visit.
type busySearch struct {
	HubRivers
	visits atomic.Int64
	then   atomic.Pointer[func()]
}

func (b *busySearch) Visit(ctx context.Context, v timelines.Viewer, n rivers.Name, c rivers.Cursor) (*rivers.Page, error) {
	page, err := b.HubRivers.Visit(ctx, v, n, c)
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
	s := newLiveSite(t, func(c *HubConfig) {
		busy.HubRivers = c.Rivers
		c.Rivers, c.Hear, c.Beat = busy, deaf, make(chan time.Time)
	})
	first := s.person("ann").post("a word")
	changes := func(n int) func() {
		const folds = `
			INSERT INTO folds (post_id, version, decisive, text_folded, likes_folded, comments_folded, attachments_folded)
			SELECT 1000000 + i, 1, '{}', '{}', '{}', '{}', '[]' FROM generate_series(1, $1::int) i
			ON CONFLICT (post_id) DO UPDATE SET version = folds.version + 1, written = excluded.written`
		return func() {
			if _, err := s.db.Secondary.Exec(t.Context(), folds, n); err != nil {
				t.Error(err)
			}
		}
	}
	standing := func() (id string) {
		const query = `SELECT id::text FROM rivers WHERE kind = 'search' AND state = 'live'`
		if err := s.db.Secondary.QueryRow(t.Context(), query).Scan(&id); err != nil {
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
		{"it is built anew", func() { s.replace(timelines.Replace{Everybody: true}) }, false},
	} {
		t.Run(c.what, func(t *testing.T) {
			g := s.open(nil, "/search?q=word")
			_ = g.conn.CloseNow()
			was := g.river
			busy.visits.Store(0)
			busy.then.Store(&c.then)
			g.follow(s, nil)
			visits := busy.visits.Load()
			busy.then.Store(nil)
			if most := int64(maxSwaps + 2); visits > most {
				t.Errorf("answered after %d visits, want %d at most", visits, most)
			}
			if c.stays && g.river != was {
				t.Error("the search was asked for anew")
			}
			if _, shows := g.shown[first.Code]; !shows {
				t.Errorf("%d entries are shown, and not the one there is", len(g.shown))
			}
			// What came last, a reload finds first.
			name := rivers.Name{Kind: rivers.Search, Term: "word", Order: rivers.Fresh}
			if _, err := s.rivers.Visit(t.Context(), timelines.Viewer{}, name, rivers.Cursor{}); err != nil {
				t.Fatal(err)
			}
			for g.river != standing() {
				s.tell(tiers.Message{All: true})
				g.until("what stands", func(f frame) bool { return f.T == "ok" })
			}
			g.sameAsReload(s, nil, name)
			_ = g.conn.CloseNow()
		})
	}
}

// What the bus lost, a comparison finds.
func TestSearchIsHealed(t *testing.T) {
	beat := make(chan time.Time)
	s := newLiveSite(t, func(c *HubConfig) {
		c.Beat, c.CompareEvery = beat, 1
		c.Hear = func(func(tiers.Message)) func() { return func() {} }
	})
	ann := s.person("ann")
	g := s.open(nil, "/search?q=word")
	code := ann.post("a word").Code
	beat <- time.Now()
	g.untilEntry(code)
}

// A search of somebody else's making closes, and no node minds.
func TestSearchSocketOfNothing(t *testing.T) {
	s := newLiveSite(t, func(c *HubConfig) { c.Rivers = broadRivers{c.Rivers} })
	for what, address := range map[string]string{"nothing": "/search", "too much": "/search?q=word"} {
		g := &page{t: t, address: address}
		g.connect(s, nil)
		if c := g.closed(); c.Code != CloseNoPage {
			t.Errorf("a search for %s closes with %v, want %d", what, c, CloseNoPage)
		}
	}
}

// broadRivers find that what is searched for is too broad.
type broadRivers struct{ HubRivers }

func (broadRivers) Visit(context.Context, timelines.Viewer, rivers.Name, rivers.Cursor) (*rivers.Page, error) {
	return nil, timelines.ErrBroad
}
