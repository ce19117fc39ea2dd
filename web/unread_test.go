package web_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"riverrun/rivers"
	"riverrun/web/webtest"
)

// freshText is the number of new comments of the entry of that code on a page, "" if it has none.
func freshText(a *webtest.Answer, code string) string {
	m := regexp.MustCompile(`<a class="fresh" href="/p/` + code + `#unread"[^>]*>([^<]*)</a>`).FindStringSubmatch(a.Body)
	if m == nil {
		return ""
	}
	return m[1]
}

// lineBefore is the id of the comment below the line of the first unread one, "" without such a
// line.
func lineBefore(a *webtest.Answer) string {
	m := regexp.MustCompile(`id="unread"[^>]*>First unread</div>\s*<div class="comment" id="c-(\d+)"`).FindStringSubmatch(a.Body)
	if m == nil {
		if strings.Contains(a.Body, `id="unread"`) {
			return "a line that stands above no comment"
		}
		return ""
	}
	return m[1]
}

// An entry tells how many comments came since its viewer opened the post, and the post's page
// where they begin.
func TestUnreadComments(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	ann, bob, eve := s.Person("ann"), s.Person("bob"), s.Person("eve")
	code, other := bob.Post("words of bob").Code, bob.Post("never opened").Code
	v := ann.Visitor()
	on := func(page, want string) {
		t.Helper()
		if got := freshText(v.Get(page).Wants(200), code); got != want {
			t.Errorf("%s says %q, want %q", page, got, want)
		}
	}
	bob.Comment(code, "before")
	bob.Comment(other, "before")
	on("/everything", "") // never opened: it is new as a whole
	if got := lineBefore(v.Get("/p/" + code).Wants(200)); got != "" {
		t.Errorf("the first time there is a line above %s", got)
	}
	on("/everything", "")
	ann.Comment(code, "my own")
	on("/everything", "")
	first := bob.Comment(code, "since").CommentID
	on("/everything", "1 new")
	eve.Comment(code, "since, by eve")
	bob.Comment(code, "since again")
	on("/everything", "3 new")
	on("/bob", "3 new")
	if got := freshText(v.Get("/everything"), other); got != "" {
		t.Errorf("a post that was never opened has %q", got)
	}
	for who, visitor := range map[string]*webtest.Visitor{"eve, who never opened it but wrote last but one": eve.Visitor(), "nobody": s.Visitor()} {
		want := map[bool]string{true: "1 new"}[who != "nobody"]
		if got := freshText(visitor.Get("/everything"), code); got != want {
			t.Errorf("%s: %q, want %q", who, got, want)
		}
	}
	// Whom ann does not see does not count, for as long.
	ann.Ban("eve")
	on("/everything", "2 new")
	ann.Unban("eve")
	on("/everything", "3 new")
	// A head alone, or a page fetched before it is asked for, is no reading.
	v.Do("HEAD", "/p/"+code, nil).Wants(200)
	v.Header.Set("Sec-Purpose", "prefetch")
	v.Get("/p/" + code).Wants(200)
	v.Header.Del("Sec-Purpose")
	on("/everything", "3 new")

	if got, want := lineBefore(v.Get("/p/"+code).Wants(200)), fmt.Sprint(first); got != want {
		t.Errorf("the line stands above comment %q, want %s", got, want)
	}
	on("/everything", "")
	if got := lineBefore(v.Get("/p/" + code).Wants(200)); got != "" {
		t.Errorf("after reading there is a line above %s", got)
	}
	// The shared parts know nothing of it.
	if got := lineBefore(bob.Visitor().Get("/p/" + code).Wants(200)); got == fmt.Sprint(first) {
		t.Error("the author's page has the line of somebody else")
	}

	// The post's author is told from the beginning, without having opened it.
	mine := ann.Post("words of ann").Code
	bob.Comment(mine, "an answer")
	if got := freshText(v.Get("/ann"), mine); got != "1 new" {
		t.Errorf("ann's own post has %q", got)
	}
	// Beyond what a fold knows there are "more than".
	for i := range rivers.MaxRecent + 2 {
		bob.Comment(mine, fmt.Sprint("answer ", i))
	}
	if got := freshText(v.Get("/ann"), mine); got != "30+ new" {
		t.Errorf("ann's much discussed post has %q", got)
	}
}

// A post that somebody reads at one node is read at the others.
func TestReadMarksOnOtherNodes(t *testing.T) {
	t.Parallel()
	here := webtest.New(t, nil)
	there := webtest.NewNode(t, here.DB, 0, rivers.DefaultOptions(), nil)
	ann, bob := here.Person("ann"), here.Person("bob")
	code := ann.Post("words of ann").Code
	bob.Comment(code, "an answer")
	here.FollowUp()
	other := there.Visitor()
	other.Client.Jar = ann.Visitor().Client.Jar
	says := func(want string) func() bool {
		return func() bool {
			other.Base = there.HTTP.URL
			return freshText(other.Get("/everything").Wants(200), code) == want
		}
	}
	webtest.Await(t, "the number at the other node", says("1 new"))
	ann.Visitor().Get("/p/" + code).Wants(200)
	webtest.Await(t, "the reading at the other node", says(""))
}
