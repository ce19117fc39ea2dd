package web_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"riverrun/web/webtest"
)

// Comment puts the caret into the box, however it is pressed; Ctrl+Enter sends, Esc closes
// and keeps the text.
func TestCommentByKeys(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.New(t, nil)
	ann := s.Person("ann")
	code := ann.Post("to comment on").Code
	b := s.Tab(browser, "ann")
	b.SignIn("ann")
	talk, text := chromedp.CSS(`#p-`+code+` > .acts .talk`), `#p-`+code+`-box textarea`
	focused := func(what string) {
		t.Helper()
		b.Await("the focus on "+what, fmt.Sprintf(`document.activeElement === document.querySelector(%q)`, what))
	}
	esc := func() {
		t.Helper()
		b.Do(chromedp.KeyEvent(kb.Escape))
		focused(`#p-` + code + ` > .acts .talk`)
		b.Await("the box to be closed", fmt.Sprintf(`!document.querySelector('#p-%s-box details').open`, code))
	}
	b.Visit("/everything")
	b.Live()
	b.Do(chromedp.Click(talk))
	focused(text)
	esc()
	b.Do(chromedp.KeyEvent(kb.Enter))
	focused(text)
	esc()
	b.Do(chromedp.EmulateViewport(390, 800, chromedp.EmulateMobile, chromedp.EmulateTouch), chromedp.Tap(talk))
	focused(text)
	b.Do(chromedp.KeyEvent("half"))
	esc()
	b.Await("word of a draft", fmt.Sprintf(`getComputedStyle(document.querySelector('#p-%s-box summary'), '::after').content.includes('not sent')`, code))
	b.Do(chromedp.Tap(talk))
	focused(text)
	b.Do(chromedp.EmulateViewport(1280, 800), chromedp.KeyEvent(" a word"), chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	b.Shows(code, "comments", "half a word")

	// The composer, and forms on pages of their own.
	b.Visit("/")
	b.Live()
	b.Do(chromedp.SendKeys(chromedp.CSS(`#composer textarea`), "a post"), chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierMeta)))
	post := b.CodeOf("a post")
	b.Visit("/p/" + post + "/edit")
	b.Do(chromedp.SendKeys(chromedp.CSS(`main textarea`), kb.End+" changed"), chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	b.Await("the changed post", `document.querySelector('#river')?.textContent.includes('a post changed')`)
	b.Visit("/p/" + post)
	b.Live()
	b.Do(chromedp.SendKeys(chromedp.CSS(`#p-`+post+`-box textarea`), "under it"), chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	b.Shows(post, "comments", "under it")
}

// A post that one hides leaves a line in its place, which brings it back. The focus goes
// along.
func TestHideUndone(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.New(t, nil)
	ann, bob := s.Person("ann"), s.Person("bob")
	bob.Subscribe("ann")
	bob.Post("first")
	code := ann.Post("second").Code
	ann.Post("third")
	s.FollowUp()
	b := s.Tab(browser, "bob")
	b.SignIn("bob")
	b.Visit("/everything")
	b.Live()
	webtest.Eval[bool](b, `window.same = true`)
	order := `[...document.querySelectorAll('#river > *')].map((e) => e.dataset.post ?? e.querySelector('[data-undo]')?.dataset.undo).join()`
	was := webtest.Eval[string](b, order)
	menu := `#p-` + code + ` > .acts .menu summary`
	hide, undo := `#p-`+code+` > .acts [formaction$="/hide"]`, `[data-undo="`+code+`"] button`
	for _, by := range []string{"mouse", "keys"} {
		if by == "mouse" {
			b.Do(chromedp.Click(chromedp.CSS(menu)), chromedp.Click(chromedp.CSS(hide)))
		} else {
			b.Do(chromedp.Focus(chromedp.CSS(menu)), chromedp.KeyEvent(kb.Enter), chromedp.Focus(chromedp.CSS(hide)), chromedp.KeyEvent(kb.Enter))
		}
		b.Await("the line with the focus", fmt.Sprintf(`document.querySelector(%q) && document.activeElement === document.querySelector(%q)`, undo, undo))
		if webtest.Eval[bool](b, `document.querySelector('#river').textContent.includes('second')`) {
			t.Errorf("by %s: what is hidden is still there", by)
		}
		// The server's own word that it is gone changes nothing, be it the next one or one that comes twice.
		s.CutAll()
		b.Await("the page to notice", `document.documentElement.dataset.live === '0'`)
		b.Live()
		if got := webtest.Eval[string](b, order); got != was {
			t.Errorf("by %s: the places are %s, want %s", by, got, was)
		}
		if by == "mouse" {
			b.Do(chromedp.Click(chromedp.CSS(undo)))
		} else {
			b.Do(chromedp.KeyEvent(kb.Enter))
		}
		b.Shows(code, "body", "second")
		b.Await("the focus on the entry", fmt.Sprintf(`document.activeElement === document.querySelector('#p-%s')`, code))
		if got := webtest.Eval[string](b, order); got != was {
			t.Errorf("by %s: the places are %s, want %s", by, got, was)
		}
	}
	if !webtest.Eval[bool](b, `window.same === true`) {
		t.Error("the page was loaded again")
	}
	b.Await("no line any more", `!document.querySelector('[data-undo]')`)

	// Half-typed text stays where it is, and comes back with the post.
	b.Begin(code, "half a thought")
	b.Do(chromedp.Click(chromedp.CSS(menu)), chromedp.Click(chromedp.CSS(hide)))
	b.Do(chromedp.Click(chromedp.CSS(undo)))
	b.Shows(code, "body", "second")
	if got := webtest.Eval[string](b, `document.querySelector('#p-`+code+`-box textarea').value`); got != "half a thought" {
		t.Errorf("the half-typed text became %q", got)
	}
}

// A lost connection is said within moments, also while somebody writes, and not after it
// is back.
func TestLostConnectionIsSaid(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.New(t, nil)
	ann := s.Person("ann")
	code := ann.Post("words").Code
	b := s.Tab(browser, "ann")
	b.SignIn("ann")
	b.Visit("/everything")
	b.Live()
	b.Do(chromedp.EmulateViewport(390, 800), chromedp.Click(chromedp.CSS(`#p-`+code+` > .acts .talk`)))
	before := webtest.Eval[map[string]float64](b, where)
	const line = `document.querySelector('.lost[role=status]')`
	said := `(() => { const e = ` + line + `, box = e.getBoundingClientRect();
		return e.textContent.includes('No connection') && box.top >= 0 && box.bottom <= innerHeight && document.elementFromPoint(box.left + 20, box.top + 5) === e; })()`
	back := away(s)
	b.Await("word of it in sight", said)
	moved(b, "the line", before)
	back()
	b.Live()
	b.Await("no word any more", line+`.textContent === ''`)

	// Word of the device that it has none, before any server is missed.
	offline := func(is bool) {
		t.Helper()
		b.Do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
			_, err := cdp.Call(ctx, t, network.OverrideNetworkState, network.OverrideNetworkStateParams{Offline: is, DownloadThroughput: -1, UploadThroughput: -1})
			return err
		}))
	}
	offline(true)
	b.Await("word of it in sight", said)
	offline(false)
	b.Await("no word any more", line+`.textContent === ''`)
}

// One-letter keys do what their page says, not while somebody writes, and not where they are
// turned off.
func TestLetterKeys(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.New(t, nil)
	ann := s.Person("ann")
	first, second := ann.Post("first").Code, ann.Post("second").Code
	b := s.Tab(browser, "ann")
	b.SignIn("ann")
	b.Visit("/everything")
	b.Live()
	press := func(keys ...string) {
		t.Helper()
		for _, key := range keys {
			b.Do(chromedp.KeyEvent(key))
		}
	}
	// The driver sends the character of a key whatever happened to the key.
	empty := func() {
		t.Helper()
		webtest.Eval[bool](b, `(document.activeElement.value = '', true)`)
	}
	at := func(code string) {
		t.Helper()
		b.Await("the focus", fmt.Sprintf(`document.activeElement === document.querySelector('#p-%s')`, code))
	}
	press("j")
	at(second)
	press("j")
	at(first)
	press("j")
	at(first)
	press("k")
	at(second)
	press("l")
	b.Pressed(second, "heart", true)
	press("s")
	b.Pressed(second, "save", true)
	b.Await("the rest of the page to be as it was", fmt.Sprintf(`document.querySelector('#p-%s > .acts .heart').ariaPressed === 'false'`, first))
	press("c")
	b.Await("the box", fmt.Sprintf(`document.activeElement === document.querySelector('#p-%s-box textarea')`, second))
	empty()
	press("j", "l", "?")
	if got := webtest.Eval[string](b, `document.activeElement.value`); got != "jl?" {
		t.Errorf("what was typed is %q", got)
	}
	webtest.Eval[bool](b, `(document.activeElement.value = '', document.activeElement.blur(), true)`)
	press("/")
	b.Await("the search", `location.pathname === '/search' || document.activeElement.matches('[role=search] input')`)
	b.Visit("/everything")
	b.Live()
	press("g", "h")
	b.Await("home", `location.pathname === '/'`)
	b.Live()
	press("n")
	b.Await("the composer", `document.activeElement === document.querySelector('#composer textarea')`)
	empty()
	webtest.Eval[bool](b, `(document.activeElement.blur(), true)`)
	press("?")
	b.Await("the page of keys", `location.pathname === '/help/keys' && document.querySelectorAll('kbd').length > 10`)

	ann.Visitor().Post("/settings/look", "theme", "", "language", "", "keys", "1").LeadsTo("/settings?saved")
	b.Visit("/settings")
	b.Do(chromedp.Click(chromedp.CSS(`#look summary`)), chromedp.Click(chromedp.CSS(`#look [name=keys]`)), chromedp.Click(chromedp.CSS(`#look [value=dark]`)), chromedp.Click(chromedp.CSS(`#look button`)))
	b.Await("word that it is saved", `document.querySelector('.saved')`)
	if got := webtest.Eval[string](b, `getComputedStyle(document.body).backgroundColor`); got != "rgb(16, 17, 16)" {
		t.Errorf("in the dark the page is %s", got)
	}
	b.Visit("/everything")
	b.Live()
	press("j")
	if webtest.Eval[bool](b, `Boolean(document.activeElement.closest('[data-post]'))`) {
		t.Error("a key that was turned off did something")
	}
}

// A letter acts on a post only after j or k chose it, and as long as it has the focus and is on
// the screen.
func TestLettersNeedAChosenPost(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.New(t, nil)
	ann := s.Person("ann")
	var last string
	for i := range 12 {
		last = ann.Post(fmt.Sprintf("post %d, and %s", i, strings.Repeat("more of it ", 20))).Code
	}
	b := s.Tab(browser, "ann")
	b.SignIn("ann")
	const nothing = `location.pathname === '/' && document.activeElement.tagName !== 'TEXTAREA' && !document.querySelector('[aria-busy], #river [aria-pressed=true]')`
	idle := func(when string) {
		t.Helper()
		// The driver answers when the page has handled the key.
		for _, key := range "slowc" {
			b.Do(chromedp.KeyEvent(string(key)))
		}
		if !webtest.Eval[bool](b, nothing) {
			t.Errorf("%s: letters did something", when)
		}
	}
	b.Visit("/")
	b.Live()
	idle("nothing chosen")
	b.Do(chromedp.Focus(chromedp.CSS(`#p-` + last + ` > .acts .menu summary`)))
	idle("a post that has the focus, and was not chosen")
	b.Do(chromedp.KeyEvent("j"))
	b.Await("a choice", `document.activeElement.matches('#river > .entry')`)
	b.Do(chromedp.KeyEvent("l"))
	b.Await("a like", `document.querySelectorAll('#river .heart[aria-pressed=true]').length === 1`)
	b.Do(chromedp.Click(chromedp.CSS(`.acted button`)), chromedp.Focus(chromedp.CSS(`#river > [tabindex]`)))
	b.Await("no like", `!document.querySelector('#river .heart[aria-pressed=true]')`)
	webtest.Eval[bool](b, `(scrollTo(0, document.body.scrollHeight), true)`)
	idle("the chosen post is off the screen")
	webtest.Eval[bool](b, `(document.activeElement.scrollIntoView(), document.activeElement.blur(), true)`)
	idle("the choice was left")
	b.Do(chromedp.KeyEvent("j"), chromedp.KeyEvent("c"))
	b.Await("the box", `document.activeElement.matches('.box textarea')`)
}

// The page says what a letter has changed, with a button that takes it back, even when the
// post has left the page.
func TestLettersAreUndone(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.New(t, nil)
	ann, bob := s.Person("ann"), s.Person("bob")
	bob.Subscribe("ann")
	code := ann.Post("words").Code
	s.FollowUp()
	b := s.Tab(browser, "bob")
	b.SignIn("bob")
	b.Visit("/")
	b.Live()
	said := func(text string) {
		t.Helper()
		b.Await(text, fmt.Sprintf(`document.querySelector('.acted[role=status] span')?.textContent === %q && document.querySelector('.acted').checkVisibility()`, text))
	}
	undo := func() {
		t.Helper()
		b.Do(chromedp.Click(chromedp.CSS(`.acted button`)))
		b.Await("no word of it any more", `!document.querySelector('.acted').childElementCount`)
	}
	b.Do(chromedp.KeyEvent("j"), chromedp.KeyEvent("l"))
	said("Liked.")
	b.Pressed(code, "heart", true)
	undo()
	b.Pressed(code, "heart", false)
	b.Do(chromedp.KeyEvent("j"), chromedp.KeyEvent("s"))
	said("Saved.")
	b.Pressed(code, "save", true)
	if !webtest.Eval[bool](b, `document.activeElement.matches('#river > .entry')`) {
		t.Error("the choice is lost")
	}

	b.Visit("/filter/saved")
	b.Live()
	b.Do(chromedp.KeyEvent("j"), chromedp.KeyEvent("s"))
	said("No longer saved.")
	b.Await("no post", fmt.Sprintf(`!document.querySelector('#p-%s')`, code))
	undo()
	b.Pressed(code, "save", true)
	bob.Visitor().Get("/filter/saved").Has("words")

	// By the mouse the button shows what it did, and nothing else is said.
	b.Do(chromedp.Click(chromedp.CSS(`#p-` + code + ` > .acts .heart`)))
	b.Pressed(code, "heart", true)
	if webtest.Eval[bool](b, `document.querySelector('.acted').childElementCount > 0`) {
		t.Error("a press of the mouse is said as well")
	}
}

// A page that somebody opens to write on has the caret in the text, with scripts and without.
func TestPagesToWriteOnHaveTheCaret(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.New(t, nil)
	ann := s.Person("ann")
	s.Person("bob").Post("words")
	v := ann.Visitor()
	for address, want := range map[string]bool{
		"/posts/new": true, "/filter/messages?to=bob": true, "/filter/messages": false, "/": false, "/ann": false,
	} {
		if got := regexp.MustCompile(`<textarea[^>]*\sautofocus`).MatchString(v.Get(address).Wants(200).Body); got != want {
			t.Errorf("%s: the caret is in the text: %v, want %v", address, got, want)
		}
	}
	// A form that comes back because of its names has the caret there.
	if again := v.Post("/posts", "body", "words", "to", "", "direct", "1", "key", "k").Wants(422); regexp.MustCompile(`<textarea[^>]*\sautofocus`).MatchString(again.Body) {
		t.Error("the caret is in the text, and a name is missing")
	}

	b := s.Tab(browser, "ann")
	b.SignIn("ann")
	for _, width := range []int64{1280, 390} {
		b.Do(chromedp.EmulateViewport(width, 800))
		b.Visit("/bob")
		b.Live()
		b.Do(chromedp.Click(chromedp.CSS(`a[href="/filter/messages?to=bob"]`)))
		b.Await("the caret", `location.pathname === '/filter/messages' && document.activeElement.matches('#composer textarea') && document.activeElement.checkVisibility()`)
		b.Live()
		b.Do(chromedp.KeyEvent("slow"))
		b.Await("what was typed", `document.querySelector('#composer textarea').value === 'slow'`)
		webtest.Eval[bool](b, `(document.querySelector('#composer textarea').value = '', true)`)
	}
	link := regexp.MustCompile(`class="act talk" href="([^"]+)"`).FindStringSubmatch(v.Get("/everything").Body)[1]
	b.Visit(link)
	b.Await("the caret", `document.activeElement.matches('.box textarea')`)
}

// A draft that another device kept is in a form that has the caret from the start, also if the
// browser put it there before the script came.
func TestDraftInAFormWithTheCaret(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.New(t, nil)
	ann := s.Person("ann")
	s.Person("bob")
	ann.Visitor().Post("/posts", "body", "half a thought", "to", "bob", "direct", "1", "key", "k", "draft", "/filter/messages?to=bob", "keep", "1").Wants(303)
	b := s.Tab(browser, "ann")
	b.SignIn("ann")
	const early = `new MutationObserver(() => document.querySelector('#composer textarea')?.focus()).observe(document, { childList: true, subtree: true })`
	b.Do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: early})
		return err
	}))
	b.Visit("/filter/messages?to=bob")
	b.Await("the draft", `document.activeElement.matches('#composer textarea') && document.activeElement.value === 'half a thought'`)
}

// Somebody who types an @name is offered people, and takes one by a key or by a press.
func TestNamesAreOffered(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.New(t, nil)
	ann := s.Person("ann")
	s.Person("bob").Rename("Nadia Bright")
	s.Person("nils")
	s.Person("nora")
	ann.Subscribe("nora")
	s.Visitor().Get("/search/names?q=n").LeadsTo("/login?back=%2Fsearch%2Fnames%3Fq%3Dn")
	offered := ann.Visitor().Get("/search/names?q=n").Wants(200).Has(`data-name="bob"`, "Nadia Bright").Lacks(`data-name="ann"`).Body
	if strings.Index(offered, `"nora"`) > strings.Index(offered, `"nils"`) {
		t.Error("somebody whom ann does not follow is offered first")
	}
	ann.Visitor().Get("/search/names?q=" + strings.Repeat("n", 2000)).Wants(422)

	b := s.Tab(browser, "ann")
	b.SignIn("ann")
	b.Visit("/")
	b.Live()
	text := `document.querySelector('#composer textarea')`
	chosen := func(name string) {
		t.Helper()
		b.Await("the offer of "+name, `document.querySelector('#names [aria-selected=true]')?.dataset.name === '`+name+`' &&
			`+text+`.getAttribute('aria-activedescendant') === document.querySelector('#names [aria-selected=true]').id`)
	}
	b.Do(chromedp.SendKeys(chromedp.CSS(`#composer textarea`), "ask @n"))
	chosen("nora")
	b.Do(chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowUp))
	chosen("nora")
	b.Do(chromedp.KeyEvent(kb.Tab))
	b.Await("the name", text+`.value === 'ask @nora ' && document.activeElement === `+text+` && !document.querySelector('#names')`)
	b.Do(chromedp.KeyEvent("or @nad"))
	chosen("bob")
	b.Do(chromedp.Click(chromedp.CSS(`#names [data-name=bob]`)))
	b.Await("the name", text+`.value === 'ask @nora or @bob ' && document.activeElement === `+text)
	b.Do(chromedp.KeyEvent("not n@nil or @nil"))
	chosen("nils")
	b.Do(chromedp.KeyEvent(kb.Escape))
	b.Await("no offer", `!document.querySelector('#names')`)
	if got := webtest.Eval[string](b, text+`.value`); got != "ask @nora or @bob not n@nil or @nil" {
		t.Errorf("what was typed became %q", got)
	}
}
