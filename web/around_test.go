package web_test

import (
	"context"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"riverrun/timelines"
	"riverrun/web/live"
	"riverrun/web/webtest"
)

func block(p *webtest.Person, group, name string, blocked bool) {
	p.Site.T.Helper()
	p.Act(func(ctx context.Context) (timelines.Change, error) {
		if blocked {
			return p.Site.Store.Groups.Block(ctx, p.Account.ID, group, name)
		}
		return p.Site.Store.Groups.Unblock(ctx, p.Account.ID, group, name)
	})
}

func friendsOnly(p *webtest.Person, only bool) {
	p.Site.T.Helper()
	p.Act(func(ctx context.Context) (timelines.Change, error) {
		return p.Site.Store.Accounts.SetFriendsOnly(ctx, p.Account.ID, only)
	})
}

// An open page is told when its reader may write there, or chose another mode, or put
// others into the list: once, and nobody else is.
func TestChoicesFollow(t *testing.T) {
	beat := make(chan time.Time)
	s := webtest.New(t, func(c *live.Config) { c.Hear, c.Beat = webtest.Deaf, beat })
	ann, bob := s.Person("ann"), s.Person("bob")
	ann.Visitor().Post("/groups", "name", "chess-club", "title", "Chess Club", "access", "public").LeadsTo("/chess-club")
	bob.Visitor().Post("/ann/follow").LeadsTo("/ann")
	bob.Visitor().Post("/chess-club/follow").LeadsTo("/chess-club")
	bob.Visitor().Post("/lists", "title", "Few").Wants(303)
	club, home, list := s.Open(bob, "/chess-club"), s.Open(bob, "/"), s.Open(bob, "/lists/few")
	told := func(pages ...*webtest.Page) {
		t.Helper()
		beat <- time.Now()
		for _, g := range pages {
			g.Until("tabs", func(f webtest.Frame) bool { return f.T == "tabs" })
		}
	}
	block(ann, "chess-club", "bob", true)
	told(club)
	block(ann, "chess-club", "bob", false)
	told(club)
	ann.Visitor().Post("/settings/writing", "group", "chess-club", "writers", "admins").Wants(303)
	told(club)
	friendsOnly(bob, true)
	told(home, list)
	friendsOnly(bob, false)
	told(home, list)
	bob.EditList("few", "Few", "ann")
	told(list)
	bob.EditList("few", "Many", "ann")
	told(list)
}

// In a browser the form for a post comes and goes with the right to post. One that is
// written in stays, and so does its text when it is refused.
func TestComposerFollowsInBrowser(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.New(t, nil)
	ann, bob := s.Person("ann"), s.Person("bob")
	ann.Visitor().Post("/groups", "name", "chess-club", "title", "Chess Club", "access", "public").LeadsTo("/chess-club")
	ann.Visitor().Post("/settings/writing", "group", "chess-club", "writers", "members").Wants(303)
	ann.Post("welcome", "chess-club")
	b := s.Tab(browser, "bob")
	b.SignIn("bob")
	b.Visit("/chess-club")
	b.Live()
	webtest.Eval[bool](b, `window.same = true`)
	const form, said = `document.querySelector('#composer textarea')`, `document.querySelector('.unheard')`
	b.Await("no form", `!`+form+` && `+said)
	bob.Visitor().Post("/chess-club/follow").LeadsTo("/chess-club")
	b.Await("the form", form+` && !`+said)
	block(ann, "chess-club", "bob", true)
	b.Await("no form for who is blocked", `!`+form+` && `+said)
	block(ann, "chess-club", "bob", false)
	b.Await("the form again", form)

	// The form is no other while one may go on writing.
	webtest.Eval[bool](b, `(window.box = `+form+`, true)`)
	ann.Act(func(ctx context.Context) (timelines.Change, error) {
		return s.Store.Groups.SetProfile(ctx, ann.Account.ID, "chess-club", "Chess & Go", "")
	})
	b.Await("the group's name", `document.querySelector('header.account').textContent.includes('Chess & Go')`)
	if !webtest.Eval[bool](b, form+` === window.box`) {
		t.Error("the form was made anew though it may stay")
	}

	b.Do(chromedp.SendKeys(chromedp.CSS(`#composer textarea`), "half a thought"))
	block(ann, "chess-club", "bob", true)
	b.Await("why it will be refused", said)
	b.Do(chromedp.Click(chromedp.CSS(`#composer button`)))
	b.Await("the refusal", `document.querySelector('#composer [role=alert]')?.textContent.includes('chess-club')`)
	if got := webtest.Eval[string](b, form+`.value`); got != "half a thought" {
		t.Errorf("the refused text became %q", got)
	}
	// Taken back, there is nothing to keep the form for.
	webtest.Eval[bool](b, `(`+form+`.focus(), `+form+`.value = '', `+form+`.blur(), true)`)
	b.Await("no form", `!`+form+` && document.querySelectorAll('.unheard').length === 1`)
	block(ann, "chess-club", "bob", false)
	b.Await("the form", form+` && !`+said)
	if !webtest.Eval[bool](b, `window.same`) {
		t.Error("the page was loaded again")
	}

	// A page that is not its reader's any more has no form that could come back.
	b.Do(chromedp.SendKeys(chromedp.CSS(`#composer textarea`), "half a thought"))
	block(ann, "chess-club", "bob", true)
	b.Await("why it will be refused", said)
	ann.SetAccess("chess-club", timelines.Private)
	ann.Act(func(ctx context.Context) (timelines.Change, error) {
		return s.Store.Groups.RemoveMember(ctx, ann.Account.ID, "chess-club", "bob")
	})
	b.Await("the page to be over", `document.querySelector('main > .note[role=status]')`)
	webtest.Eval[bool](b, `(`+form+`.focus(), `+form+`.value = '', `+form+`.blur(), setTimeout(() => { window.later = true; }), true)`)
	b.Await("what follows", `window.later`)
	if webtest.Eval[bool](b, `Boolean(`+said+`)`) {
		t.Error("what is said about writing came to a page that is over")
	}
}

// The parts of a page around its entries are not taken from the page of another person who
// signs in elsewhere in the same browser.
func TestHeaderOfAnotherPersonInBrowser(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.New(t, nil)
	ann, bob := s.Person("ann"), s.Person("bob")
	ann.Visitor().Post("/groups", "name", "chess-club", "title", "Chess Club", "access", "public").LeadsTo("/chess-club")
	ann.Post("welcome", "chess-club")
	b := s.Tab(browser, "bob")
	b.SignIn("bob")
	b.Visit("/chess-club")
	b.Live()
	const head = `document.title + document.querySelector('header.account').innerHTML`
	before := webtest.Eval[string](b, head)
	// The answer is put into the page at once.
	webtest.Eval[bool](b, `(DOMParser.prototype.parseFromString = ((parse) => function (...given) {
		window.looked = true;
		return parse.apply(this, given);
	})(DOMParser.prototype.parseFromString), true)`)
	webtest.Eval[bool](b, `(fetch('/login', { method: 'POST', headers: { Accept: 'application/json' },
		body: new URLSearchParams({ username: 'ann', password: '`+webtest.Password+`' }) }).then((reply) => { window.ann = reply.ok; }), true)`)
	b.Await("ann to be signed in", `window.ann`)
	bob.Visitor().Post("/chess-club/follow").LeadsTo("/chess-club")
	b.Await("the page to be looked at", `window.looked`)
	if after := webtest.Eval[string](b, head); after != before {
		t.Errorf("bob's head became\n%s", after)
	}
}

// The home page follows the mode its reader chooses elsewhere, with what is half
// written on it; so does the line below a list's name.
func TestModeFollowsInBrowser(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.New(t, nil)
	ann, bob, cat := s.Person("ann"), s.Person("bob"), s.Person("cat")
	bob.Visitor().Post("/ann/follow").LeadsTo("/ann")
	bob.Visitor().Post("/lists", "title", "Few").Wants(303)
	own := ann.Post("a post of ann's").Code
	liked := cat.Post("what ann likes").Code
	ann.Like(liked)
	s.FollowUp()
	b := s.Tab(browser, "bob")
	b.SignIn("bob")
	b.Visit("/")
	b.Live()
	b.Await("both posts", `document.querySelector('#p-`+liked+`') && document.querySelector('#p-`+own+`')`)
	b.Do(chromedp.SendKeys(chromedp.CSS(`#composer textarea`), "half a thought"))
	webtest.Eval[bool](b, `window.same = true`)
	const mode = `document.querySelector('.titled .menu [aria-current]').textContent`
	friendsOnly(bob, true)
	b.Await("posts only", `!document.querySelector('#p-`+liked+`') && document.querySelector('#p-`+own+`') && `+mode+` === 'Posts only'`)
	b.Live()
	more := ann.Post("another of ann's").Code
	b.Shows(more, "body", "another")
	friendsOnly(bob, false)
	b.Await("all activity", `document.querySelector('#p-`+liked+`') && `+mode+` === 'All activity'`)
	b.Live()
	if got := webtest.Eval[string](b, `window.same && document.querySelector('#composer textarea').value`); got != "half a thought" {
		t.Errorf("what was half written became %q", got)
	}
	b.EqualsReload()

	// A page that was asked for in a mode stays in it.
	b.Visit("/?mode=activity")
	b.Live()
	friendsOnly(bob, true)
	bob.EditList("few", "Few", "ann")
	b.Shows(liked, "body", "what ann likes")

	b.Visit("/lists/few")
	b.Live()
	const head = `document.querySelector('#list').textContent`
	b.Await("one member", head+`.includes('1 member')`)
	bob.Visitor().Post("/cat/follow").LeadsTo("/cat")
	bob.EditList("few", "Some", "ann", "cat")
	b.Await("two members", head+`.includes('2 members') && document.querySelector('h1').textContent === 'Some'`)
	b.Shows(liked, "body", "what ann likes")
}
