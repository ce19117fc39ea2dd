package web_test

import (
	"testing"

	"github.com/chromedp/chromedp"

	"riverrun/web/webtest"
)

// TestSourceLoadsInABrowser: a link is added, and its page shows by itself how it is fetched and loaded.
func TestSourceLoadsInABrowser(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	f := newFlow(t)
	f.rss("A walk along the river", "Fog")
	f.Person("ann")
	tab := f.Tab(browser, "ann")
	tab.SignIn("ann")
	tab.Visit("/settings/sources")
	tab.Do(
		chromedp.SendKeys(chromedp.CSS(`#link-url`), f.link),
		chromedp.Click(chromedp.CSS(`form.newsource .send button`)),
	)
	tab.Await("being fetched", `document.querySelector('#source-now[data-again]')?.textContent.includes('Fetching')`)
	// The page is not loaded again: what is open on it stays so.
	webtest.Eval[bool](tab, `(document.querySelector('#rules').open = true, window.same = true)`)
	f.work()
	tab.Await("the end of the load", `window.same && document.querySelector('#source-now:not([data-again])')?.textContent.includes('2 new')`)
	tab.Await("the history and the buttons", `document.querySelector('#source-loads')?.textContent.includes('done') && document.querySelector('#source-acts form[action$="/fetch"]')`)
	if !webtest.Eval[bool](tab, `document.querySelector('#rules').open`) {
		t.Error("the section that was open is closed")
	}
	tab.Visit("/ann")
	tab.CodeOf("A walk along the river")
}
