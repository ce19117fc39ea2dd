package web_test

import (
	"regexp"
	"strings"
	"testing"

	"riverrun/timelines/tokens"
	"riverrun/web/view"
	"riverrun/web/webtest"
)

// Publishing II: a group lets posts in one by one. Until then they are between their author and its administrators.
func TestAGroupApproves(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	mia, bob, cid := s.Person("mia"), s.Person("bob"), s.Person("cid")
	m, b, c := mia.Visitor(), bob.Visitor(), cid.Visitor()
	m.Post("/groups", "name", "club", "title", "The Club", "access", "public").Wants(303)
	b.Post("/club/follow").Wants(303)
	c.Post("/club/follow").Wants(303)
	if _, err := s.DB.Primary.Exec(t.Context(), `UPDATE subscriptions SET created_at = now() - interval '40 days'`); err != nil { // no arrivals
		t.Fatal(err)
	}

	// Only administrators say whether it approves posts.
	m.Get("/club/manage").Wants(200).Has("Posts wait for approval", "No posts wait for approval", `href="/club/waiting"`).Lacks(`name="approves" value="1" checked`)
	b.Post("/settings/approval", "group", "club", "approves", "1").Wants(403)
	m.Post("/settings/approval", "group", "nobody-here", "approves", "1").Wants(404)
	const hint = "wait until an administrator lets them in"
	b.Get("/club").Lacks(hint)
	m.Post("/settings/approval", "group", "club", "approves", "1").LeadsTo("/club/manage?saved")
	m.Get("/club/manage").Has(`name="approves" value="1" checked`)
	b.Get("/club").Has(hint, "data-waits")
	m.Get("/club").Lacks(hint, "data-waits")
	b.Header.Set("Accept-Language", "ru")
	b.Get("/posts/new").Has("администратор их не пропустит")
	b.Header.Del("Accept-Language")

	// A post waits. Its author is led to it, with and without a script.
	open := s.Open(cid, "/club")
	conn, status, err := s.Dial(mia, nil)
	if err != nil {
		t.Fatalf("dial: %v (status %d)", err, status)
	}
	badge := &webtest.Page{T: t, Conn: conn, Address: "/", Shown: map[string]webtest.Frame{}}
	badge.Say(map[string]any{"t": "subscribe", "page": badge.Address, "lang": "en", "river": "0", "sight": "", "unread": 0, "entries": map[string]string{}})
	badge.Until("an answer", func(f webtest.Frame) bool { return f.T == "ok" })
	lake := webtest.Upload{Name: "lake.jpg", Content: webtest.Photo(600, 500)}
	at := b.PostFiles("/posts", []webtest.Upload{lake, {Name: "notes.txt", Content: []byte("notes")}}, "to", "club", "body", "Look, a <lake> #lakes").
		Wants(303).Header.Get("Location")
	if !regexp.MustCompile(`^/p/[0-9a-z]{10}$`).MatchString(at) {
		t.Fatalf("after a post that waits: %q", at)
	}
	code := strings.TrimPrefix(at, "/p/")
	b.Header.Set("Accept", "application/json")
	b.Header.Set("X-River-Page", "/club")
	reply := b.Post("/posts", "to", "club", "body", "buy pills").Wants(200).Body
	second := regexp.MustCompile(`"to":"/p/([0-9a-z]{10})"`).FindStringSubmatch(reply)
	if second == nil {
		t.Fatalf("river.js is told %s", reply)
	}
	b.Header.Del("Accept")
	b.Header.Del("X-River-Page")
	s.MakePictures()
	s.FollowUp()
	meanwhile := mia.Post("meanwhile", "club")
	b.Get(at).Wants(200).Has("This post waits for the approval of @club", "/lake")
	b.Get("/filter/mine?show=waiting").Wants(200).Has("Look, a", "buy pills", "The Club", "Waiting").Lacks("<span>Only me")
	b.Post("/filter/mine", "act", "move", "to", "bob", "post", code).Wants(303)
	workOn(t, s, 10)
	b.Get("/filter/mine").Has("Moved: 0 of 1", "They wait for approval or are blocked")
	reader := programOf(t, cid, tokens.Read)
	for _, v := range []*webtest.Visitor{c, m, b} {
		for _, page := range []string{"/", "/club", "/bob", "/everything", "/tag/lakes", "/search?q=lake", "/filter/only-me", "/club.atom"} {
			v.Get(page).Lacks("/p/"+code, "a &lt;lake&gt;")
		}
	}
	c.Get(at).Wants(404)
	m.Get(at).Wants(404)
	reader.wants(404, "GET", "/api/posts/"+code, "", nil)

	// The administrators hear of it, and see it with its picture. Nobody else does.
	badge.Until("the number of notifications", func(f webtest.Frame) bool { return f.T == "unread" })
	counts(m, 1)
	counts(c, 0)
	m.Get(view.NotificationsPath).Wants(200).Has("Posts wait in", `href="/club/waiting"`, "<title>(1)")
	m.Get(view.NotificationsPath).Has("Posts wait in") // until they are answered
	c.Get(view.NotificationsPath).Lacks("/club/waiting")
	m.Get("/club").Has("2</b> posts wait", `href="/club/waiting"`)
	c.Get("/club").Lacks("/club/waiting")
	m.Get("/club/manage").Has("2 posts wait for approval")
	page := m.Get("/club/waiting").Wants(200).Has("Look, a &lt;lake&gt;", `href="/tag/lakes"`, `href="/bob"`, "and 1 other file", "/club/waiting/"+code+"/approve", "buy pills")
	if strings.Index(page.Body, "Look, a") > strings.Index(page.Body, "buy pills") {
		t.Error("the oldest post does not stand first")
	}
	picture := regexp.MustCompile(`/files/[0-9a-z]+/thumb`).FindString(page.Body)
	m.Get(picture).Wants(200)
	b.Get(picture).Wants(200)
	c.Get(picture).Wants(404)
	s.Visitor().Get(picture).Wants(404)
	c.Get("/club/waiting").Wants(403)
	s.Visitor().Get("/club/waiting").LeadsTo("/login?back=%2Fclub%2Fwaiting")
	m.Get("/mia/waiting").Wants(404)
	m.Get("/nobody-here/waiting").Wants(404)
	m.Get("/club/waiting?after=0000000000").Wants(200).Has("Look, a") // such a post is gone
	for _, act := range []string{"approve", "refuse"} {
		c.Post("/club/waiting/" + code + "/" + act).Wants(403)
		b.Post("/club/waiting/" + code + "/" + act).Wants(403)
		m.Post("/mia/waiting/" + code + "/" + act).Wants(404)
	}

	// One is let in, as new as if it were written now, and everybody has it at once.
	m.Post("/club/waiting/" + code + "/approve").LeadsTo("/club/waiting?done=published")
	m.Get("/club/waiting?done=published").Has("The post is let in.", "buy pills").Lacks("Look, a")
	if html := open.UntilEntry(code).HTML; !strings.Contains(html, "a &lt;lake&gt;") {
		t.Errorf("what comes to an open page is %s", html)
	}
	for _, page := range []string{"/club", "/everything"} {
		all := s.Visitor().Get(page).Wants(200).Has("Look, a").Body
		if strings.Index(all, "Look, a") > strings.Index(all, meanwhile.Code) {
			t.Errorf("%s: a post that was let in stands behind others", page)
		}
	}
	c.Get(picture).Wants(200)
	m.Post("/club/waiting/" + code + "/approve").LeadsTo("/club/waiting?done=late")
	counts(m, 1)

	// The other one is not, and its author reads why.
	refuse := "/club/waiting/" + second[1] + "/refuse"
	m.Post(refuse, "reason", strings.Repeat("x", 2001)).Wants(422).Has("xxx", `aria-invalid="true"`, "2000 characters", "<details class=\"ask\" open>")
	m.Post(refuse, "reason", "Nothing is <sold> here.").LeadsTo("/club/waiting?done=refused")
	m.Get("/club/waiting?done=refused").Has("Its author is told.", "No posts wait for approval")
	counts(m, 0)
	counts(b, 1)
	m.Get(view.NotificationsPath).Lacks("/club/waiting")
	const said = "Nothing is &lt;sold&gt; here."
	b.Get(view.NotificationsPath).Wants(200).Has("did not take your post", "buy pills", said, `href="/p/`+second[1]+`"`, `class="fresh`)
	counts(b, 0)
	b.Get(view.NotificationsPath).Has(said).Lacks(`class="fresh`)
	b.Header.Set("Accept-Language", "ru")
	b.Get(view.NotificationsPath).Has("не приняла вашу запись")
	b.Header.Del("Accept-Language")
	if _, err := s.DB.Primary.Exec(t.Context(), `UPDATE approvals SET refused_at = refused_at - interval '8 days'`); err != nil {
		t.Fatal(err)
	}
	b.Get(view.NotificationsPath).Lacks(said) // old news
	b.Get("/p/" + second[1]).Wants(200).Lacks("waits for the approval")
	c.Get("/p/" + second[1]).Wants(404)
}

// Pictures of a post are open to administrators only while it waits for them, and many posts are paged.
func TestManyPostsWait(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	mia, bob := s.Person("mia"), s.Person("bob")
	m, b := mia.Visitor(), bob.Visitor()
	m.Post("/groups", "name", "club", "title", "The Club", "access", "public").Wants(303)
	b.Post("/club/follow").Wants(303)
	m.Post("/settings/approval", "group", "club", "approves", "1").Wants(303)
	b.PostFiles("/posts", []webtest.Upload{{Name: "lake.jpg", Content: webtest.Photo(600, 500)}}, "to", "club", "body", "A lake").Wants(303)
	s.MakePictures()
	page := m.Get("/club/waiting").Wants(200)
	picture, code := regexp.MustCompile(`/files/[0-9a-z]+/thumb`).FindString(page.Body), regexp.MustCompile(`/waiting/([0-9a-z]{10})/approve`).FindStringSubmatch(page.Body)[1]
	m.Get(picture).Wants(200)
	m.Post("/club/waiting/" + code + "/refuse").Wants(303)
	m.Get(picture).Wants(404)
	b.Get(picture).Wants(200)

	bob.Post("A long tale. "+strings.Repeat("And so on. ", 200)+"It ends.", "club")
	for range 20 {
		bob.Post("short", "club")
	}
	last := bob.Post("the last one", "club").Code
	page = m.Get("/club/waiting").Wants(200).Has("A long tale.", "The whole text", "It ends.").Lacks("the last one")
	next := regexp.MustCompile(`/club/waiting\?after=[0-9a-z]{10}`).FindString(page.Body)
	m.Get(next).Wants(200).Has("the last one").Lacks("A long tale.", `rel="next"`)
	m.Post("/club/waiting/"+last+"/refuse", "after", next[len(next)-10:], "reason", strings.Repeat("x", 2001)).Wants(422).Has("the last one", "2000 characters")
	m.Get("/club/manage").Has("22 posts wait for approval")
}
