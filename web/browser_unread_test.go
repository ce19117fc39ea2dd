package web_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"riverrun/web/webtest"
)

// The number of new comments leads to the first of them. The line stays while others come in,
// and what came in while the page was looked at is read, on all open pages.
func TestFirstUnreadInABrowser(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.New(t, nil)
	ann, bob := s.Person("ann"), s.Person("bob")
	code := bob.Post("words of bob").Code
	bob.Comment(code, "seen")
	ann.Visitor().Get("/p/" + code).Wants(200)
	desk, phone := s.Tab(browser, "desk"), s.Tab(browser, "phone")
	for _, b := range []*webtest.Tab{desk, phone} {
		b.SignIn("ann")
		b.Visit("/everything")
		b.Live()
	}
	first := bob.Comment(code, "the first unread").CommentID
	bob.Comment(code, "the second unread")
	fresh := `#p-` + code + ` > .likes .fresh`
	for _, b := range []*webtest.Tab{desk, phone} {
		b.Await("the number", `document.querySelector('`+fresh+`')?.textContent === '2 new'`)
	}
	desk.Do(chromedp.Click(chromedp.CSS(fresh)))
	above := fmt.Sprintf(`document.getElementById('unread')?.nextElementSibling?.id === 'c-%d'`, first)
	desk.Await("the line", above)
	desk.Live()
	if got := webtest.Eval[string](desk, `location.hash`); got != "#unread" {
		t.Errorf("the link leads to %q", got)
	}
	phone.Await("no number", `!document.querySelector('`+fresh+`')`)
	bob.Comment(code, "while it is read")
	desk.Shows(code, "comments", "while it is read")
	if !webtest.Eval[bool](desk, above) {
		t.Error("the line went with a new comment")
	}
	phone.Shows(code, "comments", "while it is read")
	phone.Await("no number", `!document.querySelector('`+fresh+`')`)
	phone.EqualsReload()
	desk.Visit("/p/" + code)
	desk.Live()
	if webtest.Eval[bool](desk, `Boolean(document.getElementById('unread'))`) {
		t.Error("what was read is unread again")
	}
}
