package live_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"riverrun/rivers"
	"riverrun/timelines/access"
	"riverrun/web/live"
	"riverrun/web/webtest"
)

// tagPages counts how often the tags of entries are made.
type tagPages struct {
	live.Pages
	made atomic.Int64
}

func (p *tagPages) Tags(ctx context.Context, items []rivers.Item, sets *access.Sets) ([]uint64, error) {
	p.made.Add(1)
	return p.Pages.Tags(ctx, items, sets)
}

// While nothing happens a page is compared with its river for little, and whatever a
// comparison depends on has it compared in full again.
func TestComparisonsAtRest(t *testing.T) {
	t.Run("signed in", func(t *testing.T) { testAtRest(t, true) })
	t.Run("anonymous", func(t *testing.T) { testAtRest(t, false) })
}

// testAtRest opens one page only, so that all comparisons counted are of that page.
func testAtRest(t *testing.T, signedIn bool) {
	pages, beat := &tagPages{}, make(chan time.Time)
	s := webtest.New(t, func(c *live.Config) {
		pages.Pages = c.Pages
		c.Pages = pages
		c.Hear, c.Beat, c.CompareEvery = webtest.Deaf, beat, 1
	})
	ann, bob := s.Person("ann"), s.Person("bob")
	post, other := bob.Post("a word"), bob.Post("another")
	s.FollowUp()
	var reader *webtest.Person
	everything := webtest.Everything
	if signedIn {
		reader, everything.UserID = ann, ann.Account.ID
	}
	page := s.Open(reader, "/everything")
	same := func() float64 { return s.Figure("riverrun_comparisons_total", "same") }
	// rest returns after four comparisons in a row that found nothing and made no tags. One that is made
	// in full makes tags before it is counted. The next beat comes when a comparison was counted, or after
	// a second, as one that took too long to read is dropped. Beats that came while something changed may still
	// be compared in full.
	const mostInFull = 8
	rest := func() {
		t.Helper()
		first := pages.made.Load()
		made, from, beaten, at := first, same(), -1.0, time.Now()
		webtest.Await(t, "comparisons that make no tags", func() bool {
			if now := same(); now != beaten || time.Since(at) > time.Second {
				beaten, at = now, time.Now()
				beat <- at
			}
			if now := pages.made.Load(); now != made {
				made, from = now, same()
			}
			return same() >= from+4 && pages.made.Load() == made
		})
		if made-first > mostInFull {
			t.Errorf("tags were made %d times before comparisons came to rest, want at most %d", made-first, mostInFull)
		}
	}
	// heals expects that many frames.
	heals := func(what string, do func(), frames int, is func(webtest.Frame) bool) {
		t.Helper()
		rest()
		do()
		s.FollowUp()
		shown := make(chan struct{})
		var beating sync.WaitGroup
		beating.Go(func() {
			often := time.NewTicker(200 * time.Millisecond)
			defer often.Stop()
			for {
				select {
				case <-shown:
					return
				case beat <- time.Now():
				}
				select {
				case <-shown:
					return
				case <-often.C:
				}
			}
		})
		func() {
			defer beating.Wait()
			defer close(shown)
			for range frames {
				page.Until(what, is)
			}
		}()
		page.SameAsReload(s, reader, everything)
	}
	says := func(text string) func(webtest.Frame) bool {
		return func(f webtest.Frame) bool {
			all := f.HTML
			for _, part := range f.Parts {
				all += part
			}
			return strings.Contains(all, text)
		}
	}
	heals("an edit", func() { bob.Edit(post.Code, "edited") }, 1, says("edited"))
	heals("a like", func() { bob.Like(other.Code) }, 1, says(">bob<"))
	heals("a name", func() { bob.Rename("Robert") }, 2, says(">Robert<"))
	heals("a new post", func() { bob.Post("the latest") }, 1, says("the latest"))
	heals("a post that went", func() { bob.Remove(other.Code) }, 1, func(f webtest.Frame) bool { return f.T == "gone" && f.Post == other.Code })
	heals("a page that changed by itself", func() {
		lowest := post.Code
		page.Say(map[string]any{"t": "drop", "river": page.River, "entries": map[string]string{lowest: page.Shown[lowest].Version}})
		delete(page.Shown, lowest)
	}, 1, func(f webtest.Frame) bool { return f.Post == post.Code })
	if signedIn {
		heals("a ban", func() { ann.Ban("bob") }, 2, func(f webtest.Frame) bool { return f.T == "gone" })
	}
	rest()
}

// latePages answers a comparison so late that what it read may not be sent any more.
type latePages struct {
	live.Rivers
	asked atomic.Int64
	late  atomic.Bool // the next one
}

func (r *latePages) FirstPages(ctx context.Context, watches []rivers.Watch) ([]*rivers.Page, error) {
	pages, err := r.Rivers.FirstPages(ctx, watches)
	if r.late.CompareAndSwap(true, false) {
		for _, p := range pages {
			if p != nil {
				p.Began = p.Began.Add(-time.Hour)
			}
		}
	}
	r.asked.Add(1)
	return pages, err
}

// That somebody has read a post's comments changes no post and no access. If the comparison that is
// to tell their pages of it comes to nothing, the next beat has it made again.
func TestReadingOutlivesALateComparison(t *testing.T) {
	late, beat := &latePages{}, make(chan time.Time)
	s := webtest.New(t, func(c *live.Config) {
		late.Rivers = c.Rivers
		c.Rivers, c.Hear, c.Beat, c.CompareEvery = late, webtest.Deaf, beat, 1<<20
	})
	ann, bob := s.Person("ann"), s.Person("bob")
	post := ann.Post("words of ann")
	bob.Comment(post.Code, "an answer")
	s.FollowUp()
	page := s.Open(ann, "/everything")
	was := page.Shown[post.Code].Version
	beats := func(what string, until func() bool) {
		t.Helper()
		webtest.Await(t, what, func() bool {
			beat <- time.Now()
			return until()
		})
	}
	beats("a first comparison", func() bool { return s.Figure("riverrun_comparisons_total", "same") > 0 })
	late.late.Store(true) // before the reading, which a beat that is still under way may find
	ann.Visitor().Get("/p/" + post.Code).Wants(200)
	beats("a comparison that is late", func() bool { return !late.late.Load() })
	asked := late.asked.Load()
	beats("another comparison", func() bool { return late.asked.Load() > asked })
	page.Until("the entry without the number", func(f webtest.Frame) bool { return f.Post == post.Code && f.Version != was })
}
