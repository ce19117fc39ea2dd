package web_test

import (
	"context"
	"testing"
	"time"

	"riverrun/timelines"
	"riverrun/web/live"
	"riverrun/web/webtest"
)

// An excluded account sees and may do this, and everything comes back.
func TestExcludedReaders(t *testing.T) {
	s := webtest.New(t, nil)
	reader := s.Person("bob")
	anna, bob, carol := s.Person("anna").Visitor(), reader.Visitor(), s.Person("carol").Visitor()
	anna.Post("/groups", "name", "chess-club", "title", "Chess Club", "access", "protected").LeadsTo("/chess-club")
	anna.Post("/posts", "body", "An opening #gambit", "to", "chess-club").LeadsTo("/")
	carol.Post("/chess-club/follow").LeadsTo("/chess-club")
	code := bob.Get("/chess-club").Wants(200).Has("An opening").Code()

	// The form: on the page of who administers, and for nobody else.
	const manage = "/chess-club/manage"
	anna.Get(manage).Wants(200).Has("No access", "/chess-club/exclude").Lacks("/chess-club/admit", "/chess-club/unexclude")
	bob.Post("/chess-club/exclude", "name", "carol").Wants(403)
	s.Visitor().Post("/chess-club/exclude", "name", "carol").LeadsTo("/login?back=%2F")
	anna.Post("/no-such-club/exclude", "name", "bob").Wants(404)
	for name, said := range map[string]string{
		"nobody-here": "Nobody here is called “nobody-here”", "carol": "“carol” is a member", "anna": "“anna” is an administrator",
	} {
		anna.Post("/chess-club/exclude", "name", name, "back", manage).Wants(422).
			Has(said, `id="exclude-name" name="name" type="text" value="`+name+`"`)
	}
	// One that the page does not have says what is wrong all the same.
	anna.Post("/chess-club/dismiss", "name", "carol", "back", manage).Wants(422).Has("“carol” is a member")

	anna.Post("/chess-club/exclude", "name", " @Bob", "back", manage).LeadsTo(manage)
	anna.Get(manage).Has(`href="/bob"`, "/chess-club/unexclude")
	anna.Header.Set("Accept-Language", "ru")
	anna.Get(manage).Has("Нет доступа", "Открыть доступ")
	anna.Header.Del("Accept-Language")

	bob.Get("/chess-club").Wants(403).Has("have denied you access").Lacks("An opening", "/chess-club/follow")
	bob.Get("/chess-club/members").Wants(403).Lacks(`href="/carol"`)
	for _, page := range []string{"/everything", "/tag/gambit", "/search?q=opening", "/anna", "/"} {
		bob.Get(page).Wants(200).Lacks("An opening")
	}
	bob.Get("/p/" + code).Wants(404)
	bob.Post("/chess-club/follow").Wants(403).Has("don’t have access here")
	bob.Header.Set("Accept", "application/json")
	bob.Post("/chess-club/follow").Wants(403).Has("don’t have access here")
	bob.Header.Del("Accept")
	bob.Post("/posts", "body", "Kept text", "to", "chess-club").Wants(422).Has("Kept text", "can’t write to “chess-club”")
	bob.Post("/p/"+code+"/comments", "body", "But").Wants(404)
	bob.Get("/feeds/chess-club.atom").Wants(403)
	carol.Get("/chess-club").Wants(200).Has("An opening")

	// The set is kept at other levels, where it keeps from joining.
	anna.Post("/settings/access", "group", "chess-club", "level", "public").LeadsTo(manage + "?saved")
	bob.Get("/chess-club").Wants(200).Has("An opening", "don’t let you join").Lacks("/chess-club/follow")
	bob.Post("/chess-club/follow").Wants(403).Has("don’t have access here")
	anna.Get(manage).Has("/chess-club/unexclude", "can’t join or ask to")
	anna.Post("/settings/access", "group", "chess-club", "level", "private").LeadsTo(manage + "?saved")
	bob.Get("/chess-club").Wants(403).Has("have denied you access").Lacks("/chess-club/follow")

	anna.Post("/chess-club/unexclude", "name", "bob", "back", manage).LeadsTo(manage)
	bob.Get("/chess-club").Wants(403).Has("Request to join")
	anna.Post("/settings/access", "group", "chess-club", "level", "protected").LeadsTo(manage + "?saved")
	bob.Get("/chess-club").Wants(200).Has("An opening", "/chess-club/follow")
	// A job brings back the posts that were taken away.
	s.Replace(timelines.Replace{ViewerID: reader.Account.ID})
	bob.Get("/everything").Has("An opening")
}

// A private group's reader who is no member.
func TestAdmittedReaders(t *testing.T) {
	s := webtest.New(t, nil)
	anna, bob := s.Person("anna").Visitor(), s.Person("bob").Visitor()
	anna.Post("/groups", "name", "chess-club", "title", "Chess Club", "access", "private").LeadsTo("/chess-club")
	anna.Post("/posts", "body", "An opening", "to", "chess-club").LeadsTo("/")
	const manage = "/chess-club/manage"
	bob.Get("/chess-club").Wants(403)
	anna.Get(manage).Has("Readers who aren’t members", "/chess-club/admit").Lacks("/chess-club/exclude")
	anna.Post("/chess-club/admit", "name", "nobody-here", "back", manage).Wants(422).Has("Nobody here is called", `value="nobody-here"`)
	bob.Post("/chess-club/admit", "name", "bob").Wants(403)
	anna.Post("/chess-club/admit", "name", "bob", "back", manage).LeadsTo(manage)
	anna.Get(manage).Has(`href="/bob"`, "/chess-club/dismiss")

	bob.Get("/chess-club").Wants(200).Has("An opening", "<b>1</b> member", "Only members can post here", "/chess-club/follow").Lacks(`class="composer"`)
	bob.Get("/everything").Has("An opening")
	bob.Get("/").Lacks("An opening")
	bob.Get("/chess-club/members").Wants(200).Lacks(`class="who" href="/bob"`)
	anna.Post("/chess-club/dismiss", "name", "bob", "back", manage).LeadsTo(manage)
	bob.Get("/chess-club").Wants(403)
	bob.Get("/everything").Lacks("An opening")

	// A reader joins without asking.
	anna.Post("/chess-club/admit", "name", "bob", "back", manage).LeadsTo(manage)
	bob.Post("/chess-club/follow").LeadsTo("/chess-club")
	bob.Get("/chess-club").Wants(200).Has("<b>2</b> members", `class="composer"`)
	anna.Get(manage).Lacks("/chess-club/dismiss")
}

// Pages that are open when somebody is excluded close or lose the posts within a second.
func TestExclusionReachesOpenPages(t *testing.T) {
	s := webtest.New(t, nil)
	ann, bob := s.Person("ann"), s.Person("bob")
	var club timelines.Account
	ann.Act(func(ctx context.Context) (c timelines.Change, err error) {
		club, c, err = s.Store.Groups.Create(ctx, timelines.NewGroup{
			Actor: ann.Account.ID, Name: "club", Title: "Club", Access: timelines.Protected,
		})
		return c, err
	})
	post := ann.Act(func(ctx context.Context) (timelines.Change, error) {
		return s.Store.Posts.Create(ctx, timelines.NewPost{Author: ann.Account.ID, Body: "among us", To: []string{club.Name}})
	})
	group, all := s.Open(bob, "/club"), s.Open(bob, "/everything")
	if _, shown := all.Shown[post.Code]; !shown {
		t.Fatal("to begin with the post is not there")
	}
	began := time.Now()
	c := ann.Act(func(ctx context.Context) (timelines.Change, error) {
		return s.Store.Groups.Exclude(ctx, ann.Account.ID, "club", "bob")
	})
	for _, r := range c.Replace { // as the job does
		s.Replace(r)
	}
	if c := group.Closed(); c.Code != live.CloseNoPage {
		t.Errorf("the group's page closed with %v, want %d", c, live.CloseNoPage)
	}
	all.UntilGone(post.Code)
	if took := time.Since(began); took > time.Second {
		t.Errorf("after %v, want within a second", took)
	}
}
