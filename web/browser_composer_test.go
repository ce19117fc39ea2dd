package web_test

import (
	"testing"

	"github.com/chromedp/chromedp"

	"riverrun/web/webtest"
)

// TestComposerStaysUnderThePress: the field for a post is where it was while the mouse presses it,
// and what stands above it comes when the press is over.
func TestComposerStaysUnderThePress(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	s.Person("ann")
	b := s.Tab(webtest.Chromium(t), "ann")
	b.SignIn("ann")
	b.Visit("/")
	b.Live()
	const field, chips = `document.querySelector('#composer textarea')`, `document.querySelector('#composer .to').checkVisibility()`
	at := webtest.Eval[[2]float64](b, `(() => { const box = `+field+`.getBoundingClientRect(); return [box.x + 40, box.y + 12]; })()`)
	b.Do(chromedp.MouseEvent(chromedp.MousePressed, at[0], at[1], chromedp.ButtonLeft, chromedp.ClickCount(1)))
	b.Await("the focus", `document.activeElement === `+field)
	if got := webtest.Eval[bool](b, chips); got {
		t.Error("the destinations came during the press")
	}
	b.Do(chromedp.MouseEvent(chromedp.MouseReleased, at[0], at[1], chromedp.ButtonLeft, chromedp.ClickCount(1)))
	b.Await("the destinations", chips)
}

// TestComposerChips: a chip stands for each destination that is chosen, and for the own page
// while none is; a press takes it off.
func TestComposerChips(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	s.Person("ann").Visitor().Post("/groups", "name", "chess-club", "title", "Chess Club", "access", "public").LeadsTo("/chess-club")
	b := s.Tab(webtest.Chromium(t), "ann")
	b.SignIn("ann")
	b.Visit("/")
	b.Live()
	shown := func(names string) {
		t.Helper()
		b.Await(names, `[...document.querySelectorAll('#composer .chip')].filter((chip) => chip.checkVisibility()).map((chip) => chip.querySelector('bdi').textContent).join() === '`+names+`'`)
	}
	add, chess := chromedp.CSS(`#composer .add`), chromedp.CSS(`#composer [value="chess-club"]`)
	b.Do(chromedp.Click(chromedp.CSS(`#composer textarea`)))
	shown("My page")
	b.Do(chromedp.Click(add))
	shown("My page,Private,Only me,Chess Club")
	b.Do(chromedp.Click(chess), chromedp.Click(add))
	shown("Chess Club")
	b.Do(chromedp.Click(chess))
	shown("My page")
}

// TestPostPageLeadsToSigningIn: somebody who is not signed in finds the heart where it is on other
// pages, and below the comments the way to sign in.
func TestPostPageLeadsToSigningIn(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	ann := s.Person("ann")
	code := ann.Post("words").Code
	ann.Comment(code, "more words")
	ann.Like(code)
	b := s.Tab(webtest.Chromium(t), "nobody")
	for _, width := range []int64{320, 1280} {
		b.Do(chromedp.EmulateViewport(width, 700))
		b.Visit("/p/" + code)
		b.Await("the heart and the way", `document.querySelector('.acts .heart').checkVisibility() && document.querySelector('.box a[href^="/login"]').checkVisibility()`)
		over := `(() => {
			const inside = (e) => e.getBoundingClientRect(), way = inside(document.querySelector('.box a'));
			return [...document.querySelectorAll('.text, .count, .liked, .comment')].some((e) => inside(e).bottom > way.top) || way.right > innerWidth || way.height > 80;
		})()`
		if webtest.Eval[bool](b, over) {
			t.Errorf("at %d: the way to sign in lies over the post", width)
		}
	}
}
