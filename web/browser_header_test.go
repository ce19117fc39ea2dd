package web

import (
	"context"
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"riverrun/timelines"
)

// In a browser the tab goes, and comes back.
func TestTabsInBrowser(t *testing.T) {
	t.Parallel()
	browser := chromium(t)
	s := newLiveSite(t, nil)
	ann := s.person("ann")
	set := func(level timelines.Level) {
		t.Helper()
		ann.act(func(ctx context.Context) (timelines.Change, error) {
			return s.store.SetSubfeedAccess(ctx, ann.account.ID, "photos", level)
		})
	}
	ann.act(func(ctx context.Context) (timelines.Change, error) {
		return s.store.CreateSubfeed(ctx, ann.account.ID, "photos", "My photos", timelines.Public)
	})
	ann.post("a word")
	b := s.tab(browser, "somebody")
	b.visit("/ann")
	b.live()
	const tabs = `document.querySelectorAll('nav.tabs a[href="/ann/photos"]').length`
	b.await("the tab", tabs+` === 1`)
	set(timelines.Private)
	b.await("no tab", tabs+` === 0`)
	set(timelines.Public)
	b.await("the tab again", tabs+` === 1`)
	// The server says it once: what cannot be fetched then is fetched later.
	eval[bool](b, `(() => {
		const fetches = window.fetch, answers = [() => Promise.reject(new Error('no network')), () => Promise.resolve(new Response('', { status: 503 }))];
		window.fetch = (...args) => (answers.length ? answers.shift()() : fetches(...args));
		window.failing = () => answers.length;
		return true;
	})()`)
	set(timelines.Private)
	b.await("both failures", `window.failing() === 0`)
	b.await("no tab in the end", tabs+` === 0`)
}

// In a browser the badge of an account's level follows, and what is said of who has
// just closed it goes; what is unfolded there stays so.
func TestHeaderInBrowser(t *testing.T) {
	t.Parallel()
	browser := chromium(t)
	s := newLiveSite(t, nil)
	ann := s.person("ann")
	s.person("bob")
	ann.act(func(ctx context.Context) (timelines.Change, error) {
		return s.store.CreateSubfeed(ctx, ann.account.ID, "photos", "My photos", timelines.Public)
	})
	ann.act(func(ctx context.Context) (timelines.Change, error) {
		return s.store.SetProfile(ctx, ann.account.ID, "Ann", "about ann")
	})
	ann.post("a picture", "ann/photos")
	b := s.tab(browser, "bob")
	b.signIn("bob")
	b.visit("/ann")
	b.live()
	b.do(chromedp.Click(chromedp.CSS(`.spare summary`)))
	eval[bool](b, `window.same = true`)
	const header = `document.querySelector('header.account').textContent`
	b.await("the level", header+`.includes('public')`)
	ann.setAccess("", timelines.Protected)
	b.await("the level", header+`.includes('for signed-in people') && !`+header+`.includes('public')`)
	ann.act(func(ctx context.Context) (timelines.Change, error) {
		return s.store.SetProfile(ctx, ann.account.ID, "Ann Other", "about ann")
	})
	b.await("the name", header+`.includes('Ann Other') && document.title === 'Ann Other · riverrun'`)
	if !eval[bool](b, `window.same && document.querySelector('.spare').open`) {
		t.Error("what was unfolded is folded")
	}
	b.visit("/ann/photos")
	b.live()
	b.await("the tabs", `document.querySelectorAll('nav.tabs a').length === 4 && `+header+`.includes('about ann')`)
	ann.setAccess("", timelines.Private)
	b.await("what is closed to go", `document.querySelectorAll('nav.tabs a').length === 1 && !`+header+`.includes('about ann')`)
	b.await("the question", header+`.includes('Ask to subscribe')`)
}

// A post's own page is called as the post begins now: what was edited away stays
// nowhere.
func TestPostTitleFollows(t *testing.T) {
	t.Parallel()
	browser := chromium(t)
	s := newLiveSite(t, nil)
	ann := s.person("ann")
	code := ann.post("a slip of the tongue\nand more").Code
	b := s.tab(browser, "somebody")
	b.visit("/p/" + code)
	b.live()
	called := func(title string) {
		t.Helper()
		b.await("the title", fmt.Sprintf(`document.title === %q && document.querySelector('h1').textContent === %q`, title+" · riverrun", title))
	}
	called("ann: a slip of the tongue")
	ann.edit(code, "better words\nand more")
	called("ann: better words")
	b.saysNone("slip")
	b.equalsReload()
	s.visitor().get("/p/"+code).wants(200).has("<title>ann: better words · riverrun</title>", "ann: better words</h1>")
}
