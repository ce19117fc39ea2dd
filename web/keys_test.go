package web

import (
	"regexp"
	"strings"
	"testing"
)

// formKeys finds the key of a form.
var formKeys = regexp.MustCompile(`name="key" value="([^"]+)"`)

// newKey returns the key of the only form on a page.
func (a *answer) newKey() string {
	a.t.Helper()
	keys := formKeys.FindAllStringSubmatch(a.body, -1)
	if len(keys) != 1 {
		a.t.Fatalf("%s: %d forms with a key, want 1:\n%s", a.what, len(keys), a.body)
	}
	return keys[0][1]
}

// TestFormAfterBack sends what a browser sends after going back to a form that was
// sent: its old key with another text. It is shown again, and goes through as it then
// is; the same text is the same message.
func TestFormAfterBack(t *testing.T) {
	s := newLiveSite(t, nil)
	anna, bob := s.person("anna").visitor(), s.person("bob").visitor()
	direct := func(text, key string) *answer {
		return bob.post("/posts", "body", text, "to", "anna", "direct", "1", "key", key, "back", "/filter/messages")
	}
	direct("First of all", "k1").leadsTo("/filter/messages")
	direct("First of all", "k1").leadsTo("/filter/messages")
	again := direct("And then", "k1").wants(422).has("And then", "sent this form with something else", `name="to"`, `value="anna"`, `name="direct"`)
	bob.get("/filter/messages").has("First of all").lacks("And then")
	key := again.newKey()
	direct("And then", key).leadsTo("/filter/messages")
	direct("And then", key).leadsTo("/filter/messages")
	page := bob.get("/filter/messages").has("First of all", "And then")
	if n := strings.Count(page.body, "<article"); n != 2 {
		t.Errorf("%d directs, want 2", n)
	}

	at := "/p/" + page.code() + "/comments"
	anna.post(at, "body", "Thank you", "key", "k2").wants(303)
	key = anna.post(at, "body", "On second thoughts", "key", "k2").wants(422).has("On second thoughts", "sent this form with something else").newKey()
	anna.post(at, "body", "On second thoughts", "key", key).wants(303)
	anna.get("/filter/messages").has("Thank you", "On second thoughts")

	// A key that cannot be kept is no better the second time.
	long := strings.Repeat("k", 101)
	if key := bob.post("/posts", "body", "Long", "key", long).wants(422).has("Long").newKey(); key == long {
		t.Error("a key that is too long is offered again")
	}
	// river.js hears which field it is, and makes a key of its own.
	bob.header.Set("Accept", "application/json")
	direct("And finally", "k1").wants(422).has(`"field":"key"`)
}
