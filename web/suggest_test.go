package web_test

import (
	"testing"

	"riverrun/timelines"
	"riverrun/web/webtest"
)

// An empty home page leads on to those whom most follow, as far as its reader could follow
// them. It fails for nobody's popularity.
func TestSuggestions(t *testing.T) {
	s := webtest.New(t, nil)
	ann, bob, cat, dan, eve := s.Person("ann"), s.Person("bob"), s.Person("cat"), s.Person("dan"), s.Person("eve")
	ann.Visitor().Post("/groups", "name", "club", "title", "Club", "access", "public").LeadsTo("/club")
	dan.SetAccess("", timelines.Public)
	for _, name := range []string{"fay", "gus"} {
		p := s.Person(name)
		for _, whom := range []string{"bob", "cat", "dan", "club"} {
			p.Subscribe(whom)
		}
	}
	dan.SetAccess("", timelines.Private)
	cat.Ban("eve")
	v := eve.Visitor()
	v.Get("/").Wants(200).Has("The river starts with people", `action="/bob/follow"`, `action="/club/follow"`, `name="back" value="/`).
		Lacks(`href="/dan"`, `href="/cat"`, `action="/eve/follow"`)
	// Followed from there, it is suggested no more.
	v.Post("/bob/follow", "back", "/").LeadsTo("/")
	v.Get("/").Lacks(`action="/bob/follow"`).Has(`action="/club/follow"`)
	bob.Post("Not empty any more")
	s.FollowUp()
	v.Get("/").Has("Not empty any more", "Who to follow", `action="/club/follow"`).Lacks("The river starts with people")
	v.Post("/club/hide")
	v.Get("/").Lacks("Who to follow", `action="/club/follow"`)
}
