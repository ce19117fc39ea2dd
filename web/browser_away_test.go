package web_test

import (
	"errors"
	"fmt"
	"net"
	"testing"

	"github.com/chromedp/chromedp"

	"riverrun/web/live"
	"riverrun/web/webtest"
)

// away takes the site off the network, as a restart does, and returns what puts it back.
func away(s *webtest.Site) (back func()) {
	s.T.Helper()
	address := s.HTTP.Listener.Addr().String()
	if err := s.HTTP.Listener.Close(); err != nil {
		s.T.Fatal(err)
	}
	s.CutAll()
	s.HTTP.CloseClientConnections()
	return func() {
		s.T.Helper()
		listener, err := net.Listen("tcp", address)
		if err != nil {
			s.T.Fatal(err)
		}
		s.HTTP.Listener = listener
		go func() {
			if err := s.HTTP.Config.Serve(listener); err != nil && !errors.Is(err, net.ErrClosed) {
				s.T.Errorf("serve again: %v", err)
			}
		}()
	}
}

// While the server is away, a form stays with what is in it, and so does the page. A form
// that was sent goes out when the server is back, once. One that was changed meanwhile does
// not.
func TestFormsWhileServerIsAway(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.New(t, nil)
	ann, bob := s.Person("ann"), s.Person("bob")
	ann.Subscribe("bob")
	first, second, third := bob.Post("first words").Code, bob.Post("second words").Code, bob.Post("third words").Code
	s.FollowUp()
	b := s.Tab(browser, "ann")
	b.SignIn("ann")
	b.Visit("/")
	b.Live()
	webtest.Eval[bool](b, `window.same = true`)
	b.Begin(second, "half a thought")
	b.Begin(third, "a comment")
	b.Begin(first, "a comment to go on with")

	back := away(s)
	b.Await("the page to notice", `document.documentElement.dataset.live === '0'`)
	const press = `(((form) => form.querySelector('button:not([type=button])') ?? form)(document.querySelector('%s')).click(), true)`
	like, box := `#p-`+first+` > .acts [formaction$="/like"]`, `#p-`+first+`-box form`
	other, post := `#p-`+third+`-box form`, `#composer form`
	webtest.Eval[bool](b, `(document.querySelector('#composer textarea').value = 'a post', true)`)
	for _, form := range []string{like, box, other, post} {
		webtest.Eval[bool](b, fmt.Sprintf(press, form))
		b.Await("word that nobody answers", fmt.Sprintf(`document.querySelector('%s').said?.isConnected && document.querySelector('%s').said.textContent.includes('offline')`, form, form))
	}
	typed := func() string {
		return webtest.Eval[string](b, fmt.Sprintf(`window.same && ['%s', '%s', '#p-%s-box form', '%s'].map((form) => document.querySelector(form + ' textarea').value).join('|')`,
			box, other, second, post))
	}
	if got, want := typed(), "a comment to go on with|a comment|half a thought|a post"; got != want {
		t.Errorf("of what was typed there is %q, want %q", got, want)
	}
	b.Do(chromedp.SendKeys(chromedp.CSS(box+` textarea`), ", and on"))
	b.Await("no word any more at what is written on", fmt.Sprintf(`!document.querySelector('%s [role=alert]')`, box))

	back()
	b.Live()
	b.Shows(first, "likes", "you")
	b.Shows(third, "comments", "a comment")
	b.CodeOf("a post")
	b.Await("nothing to be said any more", `!document.querySelector('[data-said]')`)
	b.Await("what was sent to be gone", fmt.Sprintf(`!document.querySelector('%s textarea').value && !document.querySelector('%s textarea').value`, other, post))
	if got, want := typed(), "a comment to go on with, and on||half a thought|"; got != want {
		t.Errorf("of what was typed there is %q, want %q", got, want)
	}
	webtest.Eval[bool](b, fmt.Sprintf(press, box))
	b.Shows(first, "comments", "a comment to go on with, and on")
	b.Await("the box to be empty", fmt.Sprintf(`!document.querySelector('%s textarea').value`, box)) // the answer may come after the push
	if got := webtest.Eval[int](b, `document.querySelectorAll('.comment').length`); got != 2 {
		t.Errorf("%d comments, want 2", got)
	}
	if got := webtest.Eval[int](b, `[...document.querySelectorAll('[data-post]')].filter((e) => e.textContent.includes('a post')).length`); got != 1 {
		t.Errorf("%d posts, want 1", got)
	}
	if got := typed(); got != "||half a thought|" {
		t.Errorf("of what was typed there is %q, want half a thought alone", got)
	}
}

// However long the server was away, a form that waits for it is sent soon after it is back:
// the page does not go on waiting between two tries for as long as it did before.
func TestWaitingFormHurriesThePage(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.New(t, nil)
	first := s.Person("bob").Post("first words").Code
	s.Person("ann")
	b := s.Tab(browser, "ann")
	b.SignIn("ann")
	b.Visit("/everything")
	b.Live()
	// An act that would have to wait more than five seconds is never done.
	webtest.Eval[bool](b, `(() => {
		const plain = window.setTimeout;
		window.setTimeout = (what, after, ...more) => after > 5000 ? 0 : plain(what, after, ...more);
		return true;
	})()`)
	s.CloseAll(live.CloseTooFast, "too fast") // the page tries again in 16 seconds at the soonest
	b.Await("the page to notice", `document.documentElement.dataset.live === '0'`)
	back := away(s)
	webtest.Eval[bool](b, fmt.Sprintf(`(document.querySelector('#p-%s > .acts [formaction$="/like"]').click(), true)`, first))
	b.Await("word that it waits", `document.querySelector('[data-said]')`)
	back()
	b.Live()
	b.Shows(first, "likes", "you")
}

// A request that fails though the server is there is made once more, and then the plain
// way; not if that would lose what is written elsewhere. A gateway's word that nobody is
// behind it is no answer.
func TestFormsWhileRequestsFail(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.New(t, nil)
	bob := s.Person("bob")
	s.Person("ann")
	first, second := bob.Post("first words").Code, bob.Post("second words").Code
	b := s.Tab(browser, "ann")
	b.SignIn("ann")
	b.Visit("/everything")
	b.Live()
	const fail = `(() => {
		const plain = window.plain ??= window.fetch;
		window.posts = 0;
		window.same = true;
		window.fetch = (address, how) => how?.method !== 'POST' ? plain(address, how)
			: ++posts > %d ? plain(address, how) : %s;
		return true;
	})()`
	const broken, gateway = `Promise.reject(new TypeError('broken'))`, `Promise.resolve(new Response('<h1>Bad gateway</h1>', { status: 502, headers: { 'Content-Type': 'text/html' } }))`
	send := func(code, text string) {
		t.Helper()
		webtest.Eval[bool](b, fmt.Sprintf(`(() => {
			const form = document.querySelector('#p-%s-box form');
			form.querySelector('textarea').value = %q;
			form.requestSubmit();
			return true;
		})()`, code, text))
	}
	for _, how := range []string{broken, gateway} {
		webtest.Eval[bool](b, fmt.Sprintf(fail, 1, how))
		send(first, "once more by "+how[8:14])
		b.Shows(first, "comments", "once more by "+how[8:14])
	}
	webtest.Eval[bool](b, fmt.Sprintf(fail, 99, broken))
	b.Begin(second, "half a thought")
	send(first, "kept")
	b.Await("word that it did not go", `document.querySelector('#p-`+first+`-box [role=alert]')`)
	if got := webtest.Eval[string](b, `window.same && document.querySelector('#p-`+second+`-box textarea').value`); got != "half a thought" {
		t.Errorf("what was written elsewhere became %q", got)
	}
	webtest.Eval[bool](b, `(document.querySelector('#p-`+second+`-box textarea').value = '', true)`)
	send(first, "the plain way")
	b.Shows(first, "comments", "the plain way")
	b.Await("another page", `!window.same`)
}

// A text is not sent by itself as another person who signed in meanwhile.
func TestFormsAreSentAsTheirWriter(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.New(t, nil)
	bob := s.Person("bob")
	s.Person("ann")
	eve := s.Person("eve")
	first := bob.Post("first words").Code
	b := s.Tab(browser, "ann")
	b.SignIn("ann")
	b.Visit("/everything")
	b.Live()
	webtest.Eval[bool](b, fmt.Sprintf(`(() => {
		window.plain = window.fetch;
		window.down = true;
		window.fetch = (address, how) => down
			? Promise.resolve(new Response('<h1>Bad gateway</h1>', { status: 502, headers: { 'Content-Type': 'text/html' } }))
			: plain(address, how);
		const form = document.querySelector('#p-%s-box form');
		form.querySelector('textarea').value = 'words of ann';
		form.requestSubmit();
		return true;
	})()`, first))
	b.Await("word that it waits", `document.querySelector('[data-said]')`)
	webtest.Eval[bool](b, fmt.Sprintf(`(plain('/login', { method: 'POST', body: new URLSearchParams({ username: 'eve', password: %q }), headers: { Accept: 'application/json' } })
		.then(() => { window.down = false; }), true)`, webtest.Password))
	b.Await("the page to be left", `document.querySelector('#main > .note') && document.querySelector('textarea').value === 'words of ann'`)
	eve.Visitor().Get("/p/" + first).Wants(200).Lacks("words of ann")

	// Nor when they press its button, on a page whose socket has not heard of it; whether
	// the form is sent by us or by the browser.
	webtest.Eval[bool](b, `(fetch('/logout', { method: 'POST' }).then(() => { window.out = true; }), true)`)
	b.Await("eve to be signed out", `window.out`)
	b.SignIn("ann")
	b.Visit("/everything")
	b.Live()
	webtest.Eval[bool](b, fmt.Sprintf(`(fetch('/login', { method: 'POST', body: new URLSearchParams({ username: 'eve', password: %q }), headers: { Accept: 'application/json' } })
		.then(() => { window.eve = true; }), true)`, webtest.Password))
	b.Await("eve to be signed in", `window.eve`)
	webtest.Eval[bool](b, fmt.Sprintf(`(() => {
		const form = document.querySelector('#p-%s-box form');
		form.querySelector('textarea').value = 'more words of ann';
		form.requestSubmit();
		return true;
	})()`, first))
	b.Await("word of who is signed in", `document.querySelector('[data-said]')?.textContent.includes('Someone else')`)
	webtest.Eval[bool](b, fmt.Sprintf(`(HTMLFormElement.prototype.submit.call(document.querySelector('#p-%s-box form')), true)`, first))
	b.Await("the same of another page", `document.querySelector('.problem')?.textContent.includes('Someone else') && document.querySelector('textarea').value === 'more words of ann'`)
	eve.Visitor().Get("/p/" + first).Wants(200).Lacks("words of ann")
}
