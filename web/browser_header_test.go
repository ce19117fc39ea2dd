package web_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"riverrun/timelines"
	"riverrun/web/webtest"
)

// In a browser the tab goes, and comes back.
func TestTabsInBrowser(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.New(t, nil)
	ann := s.Person("ann")
	set := func(level timelines.Level) {
		t.Helper()
		ann.Act(func(ctx context.Context) (timelines.Change, error) {
			return s.Store.Feeds.SetSubfeedAccess(ctx, ann.Account.ID, "photos", level)
		})
	}
	ann.Act(func(ctx context.Context) (timelines.Change, error) {
		return s.Store.Feeds.Create(ctx, ann.Account.ID, "photos", "My photos", timelines.Public)
	})
	ann.Post("a word")
	b := s.Tab(browser, "somebody")
	b.Visit("/ann")
	b.Live()
	const tabs = `document.querySelectorAll('nav.tabs a[href="/ann/photos"]').length`
	b.Await("the tab", tabs+` === 1`)
	set(timelines.Private)
	b.Await("no tab", tabs+` === 0`)
	set(timelines.Public)
	b.Await("the tab again", tabs+` === 1`)
	// The server says it once: what cannot be fetched then is fetched later.
	webtest.Eval[bool](b, `(() => {
		const fetches = window.fetch, answers = [() => Promise.reject(new Error('no network')), () => Promise.resolve(new Response('', { status: 503 }))];
		window.fetch = (...args) => (answers.length ? answers.shift()() : fetches(...args));
		window.failing = () => answers.length;
		return true;
	})()`)
	set(timelines.Private)
	b.Await("both failures", `window.failing() === 0`)
	b.Await("no tab in the end", tabs+` === 0`)
}

// In a browser the badge of an account's level follows, and what is said of who has
// just closed it goes; what is unfolded there stays so.
func TestHeaderInBrowser(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.New(t, nil)
	ann := s.Person("ann")
	s.Person("bob")
	ann.Act(func(ctx context.Context) (timelines.Change, error) {
		return s.Store.Feeds.Create(ctx, ann.Account.ID, "photos", "My photos", timelines.Public)
	})
	ann.Act(func(ctx context.Context) (timelines.Change, error) {
		return s.Store.Accounts.SetProfile(ctx, ann.Account.ID, "Ann", "about ann", "")
	})
	ann.Post("a picture", "ann/photos")
	b := s.Tab(browser, "bob")
	b.SignIn("bob")
	b.Visit("/ann")
	b.Live()
	b.Do(chromedp.Click(chromedp.CSS(`.hideform summary`)))
	webtest.Eval[bool](b, `window.same = true`)
	const header = `document.querySelector('header.account').textContent`
	b.Await("no level", `!`+header+`.includes('for signed-in people')`)
	ann.SetAccess("", timelines.Protected)
	b.Await("the level", header+`.includes('for signed-in people')`)
	ann.Act(func(ctx context.Context) (timelines.Change, error) {
		return s.Store.Accounts.SetProfile(ctx, ann.Account.ID, "Ann Other", "about ann", "")
	})
	b.Await("the name", header+`.includes('Ann Other') && document.title === 'Ann Other · riverrun'`)
	if !webtest.Eval[bool](b, `window.same && document.querySelector('.hideform').open`) {
		t.Error("what was unfolded is folded")
	}
	b.Visit("/ann/photos")
	b.Live()
	b.Await("the tabs", `document.querySelectorAll('nav.tabs a').length === 4 && `+header+`.includes('about ann')`)
	ann.SetAccess("", timelines.Private)
	b.Await("what is closed to go", `document.querySelectorAll('nav.tabs a').length === 1 && !`+header+`.includes('about ann')`)
	b.Await("the question", header+`.includes('Request to follow')`)
}

// A post's own page is called as the post begins now: what was edited away stays
// nowhere.
func TestPostTitleFollows(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.New(t, nil)
	ann := s.Person("ann")
	code := ann.Post("a slip of the tongue\nand more").Code
	b := s.Tab(browser, "somebody")
	b.Visit("/p/" + code)
	b.Live()
	called := func(title string) {
		t.Helper()
		b.Await("the title", fmt.Sprintf(`document.title === %q && document.querySelector('h1').textContent === %q`, title+" · riverrun", title))
	}
	called("ann: a slip of the tongue")
	ann.Edit(code, "better words\nand more")
	called("ann: better words")
	b.SaysNone("slip")
	b.EqualsReload()
	s.Visitor().Get("/p/"+code).Wants(200).Has("<title>ann: better words · riverrun</title>", "ann: better words</h1>")
}
