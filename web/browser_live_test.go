package web

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"riverrun/rivers"
	"riverrun/timelines"
)

func TestTwoBrowsers(t *testing.T) {
	t.Parallel()
	browser := chromium(t)
	s := newLiveSite(t, nil)
	ann, bob := s.person("ann"), s.person("bob")
	ann.subscribe("bob")
	bob.subscribe("ann")

	a, b := s.tab(browser, "ann"), s.tab(browser, "bob")
	a.signIn("ann")
	b.signIn("bob")
	for _, x := range []*tab{a, b} {
		x.visit("/")
		x.live()
		// A reload would lose this.
		eval[bool](x, `window.same = true`)
	}
	b.do(chromedp.SendKeys(chromedp.CSS(`#composer textarea`), "half a thought"))
	eval[bool](b, `document.querySelector('#composer textarea').setSelectionRange(5, 9) ?? true`)

	a.write(`#composer form`, "a post by ann")
	code := a.codeOf("a post by ann")
	// Her own post may come by the socket before the reply to the form does.
	a.await("the composer to be empty", `document.querySelector('#composer textarea').value === ''`)
	b.shows(code, "body", "a post by ann")
	b.do(chromedp.Click(chromedp.CSS(`#p-` + code + `-acts form button`)))
	b.shows(code, "acts", "Unlike")
	a.shows(code, "likes", "bob")
	a.comment(code, "the first word")
	a.shows(code, "comments", "the first word")
	b.shows(code, "comments", "the first word")
	b.comment(code, "the last word")
	b.shows(code, "comments", "the last word")
	a.shows(code, "comments", "the last word")
	for _, x := range []*tab{a, b} {
		if !eval[bool](x, `window.same === true`) {
			t.Errorf("%s: the page was loaded again", x.name)
		}
	}
	a.write(`#composer form`, "another that goes")
	goes := a.codeOf("another that goes")
	b.shows(goes, "body", "another that goes")
	a.equalsReload()

	// Editing and deleting are pages of their own.
	a.visit("/p/" + code + "/edit")
	eval[bool](a, `document.querySelector('main textarea').value = 'a better post by ann', true`)
	a.do(chromedp.Click(chromedp.CSS(`form[action$="/edit"] button`)))
	a.await("the edited post", `document.querySelector('#river')?.textContent.includes('a better post by ann')`)
	b.shows(code, "body", "a better post by ann")
	a.visit("/p/" + goes + "/edit")
	a.do(chromedp.Click(chromedp.CSS(`form[action$="/delete"] button`)))
	b.await("the deleted post to go", `!document.querySelector('#p-`+goes+`')`)

	if !eval[bool](b, `window.same === true`) {
		t.Error("bob: the page was loaded again")
	}
	if got := eval[string](b, `document.querySelector('#composer textarea').value`); got != "half a thought" {
		t.Errorf("bob's composer holds %q, want his half a thought", got)
	}
	b.equalsReload()
	a.visit("/")
	a.live()
	a.equalsReload()
}

func TestPatchesDisturbNobody(t *testing.T) {
	t.Parallel()
	browser := chromium(t)
	s := newLiveSite(t, nil)
	ann, bob := s.person("ann"), s.person("bob")
	var codes []string
	for i := range 30 {
		codes = append(codes, ann.post(fmt.Sprintf("post %d\n\nwith a second paragraph\n\nand a third", i)).Code)
	}
	b := s.tab(browser, "bob")
	b.signIn("bob")
	b.visit("/everything")
	b.live()
	top := codes[len(codes)-1]

	// Bob is writing under the first entry.
	b.do(chromedp.Click(chromedp.CSS(`#p-`+top+`-box summary`)), chromedp.SendKeys(chromedp.CSS(`#p-`+top+`-box textarea`), "half a comment"))
	eval[bool](b, `document.activeElement.setSelectionRange(2, 6) ?? (window.box = document.activeElement, true)`)
	before := eval[float64](b, `box.getBoundingClientRect().top`)
	ann.comment(top, "meanwhile")
	ann.edit(top, "edited meanwhile\n\nwith a second paragraph\n\nand a third")
	fresh := ann.post("new above").Code
	b.shows(top, "comments", "meanwhile")
	b.shows(top, "body", "edited meanwhile")
	b.await("the new post", `document.querySelector('#p-`+fresh+`')`)
	if got := eval[string](b, `document.activeElement === box ? box.value + ' ' + box.selectionStart + '-' + box.selectionEnd : 'focus lost'`); got != "half a comment 2-6" {
		t.Errorf("after patches the comment box is: %s", got)
	}
	// What came above it pushed everything up instead.
	if after := eval[float64](b, `box.getBoundingClientRect().top`); after-before > 1 || before-after > 1 {
		t.Errorf("the comment box moved from %v to %v", before, after)
	}
	eval[bool](b, `(box.value = '', box.blur(), true)`)

	// Bob reads further down; what comes waits above, and he does not move.
	b.do(chromedp.Click(chromedp.CSS(`#news button`)))
	b.await("bob at the top", `scrollY === 0 && document.querySelector('#news').hidden`)
	middle := codes[12]
	eval[bool](b, `(document.querySelector('#p-`+middle+`').scrollIntoView({block: 'center'}), getSelection().selectAllChildren(document.querySelector('#p-`+middle+`-body p')), true)`)
	selected := eval[string](b, `getSelection().toString()`)
	before = eval[float64](b, `document.querySelector('#p-`+middle+`').getBoundingClientRect().top`)
	bob.like(middle)
	newer1, newer2 := ann.post("news one").Code, ann.post("news two").Code
	ann.comment(middle, "bumps what bob reads")
	b.shows(middle, "comments", "bumps what bob reads")
	b.await("three news", `!document.querySelector('#news').hidden && document.querySelector('#news').textContent.trim() === '3 new posts'`)
	for _, code := range []string{newer1, newer2} {
		b.shows(code, "body", "news")
	}
	if after := eval[float64](b, `document.querySelector('#p-`+middle+`').getBoundingClientRect().top`); after-before > 1 || before-after > 1 {
		t.Errorf("the entry being read moved from %v to %v", before, after)
	}
	if got := eval[string](b, `getSelection().toString()`); got != selected || got == "" {
		t.Errorf("the selection became %q, want %q", got, selected)
	}
	b.do(chromedp.Click(chromedp.CSS(`#news button`)))
	b.await("the top", `scrollY === 0 && document.querySelector('#news').hidden`)
	if got := eval[string](b, `document.querySelector('#river > [data-post]').dataset.post`); got != middle {
		t.Errorf("the first entry is %s, want the bumped %s", got, middle)
	}
	b.equalsReload()
}

func TestBrowserComesBack(t *testing.T) {
	t.Parallel()
	browser := chromium(t)
	s := newLiveSite(t, nil)
	ann := s.person("ann")
	edited, goes := ann.post("will be edited"), ann.post("will go")
	b := s.tab(browser, "somebody")
	b.visit("/everything")
	b.live()
	end := func(code int, reason string) {
		h := s.server.hub
		h.mu.Lock()
		defer h.mu.Unlock()
		for socket := range h.sockets {
			if code == 0 {
				socket.cut()
			} else {
				socket.end(closeReconnect, reason)
			}
		}
	}
	end(4000, "300")
	b.await("the page to notice", `document.documentElement.dataset.live === '0'`)
	ann.edit(edited.Code, "edited meanwhile")
	ann.remove(goes.Code)
	fresh := ann.post("new meanwhile")
	s.followUp()
	b.shows(edited.Code, "body", "edited meanwhile")
	b.shows(fresh.Code, "body", "new meanwhile")
	b.await("the removed to go", `!document.querySelector('#p-`+goes.Code+`')`)
	b.live()

	end(0, "") // without a word
	last := ann.post("after the cut")
	s.followUp()
	b.shows(last.Code, "body", "after the cut")
	b.live()
	b.equalsReload()
}

func TestSignOutElsewhere(t *testing.T) {
	t.Parallel()
	browser := chromium(t)
	s := newLiveSite(t, nil)
	ann, bob := s.person("ann"), s.person("bob")
	bob.post("for ann only", "ann")
	a := s.tab(browser, "ann")
	a.signIn("ann")
	a.visit("/filter/messages")
	a.live()
	a.codeOf("for ann only")
	session := eval[string](a, `document.cookie`) // HttpOnly: scripts see nothing
	if session != "" {
		t.Errorf("scripts see the cookie %q", session)
	}
	a.signedOut(ann)
	a.await("nothing private on the screen", `!document.body.textContent.includes('for ann only')`)
}

func TestBusyPageEqualsReload(t *testing.T) {
	t.Parallel()
	browser := chromium(t)
	s := newLiveSite(t, nil)
	ann, bob := s.person("ann"), s.person("bob")
	b := s.tab(browser, "reader")
	b.visit("/everything")
	b.live()
	var wg sync.WaitGroup
	for _, p := range []*person{ann, bob} {
		wg.Go(func() {
			var mine []string
			for i := range 40 {
				mine = append(mine, p.post(fmt.Sprintf("%s writes %d", p.account.Name, i)).Code)
				if i%3 == 0 {
					p.comment(mine[i/2/7*7], "a word about an older one")
				}
				if i%5 == 0 {
					p.like(mine[i])
				}
				if i%7 == 6 {
					p.remove(mine[i-1])
				}
			}
		})
	}
	wg.Wait()
	s.followUp()
	now, err := s.rivers.Visit(t.Context(), timelines.Viewer{}, everything, rivers.Cursor{})
	if err != nil {
		t.Fatal(err)
	}
	want := make([]string, len(now.Items))
	for i, it := range now.Items {
		want[i] = it.Fold.Text.Code
	}
	b.await("the last of it", fmt.Sprintf(
		`document.querySelector('#news button').click() ?? [...document.querySelectorAll('#river > [data-post]')].map((e) => e.dataset.post).join() === %q`, strings.Join(want, ",")))
	b.equalsReload()
}

// The way to older entries is offered as long as there are any.
func TestOlderComesAndGoes(t *testing.T) {
	t.Parallel()
	s := newLiveSite(t, nil)
	ann := s.person("ann")
	b := s.tab(chromium(t), "reader")
	for range rivers.PageSize {
		ann.post("to fill the page")
	}
	b.visit("/everything")
	b.live()
	b.equalsReload()
	for _, offered := range []bool{true, false, true} {
		if offered {
			ann.post("one too many")
		} else {
			ann.remove(b.codeOf("one too many"))
		}
		b.await("the way to older entries", fmt.Sprintf(`document.querySelector('#news button').click() ?? !!document.querySelector('.paging .older') === %v`, offered))
		b.equalsReload()
	}
}
