package web_test

import (
	"testing"

	"riverrun/web/webtest"
)

// The line of folded comments names people who wrote them: by their present names, and nobody
// whom its reader does not see, however the parts of the entry are shared.
func TestFoldedCommentsNameTheirAuthors(t *testing.T) {
	s := webtest.New(t, nil)
	ann, bob, cat, dan := s.Person("ann"), s.Person("bob"), s.Person("cat"), s.Person("dan")
	code := ann.Post("a post", "ann").Code
	ann.Comment(code, "first")
	for _, p := range []*webtest.Person{bob, cat, bob} {
		p.Comment(code, "folded")
	}
	ann.Comment(code, "last but one")
	dan.Comment(code, "last")
	s.FollowUp()
	page := dan.Visitor()
	page.Get("/ann").Wants(200).Has("from  bob,  cat<")
	cat.Rename("Cat Stevens")
	page.Get("/ann").Wants(200).Has("from  bob,  Cat Stevens<")
	bob.Ban("dan")
	page.Get("/ann").Wants(200).Has("from  Cat Stevens<")
	s.Visitor().Get("/ann").Wants(200).Has("from  bob,  Cat Stevens<")
	bob.Unban("dan")
	page.Get("/ann").Wants(200).Has("from  bob,  Cat Stevens<")
}
