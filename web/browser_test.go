package web

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"

	"riverrun/rivers"
	"riverrun/timelines"
)

// chromium starts a real browser for a test. Its absence is a failure.
func chromium(t *testing.T) context.Context {
	t.Helper()
	path := os.Getenv("RIVERRUN_TEST_CHROMIUM")
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); path == "" && err == nil {
			path = found
		}
	}
	if path == "" {
		t.Fatal("no Chromium found; install it (apt-get install chromium) or name it in RIVERRUN_TEST_CHROMIUM")
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-component-update", true), chromedp.WindowSize(1280, 900),
	)
	allocator, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	browser, cancel := chromedp.NewContext(allocator)
	t.Cleanup(func() {
		if err := chromedp.Cancel(browser); err != nil {
			t.Errorf("closing Chromium: %v", err)
		}
		cancel()
	})
	if err := chromedp.Do(browser); err != nil {
		t.Fatalf("starting Chromium: %v", err)
	}
	return browser
}

// tab is one person's browser: cookies of its own, one page.
type tab struct {
	t    testing.TB
	site *liveSite
	ctx  context.Context
	name string
	// difference is what equalsReload found last.
	difference string
}

// tab opens a browser of somebody's own. Whatever its scripts complain about,
// the content security policy included, fails the test.
func (s *liveSite) tab(browser context.Context, name string) *tab {
	s.t.Helper()
	ctx, cancel := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	s.t.Cleanup(cancel)
	b := &tab{t: s.t, site: s, ctx: ctx, name: name}
	if err := chromedp.Do(ctx); err != nil {
		s.t.Fatalf("%s: open a tab: %v", name, err)
	}
	var mu sync.Mutex
	err := chromedp.Listen(ctx, func(event any) {
		mu.Lock()
		defer mu.Unlock()
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			text := e.ExceptionDetails.Text
			if e.ExceptionDetails.Exception != nil {
				text += " " + e.ExceptionDetails.Exception.Description
			}
			s.t.Errorf("%s: script: %s", name, text)
		case *log.EventEntryAdded:
			// What the network says (a 422, a socket that closed) is expected.
			if e.Entry.Level == log.EntryLevelError && e.Entry.Source != log.EntrySourceNetwork {
				s.t.Errorf("%s: browser: %s %s", name, e.Entry.Source, e.Entry.Text)
			}
		}
	})
	if err != nil {
		s.t.Fatalf("%s: listen: %v", name, err)
	}
	b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, log.Enable, cdp.Empty{})
		return err
	}))
	return b
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 2*patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatalf("%s: %v\n%s", b.name, err, b.text())
	}
}

// text is what the page says, for failures.
func (b *tab) text() string {
	ctx, cancel := context.WithTimeout(b.ctx, 5*time.Second)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](`location.href + '\n' + document.body?.innerText`))
	if err != nil {
		return "(" + err.Error() + ")"
	}
	return text
}

// eval returns the value of an expression in the tab's page.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.t.Fatalf("%s: %s: %v", b.name, expression, err)
	}
	return value
}

// await waits until an expression is true in the tab's page, across loads.
func (b *tab) await(what, expression string) {
	b.t.Helper()
	deadline := time.Now().Add(patience)
	var err error
	for time.Now().Before(deadline) {
		ctx, cancel := context.WithTimeout(b.ctx, patience)
		_, err = chromedp.Run(ctx, chromedp.Poll[bool]("Boolean("+expression+")",
			chromedp.WithPollingInterval(10*time.Millisecond), chromedp.WithPollingTimeout(time.Until(deadline))))
		cancel()
		if err == nil {
			return
		}
	}
	b.t.Fatalf("%s: waiting for %s (%s): %v\n%s", b.name, what, expression, err, b.text())
}

func (b *tab) visit(path string) {
	b.t.Helper()
	b.do(chromedp.Navigate(b.site.http.URL + path))
}

// live waits until the page follows its river.
func (b *tab) live() {
	b.t.Helper()
	b.await("the socket", `document.querySelector('#river') && document.documentElement.dataset.live === '1'`)
}

// signIn goes through the form, as people do.
func (b *tab) signIn(name string) {
	b.t.Helper()
	b.visit("/login")
	b.do(
		chromedp.SendKeys(chromedp.CSS(`input[name=username]`), name),
		chromedp.SendKeys(chromedp.CSS(`input[name=password]`), password),
		chromedp.Click(chromedp.CSS(`main form button`)),
	)
	b.await("being signed in", `document.querySelector('form[action="/logout"]')`)
}

// write types into a form's text and sends it.
func (b *tab) write(form, text string) {
	b.t.Helper()
	b.do(
		chromedp.SendKeys(chromedp.CSS(form+` textarea`), text),
		chromedp.Click(chromedp.CSS(form+` button`)),
	)
}

func (b *tab) comment(code, text string) {
	b.t.Helper()
	if eval[bool](b, `Boolean(document.querySelector('#p-`+code+`-box details:not([open])'))`) {
		b.do(chromedp.Click(chromedp.CSS(`#p-` + code + `-box summary`)))
	}
	b.write(`#p-`+code+`-box form`, text)
}

// shows waits until a part of an entry says text.
func (b *tab) shows(code, part, text string) {
	b.t.Helper()
	b.await(part+" saying "+text, fmt.Sprintf(`document.querySelector('#p-%s-%s')?.textContent.includes(%q)`, code, part, text))
}

// codeOf waits for an entry that says text and returns its code.
func (b *tab) codeOf(text string) string {
	b.t.Helper()
	find := fmt.Sprintf(`[...document.querySelectorAll('[data-post]')].find((e) => e.textContent.includes(%q))`, text)
	b.await("an entry saying "+text, find)
	return eval[string](b, find+`.dataset.post`)
}

// snapshot makes of a document its list as a reload would have to make it too:
// without what differs by nature, the keys of forms and the passing of time.
const snapshot = `(page) => {
	const copy = page.querySelector('#river').cloneNode(true);
	for (const time of copy.querySelectorAll('time')) { time.textContent = ''; time.removeAttribute('data-passed'); }
	for (const key of copy.querySelectorAll('[name=key]')) key.removeAttribute('value');
	for (const details of copy.querySelectorAll('details')) details.removeAttribute('open');
	for (const busy of copy.querySelectorAll('[aria-busy]')) busy.removeAttribute('aria-busy');
	const lines = [...copy.attributes].map((a) => a.name + '=' + a.value);
	for (const entry of copy.children) {
		lines.push(entry.outerHTML.replace(/\s+/g, ' ').replace(/> </g, '><').replace(/> /g, '>').replace(/ </g, '<'));
	}
	const older = page.querySelector('.paging .older');
	lines.push('older: ' + (older ? older.getAttribute('href') : 'none'));
	return lines;
}`

// equalsReload compares the page with what a reload makes of it. What has
// happened may still be on its way: it waits until the two agree.
func (b *tab) equalsReload() {
	b.t.Helper()
	const now = `(` + snapshot + `)(document)`
	const anew = `fetch(location.href).then((r) => r.text()).then((html) => (` + snapshot + `)(new DOMParser().parseFromString(html, 'text/html')))`
	await(b.t, b.name+": the page to be as it would be after a reload", func() bool {
		ctx, cancel := context.WithTimeout(b.ctx, patience)
		defer cancel()
		want, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](anew, chromedp.EvalAwaitPromise))
		if err != nil {
			b.t.Fatalf("%s: load the page aside: %v", b.name, err)
		}
		d := cmp.Diff(want, eval[[]string](b, now))
		if b.difference = d; d != "" {
			return false
		}
		return true
	}, func() string { return "(-reload +page):\n" + b.difference })
	live := eval[[]string](b, now)
	b.do(chromedp.Reload())
	b.live()
	if d := cmp.Diff(eval[[]string](b, now), live); d != "" {
		b.t.Errorf("%s: the page differs from a reload (-reload +page):\n%s", b.name, d)
	}
}

func TestTwoBrowsers(t *testing.T) {
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
	if got := eval[string](a, `document.querySelector('#composer textarea').value`); got != "" {
		t.Errorf("ann's composer holds %q after posting, want nothing", got)
	}
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

// What a patch must not break: focus, selection, half-typed text, what is open,
// and where the reader is.
func TestPatchesDisturbNobody(t *testing.T) {
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
	b.await("bob at the top", `(scrollTo(0, 0), document.querySelector('#news').hidden)`)
	middle := codes[12]
	eval[bool](b, `(document.querySelector('#p-`+middle+`').scrollIntoView({block: 'center'}), getSelection().selectAllChildren(document.querySelector('#p-`+middle+`-body p')), true)`)
	selected := eval[string](b, `getSelection().toString()`)
	before = eval[float64](b, `document.querySelector('#p-`+middle+`').getBoundingClientRect().top`)
	bob.like(middle)
	newer1, newer2 := ann.post("news one").Code, ann.post("news two").Code
	ann.comment(middle, "bumps what bob reads")
	b.shows(middle, "comments", "bumps what bob reads")
	b.await("three news", `!document.querySelector('#news').hidden && document.querySelector('#news').textContent.trim() === '3 new entries'`)
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

func TestUnfoldedCommentsStay(t *testing.T) {
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

// equalsReloadUnfolded: a reload folds again; unfolded once more it shows the
// same comments in the same order.
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
	a.shows(post.Code, "likes", "You")
	a.comment(post.Code, "a second one")
	a.shows(post.Code, "comments", "a second one")
	if got := eval[int](a, `document.querySelectorAll('#p-`+post.Code+`-comments .comment').length`); got != 2 {
		t.Errorf("%d comments, want 2", got)
	}
	a.equalsReload()
}

// When the socket breaks, the page comes back by itself and has missed nothing.
func TestBrowserComesBack(t *testing.T) {
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

// A page that is left open in one tab while its owner signs out in another shows
// nothing private a moment later.
func TestSignOutElsewhere(t *testing.T) {
	browser := chromium(t)
	s := newLiveSite(t, nil)
	ann, bob := s.person("ann"), s.person("bob")
	bob.post("for ann only", "ann")
	a := s.tab(browser, "ann")
	a.signIn("ann")
	a.visit("/filter/directs")
	a.live()
	a.codeOf("for ann only")
	session := eval[string](a, `document.cookie`) // HttpOnly: scripts see nothing
	if session != "" {
		t.Errorf("scripts see the cookie %q", session)
	}
	cookies, err := chromedp.Run(a.ctx, func(ctx context.Context, t *chromedp.Target) (*network.GetCookiesResult, error) {
		r, err := cdp.Call(ctx, t, network.GetCookies, network.GetCookiesParams{})
		return &r, err
	})
	if err != nil || len(cookies.Cookies) != 1 {
		t.Fatalf("cookies: %+v, %v", cookies, err)
	}
	v, err := s.rivers.Access().Session(t.Context(), sessionOf(t, cookies.Cookies[0].Value))
	if err != nil {
		t.Fatal(err)
	}
	ann.viewer = v
	ann.signOut()
	a.await("nothing private on the screen", `!document.body.textContent.includes('for ann only')`)
}

// Without JavaScript the same is done by forms and reloads.
func TestWithoutScripts(t *testing.T) {
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

// plain is the page's text by the DOM alone.
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

// A page that stays open while much happens ends as a reload would show it.
func TestBusyPageEqualsReload(t *testing.T) {
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
		`[...document.querySelectorAll('#river > [data-post]')].map((e) => e.dataset.post).join() === %q`, strings.Join(want, ",")))
	b.equalsReload()
}
