package web_test

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"

	"riverrun/timelines"
	"riverrun/web"
	"riverrun/web/view"
	"riverrun/web/webtest"
)

func TestOnlyMe(t *testing.T) {
	s := webtest.New(t, nil)
	anna, bob := s.Person("anna").Visitor(), s.Person("bob").Visitor()
	bob.Post("/anna/follow").LeadsTo("/anna")
	anna.Get("/filter/only-me").Wants(200).Has("Only you see what you write here", `value="~eyes" checked`)
	anna.Post("/posts", "body", "To remember", "to", "~eyes", "back", "/filter/only-me").LeadsTo("/filter/only-me")
	anna.Post("/posts", "body", "To whom?", "to", "~eyes", "to", "anna").Wants(422).Has("combine “Only me” with other places", "To whom?", `value="~eyes" checked`)
	code := anna.Get("/filter/only-me").Wants(200).Has("To remember", "only you</span>").Code()
	anna.Get("/").Has("To remember", "Only you see this")
	anna.Get("/anna").Lacks("To remember").Has(`href="/filter/only-me"`)
	for _, v := range []*webtest.Visitor{bob, s.Visitor()} {
		v.Get("/p/" + code).Wants(404)
		v.Get("/everything").Wants(200).Lacks("To remember")
		v.Get("/anna").Wants(200).Lacks("To remember", "/filter/only-me")
	}
	bob.Get("/filter/only-me").Wants(200).Lacks("To remember")
	s.Visitor().Get("/filter/only-me").LeadsTo("/login?back=%2Ffilter%2Fonly-me")
}

func TestSubfeedPages(t *testing.T) {
	s := webtest.New(t, nil)
	bobs := s.Person("bob")
	anna, bob, carol, nobody := s.Person("anna").Visitor(), bobs.Visitor(), s.Person("carol").Visitor(), s.Visitor()
	anna.Get("/settings").Has(`href="/settings/pages"`)
	anna.Get("/settings/pages").Wants(200).Has("My page", "Private", "Only you", `href="/anna/private"`)
	anna.Post("/settings/pages", "slug", "likes", "title", "Kept", "access", "public").Wants(422).Has("reserved for the site", `value="Kept"`)
	anna.Post("/settings/pages", "slug", "Snow Ball", "title", "x", "access", "private").Wants(422).Has("1 to 35 characters")
	anna.Post("/settings/pages", "slug", "photos", "title", " ", "access", "private").Wants(422).Has("Fill this in")
	anna.Post("/settings/pages", "slug", "photos", "title", "Photos", "access", "public").LeadsTo("/settings/pages?saved#page-photos")
	anna.Post("/settings/pages", "slug", "photos", "title", "Again", "access", "public").Wants(422).Has("You already use this address")
	anna.Post("/settings/pages", "slug", "garden", "title", "Garden", "access", "protected").LeadsTo("/settings/pages?saved#page-garden")

	// A post to a sub-feed is shown there and on its author's page, with the sub-feed's
	// name.
	anna.Get("/anna/photos").Wants(200).Has(`value="anna/photos" checked`, "You haven’t written anything here yet")
	anna.Post("/posts", "body", "A picture", "to", "anna/photos", "back", "/anna/photos").LeadsTo("/anna/photos")
	anna.Post("/posts", "body", "A bean", "to", "anna/garden").LeadsTo("/")
	anna.Post("/posts", "body", "A secret", "to", "anna/private").LeadsTo("/")
	bob.Post("/posts", "body", "Not mine", "to", "anna/photos").Wants(422).Has("Nobody here is called “anna/photos”")
	anna.Get("/anna").Has("A picture", "A bean", "A secret", `<a class="who" href="/anna/photos">Photos</a>`, `href="/anna/private"><bdi>Private</bdi></a>`)
	anna.Get("/anna/photos").Wants(200).Has("A picture").Lacks("A bean", "A secret", `<span class="to"`)
	bob.Get("/anna").Wants(200).Has("A picture", "A bean", `href="/anna/photos"`, `href="/anna/garden"`).Lacks("A secret", "/anna/private")
	nobody.Get("/anna").Wants(200).Has("A picture").Lacks("A bean", "/anna/garden", "A secret", "/anna/private")
	bob.Get("/everything").Has("A picture", "A bean").Lacks("A secret")
	nobody.Get("/anna/photos").Wants(200).Has("A picture")
	nobody.Get("/anna/garden").Wants(403).Has("for people who are signed in", "/login?back=%2Fanna%2Fgarden").Lacks("A bean", "/anna/follow")
	for _, v := range []*webtest.Visitor{bob, nobody} {
		code := regexp.MustCompile(`[0-9A-Z]{8}\.`) // the request's
		closed, missing := v.Get("/anna/private").Wants(404), v.Get("/anna/privat").Wants(404)
		if got, want := code.ReplaceAllString(closed.Body, ""), code.ReplaceAllString(missing.Body, ""); got != want {
			t.Errorf("a closed sub-feed and a missing one differ:\n%s\n%s", got, want)
		}
	}

	// Readers, admitted and removed, and one left out.
	anna.Post("/settings/pages/admit", "feed", "private", "name", "nobody-here").Wants(422).Has("Nobody here is called “nobody-here”")
	anna.Post("/settings/pages/admit", "feed", "private", "name", " @Bob ").LeadsTo("/settings/pages?saved")
	anna.Get("/settings/pages").Has(`name="name" value="bob"`, "@bob")
	bob.Get("/anna/private").Wants(200).Has("A secret").Lacks("composer")
	s.Replace(timelines.Replace{ViewerID: bobs.Account.ID})
	bob.Get("/anna").Has("A secret", `href="/anna/private"`)
	carol.Get("/anna/private").Wants(404)
	anna.Post("/settings/pages/remove", "feed", "private", "name", "bob").LeadsTo("/settings/pages?saved")
	bob.Get("/anna/private").Wants(404)
	bob.Get("/anna").Lacks("A secret")
	anna.Post("/settings/pages/exclude", "feed", "garden", "name", "bob").LeadsTo("/settings/pages?saved")
	anna.Get("/settings/pages").Has("Allow access")
	bob.Get("/anna/garden").Wants(403).Has("doesn’t let you read").Lacks("A bean")
	bob.Get("/anna").Lacks("A bean", "/anna/garden")
	carol.Get("/anna/garden").Wants(200).Has("A bean")
	anna.Post("/settings/pages/unexclude", "feed", "garden", "name", "bob").LeadsTo("/settings/pages?saved")
	bob.Get("/anna/garden").Wants(200).Has("A bean")
	anna.Post("/settings/pages/admit", "feed", "private", "name", "anna").Wants(422).Has("That’s you")

	// Title and level.
	anna.Post("/settings/pages/rename", "feed", "photos", "title", "Pictures").LeadsTo("/settings/pages?saved")
	nobody.Get("/anna").Has("Pictures</bdi></a>").Lacks("Photos</bdi></a>")
	anna.Post("/settings/pages/access", "feed", "photos", "level", "nonsense").Wants(422)
	anna.Post("/settings/pages/access", "feed", "photos", "level", "private").LeadsTo("/settings/pages?saved")
	nobody.Get("/anna/photos").Wants(404)
	nobody.Get("/anna").Wants(200).Lacks("A picture", "/anna/photos")
	anna.Post("/settings/pages/access", "feed", "private", "level", "public").Wants(403)
	anna.Post("/settings/pages/rename", "feed", "private", "title", "x").Wants(403)

	// A closed account's open sub-feed.
	anna.Post("/settings/pages/access", "feed", "photos", "level", "public").LeadsTo("/settings/pages?saved")
	anna.Post("/settings/access", "level", "private").LeadsTo("/settings?saved")
	nobody.Get("/anna").Wants(403).Has(`href="/anna/photos"`).Lacks("A picture", "/anna/garden")
	nobody.Get("/anna/photos").Wants(200).Has("A picture")
	bob.Get("/anna").Wants(403).Has(`href="/anna/photos"`, `href="/anna/garden"`)

	// Deleted when empty.
	anna.Post("/settings/pages/delete", "feed", "photos").Wants(422).Has("This page still has posts")
	code := anna.Get("/anna/photos").Code()
	anna.Post("/p/" + code + "/delete")
	anna.Post("/settings/pages/delete", "feed", "photos").LeadsTo("/settings/pages?saved")
	for _, v := range []*webtest.Visitor{anna, bob, nobody} {
		v.Get("/anna/photos").Wants(404)
	}
	anna.Get("/anna").Wants(200).Lacks("/anna/photos")
	for _, act := range []string{"rename", "access", "delete"} {
		anna.Post("/settings/pages/"+act, "feed", "photos", "title", "x", "level", "public").Wants(404)
		bob.Post("/settings/pages/"+act, "feed", "garden", "title", "x", "level", "public").Wants(404)
	}
	anna.Post("/settings/pages/nothing", "feed", "garden").Wants(404)
	nobody.Post("/settings/pages/delete", "feed", "garden").Wants(303)
}

func TestMovingAPost(t *testing.T) {
	s := webtest.New(t, nil)
	annas := s.Person("anna")
	anna, bob, carol, nobody := annas.Visitor(), s.Person("bob").Visitor(), s.Person("carol").Visitor(), s.Visitor()
	bob.Post("/groups", "name", "chess-club", "title", "Chess Club", "access", "public").LeadsTo("/chess-club")
	code := annas.Post("Everybody knows").Code
	at := "/p/" + code
	nobody.Get(at).Wants(200)
	anna.Get(at+"/edit").Wants(200).Has("Visible in", `value="anna" checked`, `name="was" value="anna"`).Lacks(`value="~eyes" checked`)
	anna.Post(at+"/edit", "to", "").Wants(422).Has("Choose at least one place", "Everybody knows")
	anna.Post(at+"/edit", "to", "anna", "to", "nobody-here").Wants(422).Has("Nobody here is called “nobody-here”", `value="nobody-here"`)
	bob.Post(at+"/edit", "to", "bob").Wants(403)

	anna.Post(at+"/edit", "to", "chess-club", "to", " carol bob ", "back", "/anna").LeadsTo("/anna")
	anna.Get(at+"/edit").Has(`value="chess-club" checked`, `value="bob carol"`).Lacks(`value="anna" checked`)
	bob.Get("/chess-club").Wants(200).Has("Everybody knows")
	nobody.Get("/anna").Wants(200).Lacks("Everybody knows")
	carol.Get("/filter/messages").Has("Everybody knows")

	// Any administrator of the group removes it. The recipient of the message keeps it.
	carol.Get(at).Wants(200).Has("Everybody knows").Lacks(at + "/remove")
	bob.Get(at).Has(at+"/remove", "Remove from group")
	bob.Get("/chess-club").Has(`data-menu="hide mute remove report"`)
	bob.Get(at+"/remove").Wants(200).Has("Chess Club", `action="`+at+`/remove"`)
	carol.Get(at + "/remove").Wants(403)
	carol.Post(at+"/remove", "group", "chess-club").Wants(403)
	bob.Post(at+"/remove", "group", "no-club").Wants(404)
	bob.Post(at+"/remove", "group", "chess-club").LeadsTo("/chess-club")
	for _, v := range []*webtest.Visitor{anna, bob, carol, nobody} {
		v.Get("/chess-club").Wants(200).Lacks("Everybody knows")
	}
	nobody.Get(at).Wants(404)
	carol.Get(at).Wants(200).Has("message</span>")

	anna.Post(at+"/edit", "to", "~eyes").LeadsTo(at)
	anna.Get(at).Wants(200).Has("only you")
	carol.Get(at).Wants(404)
	carol.Get("/filter/messages").Lacks("Everybody knows")
	anna.Post(at+"/edit", "to", "anna").LeadsTo(at)
	nobody.Get(at).Wants(200)

	// A post that was in the group only is left to its author.
	only := annas.Post("For the club", "chess-club").Code
	bob.Post("/p/"+only+"/remove", "group", "chess-club").LeadsTo("/chess-club")
	bob.Get("/p/" + only).Wants(404)
	anna.Get("/filter/only-me").Wants(200).Has("For the club")
}

// TestEditingAllOfAPost: text and places are one form, and what is wrong with either
// keeps both from being done, and loses neither.
func TestEditingAllOfAPost(t *testing.T) {
	s := webtest.New(t, nil)
	annas, bobs := s.Person("anna"), s.Person("bob")
	anna, nobody := annas.Visitor(), s.Visitor()
	bobs.Visitor().Post("/groups", "access", "public", "name", "chess-club", "title", "Chess Club").LeadsTo("/chess-club")
	code := annas.Post("As it was", "anna", "chess-club").Code
	at := "/p/" + code
	page := anna.Get(at + "/edit").Wants(200)
	for _, wrong := range []struct{ field, value, says string }{
		{"to", "nobody-here", "Nobody here is called"},
		{"body", " ", "Write something first"},
	} {
		form := formTo(page, at+"/edit")
		form.Set("body", "Changed")
		form["to"] = []string{"anna/private"}
		form.Set(wrong.field, wrong.value)
		again := anna.Do("POST", at+"/edit", form).Wants(422).Has(wrong.says)
		nobody.Get(at).Wants(200).Has("As it was")
		form = formTo(again, at+"/edit")
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
			anna.Do("POST", at+"/edit", form).LeadsTo(at)
		}
	}
	nobody.Get(at).Wants(404)
	anna.Get(at).Wants(200).Has("Changed", "Private")

	// An edit of the text alone does not undo moves of the post meanwhile.
	code = annas.Post("In the club", "anna", "chess-club").Code
	at = "/p/" + code
	page = anna.Get(at + "/edit").Wants(200)
	bobs.Visitor().Post(at+"/remove", "group", "chess-club").LeadsTo("/chess-club")
	send(anna, page, at+"/edit", "body", "Out of the club").LeadsTo(at)
	bobs.Visitor().Get(at).Wants(200).Has("Out of the club").Lacks("/chess-club\" tabindex", "to own page")
}

// A move is in the reply, and on the pages that are open.
func TestAMoveIsSeenAtOnce(t *testing.T) {
	s := webtest.New(t, nil)
	anna := s.Person("anna")
	code := anna.Post("Everybody knows").Code
	for _, address := range []string{"/anna", "/anna/private", "/filter/only-me"} {
		s.Open(anna, address).Subscribe()
	}
	page := s.Open(nil, "/everything")
	page.Follow(s, nil)
	anna.Act(func(ctx context.Context) (timelines.Change, error) {
		return s.Store.Posts.Revise(ctx, anna.Account.ID, code, timelines.Revision{To: []string{"anna/private"}})
	})
	s.FollowUp()
	page.UntilGone(code)
	v := anna.Visitor()
	v.Header.Set("Accept", "application/json")
	for address, stays := range map[string]bool{"/anna": true, "/anna/private": true, "/filter/only-me": false} {
		v.Header.Set("X-River-Page", address)
		reply := v.Post("/p/" + code + "/like").Wants(200)
		if got := strings.Contains(reply.Body, `"t":"entry"`); got != stays {
			t.Errorf("the reply to a like on %s has the entry: %v, want %v: %.200s", address, got, stays, reply.Body)
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
	for _, act := range web.AccountForms() {
		if !slices.Contains(timelines.ReservedSlugs, act) {
			t.Errorf("a sub-feed could be called %q", act)
		}
	}
}
