package webtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"riverrun/timelines"
)

// shared is the one Chromium of the package's tests: to start it takes two seconds of a
// processor.
var shared struct {
	sync.Mutex
	browser context.Context // nil until a test asks for it
	close   func() error
}

// Chromium returns a real browser, in which each tab has cookies of its own. Its absence
// is a failure.
func Chromium(t testing.TB) context.Context {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.browser == nil || shared.browser.Err() != nil { // none yet, or it crashed
		browser, end, err := startChromium()
		if err != nil {
			t.Fatalf("starting Chromium: %v", err)
		}
		shared.browser, shared.close = browser, end
	}
	return shared.browser
}

func startChromium() (browser context.Context, end func() error, err error) {
	path := os.Getenv("RIVERRUN_CHROMIUM")
	// The first one is the same engine without windows: a tab takes half as long.
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); path == "" && err == nil {
			path = found
		}
	}
	if path == "" {
		return nil, nil, errors.New("none found; install it (make chromium) or name it in RIVERRUN_CHROMIUM")
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-component-update", true), chromedp.WindowSize(1280, 900),
	)
	allocator, cancelAllocator := chromedp.NewExecAllocator(context.Background(), options...)
	browser, _ = chromedp.NewContext(allocator)
	if err := chromedp.Do(browser); err != nil {
		return nil, nil, err // to cancel would wait for a program that may never have run
	}
	return browser, func() error {
		within, done := context.WithTimeout(browser, Patience)
		defer done()
		err := chromedp.Cancel(within)
		cancelAllocator()
		return err
	}, nil
}

// CloseChromium ends it after the last test.
func CloseChromium() error {
	shared.Lock()
	defer shared.Unlock()
	if shared.close == nil {
		return nil
	}
	return shared.close()
}

// Tab is one person's browser: cookies of its own, one page.
type Tab struct {
	T    testing.TB
	site *Site
	Ctx  context.Context
	Name string
	// difference is what equalsReload found last.
	difference string
}

// Tab opens a tab in a browser session of its own. Any complaint of its scripts, or by the
// content security policy, fails the test.
func (s *Site) Tab(browser context.Context, name string) *Tab {
	s.T.Helper()
	ctx, _ := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	s.T.Cleanup(func() {
		if err := chromedp.Cancel(ctx); err != nil {
			s.T.Errorf("%s: close the tab: %v", name, err)
		}
	})
	b := &Tab{T: s.T, site: s, Ctx: ctx, Name: name}
	if err := chromedp.Do(ctx); err != nil {
		s.T.Fatalf("%s: open a tab: %v", name, err)
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
			s.T.Errorf("%s: script: %s", name, text)
		case *runtime.EventConsoleAPICalled:
			if e.Type == runtime.ConsoleAPICalledTypeError && len(e.Args) > 0 {
				s.T.Errorf("%s: console: %s", name, e.Args[0].Value)
			}
		case *log.EventEntryAdded:
			// Messages about the network (a 422, a socket that closed) are expected.
			if e.Entry.Level == log.EntryLevelError && e.Entry.Source != log.EntrySourceNetwork {
				s.T.Errorf("%s: browser: %s %s", name, e.Entry.Source, e.Entry.Text)
			}
		}
	})
	if err != nil {
		s.T.Fatalf("%s: listen: %v", name, err)
	}
	b.Do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, log.Enable, cdp.Empty{})
		return err
	}))
	return b
}

// Do does steps of chromedp in the tab.
func (b *Tab) Do(steps ...chromedp.Action[chromedp.Void]) {
	b.T.Helper()
	ctx, cancel := context.WithTimeout(b.Ctx, 2*Patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.T.Fatalf("%s: %v\n%s", b.Name, err, b.Text())
	}
}

// Text is what the page says, for failures.
func (b *Tab) Text() string {
	ctx, cancel := context.WithTimeout(b.Ctx, 5*time.Second)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](`location.href + '\n' + document.body?.innerText`))
	if err != nil {
		return "(" + err.Error() + ")"
	}
	return text
}

// Eval returns the value of an expression in the tab's page.
func Eval[T any](b *Tab, expression string) T {
	b.T.Helper()
	ctx, cancel := context.WithTimeout(b.Ctx, Patience)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.T.Fatalf("%s: %s: %v", b.Name, expression, err)
	}
	return value
}

// Await waits until an expression is true in the tab's page, across loads.
//
// Each question is an evaluation of its own. One question that waits within the page, as
// chromedp.Poll's does, may never be answered: a browser freezes the page that somebody
// leaves and keeps it for the way back.
func (b *Tab) Await(what, expression string) {
	b.T.Helper()
	ctx, cancel := context.WithTimeout(b.Ctx, Patience)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		is, err := b.ask("Boolean(" + expression + ")")
		if is {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			b.T.Fatalf("%s: waiting for %s (%s): %v\n%s", b.Name, what, expression, err, b.Text())
		}
	}
}

// ask evaluates a condition in the page. A page that is frozen just now does not answer.
func (b *Tab) ask(condition string) (bool, error) {
	ctx, cancel := context.WithTimeout(b.Ctx, time.Second)
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[bool](condition))
}

// Visit loads a page of the site.
func (b *Tab) Visit(path string) {
	b.T.Helper()
	b.Do(chromedp.Navigate(b.site.HTTP.URL + path))
}

// Live waits until the page follows its river.
func (b *Tab) Live() {
	b.T.Helper()
	b.Await("the socket", `document.querySelector('#river') && document.documentElement.dataset.live === '1'`)
}

// SignIn goes through the form, as people do.
func (b *Tab) SignIn(name string) {
	b.T.Helper()
	b.Visit("/login")
	b.Do(
		chromedp.SendKeys(chromedp.CSS(`input[name=username]`), name),
		chromedp.SendKeys(chromedp.CSS(`input[name=password]`), Password),
		chromedp.Click(chromedp.CSS(`main form button`)),
	)
	b.Await("being signed in", `document.querySelector('form[action="/logout"]')`)
}

// Write types into a form's text and sends it.
func (b *Tab) Write(form, text string) {
	b.T.Helper()
	b.Do(
		chromedp.SendKeys(chromedp.CSS(form+` textarea`), text),
		chromedp.Click(chromedp.CSS(form+` button`)),
	)
}

// Comment writes a comment in the box below a post.
func (b *Tab) Comment(code, text string) {
	b.T.Helper()
	// The last one may be shown by the socket before its answer comes, which closes the box.
	b.Await("no comment under way", `!document.querySelector('#p-`+code+`-box form')?.ariaBusy`)
	if Eval[bool](b, `Boolean(document.querySelector('#p-`+code+`-box details:not([open])'))`) {
		b.Do(chromedp.Click(chromedp.CSS(`#p-` + code + ` > .acts .talk`)))
	}
	b.Write(`#p-`+code+`-box form`, text)
}

// Pressed waits until a button of an entry, such as like, is pressed or not.
func (b *Tab) Pressed(code, button string, pressed bool) {
	b.T.Helper()
	b.Await(fmt.Sprintf("%s pressed: %v", button, pressed), fmt.Sprintf(`document.querySelector('#p-%s > .acts .%s')?.ariaPressed === '%v'`, code, button, pressed))
}

// Shows waits until a part of an entry says text.
func (b *Tab) Shows(code, part, text string) {
	b.T.Helper()
	b.Await(part+" saying "+text, fmt.Sprintf(`document.querySelector('#p-%s > .%s')?.textContent.includes(%q)`, code, part, text))
}

// CodeOf waits for an entry that says text and returns its code.
func (b *Tab) CodeOf(text string) string {
	b.T.Helper()
	find := fmt.Sprintf(`[...document.querySelectorAll('[data-post]')].find((e) => e.textContent.includes(%q))`, text)
	b.Await("an entry saying "+text, find)
	return Eval[string](b, find+`.dataset.post`)
}

// snapshot makes of a document its list as a reload would have to make it too:
// without what differs by nature, the keys of forms and the passing of time.
const snapshot = `(page) => {
	const copy = page.querySelector('#river').cloneNode(true);
	copy.removeAttribute('data-sight'); // a frame may have brought another
	for (const time of copy.querySelectorAll('time')) { time.textContent = ''; time.removeAttribute('title'); }
	for (const key of copy.querySelectorAll('[name=key]')) key.removeAttribute('value');
	for (const details of copy.querySelectorAll('details')) details.removeAttribute('open');
	for (const busy of copy.querySelectorAll('[aria-busy]')) busy.removeAttribute('aria-busy');
	for (const kept of copy.querySelectorAll('.kept')) kept.remove();
	// The script puts a box into each entry that has a link to it.
	for (const box of copy.querySelectorAll('.box:has(> details, > .open)')) {
		const form = box.querySelector('form');
		const place = form ? form.getAttribute('action') : box.querySelector('.open').getAttribute('href').split('#')[0] + '/comments';
		const back = form ? form.elements.back.getAttribute('value') : copy.dataset.page + '#' + box.parentElement.id;
		const draft = form ? form.elements.draft.value + '/comments' : place;
		box.textContent = [place, draft, back].join(' ');
	}
	// And a menu into each that names what it offers.
	for (const menu of copy.querySelectorAll('.acts .menu, .acts [data-menu]')) {
		const labelled = menu.querySelector('summary') ?? menu;
		const offers = menu.dataset.menu ?? [...menu.querySelectorAll('.sheet > :not(:first-child)')]
			.map((item) => (item.getAttribute('href') ?? item.getAttribute('formaction')).split('/').slice(3).join('/')).join(' ');
		menu.replaceWith([labelled.ariaLabel, labelled.title, offers].join(' '));
	}
	const lines = [...copy.attributes].map((a) => a.name + '=' + a.value);
	for (const entry of copy.children) {
		lines.push(entry.outerHTML.replace(/\s+/g, ' ').replace(/> </g, '><').replace(/> /g, '>').replace(/ </g, '<'));
	}
	const older = page.querySelector('.paging .older');
	lines.push('older: ' + (older ? older.getAttribute('href') : 'none'));
	lines.push('end: ' + (page.querySelector('.paging .notes')?.textContent ?? 'none'));
	return lines;
}`

// EqualsReload compares the page with what a reload makes of it. Changes may still be on their way,
// so it waits until the two agree. It asks for new entries that wait until the reader does.
func (b *Tab) EqualsReload() {
	b.T.Helper()
	const now = `(document.querySelector('#news button').click(), (` + snapshot + `)(document))`
	const anew = `fetch(location.href).then((r) => r.text()).then((html) => (` + snapshot + `)(new DOMParser().parseFromString(html, 'text/html')))`
	var want []string
	aside := func() []string {
		b.T.Helper()
		ctx, cancel := context.WithTimeout(b.Ctx, Patience)
		defer cancel()
		got, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](anew, chromedp.EvalAwaitPromise))
		if err != nil {
			b.T.Fatalf("%s: load the page aside: %v", b.Name, err)
		}
		return got
	}
	Await(b.T, b.Name+": the page to be as it would be after a reload", func() bool {
		want = aside()
		b.difference = cmp.Diff(want, Eval[[]string](b, now))
		return b.difference == ""
	}, func() string { return "(-reload +page):\n" + b.difference })
	live := Eval[[]string](b, now)
	b.Do(chromedp.Reload())
	b.Live()
	d := cmp.Diff(Eval[[]string](b, now), live)
	if d != "" && !slices.Equal(aside(), want) {
		b.EqualsReload() // the server followed a change meanwhile, so the two pages are of different moments
		return
	}
	if d != "" {
		b.T.Errorf("%s: the page differs from a reload (-reload +page):\n%s", b.Name, d)
	}
}

// SignedOut ends the session of the tab somewhere else.
func (b *Tab) SignedOut(p *Person) {
	b.T.Helper()
	cookies, err := chromedp.Run(b.Ctx, func(ctx context.Context, t *chromedp.Target) (*network.GetCookiesResult, error) {
		r, err := cdp.Call(ctx, t, network.GetCookies, network.GetCookiesParams{})
		return &r, err
	})
	if err != nil || len(cookies.Cookies) != 1 {
		b.T.Fatalf("cookies: %+v, %v", cookies, err)
	}
	v, err := b.site.Rivers.Access().Session(b.T.Context(), SessionOf(b.T, cookies.Cookies[0].Value))
	if err != nil {
		b.T.Fatal(err)
	}
	p.Act(func(ctx context.Context) (timelines.Change, error) { return p.Site.Store.Accounts.SignOut(ctx, v) })
}

// Begin opens the comment box of an entry, or finds it open, and writes half a
// comment into it.
func (b *Tab) Begin(code, text string) {
	b.T.Helper()
	b.Await("the box", `document.querySelector('#p-`+code+`-box form')`)
	if Eval[bool](b, `Boolean(document.querySelector('#p-`+code+`-box details:not([open])'))`) {
		b.Do(chromedp.Click(chromedp.CSS(`#p-` + code + ` > .acts .talk`)))
	}
	b.Do(chromedp.SendKeys(chromedp.CSS(`#p-`+code+`-box textarea`), text))
}

// says fails for each of the texts that is anywhere in the tab's document, be it
// shown or not.
func (b *Tab) SaysNone(texts ...string) {
	b.T.Helper()
	all := Eval[string](b, `document.documentElement.outerHTML`)
	for _, text := range texts {
		if strings.Contains(all, text) {
			b.T.Errorf("%s: the page still says %q:\n%s", b.Name, text, all)
		}
	}
}
