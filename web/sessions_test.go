package web_test

import (
	"regexp"
	"strings"
	"testing"

	"riverrun/web/webtest"
)

const (
	firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"
	iphone  = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1"
)

// People see where they are signed in, hear of a new sign-in on the pages of their other
// sessions, and end one session or all others.
func TestSessions(t *testing.T) {
	s := webtest.New(t, nil)
	ann, bob := s.Person("ann"), s.Person("bob")
	here, there := ann.Visitor(), s.Visitor()
	here.Get("/").Lacks("New sign-in")
	there.Header.Set("User-Agent", "\xff/1.0 \xfe")
	there.Post("/login", "username", "ann", "password", webtest.Password).LeadsTo("/")
	here.Get("/").Has("New sign-in: ")
	here.Post("/settings/sessions").LeadsTo("/settings/sessions?saved")
	there.Header.Set("User-Agent", iphone)
	there.Post("/login", "username", "ann", "password", webtest.Password).LeadsTo("/")
	here.Get("/").Wants(200).Has("New sign-in: Safari, iOS,")
	there.Get("/").Wants(200).Lacks("New sign-in")
	here.Get("/settings").Has("/settings/sessions")
	page := here.Get("/settings/sessions").Wants(200).Has("Safari, iOS", "this browser", "an unknown browser")
	ids := regexp.MustCompile(`name="id" value="([0-9a-f]{64})"`).FindAllStringSubmatch(page.Body, -1)
	if len(ids) != 2 {
		t.Fatalf("%d sessions, want 2", len(ids))
	}
	there.Post("/settings/sessions/seen").LeadsTo("/") // the others still have to hear of it
	here.Get("/").Has("New sign-in")
	here.Post("/settings/sessions/seen", "back", "/everything").LeadsTo("/everything")
	here.Get("/").Lacks("New sign-in")

	id := ids[1][1]
	bob.Visitor().Post("/settings/sessions", "id", id).LeadsTo("/settings/sessions?saved") // another's: nothing
	there.Get("/settings").Wants(200)
	here.Post("/settings/sessions", "id", id).LeadsTo("/settings/sessions?saved")
	there.Get("/settings").LeadsTo("/login?back=%2Fsettings")
	here.Post("/settings/sessions", "id", id).LeadsTo("/settings/sessions?saved")
	for _, wrong := range []string{"x", "00", strings.Repeat("0", 63)} {
		here.Post("/settings/sessions", "id", wrong).Wants(404)
	}

	there.Post("/login", "username", "ann", "password", webtest.Password).LeadsTo("/")
	another := s.Visitor()
	another.Header.Set("User-Agent", firefox)
	another.Post("/login", "username", "ann", "password", webtest.Password).LeadsTo("/")
	here.Get("/").Has("New sign-in: Firefox, Linux,")
	here.Post("/settings/sessions").LeadsTo("/settings/sessions?saved")
	here.Get("/settings/sessions").Wants(200).Lacks("Firefox")
	for _, v := range []*webtest.Visitor{there, another} {
		v.Get("/settings").LeadsTo("/login?back=%2Fsettings")
	}
}

// A new password is told to whoever signs in later, and not to the browser in which it was chosen.
func TestANewPasswordIsTold(t *testing.T) {
	s := webtest.New(t, nil)
	here := s.Person("ann").Visitor()
	const chosen = "quite another one"
	here.Post("/settings/password", "present", webtest.Password, "password", chosen).LeadsTo("/settings?saved")
	here.Get("/").Lacks("Your password was changed")
	there := s.Visitor()
	there.Post("/login", "username", "ann", "password", chosen).LeadsTo("/")
	here.Get("/").Has("New sign-in")
	there.Get("/").Has("Your password was changed")
}
