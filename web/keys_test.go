package web_test

import (
	"regexp"
	"strings"
	"testing"

	"riverrun/web/webtest"
)

// formKeys finds the key of a form.
var formKeys = regexp.MustCompile(`name="key" value="([^"]+)"`)

// newKey returns the key of the only form on a page.
func newKey(a *webtest.Answer) string {
	a.T.Helper()
	keys := formKeys.FindAllStringSubmatch(a.Body, -1)
	if len(keys) != 1 {
		a.T.Fatalf("%s: %d forms with a key, want 1:\n%s", a.What, len(keys), a.Body)
	}
	return keys[0][1]
}

// TestFormAfterBack sends what a browser sends after going back to a form that was
// sent: its old key with another text. It is shown again, and goes through as it then
// is; the same text is the same message.
func TestFormAfterBack(t *testing.T) {
	s := webtest.New(t, nil)
	anna, bob := s.Person("anna").Visitor(), s.Person("bob").Visitor()
	direct := func(text, key string) *webtest.Answer {
		return bob.Post("/posts", "body", text, "to", "anna", "direct", "1", "key", key, "back", "/filter/messages")
	}
	direct("First of all", "k1").LeadsTo("/filter/messages")
	direct("First of all", "k1").LeadsTo("/filter/messages")
	again := direct("And then", "k1").Wants(422).Has("And then", "sent this form with a different text", `name="to"`, `value="anna"`, `name="direct"`)
	bob.Get("/filter/messages").Has("First of all").Lacks("And then")
	key := newKey(again)
	direct("And then", key).LeadsTo("/filter/messages")
	direct("And then", key).LeadsTo("/filter/messages")
	page := bob.Get("/filter/messages").Has("First of all", "And then")
	if n := strings.Count(page.Body, "<article"); n != 2 {
		t.Errorf("%d directs, want 2", n)
	}

	at := "/p/" + page.Code() + "/comments"
	anna.Post(at, "body", "Thank you", "key", "k2").Wants(303)
	key = newKey(anna.Post(at, "body", "On second thoughts", "key", "k2").Wants(422).Has("On second thoughts", "sent this form with a different text"))
	anna.Post(at, "body", "On second thoughts", "key", key).Wants(303)
	anna.Get("/filter/messages").Has("Thank you", "On second thoughts")

	// A key that cannot be kept is no better the second time.
	long := strings.Repeat("k", 101)
	if key := newKey(bob.Post("/posts", "body", "Long", "key", long).Wants(422).Has("Long")); key == long {
		t.Error("a key that is too long is offered again")
	}
	// river.js hears which field it is, and makes a key of its own.
	bob.Header.Set("Accept", "application/json")
	direct("And finally", "k1").Wants(422).Has(`"field":"key"`)
}
