package web_test

import (
	"testing"

	"riverrun/web/webtest"
)

// A feed or group made with no level chosen is not made: what its form offers is not
// what one would have said.
func TestNoLevelIsNone(t *testing.T) {
	s := webtest.New(t, nil)
	v := s.Person("anna").Visitor()
	const private = `value="private" checked`
	for lang, said := range map[string]string{"en": "Choose who can read it.", "ru": "Выберите, кто может читать."} {
		v.Header.Set("Accept-Language", lang)
		for _, level := range []string{"", "secret"} {
			v.Post("/settings/pages", "slug", "photos", "title", "My photos", "access", level).Wants(422).
				Has(said, `value="My photos"`, `value="photos"`, private)
			v.Post("/groups", "name", "chess-club", "title", "Chess Club", "access", level).Wants(422).
				Has(said, `value="Chess Club"`, `value="chess-club"`)
		}
		v.Post("/settings/pages", "slug", "photos", "title", "My photos").Wants(422).Has(said, private)
		v.Get("/settings/pages").Wants(200).Lacks("My photos")
	}
	v.Get("/anna/photos").Wants(404)
	v.Get("/chess-club").Wants(404)
	v.Post("/settings/pages", "slug", "p!", "title", "My photos", "access", "protected").Wants(422).Has(`value="protected" checked`)
	v.Post("/settings/pages", "slug", "photos", "title", "My photos", "access", "private").LeadsTo("/settings/pages?saved#page-photos")
	v.Get("/anna/photos").Wants(200)
	s.Visitor().Get("/anna/photos").Wants(404)
}
