package web

import "testing"

// The page of a sub-feed that is open says nothing of an account that is not, and
// leads nowhere that is closed.
func TestOpenSubfeedOfAClosedAccount(t *testing.T) {
	s := newLiveSite(t, nil)
	bob, cat := s.person("bob"), s.person("cat")
	b, v := bob.visitor(), cat.visitor()
	b.post("/settings", "title", "Bob", "about", "For friends alone", "language", "en").leadsTo("/settings?saved")
	b.post("/settings/feeds", "slug", "photos", "title", "My photos", "access", "public").leadsTo("/settings/feeds?saved#page-photos")
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
	open(v).has(">Subscribe<")

	b.post("/settings/access", "level", "private").wants(303)
	open(b)
	shut(s.visitor()).lacks("/bob/subscribe")
	shut(v).has("Ask to subscribe").lacks(">Subscribe<")
	v.post("/bob/subscribe").wants(303)
	shut(v).has("You asked to subscribe", "/bob/unsubscribe").lacks("Ask to subscribe", ">Subscribe<")
	b.post("/cat/accept").wants(303)
	open(v).has("Unsubscribe")
	v.post("/bob/unsubscribe").wants(303)

	b.post("/settings/access", "level", "protected").wants(303)
	shut(s.visitor())
	open(v).has(">Subscribe<")
	b.post("/settings/feeds/exclude", "feed", "", "name", "cat").wants(303)
	shut(v).lacks("/bob/subscribe") // as on the closed page: of no use
}
