package web_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"riverrun/web/webtest"
)

// A page that is left open at the top, while very many new posts come, keeps a bounded
// number of them, counts them all, and follows what is on the screen; also after it
// connected anew. When its reader comes back, they are shown.
func TestIdlePageStaysAlive(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.New(t, nil)
	ann, bob := s.Person("ann"), s.Person("bob")
	bob.Subscribe("ann")
	var first string
	for i := range 30 {
		first = ann.Post(fmt.Sprintf("post %d", i)).Code
	}
	s.FollowUp()
	b := s.Tab(browser, "bob")
	b.SignIn("bob")
	b.Visit("/everything")
	b.Live()
	for i := range 130 {
		ann.Post(fmt.Sprintf("new %d", i))
	}
	s.FollowUp()
	b.Await("word of all", `document.querySelector('#news').textContent.includes('130 new')`)
	if n := webtest.Eval[int](b, `document.querySelectorAll('#river > [hidden]').length`); n > 100 {
		t.Errorf("%d entries wait in the page, want 100 at most", n)
	}
	s.CutAll()
	b.Await("the page to connect anew", `document.documentElement.dataset.live === '0'`)
	b.Live()
	ann.Remove(first)
	s.FollowUp()
	b.Await("what was deleted to go", `!document.querySelector('#p-`+first+`')`)
	b.Await("a click to show what is new", `(document.querySelector('#news button').click(), document.querySelector('#news').hidden)`)
	b.EqualsReload()
}

// An entry that is raised while it is on the screen waits at its old place: the way to
// older entries still begins below the page, and nothing takes the entry away.
func TestRaisedEntryWaits(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.New(t, nil)
	ann, bob := s.Person("ann"), s.Person("bob")
	bob.Subscribe("ann")
	for i := range 40 {
		ann.Post(fmt.Sprintf("post %d\n\nmore of it", i))
	}
	s.FollowUp()
	b := s.Tab(browser, "bob")
	b.SignIn("bob")
	b.Visit("/")
	b.Live()
	all := `[...document.querySelectorAll('#river > [data-post]')]`
	last := webtest.Eval[string](b, all+`.at(-1).dataset.post`)
	b.Await("the end of the page", `(scrollTo(0, document.body.scrollHeight), scrollY > 0)`)
	ann.Comment(last, "up it goes")
	s.FollowUp()
	b.Shows(last, "comments", "up it goes")
	lowest := webtest.Eval[string](b, all+`.filter((e) => e.dataset.post !== '`+last+`').at(-1).dataset.post`)
	b.Await("the way to older entries to begin below the page", `document.querySelector('.paging .older').href.endsWith('`+lowest+`')`)
	b.Await("the top", `(scrollTo(0, 0), scrollY === 0)`)
	b.Write(`#composer form`, "my own")
	b.CodeOf("my own") // the page is trimmed
	if !webtest.Eval[bool](b, `!!document.querySelector('#p-`+last+`')`) {
		t.Error("the raised entry is gone")
	}
	b.Do(chromedp.Click(chromedp.CSS(`#news button`)))
	b.Await("the raised entry above the others", all+`[1].dataset.post === '`+last+`'`)
}
