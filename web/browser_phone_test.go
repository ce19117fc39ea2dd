package web_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

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
	look := func(path string, places int) {
		t.Helper()
		b.Visit(path)
		if got := webtest.Eval[float64](b, `document.querySelector('.site').offsetHeight`); got > 96 {
			t.Errorf("%s: the head is %v pixels high, want two lines of at most 96", path, got)
		}
		if webtest.Eval[bool](b, `document.documentElement.scrollWidth > innerWidth`) {
			t.Errorf("%s: the page is wider than the screen", path)
		}
		const shown = `[...document.querySelectorAll('.places a')].filter((a) => a.offsetWidth)`
		if got := webtest.Eval[int](b, shown+`.length`); got != places {
			t.Errorf("%s: %d places, want %d", path, got, places)
		}
		if got := webtest.Eval[int](b, `new Set(`+shown+`.map((a) => a.offsetTop)).size`); got != 1 {
			t.Errorf("%s: the places stand on %d lines", path, got)
		}
		if !webtest.Eval[bool](b, shown+`.every((a, i, all) => !i || a.getBoundingClientRect().left >= all[i - 1].getBoundingClientRect().right)`) {
			t.Errorf("%s: places lie on each other", path)
		}
		small := `[...document.querySelectorAll('.site :is(a, input, button)')].filter((e) => e.offsetWidth && (e.offsetHeight < 40 || e.offsetWidth < 40)).map((e) => e.outerHTML).join()`
		if got := webtest.Eval[string](b, small); got != "" {
			t.Errorf("%s: too small to touch: %s", path, got)
		}
	}
	look("/everything", 4) // with a way to sign up
	b.SignIn("ann")
	look("/", 11)
	// The page one is on is in sight, though its name stands beyond the edge.
	look("/settings", 11)
	b.Await("the present place in sight", `(() => {
		const box = document.querySelector('.places [aria-current]').getBoundingClientRect();
		return box.left >= 0 && box.right <= innerWidth;
	})()`)
	// Where there is room it is a column, and nothing stands there twice.
	b.Do(chromedp.EmulateViewport(1280, 800))
	if got := webtest.Eval[int](b, `[...document.querySelectorAll('.site a[href="/settings"]')].filter((a) => a.offsetWidth).length`); got != 1 {
		t.Errorf("the settings stand %d times in the column", got)
	}
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
	b.Do(chromedp.Click(chromedp.CSS(`#composer summary`)))
	said := func(is bool) {
		t.Helper()
		b.Await("the hint", fmt.Sprintf(`(getComputedStyle(document.querySelector('#composer .to > .hint')).visibility === 'visible') === %v`, is))
	}
	said(true)
	b.Do(chromedp.Click(chromedp.CSS(`#composer .chip:last-of-type`)))
	said(false)
	b.Do(chromedp.Click(chromedp.CSS(`#composer .chip:last-of-type`)))
	said(true)
	b.Do(chromedp.SendKeys(chromedp.CSS(`#composer .people input`), "bob"))
	said(false)
}
