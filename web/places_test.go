package web

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"

	"riverrun/timelines"
	"riverrun/web/view"
)

func TestOnlyMe(t *testing.T) {
	s := newLiveSite(t, nil)
	anna, bob := s.person("anna").visitor(), s.person("bob").visitor()
	bob.post("/anna/follow").leadsTo("/anna")
	anna.get("/filter/only-me").wants(200).has("Only you see what you write here", `value="~eyes" checked`)
	anna.post("/posts", "body", "To remember", "to", "~eyes", "back", "/filter/only-me").leadsTo("/filter/only-me")
	anna.post("/posts", "body", "To whom?", "to", "~eyes", "to", "anna").wants(422).has("combine “Only me” with other places", "To whom?", `value="~eyes" checked`)
	code := anna.get("/filter/only-me").wants(200).has("To remember", `<span class="badge">only you</span>`).code()
	anna.get("/").has("To remember", "Only you see this")
	anna.get("/anna").lacks("To remember").has(`href="/filter/only-me"`)
	for _, v := range []*visitor{bob, s.visitor()} {
		v.get("/p/" + code).wants(404)
		v.get("/everything").wants(200).lacks("To remember")
		v.get("/anna").wants(200).lacks("To remember", "/filter/only-me")
	}
	bob.get("/filter/only-me").wants(200).lacks("To remember")
	s.visitor().get("/filter/only-me").leadsTo("/login?back=%2Ffilter%2Fonly-me")
}

func TestSubfeedPages(t *testing.T) {
	s := newLiveSite(t, nil)
	bobs := s.person("bob")
	anna, bob, carol, nobody := s.person("anna").visitor(), bobs.visitor(), s.person("carol").visitor(), s.visitor()
	anna.get("/settings").has(`href="/settings/pages"`)
	anna.get("/settings/pages").wants(200).has("My page", "Private", "Only you", `href="/anna/private"`)
	anna.post("/settings/pages", "slug", "likes", "title", "Kept", "access", "public").wants(422).has("reserved for the site", `value="Kept"`)
	anna.post("/settings/pages", "slug", "Snow Ball", "title", "x", "access", "private").wants(422).has("1 to 35 characters")
	anna.post("/settings/pages", "slug", "photos", "title", " ", "access", "private").wants(422).has("Fill this in")
	anna.post("/settings/pages", "slug", "photos", "title", "Photos", "access", "public").leadsTo("/settings/pages?saved#page-photos")
	anna.post("/settings/pages", "slug", "photos", "title", "Again", "access", "public").wants(422).has("You already use this address")
	anna.post("/settings/pages", "slug", "garden", "title", "Garden", "access", "protected").leadsTo("/settings/pages?saved#page-garden")

	// What one writes to a sub-feed stands there and on one's page, with its name.
	anna.get("/anna/photos").wants(200).has(`value="anna/photos" checked`, "You haven’t written anything here yet")
	anna.post("/posts", "body", "A picture", "to", "anna/photos", "back", "/anna/photos").leadsTo("/anna/photos")
	anna.post("/posts", "body", "A bean", "to", "anna/garden").leadsTo("/")
	anna.post("/posts", "body", "A secret", "to", "anna/private").leadsTo("/")
	bob.post("/posts", "body", "Not mine", "to", "anna/photos").wants(422).has("Nobody here is called “anna/photos”")
	anna.get("/anna").has("A picture", "A bean", "A secret", `<a class="who" href="/anna/photos"><bdi>Photos</bdi></a>`, `href="/anna/private"><bdi>Private</bdi></a>`)
	anna.get("/anna/photos").wants(200).has("A picture").lacks("A bean", "A secret", `<span class="to"`)
	bob.get("/anna").wants(200).has("A picture", "A bean", `href="/anna/photos"`, `href="/anna/garden"`).lacks("A secret", "/anna/private")
	nobody.get("/anna").wants(200).has("A picture").lacks("A bean", "/anna/garden", "A secret", "/anna/private")
	bob.get("/everything").has("A picture", "A bean").lacks("A secret")
	nobody.get("/anna/photos").wants(200).has("A picture")
	nobody.get("/anna/garden").wants(403).has("for people who are signed in", "/login?back=%2Fanna%2Fgarden").lacks("A bean", "/anna/follow")
	for _, v := range []*visitor{bob, nobody} {
		code := regexp.MustCompile(`[0-9A-Z]{8}\.`) // the request's
		closed, missing := v.get("/anna/private").wants(404), v.get("/anna/privat").wants(404)
		if got, want := code.ReplaceAllString(closed.body, ""), code.ReplaceAllString(missing.body, ""); got != want {
			t.Errorf("a closed sub-feed and a missing one differ:\n%s\n%s", got, want)
		}
	}

	// Readers, admitted and removed, and one left out.
	anna.post("/settings/pages/admit", "feed", "private", "name", "nobody-here").wants(422).has("Nobody here is called “nobody-here”")
	anna.post("/settings/pages/admit", "feed", "private", "name", " @Bob ").leadsTo("/settings/pages?saved")
	anna.get("/settings/pages").has(`name="name" value="bob"`, "@bob")
	bob.get("/anna/private").wants(200).has("A secret").lacks("composer")
	s.replace(timelines.Replace{ViewerID: bobs.account.ID})
	bob.get("/anna").has("A secret", `href="/anna/private"`)
	carol.get("/anna/private").wants(404)
	anna.post("/settings/pages/remove", "feed", "private", "name", "bob").leadsTo("/settings/pages?saved")
	bob.get("/anna/private").wants(404)
	bob.get("/anna").lacks("A secret")
	anna.post("/settings/pages/exclude", "feed", "garden", "name", "bob").leadsTo("/settings/pages?saved")
	anna.get("/settings/pages").has("Allow access")
	bob.get("/anna/garden").wants(403).has("doesn’t let you read").lacks("A bean")
	bob.get("/anna").lacks("A bean", "/anna/garden")
	carol.get("/anna/garden").wants(200).has("A bean")
	anna.post("/settings/pages/unexclude", "feed", "garden", "name", "bob").leadsTo("/settings/pages?saved")
	bob.get("/anna/garden").wants(200).has("A bean")
	anna.post("/settings/pages/admit", "feed", "private", "name", "anna").wants(422).has("That’s you")

	// Title and level.
	anna.post("/settings/pages/rename", "feed", "photos", "title", "Pictures").leadsTo("/settings/pages?saved")
	nobody.get("/anna").has("Pictures</bdi></a>").lacks("Photos</bdi></a>")
	anna.post("/settings/pages/access", "feed", "photos", "level", "nonsense").wants(422)
	anna.post("/settings/pages/access", "feed", "photos", "level", "private").leadsTo("/settings/pages?saved")
	nobody.get("/anna/photos").wants(404)
	nobody.get("/anna").wants(200).lacks("A picture", "/anna/photos")
	anna.post("/settings/pages/access", "feed", "private", "level", "public").wants(403)
	anna.post("/settings/pages/rename", "feed", "private", "title", "x").wants(403)

	// A closed account's open sub-feed.
	anna.post("/settings/pages/access", "feed", "photos", "level", "public").leadsTo("/settings/pages?saved")
	anna.post("/settings/access", "level", "private").leadsTo("/settings?saved")
	nobody.get("/anna").wants(403).has(`href="/anna/photos"`).lacks("A picture", "/anna/garden")
	nobody.get("/anna/photos").wants(200).has("A picture")
	bob.get("/anna").wants(403).has(`href="/anna/photos"`, `href="/anna/garden"`)

	// Deleted when empty.
	anna.post("/settings/pages/delete", "feed", "photos").wants(422).has("This page still has posts")
	code := anna.get("/anna/photos").code()
	anna.post("/p/" + code + "/delete")
	anna.post("/settings/pages/delete", "feed", "photos").leadsTo("/settings/pages?saved")
	for _, v := range []*visitor{anna, bob, nobody} {
		v.get("/anna/photos").wants(404)
	}
	anna.get("/anna").wants(200).lacks("/anna/photos")
	for _, act := range []string{"rename", "access", "delete"} {
		anna.post("/settings/pages/"+act, "feed", "photos", "title", "x", "level", "public").wants(404)
		bob.post("/settings/pages/"+act, "feed", "garden", "title", "x", "level", "public").wants(404)
	}
	anna.post("/settings/pages/nothing", "feed", "garden").wants(404)
	nobody.post("/settings/pages/delete", "feed", "garden").wants(303)
}

func TestMovingAPost(t *testing.T) {
	s := newLiveSite(t, nil)
	annas := s.person("anna")
	anna, bob, carol, nobody := annas.visitor(), s.person("bob").visitor(), s.person("carol").visitor(), s.visitor()
	bob.post("/groups", "name", "chess-club", "title", "Chess Club", "access", "public").leadsTo("/chess-club")
	code := annas.post("Everybody knows").Code
	at := "/p/" + code
	nobody.get(at).wants(200)
	anna.get(at+"/edit").wants(200).has("Visible in", `value="anna" checked`, `name="was" value="anna"`).lacks(`value="~eyes" checked`)
	anna.post(at+"/edit", "to", "").wants(422).has("Choose at least one place", "Everybody knows")
	anna.post(at+"/edit", "to", "anna", "to", "nobody-here").wants(422).has("Nobody here is called “nobody-here”", `value="nobody-here"`)
	bob.post(at+"/edit", "to", "bob").wants(403)

	anna.post(at+"/edit", "to", "chess-club", "to", " carol bob ", "back", "/anna").leadsTo("/anna")
	anna.get(at+"/edit").has(`value="chess-club" checked`, `value="bob carol"`).lacks(`value="anna" checked`)
	bob.get("/chess-club").wants(200).has("Everybody knows")
	nobody.get("/anna").wants(200).lacks("Everybody knows")
	carol.get("/filter/messages").has("Everybody knows")

	// Whoever administers the group takes it out; who is only in the direct keeps it.
	carol.get("/chess-club").wants(200).has("Everybody knows").lacks(at + "/remove")
	bob.get("/chess-club").has(at+"/remove", "Remove from group")
	bob.get(at+"/remove").wants(200).has("Chess Club", `action="`+at+`/remove"`)
	carol.get(at + "/remove").wants(403)
	carol.post(at+"/remove", "group", "chess-club").wants(403)
	bob.post(at+"/remove", "group", "no-club").wants(404)
	bob.post(at+"/remove", "group", "chess-club").leadsTo("/chess-club")
	for _, v := range []*visitor{anna, bob, carol, nobody} {
		v.get("/chess-club").wants(200).lacks("Everybody knows")
	}
	nobody.get(at).wants(404)
	carol.get(at).wants(200).has(`<span class="badge">message</span>`)

	anna.post(at+"/edit", "to", "~eyes").leadsTo(at)
	anna.get(at).wants(200).has("only you")
	carol.get(at).wants(404)
	carol.get("/filter/messages").lacks("Everybody knows")
	anna.post(at+"/edit", "to", "anna").leadsTo(at)
	nobody.get(at).wants(200)

	// What stood in the group only is left to its author.
	only := annas.post("For the club", "chess-club").Code
	bob.post("/p/"+only+"/remove", "group", "chess-club").leadsTo("/chess-club")
	bob.get("/p/" + only).wants(404)
	anna.get("/filter/only-me").wants(200).has("For the club")
}

// TestEditingAllOfAPost: text and places are one form, and what is wrong with either
// keeps both from being done, and loses neither.
func TestEditingAllOfAPost(t *testing.T) {
	s := newLiveSite(t, nil)
	annas, bobs := s.person("anna"), s.person("bob")
	anna, nobody := annas.visitor(), s.visitor()
	bobs.visitor().post("/groups", "access", "public", "name", "chess-club", "title", "Chess Club").leadsTo("/chess-club")
	code := annas.post("As it was", "anna", "chess-club").Code
	at := "/p/" + code
	page := anna.get(at + "/edit").wants(200)
	for _, wrong := range []struct{ field, value, says string }{
		{"to", "nobody-here", "Nobody here is called"},
		{"body", " ", "Write something first"},
	} {
		form := page.form(at + "/edit")
		form.Set("body", "Changed")
		form["to"] = []string{"anna/private"}
		form.Set(wrong.field, wrong.value)
		again := anna.do("POST", at+"/edit", form).wants(422).has(wrong.says)
		nobody.get(at).wants(200).has("As it was")
		form = again.form(at + "/edit")
		if got := form.Get(wrong.field); got != wrong.value && wrong.field == "body" {
			t.Errorf("%s became %q, want %q", wrong.field, got, wrong.value)
		}
		if wrong.field == "to" {
			form["to"] = []string{"anna/private"}
		} else {
			form.Set("body", "Changed")
		}
		page = again
		if wrong.field == "body" {
			anna.do("POST", at+"/edit", form).leadsTo(at)
		}
	}
	nobody.get(at).wants(404)
	anna.get(at).wants(200).has("Changed", "Private")

	// Who changes the text alone does not undo what became of the post meanwhile.
	code = annas.post("In the club", "anna", "chess-club").Code
	at = "/p/" + code
	page = anna.get(at + "/edit").wants(200)
	bobs.visitor().post(at+"/remove", "group", "chess-club").leadsTo("/chess-club")
	anna.send(page, at+"/edit", "body", "Out of the club").leadsTo(at)
	bobs.visitor().get(at).wants(200).has("Out of the club").lacks("Chess Club")
}

// A move is in the reply, and on the pages that are open.
func TestAMoveIsSeenAtOnce(t *testing.T) {
	s := newLiveSite(t, nil)
	anna := s.person("anna")
	code := anna.post("Everybody knows").Code
	for _, address := range []string{"/anna", "/anna/private", "/filter/only-me"} {
		s.open(anna, address).subscribe()
	}
	page := s.open(nil, "/everything")
	page.follow(s, nil)
	anna.act(func(ctx context.Context) (timelines.Change, error) {
		return s.store.SetDestinations(ctx, anna.account.ID, code, []string{"anna/private"})
	})
	s.followUp()
	page.untilGone(code)
	v := anna.visitor()
	v.header.Set("Accept", "application/json")
	for address, stays := range map[string]bool{"/anna": true, "/anna/private": true, "/filter/only-me": false} {
		v.header.Set("X-River-Page", address)
		reply := v.post("/p/" + code + "/like").wants(200)
		if got := strings.Contains(reply.body, `"t":"entry"`); got != stays {
			t.Errorf("the reply to a like on %s has the entry: %v, want %v: %.200s", address, got, stays, reply.body)
		}
	}
}

// TestSlugsAreReserved: no sub-feed can take an address of ours.
func TestSlugsAreReserved(t *testing.T) {
	for _, page := range view.Pages {
		slug, ok := strings.CutPrefix(page.Path, "/{name}/")
		if ok && slug != "{slug}" && !slices.Contains(timelines.ReservedSlugs, slug) {
			t.Errorf("a sub-feed could be called %q", slug)
		}
	}
	for act := range (accounts{}).forms() {
		if !slices.Contains(timelines.ReservedSlugs, act) {
			t.Errorf("a sub-feed could be called %q", act)
		}
	}
}
