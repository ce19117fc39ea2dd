package web

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

	"riverrun/rivers"
	"riverrun/timelines"
)

func TestUnfoldedCommentsStay(t *testing.T) {
	t.Parallel()
	browser := chromium(t)
	s := newLiveSite(t, nil)
	ann := s.person("ann")
	post := ann.post("much discussed")
	for i := range 130 {
		ann.comment(post.Code, "comment number "+strconv.Itoa(i)+".")
	}
	b := s.tab(browser, "somebody")
	b.visit("/everything")
	b.live()
	count := func(n int) {
		t.Helper()
		b.await(fmt.Sprint(n, " comments"), fmt.Sprintf(`document.querySelectorAll('#p-%s-comments .comment').length === %d`, post.Code, n))
	}
	count(3)
	more := chromedp.CSS(`#p-` + post.Code + `-comments .more`)
	b.do(chromedp.Click(more))
	count(53)
	ann.comment(post.Code, "one more while unfolded")
	b.shows(post.Code, "comments", "one more while unfolded")
	if got := eval[int](b, `document.querySelectorAll('#p-`+post.Code+`-comments .comment').length`); got < 53 {
		t.Errorf("%d comments are left of 53 unfolded ones", got)
	}
	b.do(chromedp.Click(more))
	count(131)
	ann.comment(post.Code, "and another")
	b.shows(post.Code, "comments", "and another")
	count(132)
	b.equalsReloadUnfolded(post.Code, 132)
}

func (b *tab) equalsReloadUnfolded(code string, n int) {
	b.t.Helper()
	const list = `[...document.querySelectorAll('.comment')].map((c) => c.id + ' ' + c.querySelector('.said').textContent.trim())`
	live := eval[[]string](b, list)
	b.visit("/p/" + code)
	b.await("all comments", fmt.Sprintf(`document.querySelectorAll('.comment').length === %d`, n))
	if d := cmp.Diff(eval[[]string](b, list), live); d != "" {
		b.t.Errorf("%s: unfolded comments differ from the post's page (-page +unfolded):\n%s", b.name, d)
	}
}

func TestFormsInPlace(t *testing.T) {
	t.Parallel()
	browser := chromium(t)
	s := newLiveSite(t, nil)
	ann := s.person("ann")
	post := ann.post("to comment on")
	a := s.tab(browser, "ann")
	a.signIn("ann")
	a.visit("/everything")
	a.live()

	// What is wrong is said in place, and the text stays.
	a.comment(post.Code, "   ")
	a.await("a complaint", `document.querySelector('#p-`+post.Code+`-box [role=alert]')?.textContent`)
	if got := eval[string](a, `document.querySelector('#p-`+post.Code+`-box textarea').value`); got != "   " {
		t.Errorf("the refused text became %q", got)
	}
	a.do(chromedp.SendKeys(chromedp.CSS(`#p-`+post.Code+`-box textarea`), "now something"))
	// Sent twice in one breath, it is one comment.
	eval[bool](a, `(() => { const b = document.querySelector('#p-`+post.Code+`-box form button'); b.click(); b.click(); return true; })()`)
	a.shows(post.Code, "comments", "now something")
	if got := eval[bool](a, `document.querySelector('#p-`+post.Code+`-box [role=alert]') === null`); !got {
		t.Error("the complaint is still there after the comment went through")
	}
	// A double click likes, and does not unlike.
	eval[bool](a, `(() => { const b = document.querySelector('#p-`+post.Code+`-acts form button'); b.click(); b.click(); return true; })()`)
	a.shows(post.Code, "likes", "you")
	a.comment(post.Code, "a second one")
	a.shows(post.Code, "comments", "a second one")
	if got := eval[int](a, `document.querySelectorAll('#p-`+post.Code+`-comments .comment').length`); got != 2 {
		t.Errorf("%d comments, want 2", got)
	}
	// A form that a browser brought back with the key it was sent with: its new text is
	// not taken for the old one, and goes through when it is sent again.
	used := eval[string](a, `document.querySelector('#p-`+post.Code+`-box [name=key]').value`)
	a.comment(post.Code, "a third one")
	a.shows(post.Code, "comments", "a third one")
	eval[string](a, `document.querySelector('#p-`+post.Code+`-box [name=key]').value = '`+used+`'`)
	a.comment(post.Code, "a fourth one")
	a.await("a complaint", `document.querySelector('#p-`+post.Code+`-box [role=alert]')?.textContent`)
	if got := eval[string](a, `document.querySelector('#p-`+post.Code+`-box textarea').value`); got != "a fourth one" {
		t.Errorf("the refused text became %q", got)
	}
	eval[bool](a, `(document.querySelector('#p-`+post.Code+`-box form button').click(), true)`)
	a.shows(post.Code, "comments", "a fourth one")
	a.equalsReload()
}

func TestWithoutScripts(t *testing.T) {
	t.Parallel()
	browser := chromium(t)
	s := newLiveSite(t, nil)
	s.person("ann")
	s.person("bob")
	a, b := s.tab(browser, "ann"), s.tab(browser, "bob")
	for _, x := range []*tab{a, b} {
		x.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
			_, err := cdp.Call(ctx, t, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
			return err
		}))
		x.plainSignIn()
	}
	says := func(x *tab, text string, want bool) {
		t.Helper()
		x.visit("/everything")
		if got := strings.Contains(x.plain(), text); got != want {
			t.Fatalf("%s: page says %q: %v, want %v\n%s", x.name, text, got, want, x.plain())
		}
	}
	send := func(x *tab, steps ...chromedp.Action[chromedp.Void]) {
		t.Helper()
		_, err := chromedp.RunResponse(x.ctx, steps...)
		if err != nil {
			t.Fatalf("%s: %v\n%s", x.name, err, x.plain())
		}
	}
	a.visit("/")
	a.do(chromedp.SendKeys(chromedp.CSS(`#composer textarea`), "written without scripts"))
	send(a, chromedp.Click(chromedp.CSS(`#composer form button`)))
	says(a, "written without scripts", true)
	says(b, "written without scripts", true)
	send(b, chromedp.Click(chromedp.CSS(`.acts form button`)))
	says(a, "Liked by", true)
	says(b, "Unlike", true)
	b.do(chromedp.Click(chromedp.CSS(`.box summary`)), chromedp.SendKeys(chromedp.CSS(`.box textarea`), "an answer"))
	send(b, chromedp.Click(chromedp.CSS(`.box form button`)))
	says(a, "an answer", true)
	send(b, chromedp.Navigate(s.http.URL+"/everything"))
	send(b, chromedp.Click(chromedp.CSS(`.acts form button`)))
	says(a, "Liked by", false)
	send(a, chromedp.Click(chromedp.CSS(`.acts a[href$="/edit"]`)))
	a.do(chromedp.SendKeys(chromedp.CSS(`main textarea`), kb.End+", and edited"))
	send(a, chromedp.Click(chromedp.CSS(`form[action$="/edit"] button`)))
	says(b, "and edited", true)
	says(a, "and edited", true)
	send(a, chromedp.Click(chromedp.CSS(`.acts a[href$="/edit"]`)))
	send(a, chromedp.Click(chromedp.CSS(`form[action$="/delete"] button`)))
	says(b, "without scripts", false)
}

func (b *tab) plain() string {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	html, err := chromedp.Run(ctx, chromedp.OuterHTML(chromedp.CSS(`main`)))
	if err != nil {
		b.t.Fatalf("%s: %v", b.name, err)
	}
	return html
}

func (b *tab) plainSignIn() {
	b.t.Helper()
	b.visit("/login")
	b.do(
		chromedp.SendKeys(chromedp.CSS(`input[name=username]`), b.name),
		chromedp.SendKeys(chromedp.CSS(`input[name=password]`), password),
	)
	if _, err := chromedp.RunResponse(b.ctx, chromedp.Click(chromedp.CSS(`main form button`))); err != nil {
		b.t.Fatalf("%s: sign in: %v", b.name, err)
	}
}

// What is written while a form is on its way stays, and what is sent meanwhile
// has its turn.
func TestWritingOnWhileSending(t *testing.T) {
	t.Parallel()
	browser := chromium(t)
	s := newLiveSite(t, nil)
	s.person("ann")
	a := s.tab(browser, "ann")
	a.signIn("ann")
	a.visit("/")
	a.live()
	const form = `form[action="/posts"]`
	const text = `document.querySelector('form[action="/posts"] textarea').value`
	// Requests leave when the test says so.
	eval[bool](a, `(() => {
		const plain = window.fetch;
		window.held = [];
		window.fetch = (...request) => new Promise((done) => held.push(() => done(plain(...request))));
		return true;
	})()`)
	write := func(what string) {
		t.Helper()
		eval[bool](a, `(() => { const t = document.querySelector('form[action="/posts"] textarea'); t.value = '`+what+`'; return true; })()`)
	}
	release := func() {
		t.Helper()
		a.await("a request", `window.held.length > 0`)
		eval[bool](a, `(() => { held.shift()(); return true; })()`)
	}
	submit := func() {
		t.Helper()
		eval[bool](a, `(() => { document.querySelector('`+form+` button').click(); return true; })()`)
	}
	write("the first")
	submit()
	write("the second, half")
	release()
	a.codeOf("the first")
	// The entry may have come by the socket: the answer has not been dealt with yet.
	a.await("the answer", `!document.querySelector('`+form+`').ariaBusy`)
	if got := eval[string](a, text); got != "the second, half" {
		t.Errorf("the text written meanwhile became %q", got)
	}
	write("the second")
	submit()
	write("the third")
	submit()
	release()
	a.codeOf("the second")
	release()
	a.codeOf("the third")
	a.await("an empty form", text+` === ''`)
}

// What a reply put into the page, or took off it, and somebody took back before the
// socket's server had looked, is no change for that: the page asks.
func TestRepliesTakenBackInBrowser(t *testing.T) {
	t.Parallel()
	browser := chromium(t)
	s := newLiveSite(t, func(c *hubConfig) { c.hear, c.beat = deaf, make(chan time.Time) })
	ann, bob := s.person("ann"), s.person("bob")
	post := bob.post("a word")
	b := s.tab(browser, "ann")
	b.signIn("ann")
	b.visit("/everything")
	b.live()
	all := rivers.Name{UserID: ann.account.ID, Kind: rivers.Everything, Order: rivers.Fresh}
	edit := func(text string) {
		bob.edit(post.Code, text)
		s.followUp()
		s.server.hub.shardOf(all).ask([]int64{post.PostID})
		b.shows(post.Code, "body", text)
	}
	edit("another word") // from here on the server knows what the page shows
	press := func(act string) {
		eval[bool](b, `(document.querySelector('#p-`+post.Code+`-acts form[action$="/`+act+`"]').requestSubmit(), true)`)
	}
	const offered = `document.querySelector('#p-%s-acts form[action$="/%s"]')`
	press("like")
	b.await("the like", fmt.Sprintf(offered, post.Code, "unlike"))
	ann.act(func(ctx context.Context) (timelines.Change, error) {
		return s.store.Unlike(ctx, ann.account.ID, post.Code)
	})
	edit("a third word")
	b.await("the like to go", fmt.Sprintf(offered, post.Code, "like"))

	b.visit("/ann")
	b.live()
	b.write(`#composer form`, "soon gone")
	ann.remove(b.codeOf("soon gone"))
	b.await("the post to go", `!document.body.textContent.includes('soon gone')`)

	ann.like(post.Code)
	s.followUp()
	b.visit("/ann/likes")
	b.live()
	press("unlike")
	b.await("the entry to go", `!document.querySelector('#p-`+post.Code+`')`)
	ann.like(post.Code)
	s.followUp()
	b.await("the entry to come back", `document.querySelector('#p-`+post.Code+`')`)
	b.equalsReload()
}

// A double click is one click, also where the first half took away what was under it.
func TestDoubleClicks(t *testing.T) {
	t.Parallel()
	browser := chromium(t)
	s := newLiveSite(t, nil)
	ann, bob := s.person("ann"), s.person("bob")
	for i := range 8 {
		code := bob.post(fmt.Sprintf("post %d", i)).Code
		ann.act(func(ctx context.Context) (timelines.Change, error) { return s.store.Fave(ctx, ann.account.ID, code) })
	}
	s.followUp()
	b := s.tab(browser, "ann")
	b.signIn("ann")
	for _, c := range []struct{ page, act string }{{"/filter/saved", "unsave"}} { // a hide leaves a line there
		b.visit(c.page)
		b.live()
		// The test says what time it is, and sees what is sent.
		eval[bool](b, `(() => {
			Object.defineProperty(Event.prototype, 'timeStamp', { get: () => window.clock });
			const plain = window.fetch;
			window.sent = [];
			window.fetch = (address, how) => (how?.method === 'POST' && sent.push(new URL(address).pathname), plain(address, how));
			return true;
		})()`)
		button := func(code string) string { return `#p-` + code + `-acts form[action$="/` + c.act + `"] button` }
		sent := func(want ...string) {
			t.Helper()
			var paths []string
			for _, code := range want {
				paths = append(paths, "/p/"+code+"/"+c.act)
			}
			if d := cmp.Diff(paths, eval[[]string](b, `sent`)); d != "" {
				t.Errorf("sent (-want +got):\n%s", d)
			}
		}
		at := func(code string) (x, y float64) {
			t.Helper()
			place := eval[[]float64](b, `(() => { const r = document.querySelector('`+button(code)+`').getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()`)
			return place[0], place[1]
		}
		click := func(clock int, x, y float64) {
			t.Helper()
			eval[int](b, fmt.Sprintf(`window.clock = %d`, clock))
			b.do(chromedp.MouseClickXY(x, y))
		}
		shown := eval[[]string](b, `[...document.querySelectorAll('#river > [data-post]')].map((e) => e.dataset.post)`)
		one, two, three, four := shown[0], shown[1], shown[2], shown[3]
		x, y := at(one)
		click(10000, x, y)
		b.await("the first to go", `!document.querySelector('#p-`+one+`')`)
		if got := eval[bool](b, fmt.Sprintf(`Boolean(document.elementFromPoint(%v, %v).closest('%s'))`, x, y, button(two))); !got {
			t.Fatal("no other button came under the pointer: nothing is tried")
		}
		click(10400, x+1, y-1)
		sent(one)
		// Elsewhere, and by keys, it counts at once.
		fx, fy := at(three)
		click(10450, fx, fy)
		sent(one, three)
		b.await("the third to go", `!document.querySelector('#p-`+three+`')`)
		eval[bool](b, `(document.querySelector('`+button(four)+`').focus(), true)`)
		b.do(chromedp.KeyEvent(kb.Enter))
		sent(one, three, four)
		b.await("the fourth to go", `!document.querySelector('#p-`+four+`')`)
		// And a moment later there too.
		x, y = at(two)
		click(11000, x, y)
		sent(one, three, four, two)
		b.await("the second to go", `!document.querySelector('#p-`+two+`')`)
	}
}
