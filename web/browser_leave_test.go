package web

import (
	"context"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"riverrun/timelines"
)

// signedOut ends the session of the tab somewhere else.
func (b *tab) signedOut(p *person) {
	b.t.Helper()
	cookies, err := chromedp.Run(b.ctx, func(ctx context.Context, t *chromedp.Target) (*network.GetCookiesResult, error) {
		r, err := cdp.Call(ctx, t, network.GetCookies, network.GetCookiesParams{})
		return &r, err
	})
	if err != nil || len(cookies.Cookies) != 1 {
		b.t.Fatalf("cookies: %+v, %v", cookies, err)
	}
	v, err := b.site.rivers.Access().Session(b.t.Context(), sessionOf(b.t, cookies.Cookies[0].Value))
	if err != nil {
		b.t.Fatal(err)
	}
	p.act(func(ctx context.Context) (timelines.Change, error) { return p.site.store.SignOut(ctx, v) })
}

// begin opens the comment box of an entry, or finds it open, and writes half a
// comment into it.
func (b *tab) begin(code, text string) {
	b.t.Helper()
	b.await("the box", `document.querySelector('#p-`+code+`-box form')`)
	if eval[bool](b, `Boolean(document.querySelector('#p-`+code+`-box details:not([open])'))`) {
		b.do(chromedp.Click(chromedp.CSS(`#p-` + code + `-box summary`)))
	}
	b.do(chromedp.SendKeys(chromedp.CSS(`#p-`+code+`-box textarea`), text))
}

// says fails for each of the texts that is anywhere in the tab's document, be it
// shown or not.
func (b *tab) saysNone(texts ...string) {
	b.t.Helper()
	all := eval[string](b, `document.documentElement.outerHTML`)
	for _, text := range texts {
		if strings.Contains(all, text) {
			b.t.Errorf("%s: the page still says %q:\n%s", b.name, text, all)
		}
	}
}

// Of a page that closed to its reader nothing is left but what the reader was
// writing.
func TestLeavingKeepsOnlyWhatIsWritten(t *testing.T) {
	t.Parallel()
	browser := chromium(t)
	s := newLiveSite(t, nil)
	// What only who may read the page knows.
	secrets := []string{"Secret title", "Secret about", "secret first line", "secret second line", "secret word", "Secret tab", "zoe"}
	begin := func(name string) (bob, vic *person, b *tab) {
		t.Helper()
		bob, vic = s.person("bob"+name), s.person("vic"+name)
		b = s.tab(browser, vic.account.Name)
		b.signIn(vic.account.Name)
		return bob, vic, b
	}
	zoe := s.person("zoe")
	fill := func(bob *person, to ...string) string {
		t.Helper()
		bob.act(func(ctx context.Context) (timelines.Change, error) {
			return s.store.SetProfile(ctx, bob.account.ID, "Secret title", "Secret about")
		})
		code := bob.post("secret first line\nsecret second line", to...).Code
		bob.comment(code, "secret word")
		return code
	}
	closes := func(b *tab, half string) {
		t.Helper()
		b.await("word that the page is closed", `document.querySelector('#main > .note[role=status] a')`)
		b.saysNone(secrets...)
		if got := eval[string](b, `[...document.querySelectorAll('textarea')].map((t) => t.value).join('|')`); got != half {
			t.Errorf("%s: what is kept is %q, want %q", b.name, got, half)
		}
		if got := eval[string](b, `document.title`); got != "riverrun" {
			t.Errorf("%s: the page is still called %q", b.name, got)
		}
	}
	focused := func(b *tab) {
		t.Helper()
		if got := eval[string](b, `document.activeElement.tagName`); got != "TEXTAREA" {
			t.Errorf("%s: the focus went to %s", b.name, got)
		}
	}

	t.Run("account", func(t *testing.T) {
		bob, _, b := begin("1")
		code := fill(bob)
		other := bob.post("secret first line of another").Code
		zoe.comment(code, "secret word")
		zoe.like(code)
		bob.act(func(ctx context.Context) (timelines.Change, error) {
			return s.store.CreateSubfeed(ctx, bob.account.ID, "photos", "Secret tab", timelines.Protected)
		})
		b.visit("/bob1")
		b.live()
		b.begin(code, "half a thought")
		eval[bool](b, `window.same = true`)
		bob.setAccess("", timelines.Private)
		closes(b, "half a thought")
		focused(b)
		if !eval[bool](b, `window.same === true`) {
			t.Error("the page was loaded again")
		}
		if eval[bool](b, `Boolean(document.querySelector('#p-`+other+`'))`) {
			t.Error("an entry nobody wrote on is still there")
		}
		b.saysNone("@bob1")
		// What is kept can still be sent, and is refused in place.
		b.do(chromedp.Click(chromedp.CSS(`#p-` + code + `-box form button`)))
		b.await("the refusal", `document.querySelector('#river .wrong')`)
		closes(b, "half a thought")
	})
	t.Run("post", func(t *testing.T) {
		bob, _, b := begin("2")
		code := fill(bob)
		zoe.comment(code, "secret word")
		b.visit("/p/" + code)
		b.live()
		b.begin(code, "half a thought")
		bob.setAccess("", timelines.Private)
		s.followUp()
		closes(b, "half a thought")
		focused(b)
	})
	t.Run("sub-feed", func(t *testing.T) {
		bob, vic, b := begin("3")
		bob.act(func(ctx context.Context) (timelines.Change, error) {
			return s.store.CreateSubfeed(ctx, bob.account.ID, "photos", "Secret title", timelines.Private)
		})
		bob.act(func(ctx context.Context) (timelines.Change, error) {
			return s.store.AdmitReader(ctx, bob.account.ID, "photos", vic.account.Name)
		})
		code := fill(bob, "bob3/photos")
		b.visit("/bob3/photos")
		b.live()
		b.begin(code, "half a thought")
		bob.act(func(ctx context.Context) (timelines.Change, error) {
			return s.store.RemoveReader(ctx, bob.account.ID, "photos", vic.account.Name)
		})
		b.await("word that the page is closed", `document.querySelector('#main > .note[role=status] a')`)
		b.saysNone("Secret title", "secret")
	})
	t.Run("signed out", func(t *testing.T) {
		bob, vic, b := begin("4")
		code := fill(bob, "vic4")
		vic.subscribe("bob4")
		b.visit("/filter/messages")
		b.live()
		b.begin(code, "half a comment")
		b.do(chromedp.SendKeys(chromedp.CSS(`#composer textarea`), "half a post"))
		b.signedOut(vic)
		closes(b, "half a post|half a comment")
		b.saysNone("bob4", "/vic4")
	})
}

// The half-typed comment beneath an entry that leaves the page stays, without the
// entry; and is beneath it again when it comes back.
func TestEntryLeavesWhileWrittenOn(t *testing.T) {
	t.Parallel()
	browser := chromium(t)
	s := newLiveSite(t, nil)
	ann, bob, vic := s.person("ann"), s.person("bob"), s.person("vic")
	vic.subscribe("bob")
	code := bob.post("first words").Code
	low := bob.post("lower words").Code
	ann.like(code)
	bob.comment(code, "a word beneath")
	unlike := func() {
		t.Helper()
		ann.act(func(ctx context.Context) (timelines.Change, error) { return s.store.Unlike(ctx, ann.account.ID, code) })
	}
	b := s.tab(browser, "vic")
	b.signIn("vic")
	b.visit("/ann/likes")
	b.live()
	b.begin(code, "half a thought")
	left := func(code string, lacks ...string) {
		t.Helper()
		box := `#p-` + code + `-box`
		b.await("the entry to leave", `!document.querySelector('#p-`+code+`') && document.querySelector('#river > :not([data-post])')`)
		b.saysNone(lacks...)
		if got := eval[string](b, `document.activeElement === document.querySelector('`+box+` textarea') && document.activeElement.value`); got != "half a thought" {
			t.Errorf("the box is: %s", got)
		}
	}
	box := `#p-` + code + `-box`
	unlike()
	left(code, "first words", "a word beneath")
	ann.like(code)
	b.shows(code, "body", "first words")
	b.shows(code, "comments", "a word beneath")
	if got := eval[string](b, `document.activeElement.value + document.querySelectorAll('`+box+`').length`); got != "half a thought1" {
		t.Errorf("when the entry is back, the box is: %s", got)
	}
	unlike()
	left(code, "first words", "a word beneath")
	// It may still be sent: the post is open to vic.
	b.do(chromedp.Click(chromedp.CSS(box + ` form button`)))
	b.await("the box to go", `!document.querySelector('`+box+`')`)
	b.equalsReload()
	s.visitor().get("/p/" + code).wants(200).has("half a thought")

	// One that is emptied goes too.
	ann.like(code)
	b.begin(code, "half a thought")
	unlike()
	left(code, "first words", "a word beneath")
	eval[bool](b, `(document.execCommand('selectAll'), document.execCommand('delete'), document.activeElement.blur(), true)`)
	b.await("the empty box to go", `!document.querySelector('`+box+`')`)
	b.equalsReload()

	// So it is when the river is built anew without the entry.
	b.visit("/")
	b.live()
	b.begin(low, "half a thought")
	vic.act(func(ctx context.Context) (timelines.Change, error) {
		return s.store.Unsubscribe(ctx, vic.account.ID, "bob")
	})
	left(low, "lower words")
}

// A page that is closed opens by itself when its reader is let in, or lifts the ban
// that closed it in another tab.
func TestClosedPageOpens(t *testing.T) {
	t.Parallel()
	browser := chromium(t)
	s := newLiveSite(t, nil)
	bob, vic := s.person("bob"), s.person("vic")
	code := bob.post("for friends").Code
	bob.setAccess("", timelines.Private)
	b := s.tab(browser, "vic")
	b.signIn("vic")
	b.visit("/bob")
	b.do(chromedp.Click(chromedp.CSS(`form[action="/bob/follow"] button`)))
	b.await("having asked", `document.querySelector('[data-closed] form[action="/bob/unfollow"]')`)
	bob.visitor().post("/vic/accept").wants(303)
	b.shows(code, "body", "for friends")
	b.live()
	vic.ban("bob")
	b.await("the page to close", `document.querySelector('[data-closed] form[action="/bob/unban"]')`)
	vic.unban("bob")
	b.shows(code, "body", "for friends")
}

// A page that closes while it is looked at comes back each time it opens, also if it
// closes again at once, and says until then what is so; and a post's page no less,
// although it says no more than one that never was.
func TestPagesThatCloseComeBack(t *testing.T) {
	t.Parallel()
	browser := chromium(t)
	s := newLiveSite(t, nil)
	cat := s.person("cat")
	s.person("vic")
	cat.act(func(ctx context.Context) (timelines.Change, error) {
		_, c, err := s.store.CreateGroup(ctx, timelines.NewGroup{Actor: cat.account.ID, Name: "club", Title: "Club"})
		return c, err
	})
	code := cat.post("words of the club", "club").Code
	group, page, half := s.tab(browser, "nobody"), s.tab(browser, "nobody at the post"), s.tab(browser, "vic")
	group.visit("/club")
	page.visit("/p/" + code)
	half.signIn("vic")
	half.visit("/club")
	tabs := []*tab{group, page, half}
	for _, b := range tabs {
		b.live()
	}
	half.begin(code, "half a thought")
	for range 2 {
		cat.setAccess("club", timelines.Private)
		s.followUp()
		for _, b := range tabs {
			b.await("the page to close", `!document.body.textContent.includes('words of the club')`)
		}
		for _, b := range []*tab{group, page} {
			if text := b.text(); strings.Contains(text, "not signed in") {
				t.Errorf("%s, who never was signed in, is told:\n%s", b.name, text)
			}
		}
		cat.setAccess("club", timelines.Public)
		s.followUp()
		for _, b := range []*tab{group, page} {
			b.shows(code, "body", "words of the club")
			b.live()
		}
	}
	// One that somebody was writing on waits until that is taken back.
	half.await("what was written", `document.querySelector('textarea').value === 'half a thought' && document.querySelector('#main > .note')`)
	eval[bool](half, `(document.querySelector('textarea').value = '', true)`)
	half.shows(code, "body", "words of the club")
	half.live()
}
