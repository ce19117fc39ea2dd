package web_test

import (
	"testing"

	"riverrun/web/webtest"
)

// The page of a sub-feed that is open says nothing of an account that is not, and
// leads nowhere that is closed.
func TestOpenSubfeedOfAClosedAccount(t *testing.T) {
	s := webtest.New(t, nil)
	bob, cat := s.Person("bob"), s.Person("cat")
	b, v := bob.Visitor(), cat.Visitor()
	b.Post("/settings", "title", "Bob", "about", "For friends alone", "language", "en").LeadsTo("/settings?saved")
	b.Post("/settings/pages", "slug", "photos", "title", "My photos", "access", "public").LeadsTo("/settings/pages?saved#page-photos")
	bob.Post("A picture", "bob/photos")
	const page, posts, likes, comments = "/bob/photos", `<a href="/bob">`, `<a href="/bob/likes">`, `<a href="/bob/comments">`
	open := func(v *webtest.Visitor) *webtest.Answer {
		t.Helper()
		return v.Get(page).Wants(200).Has("A picture", "For friends alone", posts, likes, comments)
	}
	shut := func(v *webtest.Visitor) *webtest.Answer {
		t.Helper()
		return v.Get(page).Wants(200).Has("A picture", `href="/bob/photos" aria-current="page"`).Lacks("For friends alone", posts, likes, comments)
	}
	open(v).Has(">Follow<")

	b.Post("/settings/access", "level", "private").Wants(303)
	open(b)
	shut(s.Visitor()).Lacks("/bob/follow")
	shut(v).Has("Request to follow").Lacks(">Follow<")
	v.Post("/bob/follow").Wants(303)
	shut(v).Has("Request sent", "/bob/unfollow").Lacks("Request to follow", ">Follow<")
	b.Post("/cat/accept").Wants(303)
	open(v).Has("Unfollow")
	v.Post("/bob/unfollow").Wants(303)

	b.Post("/settings/access", "level", "protected").Wants(303)
	shut(s.Visitor())
	open(v).Has(">Follow<")
	b.Post("/settings/pages/exclude", "feed", "", "name", "cat").Wants(303)
	shut(v).Lacks("/bob/follow") // as on the closed page: of no use
}
