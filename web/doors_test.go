package web_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"riverrun/rivers"
	"riverrun/timelines/admin"
	"riverrun/timelines/links"
	"riverrun/timelines/site"
	"riverrun/web/live"
	"riverrun/web/webtest"
)

// setDoors changes who may sign up, and whether the site is private, as the command line could.
func setDoors(s *webtest.Site, door site.SignUp, private bool) {
	s.T.Helper()
	c, err := site.Open(s.Store).Set(s.T.Context(), admin.By{}, func(is *site.Site) { is.SignUp, is.Private = &door, &private })
	_, err = s.Tiers.Carry(s.T.Context(), c, err)
	if err != nil {
		s.T.Fatal(err)
	}
}

const newPassword = "quite long enough"

var invitationLink = regexp.MustCompile(`value="[^"]*(/signup\?invitation=([A-Z2-7]{26}))"`)

// TestDoors: an administrator changes the door while the site runs, and pages say which there is.
func TestDoors(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	ann, mia, bob := s.Person("ann"), s.Person("mia"), s.Person("bob")
	inCharge(ann, admin.Administrator)
	inCharge(mia, admin.Moderator)
	a, m, b, nobody := ann.Visitor(), mia.Visitor(), bob.Visitor(), s.Visitor()

	m.Get("/admin/doors").Wants(404)
	a.Get("/admin").Wants(200).Has("/admin/doors", "/admin/invitations", "/admin/signups")
	a.Get("/admin/doors").Wants(200).Has("As configured: Everybody")
	a.Post("/admin/doors", "signup", "perhaps", "private", "off").Wants(422).Has("Choose who may sign up")
	a.Post("/admin/doors", "signup", "open", "private", "perhaps").Wants(422).Has("Choose who may read")

	a.Post("/admin/doors", "signup", "closed", "private", "configured").LeadsTo("/admin/doors?done=saved")
	for _, page := range []string{"/", "/login", "/everything", "/ann"} {
		nobody.Get(page).Wants(200).Lacks("/signup")
	}
	nobody.Get("/login").Has("Nobody can sign up here")
	nobody.Get("/signup").Wants(200).Has("Nobody can sign up here").Lacks("<form class=\"card\"")
	nobody.Post("/signup", "username", "zed", "password", newPassword).Wants(403).Has("Nobody can sign up here")
	b.Get("/settings/invitations").Wants(200).Has("Nobody can sign up here").Lacks("Make the link")

	a.Post("/admin/doors", "signup", "invitation", "private", "configured").Wants(303)
	nobody.Get("/login").Wants(200).Has("Only people who are invited")
	nobody.Get("/signup").Wants(200).Has("Only people who are invited").Lacks("name=\"username\"")
	nobody.Post("/signup", "username", "zed", "password", newPassword).Wants(403).Has("Only people who are invited")
	b.Post("/settings/invitations", "uses", "2", "days", "7").Wants(422).Has("Choose a number from 1 to 1")
	b.Post("/settings/invitations", "uses", "1", "days", "7", "note", "for <zed>").LeadsTo("/settings/invitations?done=made")
	link := invitationLink.FindStringSubmatch(b.Get("/settings/invitations").Wants(200).Has("for &lt;zed&gt;").Body)
	if link == nil {
		t.Fatal("no link")
	}
	nobody.Get(link[1]).Wants(200).Has("You are invited", link[2])
	nobody.Post("/signup", "username", "zed", "password", newPassword, "invitation", link[2]).LeadsTo("/welcome/you")
	other := s.Visitor()
	other.Get(link[1]).Wants(200).Has("used up").Lacks("name=\"username\"")
	other.Post("/signup", "username", "yan", "password", newPassword, "invitation", link[2]).Wants(422).Has("used up")
	other.Get("/signup?invitation=nonsense").Wants(200).Has("no such invitation")
	m.Get("/admin/invitations").Wants(200).Has("@bob", "Came by it: @zed")
	m.Get("/admin/people/zed").Wants(200).Has("Invited by @bob.")
	m.Get("/admin/people/bob").Wants(200).Has("@zed")
	b.Get("/admin/invitations").Wants(404)

	m.Post("/admin/invitations", "uses", "5", "days", "30").LeadsTo("/admin/invitations?done=made")
	code := invitationLink.FindStringSubmatch(m.Get("/admin/invitations").Body)[2]
	b.Post("/settings/invitations/withdraw", "code", code).Wants(404)
	m.Post("/admin/invitations/withdraw", "code", code).LeadsTo("/admin/invitations?done=withdrawn")
	other.Post("/signup", "username", "yan", "password", newPassword, "invitation", code).Wants(422).Has("withdrawn")
	a.Get("/admin/acts").Wants(200).Has("@mia: withdrew the invitation "+code, "settings of the site")

	a.Post("/admin/doors", "signup", "configured", "private", "configured").Wants(303)
	other.Post("/signup", "username", "yan", "password", newPassword).LeadsTo("/welcome/you")
}

// A group's administrator invites to the group, whose posts the newcomer reads at once.
func TestInvitedToAGroup(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	setDoors(s, site.ByApproval, false)
	bob, cat := s.Person("bob"), s.Person("cat")
	b := bob.Visitor()
	b.Get("/settings/invitations").Wants(200).Has("let newcomers in here").Lacks("Make the link")
	b.Post("/groups", "name", "sailing", "title", "Sailing", "access", "private").Wants(303)
	cat.Visitor().Post("/groups", "name", "chess", "title", "Chess", "access", "private").Wants(303)
	bob.Post("for members only", "sailing")
	b.Get("/settings/invitations").Wants(200).Has("Sailing", "Make the link")
	b.Post("/settings/invitations", "uses", "1", "days", "7").Wants(403)
	b.Post("/settings/invitations", "uses", "30", "days", "7", "group", "chess").Wants(403)
	b.Post("/settings/invitations", "uses", "30", "days", "7", "group", "sailing").Wants(422)
	b.Post("/settings/invitations", "uses", "1", "days", "7", "group", "sailing").LeadsTo("/settings/invitations?done=made")
	link := invitationLink.FindStringSubmatch(b.Get("/settings/invitations").Wants(200).Has("joins @sailing").Body)
	v := s.Visitor()
	v.Get("/sailing").Wants(403)
	v.Post("/signup", "username", "zed", "password", newPassword, "invitation", link[2]).LeadsTo("/welcome/you")
	v.Get("/").Wants(200).Has("for members only")
	v.Get("/sailing").Wants(200).Has("for members only")
	b.Get("/sailing/members").Wants(200).Has("@zed")
}

func TestAskingToBeLetIn(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	setDoors(s, site.ByApproval, false)
	mia, bob := s.Person("mia"), s.Person("bob")
	inCharge(mia, admin.Moderator)
	m, b, v := mia.Visitor(), bob.Visitor(), s.Visitor()
	v.Header.Set("Accept-Language", "ru")
	v.Get("/signup").Wants(200).Has("Кто вы?", "Отправить заявку")
	v.Post("/signup", "username", "zed", "password", newPassword).Wants(422).Has("Напишите в одном предложении")
	v.Post("/signup", "username", "zed", "password", newPassword, "sentence", "I sail <a lot>.").LeadsTo("/signup?asked=1")
	v.Get("/signup?asked=1").Wants(200).Has("Заявка отправлена").Lacks("Кто вы?")
	v.Header.Del("Accept-Language")
	v.Get("/settings").Wants(303)
	v.Post("/login", "username", "zed", "password", "another one").Wants(422).Has("Wrong username or password")
	v.Post("/login", "username", "zed", "password", newPassword).Wants(403).Has("nobody has answered yet")
	b.Get("/zed").Wants(403)
	b.Get("/people").Wants(200).Lacks("@zed")

	b.Get("/admin/signups").Wants(404)
	b.Post("/admin/signups/zed/admit").Wants(404)
	m.Get("/admin").Wants(200).Has("Waiting: 1")
	m.Get("/admin/signups").Wants(200).Has("@zed", "I sail &lt;a lot&gt;.")
	m.Post("/admin/signups/zed/refuse", "answer", strings.Repeat("x", 1001)).Wants(422).Has("too long")
	m.Post("/admin/signups/zed/refuse", "answer", "Not <now>.").LeadsTo("/admin/signups?done=refused")
	v.Post("/login", "username", "zed", "password", newPassword).Wants(403).Has("Not &lt;now&gt;.")
	m.Get("/admin/signups").Wants(200).Lacks("@zed")
	m.Get("/admin/signups?which=refused").Wants(200).Has("@zed")
	m.Post("/admin/signups/zed/admit").LeadsTo("/admin/signups?done=admitted")
	m.Post("/admin/signups/zed/refuse").Wants(409).Has("let in already")
	m.Post("/admin/signups/nobody-here/admit").Wants(404)
	v.Post("/login", "username", "zed", "password", newPassword).Wants(303)
	v.Get("/").Wants(200)
	b.Get("/zed").Wants(200)
}

// TestPrivateSite asks for everything as a stranger: a private site shows nothing, on this node and on
// another that has not heard yet, and an open page is closed.
func TestPrivateSite(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	ann, bob := s.Person("ann"), s.Person("bob")
	ann.Rename("Secret Ann")
	a := ann.Visitor()
	a.Post("/groups", "name", "sailing", "title", "Secret Sailing", "access", "public").Wants(303)
	a.Post("/settings/pages", "slug", "photos", "title", "Secret Photos", "access", "public").Wants(303)
	const linked = "https://example.org/lake"
	code := ann.Post("A secret text #tag " + linked).Code
	bob.Like(code)
	bob.Comment(code, "A secret comment")
	bob.Subscribe("ann")
	sum, n, err := s.Blobs.Put(t.Context(), strings.NewReader("a secret picture"), 100)
	if err != nil {
		t.Fatal(err)
	}
	var id int64
	if err := s.DB.Primary.QueryRow(t.Context(), `SELECT id FROM links WHERE url = $1`, linked).Scan(&id); err != nil {
		t.Fatal(err)
	}
	card := links.Page{Title: "A secret lake", Host: "example.org", Picture: &sum, Bytes: n, Width: 4, Height: 3, Type: "image/png"}
	if err := s.Store.Links.Record(t.Context(), id, card); err != nil {
		t.Fatal(err)
	}
	preview := "/p/" + code + "/preview"
	other := webtest.NewNode(t, s.DB, 0, rivers.DefaultOptions(), func(c *live.Config) { c.Hear = webtest.Deaf })
	page := s.Open(nil, "/everything")
	elsewhere := other.Open(nil, "/ann")
	strangers := []*webtest.Visitor{s.Visitor(), other.Visitor()}
	for _, v := range strangers {
		v.Get("/p/" + code).Wants(200).Has("A secret text")
	}
	strangers[0].Get(preview).Wants(200).Has("a secret picture") // the other has a store of files of its own

	setDoors(s, site.OpenToAll, true)
	fill := func(path, name string) string {
		return strings.NewReplacer("{$}", "", "{name}", name, "{code}", code, "{tag}", "tag", "{slug}", "photos", "{id}", "1",
			"{page}/{file}", "ann/likes.atom", "/feeds/{page}", "/feeds/everything.atom", "{page}", "members", "{size}", "medium").Replace(path)
	}
	open := []string{
		"GET /login", "POST /login", "GET /login/link", "POST /login/link", "POST /login/appeal", "POST /logout", "GET /signup", "POST /signup", "GET /manifest.webmanifest",
		"GET /about", "GET /rules", "GET /mark.svg", "GET /sw.js", "GET /static/{file}", "GET /robots.txt", "GET /healthz", "GET /readyz", "GET /metrics",
	}
	closedTo := func(v *webtest.Visitor, method, address string) {
		t.Helper()
		for _, accept := range []string{"", "application/json"} {
			v.Header.Set("Accept", accept)
			got := v.Do(method, address, nil).Lacks("A secret", "a secret", "Secret ", "@bob")
			toLogin := strings.HasPrefix(got.Header.Get("Location"), "/login")
			if got.Status == 303 && toLogin || got.Status >= 400 && got.Status < 500 || got.Status == 301 {
				continue
			}
			t.Errorf("%s %s: status %d, to %q", method, address, got.Status, got.Header.Get("Location"))
		}
	}
	for _, v := range []*webtest.Visitor{strangers[1], strangers[0]} {
		for _, pattern := range s.Server.Patterns() {
			method, path, _ := strings.Cut(pattern, " ")
			if slices.Contains(open, pattern) || path == "/ws" || strings.HasPrefix(path, "/api/") {
				continue
			}
			for _, name := range []string{"ann", "sailing"} {
				closedTo(v, method, fill(path, name))
			}
		}
		for _, address := range []string{
			"/nobody-here", "/ann/", "/ANN", "/a/b/c/d", "/search?q=secret", "/everything?before=1." + code, "/feeds/p/" + code + ".atom", "/feeds/everything.json", "/feeds/ann.atom",
			"/p/" + code + "?order=created", "/best?lang=en", preview,
		} {
			closedTo(v, http.MethodGet, address)
			closedTo(v, http.MethodHead, address)
		}
		v.Header.Del("Accept")
		v.Get("/").LeadsTo("/login?back=%2F")
		v.Get("/feeds/everything.atom").Wants(401)
		v.Get(preview).Wants(401)
		v.Get("/login").Wants(200)
		v.Get("/signup").Wants(200)
		v.Get("/healthz").Wants(200)
		v.Get("/robots.txt").Wants(200)
		v.Get("/manifest.webmanifest").Wants(200)
	}
	if got := page.Closed(); got.Code != live.CloseSignedOut {
		t.Errorf("an open page is closed with %v", got)
	}
	if got := elsewhere.Closed(); got.Code != live.CloseSignedOut {
		t.Errorf("an open page on another node is closed with %v", got)
	}
	late := &webtest.Page{T: t, Address: "/everything", Shown: map[string]webtest.Frame{}}
	late.Connect(other, nil)
	if got := late.Closed(); got.Code != live.CloseSignedOut {
		t.Errorf("a page that is opened later is closed with %v", got)
	}

	// Those who are signed in go on, and do not lose their sessions over what no feed reader may have.
	b := bob.Visitor()
	b.Get("/").Wants(200).Has("A secret text").Lacks("/feeds/")
	b.Get("/everything").Wants(200).Has("A secret text").Lacks("/feeds/")
	b.Get("/feeds/everything.atom").Wants(401)
	b.Get(preview).Wants(200)
	b.Get("/everything").Wants(200)

	setDoors(s, site.OpenToAll, false)
	for _, v := range strangers {
		v.Get("/p/" + code).Wants(200).Has("A secret text")
	}
}
