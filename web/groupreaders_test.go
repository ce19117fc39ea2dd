package web

import (
	"context"
	"testing"
	"time"

	"riverrun/timelines"
)

// What an excluded account is shown and may do, and that it all comes back.
func TestExcludedReaders(t *testing.T) {
	s := newLiveSite(t, nil)
	reader := s.person("bob")
	anna, bob, carol := s.person("anna").visitor(), reader.visitor(), s.person("carol").visitor()
	anna.post("/groups", "name", "chess-club", "title", "Chess Club", "access", "protected").leadsTo("/chess-club")
	anna.post("/posts", "body", "An opening #gambit", "to", "chess-club").leadsTo("/")
	carol.post("/chess-club/follow").leadsTo("/chess-club")
	code := bob.get("/chess-club").wants(200).has("An opening").code()

	// The form: on the page of who administers, and for nobody else.
	const manage = "/chess-club/manage"
	anna.get(manage).wants(200).has("No access", "/chess-club/exclude").lacks("/chess-club/admit", "/chess-club/unexclude")
	bob.post("/chess-club/exclude", "name", "carol").wants(403)
	s.visitor().post("/chess-club/exclude", "name", "carol").leadsTo("/login?back=%2F")
	anna.post("/no-such-club/exclude", "name", "bob").wants(404)
	for name, said := range map[string]string{
		"nobody-here": "Nobody here is called “nobody-here”", "carol": "“carol” is a member", "anna": "“anna” is an administrator",
	} {
		anna.post("/chess-club/exclude", "name", name, "back", manage).wants(422).
			has(said, `id="exclude-name" name="name" type="text" value="`+name+`"`)
	}
	// One that the page does not have says what is wrong all the same.
	anna.post("/chess-club/dismiss", "name", "carol", "back", manage).wants(422).has("“carol” is a member")

	anna.post("/chess-club/exclude", "name", " @Bob", "back", manage).leadsTo(manage)
	anna.get(manage).has(`href="/bob"`, "/chess-club/unexclude")
	anna.header.Set("Accept-Language", "ru")
	anna.get(manage).has("Нет доступа", "Открыть доступ")
	anna.header.Del("Accept-Language")

	bob.get("/chess-club").wants(403).has("don’t give you access").lacks("An opening", "/chess-club/follow")
	bob.get("/chess-club/members").wants(403).lacks(`href="/carol"`)
	for _, page := range []string{"/everything", "/tag/gambit", "/search?q=opening", "/anna", "/"} {
		bob.get(page).wants(200).lacks("An opening")
	}
	bob.get("/p/" + code).wants(404)
	bob.post("/chess-club/follow").wants(403).has("don’t have access here")
	bob.header.Set("Accept", "application/json")
	bob.post("/chess-club/follow").wants(403).has("don’t have access here")
	bob.header.Del("Accept")
	bob.post("/posts", "body", "Kept text", "to", "chess-club").wants(422).has("Kept text", "can’t write to “chess-club”")
	bob.post("/p/"+code+"/comments", "body", "But").wants(404)
	bob.get("/feeds/chess-club.atom").wants(403)
	carol.get("/chess-club").wants(200).has("An opening")

	// The set is kept at other levels, where it keeps from joining.
	anna.post("/settings/access", "group", "chess-club", "level", "public").leadsTo(manage + "?saved")
	bob.get("/chess-club").wants(200).has("An opening", "don’t let you join").lacks("/chess-club/follow")
	bob.post("/chess-club/follow").wants(403).has("don’t have access here")
	anna.get(manage).has("/chess-club/unexclude", "can’t join or ask to")
	anna.post("/settings/access", "group", "chess-club", "level", "private").leadsTo(manage + "?saved")
	bob.get("/chess-club").wants(403).has("don’t give you access").lacks("/chess-club/follow")

	anna.post("/chess-club/unexclude", "name", "bob", "back", manage).leadsTo(manage)
	bob.get("/chess-club").wants(403).has("Request to join")
	anna.post("/settings/access", "group", "chess-club", "level", "protected").leadsTo(manage + "?saved")
	bob.get("/chess-club").wants(200).has("An opening", "/chess-club/follow")
	// What was taken away comes back by a job.
	s.replace(timelines.Replace{ViewerID: reader.account.ID})
	bob.get("/everything").has("An opening")
}

// A private group's reader who is no member.
func TestAdmittedReaders(t *testing.T) {
	s := newLiveSite(t, nil)
	anna, bob := s.person("anna").visitor(), s.person("bob").visitor()
	anna.post("/groups", "name", "chess-club", "title", "Chess Club", "access", "private").leadsTo("/chess-club")
	anna.post("/posts", "body", "An opening", "to", "chess-club").leadsTo("/")
	const manage = "/chess-club/manage"
	bob.get("/chess-club").wants(403)
	anna.get(manage).has("Readers who aren’t members", "/chess-club/admit").lacks("/chess-club/exclude")
	anna.post("/chess-club/admit", "name", "nobody-here", "back", manage).wants(422).has("Nobody here is called", `value="nobody-here"`)
	bob.post("/chess-club/admit", "name", "bob").wants(403)
	anna.post("/chess-club/admit", "name", "bob", "back", manage).leadsTo(manage)
	anna.get(manage).has(`href="/bob"`, "/chess-club/dismiss")

	bob.get("/chess-club").wants(200).has("An opening", "1 member", "Only members can post here", "/chess-club/follow").lacks(`class="composer"`)
	bob.get("/everything").has("An opening")
	bob.get("/").lacks("An opening")
	bob.get("/chess-club/members").wants(200).lacks(`href="/bob"><`)
	anna.post("/chess-club/dismiss", "name", "bob", "back", manage).leadsTo(manage)
	bob.get("/chess-club").wants(403)
	bob.get("/everything").lacks("An opening")

	// Who reads joins without asking.
	anna.post("/chess-club/admit", "name", "bob", "back", manage).leadsTo(manage)
	bob.post("/chess-club/follow").leadsTo("/chess-club")
	bob.get("/chess-club").wants(200).has("2 members", `class="composer"`)
	anna.get(manage).lacks("/chess-club/dismiss")
}

// What is open when somebody is excluded closes or loses the posts within a second.
func TestExclusionReachesOpenPages(t *testing.T) {
	s := newLiveSite(t, nil)
	ann, bob := s.person("ann"), s.person("bob")
	var club timelines.Account
	ann.act(func(ctx context.Context) (c timelines.Change, err error) {
		club, c, err = s.store.CreateGroup(ctx, timelines.NewGroup{
			Actor: ann.account.ID, Name: "club", Title: "Club", Access: timelines.Protected,
		})
		return c, err
	})
	post := ann.act(func(ctx context.Context) (timelines.Change, error) {
		return s.store.CreatePost(ctx, timelines.NewPost{Author: ann.account.ID, Body: "among us", To: []string{club.Name}})
	})
	group, all := s.open(bob, "/club"), s.open(bob, "/everything")
	if _, shown := all.shown[post.Code]; !shown {
		t.Fatal("to begin with the post is not there")
	}
	began := time.Now()
	c := ann.act(func(ctx context.Context) (timelines.Change, error) {
		return s.store.ExcludeFromGroup(ctx, ann.account.ID, "club", "bob")
	})
	for _, r := range c.Replace { // as the job does
		s.replace(r)
	}
	if c := group.closed(); c.Code != closeNoPage {
		t.Errorf("the group's page closed with %v, want %d", c, closeNoPage)
	}
	all.untilGone(post.Code)
	if took := time.Since(began); took > time.Second {
		t.Errorf("after %v, want within a second", took)
	}
}
