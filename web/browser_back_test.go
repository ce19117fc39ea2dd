package web_test

import (
	"testing"

	"riverrun/web/webtest"
)

// A page that comes back after a while says in a line how much it brought. The line goes when
// it is pressed.
func TestAwayLine(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.New(t, nil)
	ann, bob := s.Person("ann"), s.Person("bob")
	first, second := bob.Post("first words").Code, bob.Post("second words").Code
	b := s.Tab(browser, "ann")
	b.SignIn("ann")
	b.Visit("/everything")
	b.Live()
	// The tab sleeps: it hears nothing, and its clock goes on.
	sleep := func() {
		t.Helper()
		webtest.Eval[bool](b, `(() => {
			window.clock ??= Date.now;
			window.ahead = (window.ahead ?? 0) + 120000;
			Date.now = () => window.clock.call(Date) + window.ahead;
			window.Plain ??= WebSocket;
			window.WebSocket = class extends EventTarget { static OPEN = 1; readyState = 3; close() {} };
			document.dispatchEvent(new Event('visibilitychange'));
			return true;
		})()`)
	}
	wake := func() {
		t.Helper()
		webtest.Eval[bool](b, `(() => {
			window.WebSocket = window.Plain;
			window.ahead += 120000;
			document.dispatchEvent(new Event('visibilitychange'));
			return true;
		})()`)
	}
	sleep()
	b.Await("the connection lost", `document.documentElement.dataset.live === '0'`)
	ann.Visitor().Post("/p/"+first+"/like", "back", "/").Wants(303)
	bob.Comment(second, "a comment")
	bob.Comment(second, "another")
	bob.Post("third words")
	s.FollowUp()
	wake()
	b.Await("the line", `document.querySelector('.away button')?.textContent === '3 changes while you were away'`)
	webtest.Eval[bool](b, `(document.querySelector('.away button').click(), true)`)
	b.Await("no line", `!document.querySelector('.away button')`)
	b.EqualsReload()

	// Without a change nothing is said.
	b.Visit("/everything")
	b.Live()
	sleep()
	b.Await("the connection lost", `document.documentElement.dataset.live === '0'`)
	wake()
	b.Live()
	if webtest.Eval[bool](b, `Boolean(document.querySelector('.away button'))`) {
		t.Error("a page that came back unchanged says that it changed")
	}
}
