package web_test

import (
	"encoding/json"
	"encoding/xml"
	"strings"
	"testing"

	"riverrun/web/view"
	"riverrun/web/webtest"
)

// TestCutSpoilersStayHidden: wherever only the beginning of a text is shown, a spoiler that ends
// behind it is one all the same.
func TestCutSpoilersStayHidden(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	ann, bob := s.Person("ann"), s.Person("bob")
	const secret = "gardener"
	long := "The murderer is ||" + strings.Repeat(secret+" ", 400) + "indeed||."
	code := ann.Post(long).Code
	bob.Comment(code, long)
	bob.Post("@ann " + long)
	s.FollowUp()
	a := ann.Visitor()
	var news struct{ Body string }
	if err := json.Unmarshal([]byte(a.Get("/push/news").Wants(200).Body), &news); err != nil {
		t.Fatal(err)
	}
	if want := "@ann The murderer is […]"; news.Body != want {
		t.Errorf("a browser is told %q, want %q", news.Body, want)
	}
	hidden := func(address string, page *webtest.Answer) {
		t.Helper()
		shown := page.Body
		for {
			before, rest, found := strings.Cut(shown, "<span hidden>")
			if !found {
				break
			}
			_, after, _ := strings.Cut(rest, "</span>")
			shown = before + after
		}
		if strings.Contains(shown, secret) {
			t.Errorf("%s shows what a spoiler hides", address)
		}
		if !strings.Contains(shown, "The murderer is") {
			t.Errorf("%s does not show the text at all", address)
		}
	}
	for _, address := range []string{"/everything", "/ann", "/search?q=murderer", view.NotificationsPath} {
		hidden(address, a.Get(address).Wants(200))
	}
	for _, address := range []string{"/feeds/everything.atom", "/feeds/p/" + code + ".atom"} {
		var feed view.AtomFeed
		if err := xml.Unmarshal([]byte(a.Get(address).Wants(200).Body), &feed); err != nil {
			t.Fatal(err)
		}
		for _, e := range feed.Entries {
			if strings.Contains(e.Title, secret) || !strings.Contains(e.Title, "[…]") {
				t.Errorf("%s: the title is %q", address, e.Title)
			}
			hidden(address, &webtest.Answer{Body: e.Content.Text})
		}
	}
	b := bob.Visitor()
	b.Post("/p/" + code + "/hide").Wants(303)
	hidden("/settings/hidden", b.Get("/settings/hidden").Wants(200))
	b.Post("/p/" + code + "/mute").Wants(303)
	hidden("/settings/hidden", b.Get("/settings/hidden").Wants(200))
	cid := s.Person("cid").Visitor()
	cid.Post("/p/"+code+"/comments", "keep", "1", "draft", "/p/"+code, "body", "half a word").Wants(303)
	hidden("/drafts", cid.Get("/drafts").Wants(200))
}
