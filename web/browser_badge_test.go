package web_test

import (
	"context"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"riverrun/web/view"
	"riverrun/web/webtest"
)

// noted is an icon that notes what its badge says.
const noted = `
	navigator.setAppBadge = async (n) => { self.badge = n; };
	navigator.clearAppBadge = async () => { self.badge = 0; };`

// TestBadgeOfTheIcon: the badge of the installed site's icon is the number of what is unread, be it
// told by a page or by a push, and goes when nothing is unread any more.
func TestBadgeOfTheIcon(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	ann, bob := s.Person("ann"), s.Person("bob")
	code := ann.Post("Fog").Code
	bob.Like(code)
	s.FollowUp()
	b := s.Tab(webtest.Chromium(t), "ann")
	b.Do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: noted})
		return err
	}))
	b.SignIn("ann")
	b.Visit("/everything")
	b.Live()
	b.Await("one is unread", `self.badge === 1`)
	bob.Post("Look, @ann")
	b.Await("two are unread", `self.badge === 2`)
	// The service worker is told the same.
	worker := s.Visitor().Get("/sw.js").Wants(200).Body
	pushed := func(want string) {
		b.Do(chromedp.Evaluate[chromedp.Void](`(async () => {
			self.badge = 7;
			const handlers = {}, shown = [];
			const addEventListener = (name, handler) => { handlers[name] = handler; };
			const clients = { matchAll: async () => [] };
			const registration = { showNotification: async (title, options) => shown.push(options.renotify && options.tag) };
			` + worker + `
			let end;
			handlers.push({ waitUntil: (work) => { end = work; } });
			await end;
			self.told = shown + ' ' + self.badge;
		})(); null`))
		b.Await("what a push shows", `self.told === '`+want+`'`)
	}
	pushed("news 2")
	b.Visit(view.NotificationsPath)
	b.Visit("/everything")
	b.Live()
	b.Await("nothing is unread", `self.badge === 0`)
	pushed(" 0")
}
