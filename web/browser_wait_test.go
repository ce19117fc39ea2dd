package web_test

import (
	"testing"

	"riverrun/web/webtest"
)

// While nobody answers, a page tries again after at most five seconds, however long that lasts, and after
// any part of that, so that all do not come back at the same moment.
func TestPagesComeBackSoon(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.New(t, nil)
	b := s.Tab(browser, "nobody")
	b.Visit("/everything")
	b.Live()
	// Time is short here. The page keeps how long each try to connect should have waited.
	webtest.Eval[bool](b, `(() => {
		const plain = window.setTimeout, Plain = window.WebSocket;
		let should = null;
		window.waits = [];
		window.chance = 1;
		Math.random = () => window.chance;
		window.setTimeout = (what, after, ...more) => plain(() => {
			should = after;
			what(...more);
			should = null;
		}, Math.min(after, 5));
		window.WebSocket = class extends Plain {
			constructor(address) {
				if (should !== null) window.waits.push(should);
				super(address);
			}
		};
		return true;
	})()`)
	away(s)
	b.Await("many tries", `window.waits.length > 20`)
	if got := webtest.Eval[int](b, `Math.max(...window.waits)`); got != 5000 {
		t.Errorf("the longest wait is %d ms, want 5000", got)
	}
	if got := webtest.Eval[int](b, `(window.chance = 0, window.waits = [], 0)`); got != 0 {
		t.Fatal(got)
	}
	b.Await("more tries", `window.waits.length > 5`)
	if got := webtest.Eval[int](b, `Math.min(...window.waits)`); got != 0 {
		t.Errorf("the shortest wait is %d ms, want 0", got)
	}
}
