package web_test

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"riverrun/web/webtest"
)

// TestPicturesOpenOverThePage: a picture opens over the page, the keys and buttons lead to the
// others of its post and no further, Escape leads back, and it goes with its post.
func TestPicturesOpenOverThePage(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	ann := s.Person("ann")
	s.Person("bob")
	ann.Visitor().PostFiles("/posts", []webtest.Upload{
		{Name: "one.jpg", Content: webtest.Photo(600, 400)},
		{Name: "two.jpg", Content: webtest.Photo(400, 600)},
	}, "body", "Two evenings", "key", "k").LeadsTo("/")
	s.MakePictures()
	b := s.Tab(webtest.Chromium(t), "bob")
	b.SignIn("bob")
	b.Visit("/everything")
	b.Live()
	code := b.CodeOf("Two evenings")
	pic := func(nth string) chromedp.Action[chromedp.Void] {
		return chromedp.Click(chromedp.CSS(`#p-` + code + ` > .body .pic:nth-child(` + nth + `)`))
	}
	shows := func(nth string) {
		t.Helper()
		b.Await("picture "+nth, `(() => {
			const link = document.querySelector('#p-`+code+` > .body .pic:nth-child(`+nth+`)'), image = document.querySelector('.viewer[open] img');
			return image?.complete && image.naturalWidth > 0 && image.src === link.href && image.alt === link.lastElementChild.alt;
		})()`)
	}
	closed := func() {
		t.Helper()
		b.Await("the page", `!document.querySelector('.viewer').open && !document.querySelector('.viewer img').src`)
	}
	b.Do(pic("1"))
	shows("1")
	b.Do(chromedp.KeyEvent(kb.ArrowRight))
	shows("2")
	b.Do(chromedp.KeyEvent(kb.ArrowRight)) // there is nothing more that way
	b.Do(chromedp.Click(chromedp.CSS(`.viewer [value="-1"]`)))
	shows("1")
	b.Do(chromedp.KeyEvent(kb.Escape))
	closed()
	if !webtest.Eval[bool](b, `document.activeElement.matches('.pic:nth-child(1)')`) {
		t.Error("the focus did not come back to the picture")
	}
	b.Do(pic("2"))
	shows("2")
	b.Do(chromedp.Click(chromedp.CSS(`.viewer [value="0"]`)))
	closed()

	b.Do(pic("1"))
	shows("1")
	ann.Remove(code)
	closed()
}
