package live_test

import (
	"context"
	"strings"
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
	pages, beat := &tagPages{}, make(chan time.Time)
	s := webtest.New(t, func(c *live.Config) {
		pages.Pages = c.Pages
		c.Pages = pages
		c.Hear, c.Beat, c.CompareEvery = webtest.Deaf, beat, 1
	})
	ann, bob := s.Person("ann"), s.Person("bob")
	post, other := bob.Post("a word"), bob.Post("another")
	s.FollowUp()
	everything := rivers.Name{UserID: ann.Account.ID, Kind: rivers.Everything, Order: rivers.Fresh}
	hers, anybodys := s.Open(ann, "/everything"), s.Open(nil, "/everything")
	same := func() float64 { return s.Figure("riverrun_comparisons_total", "same") }
	// compared returns after the next comparison of each page that finds nothing.
	compared := func() {
		t.Helper()
		want := same() + 2
		webtest.Await(t, "comparisons", func() bool {
			select {
			case beat <- time.Now():
			default:
			}
			return same() >= want
		})
	}
	rest := func() {
		t.Helper()
		compared()
		compared()
		made := pages.made.Load()
		compared()
		compared()
		if got := pages.made.Load(); got != made {
			t.Errorf("at rest the tags of entries were made %d times more", got-made)
		}
	}
	// heals expects that many frames on each page that is told.
	heals := func(what string, do func(), frames int, is func(webtest.Frame) bool, told ...*webtest.Page) {
		t.Helper()
		rest()
		do()
		s.FollowUp()
		go func() {
			for range 3 {
				select {
				case beat <- time.Now():
				case <-t.Context().Done():
				}
			}
		}()
		for _, g := range told {
			for range frames {
				g.Until(what, is)
			}
		}
		hers.SameAsReload(s, ann, everything)
		anybodys.SameAsReload(s, nil, webtest.Everything)
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
	heals("an edit", func() { bob.Edit(post.Code, "edited") }, 1, says("edited"), hers, anybodys)
	heals("a like", func() { bob.Like(other.Code) }, 1, says(">bob<"), hers, anybodys)
	heals("a name", func() { bob.Rename("Robert") }, 2, says(">Robert<"), hers, anybodys)
	heals("a new post", func() { bob.Post("the latest") }, 1, says("the latest"), hers, anybodys)
	heals("a post that went", func() { bob.Remove(other.Code) }, 1, func(f webtest.Frame) bool { return f.T == "gone" && f.Post == other.Code }, hers, anybodys)
	heals("a page that changed by itself", func() {
		lowest := post.Code
		anybodys.Say(map[string]any{"t": "drop", "river": anybodys.River, "entries": map[string]string{lowest: anybodys.Shown[lowest].Version}})
		delete(anybodys.Shown, lowest)
	}, 1, func(f webtest.Frame) bool { return f.Post == post.Code }, anybodys)
	heals("a ban", func() { ann.Ban("bob") }, 2, func(f webtest.Frame) bool { return f.T == "gone" }, hers)
	rest()
}
