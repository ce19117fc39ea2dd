package web_test

import (
	"net/http"
	"strings"
	"testing"

	"riverrun/rivers"
	"riverrun/web/webtest"
)

// TestOldAddresses: links, forms and open pages that have an address with an old word
// go on working.
func TestOldAddresses(t *testing.T) {
	s := webtest.New(t, nil)
	anna, bob := s.Person("anna"), s.Person("bob")
	v := anna.Visitor()
	code := bob.Post("Worth keeping").Code

	t.Run("pages", func(t *testing.T) {
		for old, now := range map[string]string{
			"/filter/directs":              "/filter/messages",
			"/filter/directs?before=1.abc": "/filter/messages?before=1.abc",
			"/filter/eyes":                 "/filter/only-me",
			"/filter/faves?order=created":  "/filter/saved?order=created",
			"/anna/faves?order=created":    "/filter/saved?order=created",
			"/most-faved":                  "/best/saved",
			"/most-faved?lang=ru":          "/best/saved?lang=ru",
			"/settings/feeds?saved":        "/settings/pages?saved",
			"/settings/unseen?posts=1":     "/settings/hidden?posts=1",
		} {
			for _, method := range []string{http.MethodGet, http.MethodHead} {
				if got := v.Do(method, old, nil).Wants(http.StatusMovedPermanently).Header.Get("Location"); got != now {
					t.Errorf("%s %s leads to %q, want %q", method, old, got, now)
				}
			}
			if !strings.Contains(now, "=1") {
				v.Get(now).Wants(200)
			}
		}
	})

	t.Run("forms", func(t *testing.T) {
		for _, f := range []struct {
			address string
			fields  []string
			leads   string
			page    string
			has     string
		}{
			{"/bob/subscribe", nil, "/bob", "/bob", "/bob/unfollow"},
			{"/bob/unsubscribe", nil, "/bob", "/bob", "/bob/follow"},
			{"/p/" + code + "/fave", []string{"back", "/filter/faves"}, "/filter/faves", "/filter/saved", "Worth keeping"},
			{"/p/" + code + "/unfave", nil, "/p/" + code, "/filter/saved", "Save a post"},
			{
				"/settings/feeds",
				[]string{"slug", "photos", "title", "Photos", "access", "private"},
				"/settings/pages?saved#page-photos", "/settings/pages", "Photos",
			},
			{"/settings/feeds/rename", []string{"feed", "photos", "title", "Pictures"}, "/settings/pages?saved", "/settings/pages", "Pictures"},
			{"/settings/feeds/admit", []string{"feed", "photos", "name", "bob"}, "/settings/pages?saved", "/settings/pages", "@bob"},
			{"/settings/unseen", []string{"term", "football"}, "/settings/hidden", "/settings/hidden", "football"},
			{"/settings/unseen/remove", []string{"term", "football"}, "/settings/hidden", "/settings/hidden", "Words and tags"},
		} {
			v.Post(f.address, f.fields...).LeadsTo(f.leads)
			v.Get(f.page).Wants(200).Has(f.has)
		}
		v.Get("/settings/hidden").Lacks("football")
		v.Post("/settings/feeds", "slug", "x y").Wants(422)
	})

	t.Run("open pages", func(t *testing.T) {
		direct := bob.Post("Between us", "anna").Code
		v := anna.Visitor()
		v.Header.Set("Accept", "application/json")
		v.Header.Set("X-River-Page", "/filter/directs")
		v.Post("/p/"+direct+"/like").Wants(200).Has(`"t":"entry"`, "Between us")
		for old, now := range map[string]string{
			"/filter/directs": "/filter/messages", "/filter/eyes": "/filter/only-me", "/filter/faves": "/filter/saved",
			"/anna/faves": "/filter/saved", "/most-faved": "/best/saved",
		} {
			_, was, err := s.Server.RiverAt(t.Context(), anna.Viewer, old, nil)
			if err != nil {
				t.Errorf("the river of %s: %v", old, err)
			}
			if _, is, err := s.Server.RiverAt(t.Context(), anna.Viewer, now, nil); err != nil || is != was {
				t.Errorf("%s is of river %v, and %s of %v (%v)", old, was, now, is, err)
			}
			s.Open(anna, old)
		}
	})

	t.Run("feed files", func(t *testing.T) {
		for _, address := range []string{"/feeds/most-faved.atom", "/feeds/best/saved.atom", "/feeds/most-faved.json?lang=ru"} {
			s.Visitor().Get(address).Wants(200)
		}
	})
}

// A name or a slug from before the words of the new addresses were reserved keeps its
// page.
func TestNewAddressesTakeNothing(t *testing.T) {
	s := webtest.New(t, nil)
	anna, dora := s.Person("anna"), s.Person("dora")
	slugs := []string{"follow", "unfollow", "following", "saved"}
	for _, slug := range slugs {
		anna.Visitor().Post("/settings/pages", "slug", slug+"-x", "title", "My "+slug, "access", "public").Wants(303)
	}
	for _, statement := range []string{
		`UPDATE timelines SET term = replace(term, '-x', '') WHERE term LIKE '%-x'`,
		`UPDATE accounts SET name = 'messages' WHERE name = 'dora'`,
	} {
		if _, err := s.DB.Primary.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	dora.Post("Of dora")
	s = webtest.NewNode(t, s.DB, 0, rivers.DefaultOptions(), nil) // it remembers no names
	for _, slug := range slugs {
		anna.Visitor().Get("/anna/" + slug).Wants(200).Has("My " + slug)
		s.Visitor().Get("/anna/" + slug).Wants(200).Has("My " + slug)
		dora.Visitor().Post("/settings/pages", "slug", slug, "title", "x", "access", "public").Wants(422)
	}
	s.Visitor().Get("/messages").Wants(200).Has("Of dora")
	if to := s.Visitor().Get("/messages/").Wants(301).Header.Get("Location"); to != "/messages" {
		t.Errorf("/messages/ leads to %q", to)
	}
}
