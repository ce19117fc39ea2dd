package web_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"riverrun/web/view"
	"riverrun/web/webtest"
)

// TestFormsOnPagesOfTheirOwn: a form that leads to another page keeps its text when the server
// is away, and says that its draft is kept, in words.
func TestFormsOnPagesOfTheirOwn(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.New(t, nil)
	ann := s.Person("ann")
	code := ann.Post("as it was").Code
	b := s.Tab(browser, "ann")
	b.SignIn("ann")
	const text = `main form textarea`
	send := func() {
		t.Helper()
		b.Do(chromedp.Focus(chromedp.CSS(text)), chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	}

	b.Visit("/posts/new")
	b.Do(chromedp.SendKeys(chromedp.CSS(text), "a new one"))
	b.Await("the line below", `document.querySelector('.kept')?.textContent.includes('Draft kept') && document.querySelector('.kept button').textContent === 'Discard'`)
	back := away(s)
	send()
	b.Await("word of it", `document.querySelector('main form .wrong')?.textContent.includes('couldn’t send')`)
	back()
	send()
	b.Await("the post", `document.querySelector('#river')?.textContent.includes('a new one')`)

	b.Visit("/p/" + code + "/edit")
	b.Do(chromedp.SendKeys(chromedp.CSS(text), " and is"))
	back = away(s)
	send()
	b.Await("word of it", `document.querySelector('main form .wrong')?.textContent.includes('couldn’t send')`)
	back()
	send()
	b.Await("the changed post", `document.querySelector('#river')?.textContent.includes('and is')`)

	// The draft is there from the start when the page is opened again.
	b.Visit("/")
	b.Live()
	b.Do(chromedp.SendKeys(chromedp.CSS(`#composer textarea`), "half a thought"))
	b.Await("the draft kept", `document.querySelector('#composer .kept')`)
	b.Visit("/p/" + code)
	b.Visit("/")
	b.Await("the draft", `document.querySelector('#composer textarea').value === 'half a thought' && document.querySelector('#composer .kept')`)

	// Somebody who signed out in another tab gets a link to sign in, if no socket closes the page
	// first.
	b.Do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		const silent = `window.WebSocket = class { close() {} }`
		_, err := cdp.Call(ctx, t, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: silent})
		return err
	}))
	b.Visit("/")
	b.Await("the draft", `document.querySelector('#composer textarea').value === 'half a thought'`)
	webtest.Eval[bool](b, `(fetch('/logout', { method: 'POST' }).then(() => document.querySelector('#composer form').requestSubmit()), true)`)
	b.Await("a way to sign in", `document.querySelector('#composer .wrong a')?.getAttribute('href') === '/login?back=%2F'`)
}

// TestMuteUndone: a post that is muted among the notifications leaves a line that brings it back,
// and a link to the settings of notifications opens them.
func TestMuteUndone(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.New(t, nil)
	bob, ann := s.Person("bob"), s.Person("ann")
	code := bob.Post("Hello there").Code
	ann.Comment(code, "hello")
	s.FollowUp()
	b := s.Tab(browser, "bob")
	b.SignIn("bob")
	b.Visit(view.NotificationsPath)
	b.Live()
	webtest.Eval[bool](b, fmt.Sprintf(`(document.querySelector('#p-%s > .acts [formaction$="/mute"]').click(), true)`, code))
	undo := fmt.Sprintf(`[data-undo="%s"] button`, code)
	b.Await("the line", `document.querySelector('.hint [data-undo]')?.parentElement.textContent.includes('no more notifications about this post')`)
	b.Do(chromedp.Click(chromedp.CSS(undo)))
	b.Shows(code, "why", "commented on your post")
	b.Do(chromedp.KeyEvent("j"), chromedp.KeyEvent("o"))
	b.Await("the post's own page", fmt.Sprintf(`location.pathname === '/p/%s'`, code))

	b.Visit(view.NotificationsPath)
	b.Do(chromedp.Click(chromedp.CSS(`a[href="/settings#notices"]`)))
	b.Await("the section", `document.querySelector('#notices')?.open && document.querySelector('#notices').getBoundingClientRect().top < innerHeight / 2`)
}
