package web_test

import (
	"context"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"riverrun/timelines"
	"riverrun/web/webtest"
)

// When a page closes to its reader, nothing is left of it but the text that the reader was
// writing.
func TestLeavingKeepsOnlyWhatIsWritten(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.New(t, nil)
	// A secret that only readers of the page know.
	secrets := []string{"Secret title", "Secret about", "secret first line", "secret second line", "secret word", "Secret tab", "zoe"}
	begin := func(name string) (bob, vic *webtest.Person, b *webtest.Tab) {
		t.Helper()
		bob, vic = s.Person("bob"+name), s.Person("vic"+name)
		b = s.Tab(browser, vic.Account.Name)
		b.SignIn(vic.Account.Name)
		return bob, vic, b
	}
	zoe := s.Person("zoe")
	fill := func(bob *webtest.Person, to ...string) string {
		t.Helper()
		bob.Act(func(ctx context.Context) (timelines.Change, error) {
			return s.Store.Accounts.SetProfile(ctx, bob.Account.ID, "Secret title", "Secret about", "")
		})
		code := bob.Post("secret first line\nsecret second line", to...).Code
		bob.Comment(code, "secret word")
		return code
	}
	closes := func(b *webtest.Tab, half string) {
		t.Helper()
		b.Await("word that the page is closed", `document.querySelector('#main > .note[role=status] a')`)
		b.SaysNone(secrets...)
		if got := webtest.Eval[string](b, `[...document.querySelectorAll('textarea')].map((t) => t.value).join('|')`); got != half {
			t.Errorf("%s: what is kept is %q, want %q", b.Name, got, half)
		}
		if got := webtest.Eval[string](b, `document.title`); got != "riverrun" {
			t.Errorf("%s: the page is still called %q", b.Name, got)
		}
	}
	focused := func(b *webtest.Tab) {
		t.Helper()
		if got := webtest.Eval[string](b, `document.activeElement.tagName`); got != "TEXTAREA" {
			t.Errorf("%s: the focus went to %s", b.Name, got)
		}
	}

	t.Run("account", func(t *testing.T) {
		bob, _, b := begin("1")
		code := fill(bob)
		other := bob.Post("secret first line of another").Code
		zoe.Comment(code, "secret word")
		zoe.Like(code)
		bob.Act(func(ctx context.Context) (timelines.Change, error) {
			return s.Store.Feeds.Create(ctx, bob.Account.ID, "photos", "Secret tab", timelines.Protected)
		})
		b.Visit("/bob1")
		b.Live()
		b.Begin(code, "half a thought")
		webtest.Eval[bool](b, `window.same = true`)
		bob.SetAccess("", timelines.Private)
		closes(b, "half a thought")
		focused(b)
		if !webtest.Eval[bool](b, `window.same === true`) {
			t.Error("the page was loaded again")
		}
		if webtest.Eval[bool](b, `Boolean(document.querySelector('#p-`+other+`'))`) {
			t.Error("an entry nobody wrote on is still there")
		}
		b.SaysNone("@bob1")
		// The text that is kept can still be sent, and is refused in place.
		b.Do(chromedp.Click(chromedp.CSS(`#p-` + code + `-box form button`)))
		b.Await("the refusal", `document.querySelector('#river .wrong')`)
		closes(b, "half a thought")
	})
	t.Run("post", func(t *testing.T) {
		bob, _, b := begin("2")
		code := fill(bob)
		zoe.Comment(code, "secret word")
		b.Visit("/p/" + code)
		b.Live()
		b.Begin(code, "half a thought")
		bob.SetAccess("", timelines.Private)
		s.FollowUp()
		closes(b, "half a thought")
		focused(b)
	})
	t.Run("sub-feed", func(t *testing.T) {
		bob, vic, b := begin("3")
		bob.Act(func(ctx context.Context) (timelines.Change, error) {
			return s.Store.Feeds.Create(ctx, bob.Account.ID, "photos", "Secret title", timelines.Private)
		})
		bob.Act(func(ctx context.Context) (timelines.Change, error) {
			return s.Store.Feeds.Admit(ctx, bob.Account.ID, "photos", vic.Account.Name)
		})
		code := fill(bob, "bob3/photos")
		b.Visit("/bob3/photos")
		b.Live()
		b.Begin(code, "half a thought")
		bob.Act(func(ctx context.Context) (timelines.Change, error) {
			return s.Store.Feeds.Remove(ctx, bob.Account.ID, "photos", vic.Account.Name)
		})
		b.Await("word that the page is closed", `document.querySelector('#main > .note[role=status] a')`)
		b.SaysNone("Secret title", "secret")
	})
	t.Run("signed out", func(t *testing.T) {
		bob, vic, b := begin("4")
		code := fill(bob, "vic4")
		vic.Subscribe("bob4")
		b.Visit("/filter/messages")
		b.Live()
		b.Begin(code, "half a comment")
		b.Do(chromedp.SendKeys(chromedp.CSS(`#composer textarea`), "half a post"))
		b.SignedOut(vic)
		closes(b, "half a post|half a comment")
		b.SaysNone("bob4", "/vic4")
	})
}

// The half-typed comment beneath an entry that leaves the page stays, without the
// entry; and is beneath it again when it comes back.
func TestEntryLeavesWhileWrittenOn(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.New(t, nil)
	ann, bob, vic := s.Person("ann"), s.Person("bob"), s.Person("vic")
	vic.Subscribe("bob")
	code := bob.Post("first words").Code
	low := bob.Post("lower words").Code
	ann.Like(code)
	bob.Comment(code, "a word beneath")
	unlike := func() {
		t.Helper()
		ann.Act(func(ctx context.Context) (timelines.Change, error) {
			return s.Store.Posts.Unlike(ctx, ann.Account.ID, code)
		})
	}
	b := s.Tab(browser, "vic")
	b.SignIn("vic")
	b.Visit("/ann/likes")
	b.Live()
	b.Begin(code, "half a thought")
	left := func(code string, lacks ...string) {
		t.Helper()
		box := `#p-` + code + `-box`
		b.Await("the entry to leave", `!document.querySelector('#p-`+code+`') && document.querySelector('#river > :not([data-post])')`)
		b.SaysNone(lacks...)
		if got := webtest.Eval[string](b, `document.activeElement === document.querySelector('`+box+` textarea') && document.activeElement.value`); got != "half a thought" {
			t.Errorf("the box is: %s", got)
		}
	}
	box := `#p-` + code + `-box`
	unlike()
	left(code, "first words", "a word beneath")
	ann.Like(code)
	b.Shows(code, "body", "first words")
	b.Shows(code, "comments", "a word beneath")
	if got := webtest.Eval[string](b, `document.activeElement.value + document.querySelectorAll('`+box+`').length`); got != "half a thought1" {
		t.Errorf("when the entry is back, the box is: %s", got)
	}
	unlike()
	left(code, "first words", "a word beneath")
	// It may still be sent: the post is open to vic.
	b.Do(chromedp.Click(chromedp.CSS(box + ` form button`)))
	b.Await("the box to go", `!document.querySelector('`+box+`')`)
	b.EqualsReload()
	s.Visitor().Get("/p/" + code).Wants(200).Has("half a thought")

	// One that is emptied goes too.
	ann.Like(code)
	b.Begin(code, "half a thought")
	unlike()
	left(code, "first words", "a word beneath")
	webtest.Eval[bool](b, `(document.execCommand('selectAll'), document.execCommand('delete'), document.activeElement.blur(), true)`)
	b.Await("the empty box to go", `!document.querySelector('`+box+`')`)
	b.EqualsReload()

	// So it is when the river is built anew without the entry.
	b.Visit("/")
	b.Live()
	b.Begin(low, "half a thought")
	vic.Act(func(ctx context.Context) (timelines.Change, error) {
		return s.Store.Subscriptions.Unsubscribe(ctx, vic.Account.ID, "bob")
	})
	left(low, "lower words")
}

// A page that is closed opens by itself when its reader is let in, or lifts the ban
// that closed it in another tab.
func TestClosedPageOpens(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.New(t, nil)
	bob, vic := s.Person("bob"), s.Person("vic")
	code := bob.Post("for friends").Code
	bob.SetAccess("", timelines.Private)
	b := s.Tab(browser, "vic")
	b.SignIn("vic")
	b.Visit("/bob")
	b.Do(chromedp.Click(chromedp.CSS(`form[action="/bob/follow"] button`)))
	b.Await("having asked", `document.querySelector('[data-closed] form[action="/bob/unfollow"]')`)
	bob.Visitor().Post("/vic/accept").Wants(303)
	b.Shows(code, "body", "for friends")
	b.Live()
	vic.Ban("bob")
	b.Await("the page to close", `document.querySelector('[data-closed] form[action="/bob/unban"]')`)
	vic.Unban("bob")
	b.Shows(code, "body", "for friends")
}

// A page that closes while it is looked at comes back each time it opens, also if it
// closes again at once, and says until then what is so; and a post's page no less,
// although it says no more than one that never was.
func TestPagesThatCloseComeBack(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.New(t, nil)
	cat := s.Person("cat")
	s.Person("vic")
	cat.Act(func(ctx context.Context) (timelines.Change, error) {
		_, c, err := s.Store.Groups.Create(ctx, timelines.NewGroup{Actor: cat.Account.ID, Name: "club", Title: "Club"})
		return c, err
	})
	code := cat.Post("words of the club", "club").Code
	group, page, half := s.Tab(browser, "nobody"), s.Tab(browser, "nobody at the post"), s.Tab(browser, "vic")
	group.Visit("/club")
	page.Visit("/p/" + code)
	half.SignIn("vic")
	half.Visit("/club")
	tabs := []*webtest.Tab{group, page, half}
	for _, b := range tabs {
		b.Live()
	}
	half.Begin(code, "half a thought")
	for range 2 {
		cat.SetAccess("club", timelines.Private)
		s.FollowUp()
		for _, b := range tabs {
			b.Await("the page to close", `!document.body.textContent.includes('words of the club')`)
		}
		for _, b := range []*webtest.Tab{group, page} {
			if text := b.Text(); strings.Contains(text, "not signed in") {
				t.Errorf("%s, who never was signed in, is told:\n%s", b.Name, text)
			}
		}
		cat.SetAccess("club", timelines.Public)
		s.FollowUp()
		for _, b := range []*webtest.Tab{group, page} {
			b.Shows(code, "body", "words of the club")
			b.Live()
		}
	}
	// One that somebody was writing on waits until that is taken back.
	half.Await("what was written", `document.querySelector('textarea').value === 'half a thought' && document.querySelector('#main > .note')`)
	webtest.Eval[bool](half, `(document.querySelector('textarea').value = '', true)`)
	half.Shows(code, "body", "words of the club")
	half.Live()
}
