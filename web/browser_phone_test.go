package web_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"riverrun/web/webtest"
)

// On a phone the head of a page is two lines, whatever is in it; all of it can be
// reached without a script, and touched.
func TestHeaderOnAPhone(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.New(t, nil)
	s.Person("ann")
	b := s.Tab(browser, "ann")
	b.Do(chromedp.EmulateViewport(320, 640, chromedp.EmulateMobile))
	const small = `[...document.querySelectorAll('.site > :is(a, button), .bar > *')].filter((e) => e.offsetWidth && (e.offsetHeight < 40 || e.offsetWidth < 40)).map((e) => e.outerHTML).join()`
	look := func(path string, bar int) {
		t.Helper()
		b.Visit(path)
		if got := webtest.Eval[float64](b, `document.querySelector('.site').offsetHeight`); got > 52 {
			t.Errorf("%s: the head is %v pixels high, want one line of at most 52", path, got)
		}
		if webtest.Eval[bool](b, `document.documentElement.scrollWidth > innerWidth`) {
			t.Errorf("%s: the page is wider than the screen", path)
		}
		if got := webtest.Eval[int](b, `document.querySelectorAll('.bar > *').length`); got != bar {
			t.Errorf("%s: %d places in the bar, want %d", path, got, bar)
		}
		if got := webtest.Eval[string](b, small); got != "" {
			t.Errorf("%s: too small to touch: %s", path, got)
		}
	}
	look("/everything", 6)
	b.SignIn("ann")
	look("/", 6)
	look("/settings", 6)
	// All other places come up from the bar, and go again.
	const sheet = `document.querySelector('#menu').offsetHeight`
	b.Await("no sheet", `!`+sheet)
	b.Do(chromedp.Click(chromedp.CSS(`.bar button`)))
	b.Await("the places", sheet+` && document.querySelector('#menu a[href="/everything"]').offsetHeight >= 44`)
	b.Do(chromedp.KeyEvent(kb.Escape))
	b.Await("no sheet", `!`+sheet)
	// So does the form for a post, which closes when it is sent.
	b.Visit("/")
	b.Live()
	const form = `document.querySelector('#composer')`
	b.Await("no form", `!`+form+`.offsetHeight`)
	b.Do(chromedp.Click(chromedp.CSS(`.bar .compose`)))
	b.Await("the form", form+`.offsetHeight && document.activeElement === document.querySelector('#composer textarea')`)
	b.Do(chromedp.SendKeys(chromedp.CSS(`#composer textarea`), "from a phone"), chromedp.Click(chromedp.CSS(`#composer .sheethead .post`)))
	b.CodeOf("from a phone")
	b.Await("no form", `!`+form+`.offsetHeight`)
	// A page without a form leads to one.
	b.Visit("/settings")
	b.Do(chromedp.Click(chromedp.CSS(`.bar .compose`)))
	b.Await("a page with a form", `location.pathname === '/posts/new' && document.querySelector('#composer textarea').offsetHeight`)
	// Where there is room the places are a column.
	b.Do(chromedp.EmulateViewport(1280, 800))
	b.Await("the column", sheet+` > 300 && !document.querySelector('.bar').offsetHeight`)
}

// The unfolded destinations of a post can all be read and chosen, however many and
// however long: on a phone as on a desk.
func TestDestinationsUnfolded(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.New(t, nil)
	ann := s.Person("ann").Visitor()
	for i := range 40 {
		ann.Post("/groups", "name", fmt.Sprintf("group-%02d", i), "access", "public",
			"title", fmt.Sprintf("The %d. society for names that are longer than a phone is wide", i)).LeadsTo(fmt.Sprintf("/group-%02d", i))
	}
	b := s.Tab(browser, "ann")
	b.SignIn("ann")
	for _, width := range []int64{320, 390, 1280} {
		b.Do(chromedp.EmulateViewport(width, 640))
		for _, path := range []string{"/group-00", "/filter/messages"} {
			b.Visit(path)
			if webtest.Eval[bool](b, `document.documentElement.scrollWidth > innerWidth`) {
				t.Errorf("at %d: %s is wider than the screen", width, path)
			}
		}
		b.Visit("/")
		if width < 640 {
			b.Do(chromedp.Click(chromedp.CSS(`.bar .compose`)))
		} else {
			b.Do(chromedp.Focus(chromedp.CSS(`#composer textarea`)))
		}
		b.Do(chromedp.Click(chromedp.CSS(`#composer summary`)))
		b.Await("the destinations", `document.querySelector('#composer .chips').offsetHeight`)
		if webtest.Eval[bool](b, `document.documentElement.scrollWidth > innerWidth`) {
			t.Errorf("at %d: the page is wider than the screen", width)
		}
		cut := `[...document.querySelectorAll('#composer .chip span')].filter((e) => e.scrollWidth > e.offsetWidth || e.scrollHeight > e.offsetHeight).map((e) => e.textContent).join()`
		if got := webtest.Eval[string](b, cut); got != "" {
			t.Errorf("at %d: cut: %s", width, got)
		}
		// Nothing lies on them, and what does not fit is scrolled to.
		hidden := `(() => {
			const chips = document.querySelector('#composer .chips');
			chips.scrollIntoView({ block: 'center' });
			return [...chips.querySelectorAll('.chip')].filter((chip) => {
				chips.scrollTop += chip.getBoundingClientRect().top - chips.getBoundingClientRect().top - 4;
				const box = chip.getBoundingClientRect();
				return !chip.contains(document.elementFromPoint(box.left + box.width / 2, box.bottom - 4));
			}).map((chip) => chip.textContent.trim()).join();
		})()`
		if got := webtest.Eval[string](b, hidden); got != "" {
			t.Errorf("at %d: out of reach: %s", width, got)
		}
		narrow := `document.querySelector('#composer .chips').offsetWidth / document.querySelector('#composer').offsetWidth`
		if got := webtest.Eval[float64](b, narrow); got < 0.7 {
			t.Errorf("at %d: the destinations have %.2f of the width", width, got)
		}
	}
}

// The composer says where a post goes if nothing is chosen, while nothing is chosen.
func TestHintForAnEmptyChoice(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	s.Person("ann")
	b := s.Tab(webtest.Chromium(t), "ann")
	b.SignIn("ann")
	b.Visit("/")
	b.Do(chromedp.Focus(chromedp.CSS(`#composer textarea`)), chromedp.Click(chromedp.CSS(`#composer summary`)))
	said := func(is bool) {
		t.Helper()
		b.Await("the hint", fmt.Sprintf(`document.querySelector('#composer .to .hint').checkVisibility() === %v`, is))
	}
	said(true)
	b.Do(chromedp.Click(chromedp.CSS(`#composer .chip:last-of-type`)))
	said(false)
	b.Do(chromedp.Click(chromedp.CSS(`#composer .chip:last-of-type`)))
	said(true)
	b.Do(chromedp.SendKeys(chromedp.CSS(`#composer .people input`), "bob"))
	said(false)
}

// A text that is half written on a phone stays in sight when the page closes, in the sheet or
// with the sheet put away.
func TestSheetOfAPageThatCloses(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.New(t, nil)
	ann := s.Person("ann")
	ann.Post("words")
	for _, open := range []bool{true, false} {
		b := s.Tab(browser, fmt.Sprintf("ann, open: %v", open))
		b.Do(chromedp.EmulateViewport(390, 700))
		b.SignIn("ann")
		b.Visit("/")
		b.Live()
		b.Do(chromedp.Click(chromedp.CSS(`.bar .compose`)), chromedp.SendKeys(chromedp.CSS(`#composer textarea`), "half a thought"))
		if !open {
			b.Do(chromedp.Click(chromedp.CSS(`#composer .sheethead .tool`)))
			b.Await("no sheet", `!document.querySelector('#composer').offsetHeight`)
		}
		webtest.Eval[bool](b, `(fetch('/logout', { method: 'POST' }), true)`)
		b.Await("the text below word of it", `(() => {
			const note = document.querySelector('#main > .note'), text = document.querySelector('textarea');
			return note && text.offsetWidth > 300 && text.value === 'half a thought' && text.getBoundingClientRect().top >= note.getBoundingClientRect().bottom;
		})()`)
	}
}

// On a phone the field for a comment stands in place of the bar on a post's own page, and the
// head leads back to where its reader came from.
func TestPostOnAPhone(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.New(t, nil)
	ann := s.Person("ann")
	code := ann.Post("a post", "ann").Code
	b := s.Tab(browser, "ann")
	b.Do(chromedp.EmulateViewport(360, 640, chromedp.EmulateMobile))
	b.SignIn("ann")
	b.Visit("/ann")
	b.Await("the head", `document.querySelector('.heading').innerText === '@ann' && document.querySelector('.back').offsetWidth >= 40 && !document.querySelector('.mark').offsetWidth`)
	b.Do(chromedp.Click(chromedp.CSS(`#p-` + code + ` .when`)))
	b.Await("the post", `location.pathname === '/p/`+code+`' && document.querySelector('.heading').innerText === 'Post'`)
	b.Live()
	const field = `document.querySelector('.box textarea')`
	b.Await("the field at the bottom", `!document.querySelector('.bar').offsetHeight && innerHeight - `+field+`.getBoundingClientRect().bottom < 20`)
	b.Await("no button yet", `!document.querySelector('.box .write button').offsetHeight`)
	b.Do(chromedp.SendKeys(chromedp.CSS(`.box textarea`), "so it is"), chromedp.Click(chromedp.CSS(`.box .write .send > button`)))
	b.Shows(code, "comments", "so it is")
	b.Await("an empty field", field+`.value === ''`)
	b.Do(chromedp.Click(chromedp.CSS(`.back`)))
	b.Await("where it was", `location.pathname === '/ann'`)
	// People who may not comment have the bar.
	b.Do(chromedp.EmulateViewport(1280, 800))
	b.Await("no head of a phone", `!document.querySelector('.heading').offsetWidth && document.querySelector('.mark').offsetWidth`)
}
