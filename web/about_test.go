package web_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/timelines/admin"
	"riverrun/timelines/site"
	"riverrun/web/webtest"
)

// saysOfItself changes what the site says, by the command line.
func saysOfItself(p *webtest.Person, change func(*site.Site)) {
	p.Act(func(ctx context.Context) (timelines.Change, error) {
		return site.Open(p.Site.Store).Set(ctx, admin.By{}, change)
	})
}

// The next page of each node shows what an administrator says of the site, and only they may say it.
func TestSiteOfOnesOwn(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	there := webtest.NewNode(t, s.DB, 0, rivers.DefaultOptions(), nil)
	ann, mia := s.Person("ann"), s.Person("mia")
	inCharge(ann, admin.Administrator)
	inCharge(mia, admin.Moderator)
	a, m, nobody, far := ann.Visitor(), mia.Visitor(), s.Visitor(), there.Visitor()
	a.Header = http.Header{"Accept-Language": {"en"}}

	far.Get("/everything").Has("· riverrun</title>")
	far.Get("/about").Wants(200).Has("This site runs riverrun").Lacks("Contact", `id="rules"`)
	nobody.Get("/mark.svg").Wants(404)
	m.Get("/admin/site").Wants(404)
	m.Post("/admin/site", "name", "Mine").Wants(404)
	m.Get("/admin").Lacks("/admin/site")
	a.Get("/admin").Has("/admin/site")

	a.Post("/admin/site", "name", strings.Repeat("x", 61), "about", "my long text").Wants(422).Has("The limit is 60", "my long text", `aria-invalid="true"`)
	a.Post("/admin/site", "mark", "abc").Wants(422).Has("Give one or two characters")
	a.Post("/admin/site", "contact", "javascript:alert(1)@x.y").Wants(422).Has("Give an address of mail")
	a.Post("/admin/site", "language", "tlh").Wants(422)
	a.Post("/admin/site", "name", "The <Club>", "mark", "🎾", "purpose", "Tennis & tea", "about", "We *play*. <b>\n\n||secret||",
		"contact", "desk@club.example", "language", "ru", "indexed", "1").LeadsTo("/admin/site?done=site")
	a.Get("/admin/site?done=site").Wants(200).Has("Saved.", "Tennis &amp; tea")

	far.Header = http.Header{"Accept-Language": {"de"}}
	far.Get("/everything").Has("· The &lt;Club&gt;</title>", `<html lang="ru"`, "/mark.svg?v=").Lacks("riverrun</", "noindex")
	far.Header = http.Header{"Accept-Language": {"en"}}
	far.Get("/about").Has(`<html lang="en"`, "Tennis &amp; tea", "We <em>play</em>. &lt;b&gt;", `href="mailto:desk@club.example"`, "@ann").Lacks("@mia", "<b>\n")
	far.Get("/").Has("Tennis &amp; tea")
	far.Get("/manifest.webmanifest").Has(`"name":"The \u003cClub\u003e"`, "/mark.svg?v=").Lacks("icon-192")
	far.Get("/mark.svg?v=%F0%9F%8E%BE").Wants(200).Has("<svg", "🎾")
	far.Get("/feeds/everything.atom").Has("The &lt;Club&gt;</title>")
	far.Get("/nowhere/at/all").Wants(404).Has(`href="mailto:desk@club.example"`)
	far.Header.Set("Sec-Fetch-Site", "cross-site")
	far.Post("/login").Wants(403).Has("The &lt;Club&gt;", `href="mailto:desk@club.example"`)
	far.Header.Del("Sec-Fetch-Site")
	far.Get("/robots.txt").Has("Disallow: /settings\n").Lacks("Disallow: /\n")
	far.Get("/rules").LeadsTo("/about#rules")
	if acts := a.Get("/admin/acts").Wants(200).Body; !strings.Contains(acts, "mark 🎾") {
		t.Errorf("the audit log lacks what was set:\n%s", acts)
	}

	// An unchecked box hides the site from search engines.
	a.Post("/admin/site", "name", "The Club", "contact", "https://club.example/desk?x=1").LeadsTo("/admin/site?done=site")
	far.Get("/robots.txt").Has("Disallow: /\n").Lacks("/settings")
	for _, page := range []string{"/", "/everything", "/ann", "/about", "/login", "/nowhere"} {
		far.Get(page).Has(`name="robots" content="noindex"`)
	}
	far.Get("/about").Has(`href="https://club.example/desk?x=1"`)
	shut := true
	saysOfItself(ann, func(s *site.Site) { s.Indexed, s.Private = true, &shut })
	far.Get("/robots.txt").Has("Disallow: /\n")
}

// People agree to the rules when they sign up, and all others before they go on, once for each version.
func TestAgreeingToTheRules(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	ann, bob := s.Person("ann"), s.Person("bob")
	inCharge(ann, admin.Administrator)
	post := bob.Post("hello")
	a, b, nobody := ann.Visitor(), bob.Visitor(), s.Visitor()
	nobody.Get("/signup").Wants(200).Lacks(`name="agree"`)
	rules := func(text string, again string) {
		t.Helper()
		a.Post("/admin/site", "indexed", "1", "rules", text, "again", again).LeadsTo("/admin/site?done=site")
	}
	rules("Be *kind*.", "")
	a.Get("/").Wants(200).Lacks("Go on") // who wrote them agrees

	nobody.Get("/signup").Has("Be <em>kind</em>.", `name="agree" value="1"`)
	sent := []string{"username", "carol", "password", "a long enough one"}
	nobody.Post("/signup", sent...).Wants(422).Has("Please agree to the rules.", `value="carol"`)
	nobody.Post("/signup", append(sent, "agree", "1")...).Wants(303)
	nobody.Get("/people").Wants(200)

	// Bob is asked where he does something, and reads on where he does not.
	b.Get("/").LeadsTo("/rules/agree?back=%2F")
	b.Get("/settings/sources?x=y").Wants(200)
	b.Get("/drafts?x=y").LeadsTo("/rules/agree?back=%2Fdrafts%3Fx%3Dy")
	b.Get("/p/" + post.Code).Wants(200)
	b.Get("/settings").Wants(200)
	b.Get("/about").Wants(200)
	b.Post("/posts", "body", "my long words", "to", "bob", "agree", "0").Wants(403).
		Has("my long words", `action="/posts"`, `name="to" value="bob"`, `name="agree" value="1"`).Lacks(`value="0"`)
	b.Post("/p/" + post.Code + "/like").Wants(303)
	b.Get("/p/" + post.Code).Lacks("Unlike")
	b.Header = http.Header{"Accept": {"application/json"}}
	b.Post("/posts", "body", "my long words", "to", "bob").Wants(403).Has("Please agree to the rules")
	b.Header = http.Header{}
	b.Get("/rules/agree?back=/people").Wants(200).Has("Be <em>kind</em>.", `name="back" value="/people"`)
	b.Post("/rules/agree", "back", "/people").Wants(422).Has("Please agree to the rules.")

	// The kept form agrees and is done.
	b.Post("/posts", "body", "my long words", "to", "bob", "agree", "1").Wants(303)
	b.Get("/").Wants(200).Has("my long words")
	b.Get("/rules/agree").LeadsTo("/")

	rules("Be kinder.", "")
	b.Get("/drafts").Wants(200)
	rules("Be kinder, please.", "1")
	b.Get("/drafts").LeadsTo("/rules/agree?back=%2Fdrafts")
	b.Post("/rules/agree", "agree", "1", "back", "/people").Wants(422) // to the old ones
	b.Post("/rules/agree", "agree", "2", "back", "/drafts").LeadsTo("/drafts")
	b.Get("/drafts").Wants(200)
	rules("", "")
	nobody.Get("/").Wants(200)
}

// Pages that everybody may read say what they are, to whoever asks; others say nothing, even to those
// who may read them.
func TestWhatPublicPagesSayOfThemselves(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	ann, bob, eve, pam := s.Person("ann"), s.Person("bob"), s.Person("eve"), s.Person("pam")
	inCharge(ann, admin.Administrator)
	for name, p := range map[string]*webtest.Person{"private": pam, "protected": eve} {
		p.Visitor().Post("/settings/access", "level", name).Wants(303)
	}
	bob.Visitor().Post("/settings", "title", "Bob <B>", "about", "Boats\n& rivers").Wants(303)
	b, e, p, nobody, a := bob.Visitor(), eve.Visitor(), pam.Visitor(), s.Visitor(), ann.Visitor()
	const any = "og:"
	base := s.Server.URL().String()

	open := bob.Post("A *heron* & a boat: ||it sank||")
	address := base + "/p/" + open.Code
	page := nobody.Get("/p/"+open.Code+"?lang=en").Wants(200).Has(
		`<link rel="canonical" href="`+address+`"`, `property="og:url" content="`+address+`"`, `property="og:type" content="article"`,
		`property="og:title" content="Bob &lt;B&gt;: A heron &amp; a boat`, `property="og:site_name" content="riverrun"`,
		`name="description" content="A heron &amp; a boat: [`, `property="og:description"`, `name="twitter:card" content="summary"`)
	head, _, _ := strings.Cut(page.Body, "</head>")
	if strings.Contains(head, "sank") {
		t.Errorf("the head tells the spoiler: %s", head)
	}
	nobody.Get("/bob").Has(`<link rel="canonical" href="`+base+`/bob"`, `name="description" content="Boats &amp; rivers"`, `content="profile"`)
	nobody.Get("/bob/likes").Lacks(any)
	// Programs do not sign in.
	a.Get("/p/" + open.Code).Wants(200).Lacks(any)
	b.Get("/bob").Wants(200).Lacks(any)
	for what, of := range map[string]struct {
		code string
		by   *webtest.Visitor
	}{
		"protected": {eve.Post("protected words").Code, e}, "private": {pam.Post("private words").Code, p},
		"eyes only": {bob.Post("own words", "~eyes").Code, b}, "direct": {bob.Post("direct words", "ann").Code, b},
	} {
		if page := of.by.Get("/p/" + of.code).Wants(200); strings.Contains(page.Body, any) || strings.Contains(page.Body, "canonical") {
			t.Errorf("a post that is %s says what it is", what)
		}
	}
	e.Get("/eve").Wants(200).Lacks(any, "canonical")
	b.Get("/eve").Wants(200).Lacks(any, "canonical")
	p.Get("/pam").Wants(200).Lacks(any, "canonical")

	// A picture stands for the post, else the author's does.
	b.PostFiles("/settings", []webtest.Upload{{Name: "me.png", Content: webtest.Photo(300, 200)}}, "title", "Bob").Wants(303)
	s.MakePictures()
	nobody.Get("/p/" + open.Code).Has(`property="og:image" content="` + base + "/files/")
	nobody.Get("/bob").Has(`property="og:image" content="` + base + "/files/")

	// The staff still read what is hidden from all others.
	a.Post("/admin/people/bob/suspend", "reason", "spam", "days", "7", "hide", "1").Wants(303)
	a.Get("/p/"+open.Code).Wants(200).Lacks(any, "canonical")
	a.Get("/bob").Wants(200).Lacks(any, "canonical")
	nobody.Get("/p/" + open.Code).Wants(404).Lacks(any)
	a.Post("/admin/people/bob/restore").Wants(303)
	nobody.Get("/p/" + open.Code).Has(any)
	shut := true
	saysOfItself(ann, func(s *site.Site) { s.Private = &shut })
	nobody.Get("/p/" + open.Code).Lacks(any)
}
