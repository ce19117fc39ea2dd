package web

import (
	"fmt"
	"net"
	"testing"

	"github.com/chromedp/chromedp"
)

// away takes the site off the network, as a restart does, and returns what puts it back.
func (s *liveSite) away() (back func()) {
	s.t.Helper()
	address := s.http.Listener.Addr().String()
	if err := s.http.Listener.Close(); err != nil {
		s.t.Fatal(err)
	}
	s.cutAll()
	s.http.CloseClientConnections()
	return func() {
		s.t.Helper()
		listener, err := net.Listen("tcp", address)
		if err != nil {
			s.t.Fatal(err)
		}
		s.http.Listener = listener
		go func() {
			if err := s.http.Config.Serve(listener); err != nil && s.t.Context().Err() == nil {
				s.t.Errorf("serve again: %v, want that only at the end", err)
			}
		}()
	}
}

func (s *liveSite) cutAll() {
	h := s.server.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	for socket := range h.sockets {
		socket.cut()
	}
}

// While the server is away, a form stays with what is in it, and so does the page. What
// was sent goes out when it is back, once; what was written on meanwhile does not.
func TestFormsWhileServerIsAway(t *testing.T) {
	t.Parallel()
	browser := chromium(t)
	s := newLiveSite(t, nil)
	ann, bob := s.person("ann"), s.person("bob")
	ann.subscribe("bob")
	first, second, third := bob.post("first words").Code, bob.post("second words").Code, bob.post("third words").Code
	s.followUp()
	b := s.tab(browser, "ann")
	b.signIn("ann")
	b.visit("/")
	b.live()
	eval[bool](b, `window.same = true`)
	b.begin(second, "half a thought")
	b.begin(third, "a comment")
	b.begin(first, "a comment to go on with")

	back := s.away()
	b.await("the page to notice", `document.documentElement.dataset.live === '0'`)
	const press = `(document.querySelector('%s button:not([type=button])').click(), true)`
	like, box := `#p-`+first+`-acts form[action$="/like"]`, `#p-`+first+`-box form`
	other, post := `#p-`+third+`-box form`, `#composer form`
	eval[bool](b, `(document.querySelector('#composer textarea').value = 'a post', true)`)
	for _, form := range []string{like, box, other, post} {
		eval[bool](b, fmt.Sprintf(press, form))
		b.await("word that nobody answers", fmt.Sprintf(`document.querySelector('%s').said?.isConnected && document.querySelector('%s').said.textContent.includes('offline')`, form, form))
	}
	typed := func() string {
		return eval[string](b, fmt.Sprintf(`window.same && ['%s', '%s', '#p-%s-box form', '%s'].map((form) => document.querySelector(form + ' textarea').value).join('|')`,
			box, other, second, post))
	}
	if got, want := typed(), "a comment to go on with|a comment|half a thought|a post"; got != want {
		t.Errorf("of what was typed there is %q, want %q", got, want)
	}
	b.do(chromedp.SendKeys(chromedp.CSS(box+` textarea`), ", and on"))
	b.await("no word any more at what is written on", fmt.Sprintf(`!document.querySelector('%s [role=alert]')`, box))

	back()
	b.live()
	b.shows(first, "likes", "you")
	b.shows(third, "comments", "a comment")
	b.codeOf("a post")
	b.await("nothing to be said any more", `!document.querySelector('[data-said]')`)
	b.await("what was sent to be gone", fmt.Sprintf(`!document.querySelector('%s textarea').value && !document.querySelector('%s textarea').value`, other, post))
	if got, want := typed(), "a comment to go on with, and on||half a thought|"; got != want {
		t.Errorf("of what was typed there is %q, want %q", got, want)
	}
	eval[bool](b, fmt.Sprintf(press, box))
	b.shows(first, "comments", "a comment to go on with, and on")
	b.await("the box to be empty", fmt.Sprintf(`!document.querySelector('%s textarea').value`, box)) // the answer may come after the push
	if got := eval[int](b, `document.querySelectorAll('.comment').length`); got != 2 {
		t.Errorf("%d comments, want 2", got)
	}
	if got := eval[int](b, `[...document.querySelectorAll('[data-post]')].filter((e) => e.textContent.includes('a post')).length`); got != 1 {
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
	browser := chromium(t)
	s := newLiveSite(t, nil)
	first := s.person("bob").post("first words").Code
	s.person("ann")
	b := s.tab(browser, "ann")
	b.signIn("ann")
	b.visit("/everything")
	b.live()
	// What is to be done in more than five seconds is never done.
	eval[bool](b, `(() => {
		const plain = window.setTimeout;
		window.setTimeout = (what, after, ...more) => after > 5000 ? 0 : plain(what, after, ...more);
		return true;
	})()`)
	h := s.server.hub
	h.mu.Lock()
	for socket := range h.sockets {
		socket.end(closeTooFast, "too fast") // the page tries again in 16 seconds at the soonest
	}
	h.mu.Unlock()
	b.await("the page to notice", `document.documentElement.dataset.live === '0'`)
	back := s.away()
	eval[bool](b, fmt.Sprintf(`(document.querySelector('#p-%s-acts form[action$="/like"] button').click(), true)`, first))
	b.await("word that it waits", `document.querySelector('[data-said]')`)
	back()
	b.live()
	b.shows(first, "likes", "you")
}

// A request that fails though the server is there is made once more, and then the plain
// way; not if that would lose what is written elsewhere. A gateway's word that nobody is
// behind it is no answer.
func TestFormsWhileRequestsFail(t *testing.T) {
	t.Parallel()
	browser := chromium(t)
	s := newLiveSite(t, nil)
	bob := s.person("bob")
	s.person("ann")
	first, second := bob.post("first words").Code, bob.post("second words").Code
	b := s.tab(browser, "ann")
	b.signIn("ann")
	b.visit("/everything")
	b.live()
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
		eval[bool](b, fmt.Sprintf(`(() => {
			const form = document.querySelector('#p-%s-box form');
			form.querySelector('textarea').value = %q;
			form.requestSubmit();
			return true;
		})()`, code, text))
	}
	for _, how := range []string{broken, gateway} {
		eval[bool](b, fmt.Sprintf(fail, 1, how))
		send(first, "once more by "+how[8:14])
		b.shows(first, "comments", "once more by "+how[8:14])
	}
	eval[bool](b, fmt.Sprintf(fail, 99, broken))
	b.begin(second, "half a thought")
	send(first, "kept")
	b.await("word that it did not go", `document.querySelector('#p-`+first+`-box [role=alert]')`)
	if got := eval[string](b, `window.same && document.querySelector('#p-`+second+`-box textarea').value`); got != "half a thought" {
		t.Errorf("what was written elsewhere became %q", got)
	}
	eval[bool](b, `(document.querySelector('#p-`+second+`-box textarea').value = '', true)`)
	send(first, "the plain way")
	b.shows(first, "comments", "the plain way")
	b.await("another page", `!window.same`)
}

// What somebody wrote is not sent by itself as somebody else who signed in meanwhile.
func TestFormsAreSentAsTheirWriter(t *testing.T) {
	t.Parallel()
	browser := chromium(t)
	s := newLiveSite(t, nil)
	bob := s.person("bob")
	s.person("ann")
	eve := s.person("eve")
	first := bob.post("first words").Code
	b := s.tab(browser, "ann")
	b.signIn("ann")
	b.visit("/everything")
	b.live()
	eval[bool](b, fmt.Sprintf(`(() => {
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
	b.await("word that it waits", `document.querySelector('[data-said]')`)
	eval[bool](b, fmt.Sprintf(`(plain('/login', { method: 'POST', body: new URLSearchParams({ username: 'eve', password: %q }), headers: { Accept: 'application/json' } })
		.then(() => { window.down = false; }), true)`, password))
	b.await("the page to be left", `document.querySelector('#main > .note') && document.querySelector('textarea').value === 'words of ann'`)
	eve.visitor().get("/p/" + first).wants(200).lacks("words of ann")

	// Nor when they press its button, on a page whose socket has not heard of it; whether
	// the form is sent by us or by the browser.
	eval[bool](b, `(fetch('/logout', { method: 'POST' }).then(() => { window.out = true; }), true)`)
	b.await("eve to be signed out", `window.out`)
	b.signIn("ann")
	b.visit("/everything")
	b.live()
	eval[bool](b, fmt.Sprintf(`(fetch('/login', { method: 'POST', body: new URLSearchParams({ username: 'eve', password: %q }), headers: { Accept: 'application/json' } })
		.then(() => { window.eve = true; }), true)`, password))
	b.await("eve to be signed in", `window.eve`)
	eval[bool](b, fmt.Sprintf(`(() => {
		const form = document.querySelector('#p-%s-box form');
		form.querySelector('textarea').value = 'more words of ann';
		form.requestSubmit();
		return true;
	})()`, first))
	b.await("word of who is signed in", `document.querySelector('[data-said]')?.textContent.includes('Someone else')`)
	eval[bool](b, fmt.Sprintf(`(HTMLFormElement.prototype.submit.call(document.querySelector('#p-%s-box form')), true)`, first))
	b.await("the same of another page", `document.querySelector('.problem')?.textContent.includes('Someone else') && document.querySelector('textarea').value === 'more words of ann'`)
	eve.visitor().get("/p/" + first).wants(200).lacks("words of ann")
}
