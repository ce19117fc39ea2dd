package web_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/web/live"
	"riverrun/web/webtest"
)

func TestTwoBrowsers(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.New(t, nil)
	ann, bob := s.Person("ann"), s.Person("bob")
	ann.Subscribe("bob")
	bob.Subscribe("ann")

	a, b := s.Tab(browser, "ann"), s.Tab(browser, "bob")
	a.SignIn("ann")
	b.SignIn("bob")
	for _, x := range []*webtest.Tab{a, b} {
		x.Visit("/")
		x.Live()
		// A reload would lose this.
		webtest.Eval[bool](x, `window.same = true`)
	}
	b.Do(chromedp.SendKeys(chromedp.CSS(`#composer textarea`), "half a thought"))
	webtest.Eval[bool](b, `document.querySelector('#composer textarea').setSelectionRange(5, 9) ?? true`)

	a.Write(`#composer form`, "a post by ann")
	code := a.CodeOf("a post by ann")
	// Her own post may come by the socket before the reply to the form does.
	a.Await("the composer to be empty", `document.querySelector('#composer textarea').value === ''`)
	b.Shows(code, "body", "a post by ann")
	b.Do(chromedp.Click(chromedp.CSS(`#p-` + code + ` > .acts form button`)))
	b.Pressed(code, "heart", true)
	a.Shows(code, "likes", "bob")
	a.Comment(code, "the first word")
	a.Shows(code, "comments", "the first word")
	b.Shows(code, "comments", "the first word")
	b.Comment(code, "the last word")
	b.Shows(code, "comments", "the last word")
	a.Shows(code, "comments", "the last word")
	for _, x := range []*webtest.Tab{a, b} {
		if !webtest.Eval[bool](x, `window.same === true`) {
			t.Errorf("%s: the page was loaded again", x.Name)
		}
	}
	a.Write(`#composer form`, "another that goes")
	goes := a.CodeOf("another that goes")
	b.Shows(goes, "body", "another that goes")
	a.EqualsReload()

	// Editing and deleting are pages of their own.
	a.Visit("/p/" + code + "/edit")
	webtest.Eval[bool](a, `document.querySelector('main textarea').value = 'a better post by ann', true`)
	a.Do(chromedp.Click(chromedp.CSS(`form[action$="/edit"] button`)))
	a.Await("the edited post", `document.querySelector('#river')?.textContent.includes('a better post by ann')`)
	b.Shows(code, "body", "a better post by ann")
	a.Visit("/p/" + goes + "/edit")
	a.Do(chromedp.Click(chromedp.CSS(`form[action$="/delete"] button`)))
	b.Await("the deleted post to go", `!document.querySelector('#p-`+goes+`')`)

	if !webtest.Eval[bool](b, `window.same === true`) {
		t.Error("bob: the page was loaded again")
	}
	if got := webtest.Eval[string](b, `document.querySelector('#composer textarea').value`); got != "half a thought" {
		t.Errorf("bob's composer holds %q, want his half a thought", got)
	}
	b.EqualsReload()
	a.Visit("/")
	a.Live()
	a.EqualsReload()
}

// A patch breaks neither focus, selection nor half-typed text; what is open stays so, and
// the reader stays where they are.
func TestPatchesDisturbNobody(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.New(t, nil)
	ann, bob := s.Person("ann"), s.Person("bob")
	authors := []*webtest.Person{s.Person("cat"), ann}
	var codes []string
	for i := range 30 {
		codes = append(codes, authors[i%2].Post(fmt.Sprintf("post %d\n\nwith a second paragraph\n\nand a third", i)).Code)
	}
	b := s.Tab(browser, "bob")
	b.SignIn("bob")
	b.Visit("/everything")
	b.Live()
	top := codes[len(codes)-1]

	// Bob is writing under the first entry.
	b.Do(chromedp.Click(chromedp.CSS(`#p-`+top+` > .acts .talk`)), chromedp.SendKeys(chromedp.CSS(`#p-`+top+`-box textarea`), "half a comment"))
	webtest.Eval[bool](b, `document.activeElement.setSelectionRange(2, 6) ?? (window.box = document.activeElement, true)`)
	before := webtest.Eval[float64](b, `box.getBoundingClientRect().top`)
	ann.Comment(top, "meanwhile")
	ann.Edit(top, "edited meanwhile\n\nwith a second paragraph\n\nand a third")
	fresh := ann.Post("new above").Code
	b.Shows(top, "comments", "meanwhile")
	b.Shows(top, "body", "edited meanwhile")
	b.Await("the new post", `document.querySelector('#p-`+fresh+`')`)
	if got := webtest.Eval[string](b, `document.activeElement === box ? box.value + ' ' + box.selectionStart + '-' + box.selectionEnd : 'focus lost'`); got != "half a comment 2-6" {
		t.Errorf("after patches the comment box is: %s", got)
	}
	// An entry that came above it pushed everything up instead.
	if after := webtest.Eval[float64](b, `box.getBoundingClientRect().top`); after-before > 1 || before-after > 1 {
		t.Errorf("the comment box moved from %v to %v", before, after)
	}
	// As a person does it: the draft that may have been kept by now goes too.
	webtest.Eval[bool](b, `(box.value = '', box.dispatchEvent(new Event('input', { bubbles: true })), box.blur(), true)`)

	// Bob reads further down; what comes waits above, and he does not move.
	b.Do(chromedp.Click(chromedp.CSS(`#news button`)))
	b.Await("bob at the top", `scrollY === 0 && document.querySelector('#news').hidden`)
	middle := codes[12]
	webtest.Eval[bool](b, `(document.querySelector('#p-`+middle+`').scrollIntoView({block: 'center'}), getSelection().selectAllChildren(document.querySelector('#p-`+middle+` > .body p')), true)`)
	selected := webtest.Eval[string](b, `getSelection().toString()`)
	before = webtest.Eval[float64](b, `document.querySelector('#p-`+middle+`').getBoundingClientRect().top`)
	bob.Like(middle)
	newer1, newer2 := ann.Post("news one").Code, ann.Post("news two").Code
	ann.Comment(middle, "bumps what bob reads")
	b.Shows(middle, "comments", "bumps what bob reads")
	b.Await("three news", `!document.querySelector('#news').hidden && document.querySelector('#news').textContent.trim() === '3 new posts'`)
	for _, code := range []string{newer1, newer2} {
		b.Shows(code, "body", "news")
	}
	if after := webtest.Eval[float64](b, `document.querySelector('#p-`+middle+`').getBoundingClientRect().top`); after-before > 1 || before-after > 1 {
		t.Errorf("the entry being read moved from %v to %v", before, after)
	}
	if got := webtest.Eval[string](b, `getSelection().toString()`); got != selected || got == "" {
		t.Errorf("the selection became %q, want %q", got, selected)
	}
	b.Do(chromedp.Click(chromedp.CSS(`#news button`)))
	b.Await("the top", `scrollY === 0 && document.querySelector('#news').hidden`)
	if got := webtest.Eval[string](b, `document.querySelector('#river > [data-post]').dataset.post`); got != middle {
		t.Errorf("the first entry is %s, want the bumped %s", got, middle)
	}
	b.EqualsReload()
}

// When the socket breaks, the page comes back by itself and has missed nothing.
func TestBrowserComesBack(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.New(t, nil)
	ann := s.Person("ann")
	edited, goes := ann.Post("will be edited"), ann.Post("will go")
	b := s.Tab(browser, "somebody")
	b.Visit("/everything")
	b.Live()
	s.CloseAll(live.CloseReconnect, "300")
	b.Await("the page to notice", `document.documentElement.dataset.live === '0'`)
	ann.Edit(edited.Code, "edited meanwhile")
	ann.Remove(goes.Code)
	fresh := ann.Post("new meanwhile")
	s.FollowUp()
	b.Shows(edited.Code, "body", "edited meanwhile")
	b.Shows(fresh.Code, "body", "new meanwhile")
	b.Await("the removed to go", `!document.querySelector('#p-`+goes.Code+`')`)
	b.Live()

	s.CutAll()
	last := ann.Post("after the cut")
	s.FollowUp()
	b.Shows(last.Code, "body", "after the cut")
	b.Live()
	b.EqualsReload()
}

// A page that is left open in one tab while its owner signs out in another shows nothing
// private a moment later.
func TestSignOutElsewhere(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.New(t, nil)
	ann, bob := s.Person("ann"), s.Person("bob")
	bob.Post("for ann only", "ann")
	a := s.Tab(browser, "ann")
	a.SignIn("ann")
	a.Visit("/filter/messages")
	a.Live()
	a.CodeOf("for ann only")
	session := webtest.Eval[string](a, `document.cookie`) // HttpOnly: scripts see nothing
	if session != "" {
		t.Errorf("scripts see the cookie %q", session)
	}
	a.SignedOut(ann)
	a.Await("nothing private on the screen", `!document.body.textContent.includes('for ann only')`)
}

// A page that stays open while much happens ends as a reload would show it.
func TestBusyPageEqualsReload(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.New(t, nil)
	ann, bob := s.Person("ann"), s.Person("bob")
	b := s.Tab(browser, "reader")
	b.Visit("/everything")
	b.Live()
	var wg sync.WaitGroup
	for _, p := range []*webtest.Person{ann, bob} {
		wg.Go(func() {
			var mine []string
			for i := range 40 {
				mine = append(mine, p.Post(fmt.Sprintf("%s writes %d", p.Account.Name, i)).Code)
				if i%3 == 0 {
					p.Comment(mine[i/2/7*7], "a word about an older one")
				}
				if i%5 == 0 {
					p.Like(mine[i])
				}
				if i%7 == 6 {
					p.Remove(mine[i-1])
				}
			}
		})
	}
	wg.Wait()
	s.FollowUp()
	now, err := s.Rivers.Visit(t.Context(), timelines.Viewer{}, webtest.Everything, rivers.Cursor{})
	if err != nil {
		t.Fatal(err)
	}
	want := make([]string, len(now.Items))
	for i, it := range now.Items {
		want[i] = it.Fold.Text.Code
	}
	b.Await("the last of it", fmt.Sprintf(
		`document.querySelector('#news button').click() ?? [...document.querySelectorAll('#river > [data-post]')].map((e) => e.dataset.post).join() === %q`, strings.Join(want, ",")))
	b.EqualsReload()
}

// Two entries on the screen move up, and the page hears of the later one first. Asked for what
// is new, it shows both in their places.
func TestEntriesThatMovedStandInOrder(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, func(c *live.Config) { c.Hear, c.Beat = webtest.Deaf, make(chan time.Time) })
	ann := s.Person("ann")
	lower, upper := ann.Post("the lower"), s.Person("bob").Post("the upper")
	s.Person("cid").Post("above both")
	b := s.Tab(webtest.Chromium(t), "reader")
	b.Visit("/everything")
	b.Live()
	ann.Comment(lower.Code, "first")
	ann.Comment(upper.Code, "then")
	s.FollowUp()
	s.HearOf(upper.PostID)
	b.Shows(upper.Code, "comments", "then")
	s.HearOf(lower.PostID)
	b.Shows(lower.Code, "comments", "first")
	b.EqualsReload()
}

// The way to older entries is offered as long as there are any.
func TestOlderComesAndGoes(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	ann := s.Person("ann")
	b := s.Tab(webtest.Chromium(t), "reader")
	for range rivers.PageSize {
		ann.Post("to fill the page")
	}
	b.Visit("/everything")
	b.Live()
	b.EqualsReload()
	for _, offered := range []bool{true, false, true} {
		if offered {
			ann.Post("one too many")
		} else {
			ann.Remove(b.CodeOf("one too many"))
		}
		b.Await("the way to older entries", fmt.Sprintf(`document.querySelector('#news button').click() ?? !!document.querySelector('.paging .older') === %v`, offered))
		b.EqualsReload()
	}
}
