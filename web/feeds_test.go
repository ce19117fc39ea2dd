package web

import "testing"

// A feed or group made with no level chosen is not made: what its form offers is not
// what one would have said.
func TestNoLevelIsNone(t *testing.T) {
	s := newLiveSite(t, nil)
	v := s.person("anna").visitor()
	const private = `value="private" checked`
	for lang, said := range map[string]string{"en": "Choose who can read it.", "ru": "Выберите, кто может читать."} {
		v.header.Set("Accept-Language", lang)
		for _, level := range []string{"", "secret"} {
			v.post("/settings/pages", "slug", "photos", "title", "My photos", "access", level).wants(422).
				has(said, `value="My photos"`, `value="photos"`, private)
			v.post("/groups", "name", "chess-club", "title", "Chess Club", "access", level).wants(422).
				has(said, `value="Chess Club"`, `value="chess-club"`)
		}
		v.post("/settings/pages", "slug", "photos", "title", "My photos").wants(422).has(said, private)
		v.get("/settings/pages").wants(200).lacks("My photos")
	}
	v.get("/anna/photos").wants(404)
	v.get("/chess-club").wants(404)
	v.post("/settings/pages", "slug", "p!", "title", "My photos", "access", "protected").wants(422).has(`value="protected" checked`)
	v.post("/settings/pages", "slug", "photos", "title", "My photos", "access", "private").leadsTo("/settings/pages?saved#page-photos")
	v.get("/anna/photos").wants(200)
	s.visitor().get("/anna/photos").wants(404)
}
