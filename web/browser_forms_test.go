package web_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"

	"riverrun/timelines"
	"riverrun/web/live"
	"riverrun/web/view"
	"riverrun/web/webtest"
)

func TestUnfoldedCommentsStay(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.New(t, nil)
	ann := s.Person("ann")
	post := ann.Post("much discussed")
	for i := range 130 {
		ann.Comment(post.Code, "comment number "+strconv.Itoa(i)+".")
	}
	b := s.Tab(browser, "somebody")
	b.Visit("/everything")
	b.Live()
	count := func(n int) {
		t.Helper()
		b.Await(fmt.Sprint(n, " comments"), fmt.Sprintf(`document.querySelectorAll('#p-%s > .comments .comment').length === %d`, post.Code, n))
	}
	count(3)
	more := chromedp.CSS(`#p-` + post.Code + ` > .comments .more`)
	b.Do(chromedp.Click(more))
	count(53)
	ann.Comment(post.Code, "one more while unfolded")
	b.Shows(post.Code, "comments", "one more while unfolded")
	if got := webtest.Eval[int](b, `document.querySelectorAll('#p-`+post.Code+` > .comments .comment').length`); got < 53 {
		t.Errorf("%d comments are left of 53 unfolded ones", got)
	}
	b.Do(chromedp.Click(more))
	count(131)
	ann.Comment(post.Code, "and another")
	b.Shows(post.Code, "comments", "and another")
	count(132)
	equalsReloadUnfolded(b, post.Code, 132)
}

// equalsReloadUnfolded compares the page with a reload, which folds again: unfolded once
// more it shows the same comments in the same order.
func equalsReloadUnfolded(b *webtest.Tab, code string, n int) {
	b.T.Helper()
	const list = `[...document.querySelectorAll('.comment')].map((c) => c.id + ' ' + c.querySelector('.said').textContent.trim())`
	live := webtest.Eval[[]string](b, list)
	b.Visit("/p/" + code)
	b.Await("all comments", fmt.Sprintf(`document.querySelectorAll('.comment').length === %d`, n))
	if d := cmp.Diff(webtest.Eval[[]string](b, list), live); d != "" {
		b.T.Errorf("%s: unfolded comments differ from the post's page (-page +unfolded):\n%s", b.Name, d)
	}
}

func TestFormsInPlace(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.New(t, nil)
	ann := s.Person("ann")
	post := ann.Post("to comment on")
	a := s.Tab(browser, "ann")
	a.SignIn("ann")
	a.Visit("/everything")
	a.Live()

	// A comment may be pushed before the reply to its form comes.
	replied := func() {
		t.Helper()
		a.Await("the reply", `(f => !f.ariaBusy && f.querySelector('textarea').value === '')(document.querySelector('#p-`+post.Code+`-box form'))`)
	}
	// An error is shown in place, and the text stays.
	a.Comment(post.Code, "   ")
	a.Await("a complaint", `document.querySelector('#p-`+post.Code+`-box [role=alert]')?.textContent`)
	if got := webtest.Eval[string](a, `document.querySelector('#p-`+post.Code+`-box textarea').value`); got != "   " {
		t.Errorf("the refused text became %q", got)
	}
	a.Do(chromedp.SendKeys(chromedp.CSS(`#p-`+post.Code+`-box textarea`), "now something"))
	// Sent twice in one breath, it is one comment.
	webtest.Eval[bool](a, `(() => { const b = document.querySelector('#p-`+post.Code+`-box form button'); b.click(); b.click(); return true; })()`)
	a.Shows(post.Code, "comments", "now something")
	replied()
	if got := webtest.Eval[bool](a, `document.querySelector('#p-`+post.Code+`-box [role=alert]') === null`); !got {
		t.Error("the complaint is still there after the comment went through")
	}
	// A double click likes, and does not unlike.
	webtest.Eval[bool](a, `(() => { const b = document.querySelector('#p-`+post.Code+` > .acts form button'); b.click(); b.click(); return true; })()`)
	a.Shows(post.Code, "likes", "you")
	a.Comment(post.Code, "a second one")
	a.Shows(post.Code, "comments", "a second one")
	replied()
	if got := webtest.Eval[int](a, `document.querySelectorAll('#p-`+post.Code+` > .comments .comment').length`); got != 2 {
		t.Errorf("%d comments, want 2", got)
	}
	// A form that a browser brought back with the key it was sent with: its new text is
	// not taken for the old one, and goes through when it is sent again.
	used := webtest.Eval[string](a, `document.querySelector('#p-`+post.Code+`-box [name=key]').value`)
	a.Comment(post.Code, "a third one")
	a.Shows(post.Code, "comments", "a third one")
	replied()
	webtest.Eval[string](a, `document.querySelector('#p-`+post.Code+`-box [name=key]').value = '`+used+`'`)
	a.Comment(post.Code, "a fourth one")
	a.Await("a complaint", `document.querySelector('#p-`+post.Code+`-box [role=alert]')?.textContent`)
	if got := webtest.Eval[string](a, `document.querySelector('#p-`+post.Code+`-box textarea').value`); got != "a fourth one" {
		t.Errorf("the refused text became %q", got)
	}
	webtest.Eval[bool](a, `(document.querySelector('#p-`+post.Code+`-box form button').click(), true)`)
	a.Shows(post.Code, "comments", "a fourth one")
	a.EqualsReload()
}

// Without JavaScript the same is done by forms and reloads.
func TestWithoutScripts(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.New(t, nil)
	s.Person("ann")
	s.Person("bob")
	a, b := s.Tab(browser, "ann"), s.Tab(browser, "bob")
	for _, x := range []*webtest.Tab{a, b} {
		x.Do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
			_, err := cdp.Call(ctx, t, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
			return err
		}))
		plainSignIn(x)
	}
	says := func(x *webtest.Tab, text string, want bool) {
		t.Helper()
		x.Visit("/everything")
		if got := strings.Contains(domText(x), text); got != want {
			t.Fatalf("%s: page says %q: %v, want %v\n%s", x.Name, text, got, want, domText(x))
		}
	}
	send := func(x *webtest.Tab, steps ...chromedp.Action[chromedp.Void]) {
		t.Helper()
		_, err := chromedp.RunResponse(x.Ctx, steps...)
		if err != nil {
			t.Fatalf("%s: %v\n%s", x.Name, err, domText(x))
		}
	}
	a.Visit("/")
	a.Do(chromedp.SendKeys(chromedp.CSS(`#composer textarea`), "written without scripts"))
	send(a, chromedp.Click(chromedp.CSS(`#composer form button`)))
	says(a, "written without scripts", true)
	says(b, "written without scripts", true)
	send(b, chromedp.Click(chromedp.CSS(`.acts form button`)))
	says(a, "Liked by", true)
	says(b, `aria-pressed="true"`, true)
	send(b, chromedp.Click(chromedp.CSS(`.acts .talk`)))
	b.Do(chromedp.SendKeys(chromedp.CSS(`.box textarea`), "an answer"))
	send(b, chromedp.Click(chromedp.CSS(`.box form button`)))
	says(a, "an answer", true)
	send(a, chromedp.Click(chromedp.CSS(`.comment [form=hearts]`)))
	says(a, "Unlike. Liked by 1 person", true)
	send(a, chromedp.Click(chromedp.CSS(`.comment [form=hearts]`)))
	says(a, `title="Unlike"`, false)
	send(b, chromedp.Navigate(s.HTTP.URL+"/everything"))
	send(b, chromedp.Click(chromedp.CSS(`.acts form button`)))
	says(a, "Liked by", false)
	send(a, chromedp.Click(chromedp.CSS(`.acts [data-menu]`)))
	a.Do(chromedp.Click(chromedp.CSS(`.acts .menu summary`)))
	send(a, chromedp.Click(chromedp.CSS(`.acts a[href$="/edit"]`)))
	a.Do(chromedp.SendKeys(chromedp.CSS(`main textarea`), kb.End+", and edited"))
	send(a, chromedp.Click(chromedp.CSS(`form[action$="/edit"] button`)))
	says(b, "and edited", true)
	says(a, "and edited", true)
	send(a, chromedp.Click(chromedp.CSS(`.acts [data-menu]`)))
	a.Do(chromedp.Click(chromedp.CSS(`.acts .menu summary`)))
	send(a, chromedp.Click(chromedp.CSS(`.acts a[href$="/edit"]`)))
	send(a, chromedp.Click(chromedp.CSS(`form[action$="/delete"] button`)))
	says(b, "without scripts", false)
}

// Comments are liked in place. All their buttons belong to one form of the page, and no press waits
// for the answer to another.
func TestLikesOfCommentsInBrowser(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.New(t, nil)
	ann, bob := s.Person("ann"), s.Person("bob")
	code := ann.Post("much liked").Code
	one, other := view.CommentID(ann.Comment(code, "one").CommentID), view.CommentID(bob.Comment(code, "other").CommentID)
	b, a := s.Tab(browser, "bob"), s.Tab(browser, "ann")
	for _, x := range []*webtest.Tab{a, b} {
		x.SignIn(x.Name)
		x.Visit("/everything")
		x.Live()
	}
	webtest.Eval[bool](b, `(window.same = true)`)
	webtest.Eval[bool](b, fmt.Sprintf(`(document.querySelector('#%s [form=hearts]').click(), document.querySelector('#%s [form=hearts]').click(), true)`, one, other))
	for _, comment := range []string{one, other} {
		b.Await(comment+" pressed", fmt.Sprintf(`document.querySelector('#%s [form=hearts]').ariaPressed === 'true'`, comment))
		a.Await(comment+" counted", fmt.Sprintf(`document.querySelector('#%s [form=hearts]').textContent.trim() === '1'`, comment))
	}
	if !webtest.Eval[bool](b, `window.same === true`) {
		t.Error("the page was left")
	}
	b.Await("the replies", `!document.querySelector('[aria-busy]')`) // each like has its version
	b.EqualsReload()
	a.EqualsReload()
}

// domText is the page's text by the DOM alone.
func domText(b *webtest.Tab) string {
	b.T.Helper()
	ctx, cancel := context.WithTimeout(b.Ctx, webtest.Patience)
	defer cancel()
	html, err := chromedp.Run(ctx, chromedp.OuterHTML(chromedp.CSS(`main`)))
	if err != nil {
		b.T.Fatalf("%s: %v", b.Name, err)
	}
	return html
}

func plainSignIn(b *webtest.Tab) {
	b.T.Helper()
	b.Visit("/login")
	b.Do(
		chromedp.SendKeys(chromedp.CSS(`input[name=username]`), b.Name),
		chromedp.SendKeys(chromedp.CSS(`input[name=password]`), webtest.Password),
	)
	if _, err := chromedp.RunResponse(b.Ctx, chromedp.Click(chromedp.CSS(`main form button`))); err != nil {
		b.T.Fatalf("%s: sign in: %v", b.Name, err)
	}
}

// Text that is written while a form is being sent stays, and a form that is sent meanwhile
// has its turn.
func TestWritingOnWhileSending(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.New(t, nil)
	s.Person("ann")
	a := s.Tab(browser, "ann")
	a.SignIn("ann")
	a.Visit("/")
	a.Live()
	const form = `form[action="/posts"]`
	const text = `document.querySelector('form[action="/posts"] textarea').value`
	// Requests leave when the test says so.
	webtest.Eval[bool](a, `(() => {
		const plain = window.fetch;
		window.held = [];
		window.fetch = (...request) => new Promise((done) => held.push(() => done(plain(...request))));
		return true;
	})()`)
	write := func(what string) {
		t.Helper()
		webtest.Eval[bool](a, `(() => { const t = document.querySelector('form[action="/posts"] textarea'); t.value = '`+what+`'; return true; })()`)
	}
	release := func() {
		t.Helper()
		a.Await("a request", `window.held.length > 0`)
		webtest.Eval[bool](a, `(() => { held.shift()(); return true; })()`)
	}
	submit := func() {
		t.Helper()
		webtest.Eval[bool](a, `(() => { document.querySelector('`+form+` button').click(); return true; })()`)
	}
	write("the first")
	submit()
	write("the second, half")
	release()
	a.CodeOf("the first")
	// The entry may have come by the socket: the answer has not been dealt with yet.
	a.Await("the answer", `!document.querySelector('`+form+`').ariaBusy`)
	if got := webtest.Eval[string](a, text); got != "the second, half" {
		t.Errorf("the text written meanwhile became %q", got)
	}
	write("the second")
	submit()
	write("the third")
	submit()
	release()
	a.CodeOf("the second")
	release()
	a.CodeOf("the third")
	a.Await("an empty form", text+` === ''`)
}

// A reply put something into the page or took it off, and somebody undid that before the
// socket's server had looked. For the server nothing changed: the page asks.
func TestRepliesTakenBackInBrowser(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.New(t, func(c *live.Config) { c.Hear, c.Beat = webtest.Deaf, make(chan time.Time) })
	ann, bob := s.Person("ann"), s.Person("bob")
	post := bob.Post("a word")
	b := s.Tab(browser, "ann")
	b.SignIn("ann")
	b.Visit("/everything")
	b.Live()
	edit := func(text string) {
		bob.Edit(post.Code, text)
		s.FollowUp()
		s.HearOf(post.PostID)
		b.Shows(post.Code, "body", text)
	}
	edit("another word") // from here on the server knows what the page shows
	press := func(act string) {
		webtest.Eval[bool](b, `(document.querySelector('#p-`+post.Code+` > .acts [formaction$="/`+act+`"]').click(), true)`)
	}
	const offered = `document.querySelector('#p-%s > .acts [formaction$="/%s"]')`
	press("like")
	b.Await("the like", fmt.Sprintf(offered, post.Code, "unlike"))
	ann.Act(func(ctx context.Context) (timelines.Change, error) {
		return s.Store.Posts.Unlike(ctx, ann.Account.ID, post.Code)
	})
	edit("a third word")
	b.Await("the like to go", fmt.Sprintf(offered, post.Code, "like"))

	b.Visit("/ann")
	b.Live()
	b.Write(`#composer form`, "soon gone")
	ann.Remove(b.CodeOf("soon gone"))
	b.Await("the post to go", `!document.body.textContent.includes('soon gone')`)

	ann.Like(post.Code)
	s.FollowUp()
	b.Visit("/ann/likes")
	b.Live()
	press("unlike")
	b.Await("the entry to go", `!document.querySelector('#p-`+post.Code+`')`)
	ann.Like(post.Code)
	s.FollowUp()
	b.Await("the entry to come back", `document.querySelector('#p-`+post.Code+`')`)
	b.EqualsReload()
}

// A double click is one click, also where the first half took away what was under it.
func TestDoubleClicks(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.New(t, nil)
	ann, bob := s.Person("ann"), s.Person("bob")
	for i := range 8 {
		code := bob.Post(fmt.Sprintf("post %d", i)).Code
		ann.Act(func(ctx context.Context) (timelines.Change, error) {
			return s.Store.Posts.Fave(ctx, ann.Account.ID, code)
		})
	}
	s.FollowUp()
	b := s.Tab(browser, "ann")
	b.SignIn("ann")
	for _, c := range []struct{ page, act string }{{"/filter/saved", "unsave"}} { // a hide leaves a line there
		b.Visit(c.page)
		b.Live()
		// The test says what time it is, and sees what is sent.
		webtest.Eval[bool](b, `(() => {
			Object.defineProperty(Event.prototype, 'timeStamp', { get: () => window.clock });
			const plain = window.fetch;
			window.sent = [];
			window.fetch = (address, how) => (how?.method === 'POST' && sent.push(new URL(address).pathname), plain(address, how));
			return true;
		})()`)
		button := func(code string) string { return `#p-` + code + ` > .acts [formaction$="/` + c.act + `"]` }
		sent := func(want ...string) {
			t.Helper()
			var paths []string
			for _, code := range want {
				paths = append(paths, "/p/"+code+"/"+c.act)
			}
			if d := cmp.Diff(paths, webtest.Eval[[]string](b, `sent`)); d != "" {
				t.Errorf("sent (-want +got):\n%s", d)
			}
		}
		at := func(code string) (x, y float64) {
			t.Helper()
			place := webtest.Eval[[]float64](b, `(() => { const r = document.querySelector('`+button(code)+`').getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()`)
			return place[0], place[1]
		}
		click := func(clock int, x, y float64) {
			t.Helper()
			webtest.Eval[int](b, fmt.Sprintf(`window.clock = %d`, clock))
			b.Do(chromedp.MouseClickXY(x, y))
		}
		shown := webtest.Eval[[]string](b, `[...document.querySelectorAll('#river > [data-post]')].map((e) => e.dataset.post)`)
		one, two, three, four := shown[0], shown[1], shown[2], shown[3]
		x, y := at(one)
		click(10000, x, y)
		b.Await("the first to go", `!document.querySelector('#p-`+one+`')`)
		if got := webtest.Eval[bool](b, fmt.Sprintf(`Boolean(document.elementFromPoint(%v, %v).closest('%s'))`, x, y, button(two))); !got {
			t.Fatal("no other button came under the pointer: nothing is tried")
		}
		click(10400, x+1, y-1)
		sent(one)
		// Elsewhere, and by keys, it counts at once.
		fx, fy := at(three)
		click(10450, fx, fy)
		sent(one, three)
		b.Await("the third to go", `!document.querySelector('#p-`+three+`')`)
		webtest.Eval[bool](b, `(document.querySelector('`+button(four)+`').focus(), true)`)
		b.Do(chromedp.KeyEvent(kb.Enter))
		sent(one, three, four)
		b.Await("the fourth to go", `!document.querySelector('#p-`+four+`')`)
		// And a moment later there too.
		x, y = at(two)
		click(11000, x, y)
		sent(one, three, four, two)
		b.Await("the second to go", `!document.querySelector('#p-`+two+`')`)
	}
}
