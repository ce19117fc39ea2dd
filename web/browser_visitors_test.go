package web_test

import (
	"testing"

	"github.com/chromedp/chromedp"

	"riverrun/web/webtest"
)

// Somebody who is not signed in writes on a phone or a desk (G3), and finds the text again after a reload and after signing
// in: with the script that keeps it while it is typed, and by the buttons alone.
func TestVisitorInABrowser(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.New(t, nil)
	for _, tt := range []struct {
		name          string
		width, height int64
		press         string // leads to the form
		scripts       bool
	}{
		{"desk", 1280, 800, `.places a[href="/posts/new"]`, true},
		{"phone", 390, 700, `.bar .compose`, true},
		{"plain", 390, 700, `.bar .compose`, false},
	} {
		name := "ann-" + tt.name
		ann := s.Person(name)
		b := s.Tab(browser, tt.name)
		if tt.width < 1000 {
			b.Do(chromedp.EmulateViewport(tt.width, tt.height, chromedp.EmulateMobile))
		} else {
			b.Do(chromedp.EmulateViewport(tt.width, tt.height))
		}
		b.Visit("/everything")
		b.Do(chromedp.Click(chromedp.CSS(tt.press)))
		const text = `#compose textarea`
		b.Await("the form", `location.pathname === '/posts/new' && document.querySelector('#compose textarea')?.offsetHeight`)
		if !tt.scripts {
			// The form as it is without scripts: nothing of them hears of what is typed or sent.
			webtest.Eval[bool](b, `(() => {
				for (const kind of ['input', 'submit', 'focusin', 'visibilitychange']) addEventListener(kind, (event) => event.stopImmediatePropagation(), true);
				return true;
			})()`)
		}
		b.Do(chromedp.Click(chromedp.CSS(text)), chromedp.SendKeys(chromedp.CSS(text), "words of a visitor"))
		if tt.scripts {
			b.Await("word that it is kept", `document.querySelector('#compose')`+keptNote)
		} else {
			b.Do(chromedp.Click(chromedp.CSS(`#compose [name=keep]`)))
			b.Await("word that it is kept", `document.querySelector('.saved')`)
		}
		b.Visit("/everything")
		b.Visit("/posts/new")
		b.Await("the text", `document.querySelector('#compose textarea').value === 'words of a visitor'`)
		if wide := webtest.Eval[bool](b, `document.documentElement.scrollWidth > innerWidth`); wide {
			t.Errorf("%s: the form is wider than the screen", tt.name)
		}
		b.Do(chromedp.Click(chromedp.CSS(`#compose .send > button`)))
		b.Await("the sign-in page, which says that the text is kept", `location.pathname === '/login' && document.querySelector('.lead').textContent.includes('Your text is kept')`)
		b.Do(chromedp.SendKeys(chromedp.CSS(`[name=username]`), name), chromedp.SendKeys(chromedp.CSS(`[name=password]`), webtest.Password),
			chromedp.Click(chromedp.CSS(`.card button`)))
		b.Await("the text in the own form", `location.pathname === '/posts/new' && document.querySelector('.audience') && document.querySelector('#compose textarea').value === 'words of a visitor'`)
		b.Do(chromedp.Click(chromedp.CSS(`#compose .send > button`)))
		b.Await("the post is made", `location.pathname === '/'`)
		ann.Visitor().Get("/" + name).Wants(200).Has("words of a visitor")
		ann.Visitor().Get("/drafts").Wants(200).Has("You have no drafts")
	}
}

// A draft that goes while its form is open is kept anew with the words that are typed next (G3): so is one that went to an
// account while a save was under way.
func TestVisitorsDraftGoesInABrowser(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	b := s.Tab(webtest.Chromium(t), "gone")
	b.Visit("/posts/new")
	text := chromedp.CSS(`#compose textarea`)
	b.Do(chromedp.Click(text), chromedp.SendKeys(text, "words"))
	b.Await("word that it is kept", `document.querySelector('#compose')`+keptNote)
	if _, err := s.DB.Primary.Exec(t.Context(), `DELETE FROM visitor_drafts`); err != nil {
		t.Fatal(err)
	}
	before := webtest.Eval[string](b, `document.querySelector('#compose').elements.saved.value`)
	b.Do(chromedp.SendKeys(text, " and more"))
	b.Await("another draft", `(({ saved }) => saved.value && saved.value !== '`+before+`')(document.querySelector('#compose').elements)`)
	var body string
	if err := s.DB.Primary.QueryRow(t.Context(), `SELECT body FROM visitor_drafts`).Scan(&body); err != nil || body != "words and more" {
		t.Errorf("kept is %q, %v", body, err)
	}
}
