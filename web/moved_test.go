package web

import (
	"net/http"
	"strings"
	"testing"

	"riverrun/rivers"
)

// TestOldAddresses: links, forms and open pages that have an address with an old word
// go on working.
func TestOldAddresses(t *testing.T) {
	s := newLiveSite(t, nil)
	anna, bob := s.person("anna"), s.person("bob")
	v := anna.visitor()
	code := bob.post("Worth keeping").Code

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
				if got := v.do(method, old, nil).wants(http.StatusMovedPermanently).header.Get("Location"); got != now {
					t.Errorf("%s %s leads to %q, want %q", method, old, got, now)
				}
			}
			if !strings.Contains(now, "=1") {
				v.get(now).wants(200)
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
			v.post(f.address, f.fields...).leadsTo(f.leads)
			v.get(f.page).wants(200).has(f.has)
		}
		v.get("/settings/hidden").lacks("football")
		v.post("/settings/feeds", "slug", "x y").wants(422)
	})

	t.Run("open pages", func(t *testing.T) {
		direct := bob.post("Between us", "anna").Code
		v := anna.visitor()
		v.header.Set("Accept", "application/json")
		v.header.Set("X-River-Page", "/filter/directs")
		v.post("/p/"+direct+"/like").wants(200).has(`"t":"entry"`, "Between us")
		for old, now := range map[string]string{
			"/filter/directs": "/filter/messages", "/filter/eyes": "/filter/only-me", "/filter/faves": "/filter/saved",
			"/anna/faves": "/filter/saved", "/most-faved": "/best/saved",
		} {
			was, err := s.server.pageOf(t.Context(), anna.viewer, old, nil)
			if err != nil {
				t.Errorf("the river of %s: %v", old, err)
			}
			if is, err := s.server.pageOf(t.Context(), anna.viewer, now, nil); err != nil || is != was {
				t.Errorf("%s is of river %v, and %s of %v (%v)", old, was, now, is, err)
			}
			s.open(anna, old)
		}
	})

	t.Run("feed files", func(t *testing.T) {
		for _, address := range []string{"/feeds/most-faved.atom", "/feeds/best/saved.atom", "/feeds/most-faved.json?lang=ru"} {
			s.visitor().get(address).wants(200)
		}
	})
}

// A name or a slug from before the words of the new addresses were reserved keeps its
// page.
func TestNewAddressesTakeNothing(t *testing.T) {
	s := newLiveSite(t, nil)
	anna, dora := s.person("anna"), s.person("dora")
	slugs := []string{"follow", "unfollow", "following", "saved"}
	for _, slug := range slugs {
		anna.visitor().post("/settings/pages", "slug", slug+"-x", "title", "My "+slug, "access", "public").wants(303)
	}
	for _, statement := range []string{
		`UPDATE timelines SET term = replace(term, '-x', '') WHERE term LIKE '%-x'`,
		`UPDATE accounts SET name = 'messages' WHERE name = 'dora'`,
	} {
		if _, err := s.db.Primary.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	dora.post("Of dora")
	s = newNode(t, s.db, 0, rivers.DefaultOptions(), nil) // it remembers no names
	for _, slug := range slugs {
		anna.visitor().get("/anna/" + slug).wants(200).has("My " + slug)
		s.visitor().get("/anna/" + slug).wants(200).has("My " + slug)
		dora.visitor().post("/settings/pages", "slug", slug, "title", "x", "access", "public").wants(422)
	}
	s.visitor().get("/messages").wants(200).has("Of dora")
	if to := s.visitor().get("/messages/").wants(301).header.Get("Location"); to != "/messages" {
		t.Errorf("/messages/ leads to %q", to)
	}
}
