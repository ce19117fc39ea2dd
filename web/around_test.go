package web

import (
	"context"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"riverrun/timelines"
)

func (p *person) block(group, name string, blocked bool) {
	p.site.t.Helper()
	p.act(func(ctx context.Context) (timelines.Change, error) {
		if blocked {
			return p.site.store.Block(ctx, p.account.ID, group, name)
		}
		return p.site.store.Unblock(ctx, p.account.ID, group, name)
	})
}

func (p *person) friendsOnly(only bool) {
	p.site.t.Helper()
	p.act(func(ctx context.Context) (timelines.Change, error) {
		return p.site.store.SetFriendsOnly(ctx, p.account.ID, only)
	})
}

func (p *person) editList(slug, title string, members ...string) {
	p.site.t.Helper()
	p.act(func(ctx context.Context) (timelines.Change, error) {
		return p.site.store.EditList(ctx, p.account.ID, slug, title, members)
	})
}

// An open page is told when its reader may write there, or chose another mode, or put
// others into the list: once, and nobody else is.
func TestChoicesFollow(t *testing.T) {
	beat := make(chan time.Time)
	s := newLiveSite(t, func(c *hubConfig) { c.hear, c.beat = deaf, beat })
	ann, bob := s.person("ann"), s.person("bob")
	ann.visitor().post("/groups", "name", "chess-club", "title", "Chess Club", "access", "public").leadsTo("/chess-club")
	bob.visitor().post("/ann/follow").leadsTo("/ann")
	bob.visitor().post("/chess-club/follow").leadsTo("/chess-club")
	bob.visitor().post("/lists", "title", "Few").wants(303)
	club, home, list := s.open(bob, "/chess-club"), s.open(bob, "/"), s.open(bob, "/lists/few")
	told := func(pages ...*page) {
		t.Helper()
		beat <- time.Now()
		for _, g := range pages {
			g.until("tabs", func(f frame) bool { return f.T == "tabs" })
		}
	}
	ann.block("chess-club", "bob", true)
	told(club)
	ann.block("chess-club", "bob", false)
	told(club)
	ann.visitor().post("/settings/writing", "group", "chess-club", "writers", "admins").wants(303)
	told(club)
	bob.friendsOnly(true)
	told(home, list)
	bob.friendsOnly(false)
	told(home, list)
	bob.editList("few", "Few", "ann")
	told(list)
	bob.editList("few", "Many", "ann")
	told(list)
}

// In a browser the form for a post comes and goes with the right to post. One that is
// written in stays, and so does its text when it is refused.
func TestComposerFollowsInBrowser(t *testing.T) {
	t.Parallel()
	browser := chromium(t)
	s := newLiveSite(t, nil)
	ann, bob := s.person("ann"), s.person("bob")
	ann.visitor().post("/groups", "name", "chess-club", "title", "Chess Club", "access", "public").leadsTo("/chess-club")
	ann.visitor().post("/settings/writing", "group", "chess-club", "writers", "members").wants(303)
	ann.post("welcome", "chess-club")
	b := s.tab(browser, "bob")
	b.signIn("bob")
	b.visit("/chess-club")
	b.live()
	eval[bool](b, `window.same = true`)
	const form, said = `document.querySelector('#composer textarea')`, `document.querySelector('.unheard')`
	b.await("no form", `!`+form+` && `+said)
	bob.visitor().post("/chess-club/follow").leadsTo("/chess-club")
	b.await("the form", form+` && !`+said)
	ann.block("chess-club", "bob", true)
	b.await("no form for who is blocked", `!`+form+` && `+said)
	ann.block("chess-club", "bob", false)
	b.await("the form again", form)

	// The form is no other while one may go on writing.
	eval[bool](b, `(window.box = `+form+`, true)`)
	ann.act(func(ctx context.Context) (timelines.Change, error) {
		return s.store.SetGroupProfile(ctx, ann.account.ID, "chess-club", "Chess & Go", "")
	})
	b.await("the group's name", `document.querySelector('header.account').textContent.includes('Chess & Go')`)
	if !eval[bool](b, form+` === window.box`) {
		t.Error("the form was made anew though it may stay")
	}

	b.do(chromedp.SendKeys(chromedp.CSS(`#composer textarea`), "half a thought"))
	ann.block("chess-club", "bob", true)
	b.await("why it will be refused", said)
	b.do(chromedp.Click(chromedp.CSS(`#composer button`)))
	b.await("the refusal", `document.querySelector('#composer [role=alert]')?.textContent.includes('chess-club')`)
	if got := eval[string](b, form+`.value`); got != "half a thought" {
		t.Errorf("the refused text became %q", got)
	}
	// Taken back, there is nothing to keep the form for.
	eval[bool](b, `(`+form+`.focus(), `+form+`.value = '', `+form+`.blur(), true)`)
	b.await("no form", `!`+form+` && document.querySelectorAll('.unheard').length === 1`)
	ann.block("chess-club", "bob", false)
	b.await("the form", form+` && !`+said)
	if !eval[bool](b, `window.same`) {
		t.Error("the page was loaded again")
	}

	// A page that is not its reader's any more has no form that could come back.
	b.do(chromedp.SendKeys(chromedp.CSS(`#composer textarea`), "half a thought"))
	ann.block("chess-club", "bob", true)
	b.await("why it will be refused", said)
	ann.setAccess("chess-club", timelines.Private)
	ann.act(func(ctx context.Context) (timelines.Change, error) {
		return s.store.RemoveMember(ctx, ann.account.ID, "chess-club", "bob")
	})
	b.await("the page to be over", `document.querySelector('main > .note[role=status]')`)
	eval[bool](b, `(`+form+`.focus(), `+form+`.value = '', `+form+`.blur(), setTimeout(() => { window.later = true; }), true)`)
	b.await("what follows", `window.later`)
	if eval[bool](b, `Boolean(`+said+`)`) {
		t.Error("what is said about writing came to a page that is over")
	}
}

// What stands around a page is not taken from that of another person who signs in
// elsewhere in the same browser.
func TestAnotherPersonsHeadInBrowser(t *testing.T) {
	t.Parallel()
	browser := chromium(t)
	s := newLiveSite(t, nil)
	ann, bob := s.person("ann"), s.person("bob")
	ann.visitor().post("/groups", "name", "chess-club", "title", "Chess Club", "access", "public").leadsTo("/chess-club")
	ann.post("welcome", "chess-club")
	b := s.tab(browser, "bob")
	b.signIn("bob")
	b.visit("/chess-club")
	b.live()
	const head = `document.title + document.querySelector('header.account').innerHTML`
	before := eval[string](b, head)
	// What is read is put into the page at once.
	eval[bool](b, `(DOMParser.prototype.parseFromString = ((parse) => function (...given) {
		window.looked = true;
		return parse.apply(this, given);
	})(DOMParser.prototype.parseFromString), true)`)
	eval[bool](b, `(fetch('/login', { method: 'POST', headers: { Accept: 'application/json' },
		body: new URLSearchParams({ username: 'ann', password: '`+password+`' }) }).then((reply) => { window.ann = reply.ok; }), true)`)
	b.await("ann to be signed in", `window.ann`)
	bob.visitor().post("/chess-club/follow").leadsTo("/chess-club")
	b.await("the page to be looked at", `window.looked`)
	if after := eval[string](b, head); after != before {
		t.Errorf("bob's head became\n%s", after)
	}
}

// The home page follows the mode its reader chooses elsewhere, with what is half
// written on it; so does the line below a list's name.
func TestModeFollowsInBrowser(t *testing.T) {
	t.Parallel()
	browser := chromium(t)
	s := newLiveSite(t, nil)
	ann, bob, cat := s.person("ann"), s.person("bob"), s.person("cat")
	bob.visitor().post("/ann/follow").leadsTo("/ann")
	bob.visitor().post("/lists", "title", "Few").wants(303)
	own := ann.post("a post of ann's").Code
	liked := cat.post("what ann likes").Code
	ann.like(liked)
	s.followUp()
	b := s.tab(browser, "bob")
	b.signIn("bob")
	b.visit("/")
	b.live()
	b.await("both posts", `document.querySelector('#p-`+liked+`') && document.querySelector('#p-`+own+`')`)
	b.do(chromedp.SendKeys(chromedp.CSS(`#composer textarea`), "half a thought"))
	eval[bool](b, `window.same = true`)
	const mode = `document.querySelector('.titled nav [aria-current]').textContent`
	bob.friendsOnly(true)
	b.await("posts only", `!document.querySelector('#p-`+liked+`') && document.querySelector('#p-`+own+`') && `+mode+` === 'Posts only'`)
	b.live()
	more := ann.post("another of ann's").Code
	b.shows(more, "body", "another")
	bob.friendsOnly(false)
	b.await("all activity", `document.querySelector('#p-`+liked+`') && `+mode+` === 'All activity'`)
	b.live()
	if got := eval[string](b, `window.same && document.querySelector('#composer textarea').value`); got != "half a thought" {
		t.Errorf("what was half written became %q", got)
	}
	b.equalsReload()

	// A page that was asked for in a mode stays in it.
	b.visit("/?mode=activity")
	b.live()
	bob.friendsOnly(true)
	bob.editList("few", "Few", "ann")
	b.shows(liked, "body", "what ann likes")

	b.visit("/lists/few")
	b.live()
	const head = `document.querySelector('#list').textContent`
	b.await("one member", head+`.includes('1 member')`)
	bob.visitor().post("/cat/follow").leadsTo("/cat")
	bob.editList("few", "Some", "ann", "cat")
	b.await("two members", head+`.includes('2 members') && document.querySelector('h1').textContent === 'Some'`)
	b.shows(liked, "body", "what ann likes")
}
