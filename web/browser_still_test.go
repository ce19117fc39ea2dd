package web_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"riverrun/web/webtest"
)

// where is the top of everything on the screen: of the composer, the title, and each entry
// and each of its parts that are in sight.
const where = `Object.fromEntries([...document.querySelectorAll('#composer, h1, .titled, #river > [data-post], #river > [data-post] > *')]
	.map((e) => [e, e.getBoundingClientRect()])
	.filter(([e, box]) => box.height && box.bottom > 0 && box.top < innerHeight)
	.map(([e, box]) => [(e.id || e.className || e.localName).replace(/ .*/, ''), box.top]))`

// moved fails if anything that was on the screen stands a pixel or more from where it was.
func moved(b *webtest.Tab, by string, before map[string]float64) {
	b.T.Helper()
	after := webtest.Eval[map[string]float64](b, where)
	for what, top := range before {
		if now, there := after[what]; !there || math.Abs(now-top) >= 1 {
			b.T.Errorf("%s: %s moved %s from %v to %v", b.Name, by, what, top, now)
		}
	}
}

// Nothing on the screen moves by itself, wherever the reader is: not by a new post, nor by
// one that goes up, nor by comments under an entry above the screen.
func TestNothingMovesByItself(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.New(t, nil)
	ann, bob, cat, dan := s.Person("ann"), s.Person("bob"), s.Person("cat"), s.Person("dan")
	for _, name := range []string{"ann", "cat", "dan"} {
		bob.Subscribe(name)
	}
	for i := range 30 {
		[]*webtest.Person{ann, cat}[i%2].Post(fmt.Sprintf("post %d\n\nwith a second paragraph\n\nand a third", i))
	}
	s.FollowUp()
	b := s.Tab(browser, "bob")
	b.SignIn("bob")
	for _, width := range []int64{390, 1280} {
		b.Do(chromedp.EmulateViewport(width, 800))
		for _, page := range []string{"/", "/everything"} {
			for _, at := range []int{0, 150, 1000} {
				name := fmt.Sprintf("%s, %d wide, scrolled by %d", page, width, at)
				b.Visit(page)
				b.Live()
				b.Await("the place", fmt.Sprintf(`(scrollTo(0, %d), scrollY === %d)`, at, at))
				before := webtest.Eval[map[string]float64](b, where)
				fresh := dan.Post("new\n\n" + name).Code
				raised := webtest.Eval[string](b, `[...document.querySelectorAll('#river > [data-post]')].findLast((e) => !e.hidden).dataset.post`)
				ann.Comment(raised, "goes up")
				s.FollowUp()
				b.Shows(fresh, "body", name)
				b.Shows(raised, "comments", "goes up")
				b.Await("word of both", `!document.querySelector('#news').hidden && document.querySelector('#news').textContent.includes('2 new')`)
				moved(b, name+": a new post, or one that goes up,", before)
				if at == 1000 {
					first := webtest.Eval[string](b, `[...document.querySelectorAll('#river > [data-post]')].findLast((e) => e.getBoundingClientRect().bottom < 0).dataset.post`)
					ann.Comment(first, "grows above the screen")
					s.FollowUp()
					b.Shows(first, "comments", "grows above the screen")
					moved(b, name+": a comment above the screen", before)
				}
				// Both ways of asking for them.
				if at == 0 {
					b.Do(chromedp.KeyEvent(kb.Home))
				} else {
					b.Do(chromedp.Click(chromedp.CSS(`#news button`)))
				}
				b.Await("all in its place", fmt.Sprintf(`scrollY === 0 && document.querySelector('#news').hidden
					&& [...document.querySelectorAll('#river > [data-post]')].findIndex((e) => e.dataset.post === %q) <= 2
					&& document.querySelector('#p-%s').offsetHeight`, fresh, fresh))
			}
		}
		b.EqualsReload()
	}
}

// One's own text is there at once, on the screen.
func TestOwnPostAppearsAtOnce(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.New(t, nil)
	ann, bob := s.Person("ann"), s.Person("bob")
	bob.Subscribe("ann")
	ann.Post("an older one")
	s.FollowUp()
	b := s.Tab(browser, "bob")
	b.SignIn("bob")
	b.Visit("/")
	b.Live()
	waits := ann.Post("by somebody else").Code
	s.FollowUp()
	b.Await("word of it", `!document.querySelector('#news').hidden`)
	b.Write(`#composer form`, "my own")
	mine := b.CodeOf("my own")
	b.Await("my own post in sight", fmt.Sprintf(`document.querySelector('#p-%s').offsetHeight && document.querySelector('#p-%s').getBoundingClientRect().top > 0`, mine, mine))
	if got := webtest.Eval[float64](b, `scrollY`); got != 0 {
		t.Errorf("the page went to %v by it", got)
	}
	if webtest.Eval[bool](b, fmt.Sprintf(`document.querySelector('#p-%s').offsetHeight > 0`, waits)) {
		t.Error("the other post came in with it")
	}
	b.EqualsReload()
}
