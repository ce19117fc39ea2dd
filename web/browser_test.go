package web

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

	"riverrun/timelines"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"
)

// shared is the one Chromium of the package's tests: to start it takes two seconds of a
// processor.
var shared struct {
	sync.Mutex
	browser context.Context // nil until a test asks for it
	close   func() error
}

// chromium returns a real browser, in which each tab has cookies of its own. Its absence
// is a failure.
func chromium(t *testing.T) context.Context {
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
	path := os.Getenv("RIVERRUN_TEST_CHROMIUM")
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); path == "" && err == nil {
			path = found
		}
	}
	if path == "" {
		return nil, nil, errors.New("none found; install it (apt-get install chromium) or name it in RIVERRUN_TEST_CHROMIUM")
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
		within, done := context.WithTimeout(browser, patience)
		defer done()
		err := chromedp.Cancel(within)
		cancelAllocator()
		return err
	}, nil
}

// closeChromium ends it after the last test.
func closeChromium() error {
	shared.Lock()
	defer shared.Unlock()
	if shared.close == nil {
		return nil
	}
	return shared.close()
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
	ctx, _ := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	s.t.Cleanup(func() {
		if err := chromedp.Cancel(ctx); err != nil {
			s.t.Errorf("%s: close the tab: %v", name, err)
		}
	})
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
	// The last one may be shown by the socket before its answer comes, which closes the box.
	b.await("no comment under way", `!document.querySelector('#p-`+code+`-box form')?.ariaBusy`)
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
	copy.removeAttribute('data-sight'); // another word each time
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
	lines.push('end: ' + (page.querySelector('.paging .notes')?.textContent ?? 'none'));
	return lines;
}`

// equalsReload compares the page with what a reload makes of it. What has
// happened may still be on its way: it waits until the two agree. What waits for the reader
// to ask for it is asked for.
func (b *tab) equalsReload() {
	b.t.Helper()
	const now = `(document.querySelector('#news button').click(), (` + snapshot + `)(document))`
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
