package web

import (
	"context"
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Comment puts the caret into the box, however it is pressed; Ctrl+Enter sends, Esc closes
// and keeps the text.
func TestCommentByKeys(t *testing.T) {
	t.Parallel()
	browser := chromium(t)
	s := newLiveSite(t, nil)
	ann := s.person("ann")
	code := ann.post("to comment on").Code
	b := s.tab(browser, "ann")
	b.signIn("ann")
	summary, text := chromedp.CSS(`#p-`+code+`-box summary`), `#p-`+code+`-box textarea`
	focused := func(what string) {
		t.Helper()
		b.await("the focus on "+what, fmt.Sprintf(`document.activeElement === document.querySelector(%q)`, what))
	}
	esc := func() {
		t.Helper()
		b.do(chromedp.KeyEvent(kb.Escape))
		focused(`#p-` + code + `-box summary`)
		b.await("the box to be closed", fmt.Sprintf(`!document.querySelector('#p-%s-box details').open`, code))
	}
	b.visit("/everything")
	b.live()
	b.do(chromedp.Click(summary))
	focused(text)
	esc()
	b.do(chromedp.KeyEvent(kb.Enter))
	focused(text)
	esc()
	b.do(chromedp.EmulateViewport(390, 800, chromedp.EmulateMobile, chromedp.EmulateTouch), chromedp.Tap(summary))
	focused(text)
	b.do(chromedp.KeyEvent("half"))
	esc()
	b.await("word of a draft", fmt.Sprintf(`getComputedStyle(document.querySelector('#p-%s-box summary'), '::after').content.includes('not sent')`, code))
	b.do(chromedp.Tap(summary))
	focused(text)
	b.do(chromedp.EmulateReset(), chromedp.KeyEvent(" a word"), chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	b.shows(code, "comments", "half a word")

	// The composer, and forms on pages of their own.
	b.visit("/")
	b.live()
	b.do(chromedp.SendKeys(chromedp.CSS(`#composer textarea`), "a post"), chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierMeta)))
	post := b.codeOf("a post")
	b.visit("/p/" + post + "/edit")
	b.do(chromedp.SendKeys(chromedp.CSS(`main textarea`), kb.End+" changed"), chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	b.await("the changed post", `document.querySelector('#river')?.textContent.includes('a post changed')`)
	b.visit("/p/" + post)
	b.live()
	b.do(chromedp.SendKeys(chromedp.CSS(`#p-`+post+`-box textarea`), "under it"), chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	b.shows(post, "comments", "under it")
}

// What one hides leaves a line in its place, which brings it back; the focus goes along.
func TestHideUndone(t *testing.T) {
	t.Parallel()
	browser := chromium(t)
	s := newLiveSite(t, nil)
	ann, bob := s.person("ann"), s.person("bob")
	bob.subscribe("ann")
	ann.post("first")
	code := ann.post("second").Code
	ann.post("third")
	s.followUp()
	b := s.tab(browser, "bob")
	b.signIn("bob")
	b.visit("/everything")
	b.live()
	eval[bool](b, `window.same = true`)
	order := `[...document.querySelectorAll('#river > *')].map((e) => e.dataset.post ?? e.querySelector('[data-undo]')?.dataset.undo).join()`
	was := eval[string](b, order)
	hide, undo := `#p-`+code+`-acts form[action$="/hide"] button`, `[data-undo="`+code+`"] button`
	for _, by := range []string{"mouse", "keys"} {
		if by == "mouse" {
			b.do(chromedp.Click(chromedp.CSS(hide)))
		} else {
			b.do(chromedp.Focus(chromedp.CSS(hide)), chromedp.KeyEvent(kb.Enter))
		}
		b.await("the line with the focus", fmt.Sprintf(`document.querySelector(%q) && document.activeElement === document.querySelector(%q)`, undo, undo))
		if eval[bool](b, `document.querySelector('#river').textContent.includes('second')`) {
			t.Errorf("by %s: what is hidden is still there", by)
		}
		// The server's own word that it is gone changes nothing, be it the next one or one that comes twice.
		s.cutAll()
		b.await("the page to notice", `document.documentElement.dataset.live === '0'`)
		b.live()
		if got := eval[string](b, order); got != was {
			t.Errorf("by %s: the places are %s, want %s", by, got, was)
		}
		if by == "mouse" {
			b.do(chromedp.Click(chromedp.CSS(undo)))
		} else {
			b.do(chromedp.KeyEvent(kb.Enter))
		}
		b.shows(code, "body", "second")
		b.await("the focus on the entry", fmt.Sprintf(`document.activeElement === document.querySelector('#p-%s')`, code))
		if got := eval[string](b, order); got != was {
			t.Errorf("by %s: the places are %s, want %s", by, got, was)
		}
	}
	if !eval[bool](b, `window.same === true`) {
		t.Error("the page was loaded again")
	}
	b.await("no line any more", `!document.querySelector('[data-undo]')`)

	// Half-typed text stays where it is, and comes back with the post.
	b.begin(code, "half a thought")
	b.do(chromedp.Click(chromedp.CSS(hide)))
	b.do(chromedp.Click(chromedp.CSS(undo)))
	b.shows(code, "body", "second")
	if got := eval[string](b, `document.querySelector('#p-`+code+`-box textarea').value`); got != "half a thought" {
		t.Errorf("the half-typed text became %q", got)
	}
}

// A lost connection is said within moments, also while somebody writes, and not after it
// is back.
func TestLostConnectionIsSaid(t *testing.T) {
	t.Parallel()
	browser := chromium(t)
	s := newLiveSite(t, nil)
	ann := s.person("ann")
	code := ann.post("words").Code
	b := s.tab(browser, "ann")
	b.signIn("ann")
	b.visit("/everything")
	b.live()
	b.do(chromedp.EmulateViewport(390, 800), chromedp.Click(chromedp.CSS(`#p-`+code+`-box summary`)))
	before := eval[map[string]float64](b, where)
	const line = `document.querySelector('.lost[role=status]')`
	said := `(() => { const e = ` + line + `, box = e.getBoundingClientRect();
		return e.textContent.includes('No connection') && box.top >= 0 && box.bottom <= innerHeight && document.elementFromPoint(box.left + 20, box.top + 5) === e; })()`
	back := s.away()
	b.await("word of it in sight", said)
	moved(b, "the line", before)
	back()
	b.live()
	b.await("no word any more", line+`.textContent === ''`)

	// Word of the device that it has none, before any server is missed.
	offline := func(is bool) {
		t.Helper()
		b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
			_, err := cdp.Call(ctx, t, network.OverrideNetworkState, network.OverrideNetworkStateParams{Offline: is, DownloadThroughput: -1, UploadThroughput: -1})
			return err
		}))
	}
	offline(true)
	b.await("word of it in sight", said)
	offline(false)
	b.await("no word any more", line+`.textContent === ''`)
}
