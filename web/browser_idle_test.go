package web

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
)

// A page that is left open at the top, while very many new posts come, keeps a bounded
// number of them, counts them all, and follows what is on the screen; also after it
// connected anew. When its reader comes back, they are shown.
func TestIdlePageStaysAlive(t *testing.T) {
	t.Parallel()
	browser := chromium(t)
	s := newLiveSite(t, nil)
	ann, bob := s.person("ann"), s.person("bob")
	bob.subscribe("ann")
	var first string
	for i := range 30 {
		first = ann.post(fmt.Sprintf("post %d", i)).Code
	}
	s.followUp()
	b := s.tab(browser, "bob")
	b.signIn("bob")
	b.visit("/everything")
	b.live()
	for i := range 130 {
		ann.post(fmt.Sprintf("new %d", i))
	}
	s.followUp()
	b.await("word of all", `document.querySelector('#news').textContent.includes('130 new')`)
	if n := eval[int](b, `document.querySelectorAll('#river > [hidden]').length`); n > 100 {
		t.Errorf("%d entries wait in the page, want 100 at most", n)
	}
	s.cutAll()
	b.await("the page to connect anew", `document.documentElement.dataset.live === '0'`)
	b.live()
	ann.remove(first)
	s.followUp()
	b.await("what was deleted to go", `!document.querySelector('#p-`+first+`')`)
	b.await("a click to show what is new", `(document.querySelector('#news button').click(), document.querySelector('#news').hidden)`)
	b.equalsReload()
}

// An entry that is raised while it is on the screen waits at its old place: the way to
// older entries still begins below the page, and nothing takes the entry away.
func TestRaisedEntryWaits(t *testing.T) {
	t.Parallel()
	browser := chromium(t)
	s := newLiveSite(t, nil)
	ann, bob := s.person("ann"), s.person("bob")
	bob.subscribe("ann")
	for i := range 40 {
		ann.post(fmt.Sprintf("post %d\n\nmore of it", i))
	}
	s.followUp()
	b := s.tab(browser, "bob")
	b.signIn("bob")
	b.visit("/")
	b.live()
	all := `[...document.querySelectorAll('#river > [data-post]')]`
	last := eval[string](b, all+`.at(-1).dataset.post`)
	b.await("the end of the page", `(scrollTo(0, document.body.scrollHeight), scrollY > 0)`)
	ann.comment(last, "up it goes")
	s.followUp()
	b.shows(last, "comments", "up it goes")
	lowest := eval[string](b, all+`.filter((e) => e.dataset.post !== '`+last+`').at(-1).dataset.post`)
	b.await("the way to older entries to begin below the page", `document.querySelector('.paging .older').href.endsWith('`+lowest+`')`)
	b.await("the top", `(scrollTo(0, 0), scrollY === 0)`)
	b.write(`#composer form`, "my own")
	b.codeOf("my own") // the page is trimmed
	if !eval[bool](b, `!!document.querySelector('#p-`+last+`')`) {
		t.Error("the raised entry is gone")
	}
	b.do(chromedp.Click(chromedp.CSS(`#news button`)))
	b.await("the raised entry above the others", all+`[1].dataset.post === '`+last+`'`)
}
