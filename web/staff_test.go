package web_test

import (
	"context"
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"riverrun/timelines"
	"riverrun/timelines/admin"
	"riverrun/web/webtest"
)

// inCharge gives somebody a role.
func inCharge(p *webtest.Person, role admin.Role) {
	p.Act(func(ctx context.Context) (timelines.Change, error) {
		return admin.Open(p.Site.Store).SetRole(ctx, admin.By{}, p.Account.Name, role)
	})
}

// A moderator suspends somebody and hides what they wrote; it is gone for everybody but the staff, on
// pages and on pages that are open, and comes back when the suspension is lifted.
func TestSuspending(t *testing.T) {
	s := webtest.New(t, nil)
	ann, mia, eve, bob := s.Person("ann"), s.Person("mia"), s.Person("eve"), s.Person("bob")
	inCharge(ann, admin.Administrator)
	inCharge(mia, admin.Moderator)
	bob.Subscribe("eve")
	spam := eve.Post("buy these watches")
	said := bob.Post("hello")
	eve.Comment(said.Code, "and these shoes")
	eve.Like(said.Code)
	a, m, e, b, nobody := ann.Visitor(), mia.Visitor(), eve.Visitor(), bob.Visitor(), s.Visitor()

	for _, page := range []string{"/admin", "/admin/people", "/admin/people/eve", "/admin/acts"} {
		b.Get(page).Wants(404)
		nobody.Get(page).Wants(303)
		a.Get(page).Wants(200)
	}
	m.Get("/admin/acts").Wants(404)
	m.Post("/admin/people/eve/role", "role", "administrator").Wants(404)
	b.Post("/admin/people/eve/suspend", "reason", "no", "days", "7").Wants(404)
	m.Post("/admin/people/eve/suspend", "days", "7").Wants(422).Has("Give a reason.")
	m.Post("/admin/people/ann/suspend", "reason", "no", "days", "7").Wants(403).Has("Only an administrator")
	m.Post("/admin/people/mia/suspend", "reason", "no", "days", "7").Wants(403).Has("one’s own account")
	m.Get("/admin/people?q=ev").Wants(200).Has("@eve").Lacks("@bob")
	b.Get("/").Wants(200).Has("buy these watches")

	m.Post("/admin/people/eve/suspend", "reason", "spam <b>", "days", "7", "hide", "1").LeadsTo("/admin/people/eve?done=suspended")
	e.Get("/").Lacks("buy these watches")
	e.Get("/settings").LeadsTo("/login?back=%2Fsettings")
	for page, lacks := range map[string]string{
		"/": "buy these watches", "/eve": "buy these watches", "/p/" + said.Code: "these shoes", "/everything": "buy these watches",
		"/search?q=watches": "buy these watches", "/people": "@eve", "/bob/followers": "@eve",
		"/feeds/everything.atom": "buy these watches", "/feeds/p/" + said.Code + ".atom": "these shoes", "/feeds/p/" + said.Code + ".json": "these shoes",
	} {
		b.Get(page).Lacks(lacks)
		nobody.Get(page).Lacks(lacks)
	}
	b.Get("/p/" + spam.Code).Wants(404)
	b.Get("/eve").Wants(403).Has("This account is suspended or closed.").Lacks("<bdi>eve", `class="avatar a96`)
	m.Get("/eve").Wants(200).Has("buy these watches")
	a.Get("/admin/people/eve").Wants(200).Has("spam &lt;b&gt;", "@mia: suspended @eve")

	m.Post("/admin/people/eve/restore").LeadsTo("/admin/people/eve?done=restored")
	b.Get("/").Wants(200).Has("buy these watches")
	b.Get("/p/" + said.Code).Has("these shoes")
}

// A suspended person learns why when they try to sign in; nobody else does.
func TestSuspendedPersonSignsIn(t *testing.T) {
	s := webtest.New(t, nil)
	mia, eve := s.Person("mia"), s.Person("eve")
	inCharge(mia, admin.Moderator)
	mia.Visitor().Post("/admin/people/eve/suspend", "reason", "spam", "days", "").LeadsTo("/admin/people/eve?done=suspended")
	v := s.Visitor()
	page := v.Post("/login", "username", "eve", "password", webtest.Password).Wants(403).Has("This account is suspended.", "spam")
	token := regexp.MustCompile(`name="link" value="([^"]+)"`).FindStringSubmatch(page.Body)
	if token == nil {
		t.Fatal("no form for an appeal")
	}
	v.Post("/login/appeal", "link", token[1], "text", " ").Wants(422).Has(token[1])
	v.Post("/login/appeal", "link", token[1], "text", "It was <i>not</i> me.").Wants(200).Has("Your message is with the administrators.")
	v.Post("/login/appeal", "link", token[1], "text", "Again.").Wants(404)
	mia.Visitor().Get("/admin").Has("1 waiting")
	queue := mia.Visitor().Get("/admin/reports").Wants(200)
	code := regexp.MustCompile(`href="(/admin/reports/[^"]+)"`).FindStringSubmatch(queue.Body)
	if code == nil {
		t.Fatal("no appeal in the queue")
	}
	mia.Visitor().Get(code[1]).Wants(200).Has("It was &lt;i&gt;not&lt;/i&gt; me.", "@eve")
	v.Post("/login", "username", "eve", "password", "something else").Wants(422).Lacks("suspended")
	eve.Visitor().Get("/").Wants(200).Has("/signup")
}

// An administrator makes a link with which somebody chooses a password, once.
func TestPasswordLink(t *testing.T) {
	s := webtest.New(t, nil)
	ann, bob := s.Person("ann"), s.Person("bob")
	inCharge(ann, admin.Administrator)
	page := ann.Visitor().Post("/admin/people/bob/link").Wants(200)
	m := regexp.MustCompile(`value="http://[^"/]+(/login/link\?link=[^"]+)"`).FindStringSubmatch(page.Body)
	if m == nil {
		t.Fatalf("no link on %s", page.Body)
	}
	address := html.UnescapeString(m[1])
	token := address[strings.Index(address, "=")+1:]
	v := s.Visitor()
	v.Get(address).Wants(200).Has("@bob")
	v.Post("/login/link", "link", token, "username", "bob", "password", "short").Wants(422).Has("@bob", "8 characters")
	bob.Visitor().Get("/settings").Wants(200)
	v.Post("/login/link", "link", token, "username", "bob", "password", "quite another one").LeadsTo("/")
	v.Get("/settings").Wants(200).Has("@bob")
	bob.Visitor().Get("/settings").LeadsTo("/login?back=%2Fsettings")
	s.Visitor().Get(address).Wants(404).Has("does not work any more")
	s.Visitor().Post("/login/link", "link", token, "password", "quite another one").Wants(404)
	for _, none := range []string{"/login/link", "/login/link?link=%00", "/login/link?link=" + strings.Repeat("A", 43)} {
		v.Get(none).Wants(404)
	}
}

// The link of a new site makes its administrator.
func TestClaimingASite(t *testing.T) {
	s := webtest.New(t, nil)
	token, err := admin.Open(s.Store).FirstLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	address := "/admin/claim?link=" + token
	s.Visitor().Get(address).LeadsTo("/login?back=" + url.QueryEscape(address))
	ann := s.Person("ann").Visitor()
	ann.Get("/admin").Wants(404)
	ann.Get(address).Wants(200).Has("Become the administrator", token)
	ann.Post("/admin/claim", "link", "another").Wants(404)
	ann.Post("/admin/claim", "link", token).LeadsTo("/admin")
	ann.Get("/admin").Wants(200).Has("You are an administrator")
	b := s.Person("bob").Visitor()
	b.Post("/admin/claim", "link", token).Wants(404)
	b.Get(address).Wants(404)
}
