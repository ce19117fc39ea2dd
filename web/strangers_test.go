package web_test

import (
	"fmt"
	"regexp"
	"strconv"
	"testing"

	"riverrun/web"
	"riverrun/web/webtest"
)

// newcomer signs up on the page.
func newcomer(s *webtest.Site, name string) *webtest.Visitor {
	v := s.Visitor()
	v.Post("/signup", "username", name, "password", webtest.Password).LeadsTo("/welcome/you")
	return v
}

// An account that is a minute old writes 62 posts at two nodes, and is told when it may write more.
func TestStrangerFloods(t *testing.T) {
	s := webtest.New(t, nil)
	other := webtest.NewHome(t, s.DB, "")
	eve := newcomer(s, "eve")
	there := other.Visitor()
	there.Post("/login", "username", "eve", "password", webtest.Password)
	made := 0
	for i := range 62 {
		v := eve
		if i%2 == 1 {
			v = there
		}
		a := v.Post("/posts", "body", fmt.Sprintf("look here %d", i))
		if a.Status == 303 {
			made++
			continue
		}
		if a.Wants(429).Has("you can write 5 posts an hour. Try again in 1 hour.", fmt.Sprintf(">look here %d</textarea>", i)); a.Header.Get("Retry-After") != "3600" {
			t.Fatalf("Retry-After %q", a.Header.Get("Retry-After"))
		}
	}
	if made != 5 {
		t.Errorf("%d posts were made, want 5", made)
	}
	eve.Header.Set("Accept-Language", "ru")
	eve.Post("/posts", "body", "ещё").Wants(429).Has("можно писать 5 записей в час. Попробуйте снова через 1 час.")
}

// A stranger's message to somebody who does not know them says whom it may go to.
func TestStrangerWrites(t *testing.T) {
	s := webtest.New(t, nil)
	bob, fan := s.Person("bob"), s.Person("fan")
	eve := newcomer(s, "eve")
	fan.Subscribe("eve")
	eve.Post("/posts", "body", "psst", "to", "fan", "direct", "1").LeadsTo("/")
	eve.Post("/posts", "body", "psst", "to", "bob", "direct", "1").Wants(422).Has("“bob” does neither", ">psst</textarea>")
	eve.Header.Set("Accept-Language", "ru")
	eve.Post("/posts", "body", "psst", "to", "bob", "direct", "1").Wants(422).Has("С «bob» так не получится")
	eve.Post("/posts", "body", "@bob @fan").LeadsTo("/")
	for p, want := range map[*webtest.Person]bool{bob: false, fan: true} {
		page := p.Visitor().Get("/filter/notifications").Wants(200)
		if want {
			page.Has("@fan")
			continue
		}
		page.Lacks("mentioned")
		p.Visitor().Get("/filter/mentions").Wants(200).Lacks("data-post")
	}
}

var tryAgain = regexp.MustCompile(`Try again in (\d+) seconds?\.`)

// The answer to somebody who is too fast says when, in words and in its header.
func TestTooFastSaysWhen(t *testing.T) {
	s := webtest.New(t, nil)
	s.Server.SetLimits(web.Limits{Writes: 4})
	anna := s.Person("anna").Visitor()
	for range 4 {
		anna.Post("/posts", "body", "hello").LeadsTo("/")
	}
	for address, form := range map[string][]string{"/posts": {"body", "hello"}, "/bob/follow": nil} {
		a := anna.Post(address, form...).Wants(429)
		m := tryAgain.FindStringSubmatch(a.Body)
		if m == nil || a.Header.Get("Retry-After") != m[1] {
			t.Fatalf("%s: Retry-After %q, text %q\n%s", address, a.Header.Get("Retry-After"), m, a.Body)
		}
		if n, err := strconv.Atoi(m[1]); err != nil || n < 5 || n > 15 {
			t.Errorf("%s: again in %q seconds, want nearly 15", address, m[1])
		}
	}
}
