package web_test

import (
	"context"
	"net/url"
	"regexp"
	"testing"

	"riverrun/timelines/admin"
	"riverrun/web/webtest"
)

// The pages about the site itself are for administrators, and say what was done.
func TestPagesAboutTheSite(t *testing.T) {
	s := webtest.NewLively(t)
	ann, mia, bob := s.Person("ann"), s.Person("mia"), s.Person("bob")
	inCharge(ann, admin.Administrator)
	inCharge(mia, admin.Moderator)
	bob.Post("a secret of the river")
	a, m, b, nobody := ann.Visitor(), mia.Visitor(), bob.Visitor(), s.Visitor()
	for _, page := range []string{"/admin/health", "/admin/rivers", "/admin/storage", "/admin/limits"} {
		m.Get(page).Wants(404)
		b.Get(page).Wants(404)
		nobody.Get(page).Wants(303)
		a.Get(page).Wants(200).Lacks("style=", "health.", "inspect.", "storage.", "limits.t")
		a.Get("/admin").Has(`href="` + page + `"`)
		m.Get("/admin").Lacks(`href="` + page + `"`)
	}
	m.Post("/admin/rivers/rebuild", "name", "/everything").Wants(404)
	m.Get("/admin/rivers?name=/everything").Wants(404)

	b.Get("/everything").Wants(200)
	a.Get("/everything").Wants(200)
	health := a.Get("/admin/health").Wants(200)
	health.Has(`<th scope="row">Everything</th><td>2</td><td>0</td><td>2</td>`, "<code>GET /everything</code></th><td>2</td>", "<code>GET /admin/health</code>", "<svg")
	a.Get("/admin/limits").Has("<code>RIVERRUN_WRITES</code>", `<dd class="value">60</dd>`, "how many changes")
	a.Get("/admin/storage").Has("Search index", "Rivers and their entries", `<a href="/bob">@bob</a></th><td>1</td><td>0</td>`)
	a.Get("/settings/data/archive.zip")
	a.Get("/files/aaaaaaaaaa")
	a.Get("/p/aaaaaaaaaa/preview")
	a.Do("GET", "/admin/health", nil).Has("It has run since").Lacks("archive", "/files/", "/preview") // a download is as slow as its reader
	a.Header.Set("Accept-Language", "ru")
	a.Get("/admin/limits").Wants(200)
}

// One river is looked up and made anew, and nothing that it holds is shown.
func TestLookingAtARiver(t *testing.T) {
	s := webtest.New(t, nil)
	ann, bob := s.Person("ann"), s.Person("bob")
	inCharge(ann, admin.Administrator)
	ann.Subscribe("bob")
	bob.Post("a secret of the river")
	a := ann.Visitor()
	look := func(page, as string) *webtest.Answer {
		t.Helper()
		return a.Get("/admin/rivers?" + url.Values{"name": {page}, "as": {as}}.Encode())
	}
	look("/everything", "bob").Wants(200).Has("No river stands").Lacks("Rebuild")
	for _, wrong := range [][3]string{
		{"/settings", "", "There is no river at this address."},
		{"mailto:x", "", "There is no river at this address."},
		{"/%00", "", "There is no river at this address."},
		{"/search?q=%00", "", "There is no river at this address."},
		{"/p/zzzzzzzzzz", "", "There is no river at this address."},
		{"/everything", "nobody-here", "There is no such person."},
		{"/everything", "\x00", "There is no such person."},
		{"/", "", "This page is somebody’s own."},
	} {
		look(wrong[0], wrong[1]).Wants(422).Has(wrong[2])
	}
	bob.Visitor().Get("/").Wants(200).Has("a secret of the river")
	s.Open(bob, "/everything")
	generation := regexp.MustCompile(`<dd><code>([0-9a-f]{16})</code>`)
	before := look("/everything", "@bob").Wants(200).Has("somebody opened the page", "Rebuild", "sockets of this process: 1; processes that have it open: 1", `<a href="/admin/people/bob">@bob</a>`).Lacks("secret")
	look("http://site.example/", "bob").Wants(200).Has("Home", "Posts @bob").Lacks("secret")
	look("/everything", "ann").Has(`<a href="/admin/people/bob">@bob</a>`)

	a.Post("/admin/rivers/rebuild", "name", "/everything", "as", "bob").LeadsTo("/admin/rivers?" + url.Values{"name": {"/everything"}, "as": {"bob"}}.Encode() + "&done=rebuilt")
	after := look("/everything", "bob").Wants(200).Has("somebody in charge asked for it")
	was, is := generation.FindStringSubmatch(before.Body), generation.FindStringSubmatch(after.Body)
	if was == nil || is == nil || was[1] == is[1] {
		t.Errorf("generations %v and %v, want two", was, is)
	}
	bob.Visitor().Get("/everything").Has("a secret of the river")
	a.Get("/admin/acts").Has("@ann: rebuilt the river of /everything")
	a.Post("/admin/rivers/rebuild", "name", "/everything", "as", "ann").Wants(422).Has("No river stands")
}

// The page of how the site is stands without a part that cannot be read.
func TestHealthLacksAPart(t *testing.T) {
	s := webtest.NewLively(t)
	ann := s.Person("ann")
	inCharge(ann, admin.Administrator)
	a := ann.Visitor()
	if _, err := s.DB.Secondary.Exec(t.Context(), `ALTER TABLE entries RENAME TO elsewhere`); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := s.DB.Secondary.Exec(context.Background(), `ALTER TABLE elsewhere RENAME TO entries`); err != nil {
			t.Error(err)
		}
	})
	a.Get("/admin/health").Wants(200).Has("It has run since", "Not known now.", "<dt>Waiting</dt>")
}
