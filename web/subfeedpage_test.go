package web

import "testing"

// The page of a sub-feed that is open says nothing of an account that is not, and
// leads nowhere that is closed.
func TestOpenSubfeedOfAClosedAccount(t *testing.T) {
	s := newLiveSite(t, nil)
	bob, cat := s.person("bob"), s.person("cat")
	b, v := bob.visitor(), cat.visitor()
	b.post("/settings", "title", "Bob", "about", "For friends alone", "language", "en").leadsTo("/settings?saved")
	b.post("/settings/pages", "slug", "photos", "title", "My photos", "access", "public").leadsTo("/settings/pages?saved#page-photos")
	bob.post("A picture", "bob/photos")
	const page, posts, likes, comments = "/bob/photos", `<a href="/bob">`, `<a href="/bob/likes">`, `<a href="/bob/comments">`
	open := func(v *visitor) *answer {
		t.Helper()
		return v.get(page).wants(200).has("A picture", "For friends alone", posts, likes, comments)
	}
	shut := func(v *visitor) *answer {
		t.Helper()
		return v.get(page).wants(200).has("A picture", `href="/bob/photos" aria-current="page"`).lacks("For friends alone", posts, likes, comments)
	}
	open(v).has(">Follow<")

	b.post("/settings/access", "level", "private").wants(303)
	open(b)
	shut(s.visitor()).lacks("/bob/follow")
	shut(v).has("Request to follow").lacks(">Follow<")
	v.post("/bob/follow").wants(303)
	shut(v).has("Request sent", "/bob/unfollow").lacks("Request to follow", ">Follow<")
	b.post("/cat/accept").wants(303)
	open(v).has("Unfollow")
	v.post("/bob/unfollow").wants(303)

	b.post("/settings/access", "level", "protected").wants(303)
	shut(s.visitor())
	open(v).has(">Follow<")
	b.post("/settings/pages/exclude", "feed", "", "name", "cat").wants(303)
	shut(v).lacks("/bob/follow") // as on the closed page: of no use
}
