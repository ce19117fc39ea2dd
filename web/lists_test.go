package web_test

import (
	"strings"
	"testing"

	"riverrun/web/live"
	"riverrun/web/webtest"
)

func TestLists(t *testing.T) {
	s := webtest.New(t, nil)
	anna, bob, carol := s.Person("anna"), s.Person("bob"), s.Person("carol")
	v, other := anna.Visitor(), bob.Visitor()
	carol.Visitor().Post("/groups", "name", "chess-club", "title", "Chess Club", "access", "public")
	bob.Post("Bob's words")
	carol.Post("Carol's words")
	carol.Post("A gambit", "chess-club")
	for _, address := range []string{"/lists", "/lists/friends", "/lists/friends/edit"} {
		s.Visitor().Get(address).LeadsTo("/login?back=" + strings.ReplaceAll(address, "/", "%2F"))
	}
	v.Get("/lists/friends").Wants(404)
	v.Get("/lists/friends/edit").Wants(404)
	v.Get("/lists").Wants(200).Has("Create a list")
	v.Post("/lists", "title", " ").Wants(422).Has("Fill this in")
	v.Post("/lists", "title", "Close <b>friends").LeadsTo("/lists/close-b-friends/edit")
	v.Post("/lists", "title", "Close <b>friends").Wants(422).Has("You already have a list called “Close &lt;b&gt;friends”")
	v.Get("/lists/close-b-friends").Wants(200).Has("This list has no members yet", `data-page="/lists/close-b-friends?mode=activity"`)
	v.Get("/lists/close-b-friends/edit").Wants(200).Has("You don’t follow anyone yet")

	v.Post("/bob/follow")
	v.Post("/chess-club/follow")
	v.Get("/lists/close-b-friends/edit").Has(`value="bob"`, `value="chess-club"`).Lacks(`value="carol"`, "checked")
	v.Post("/lists/close-b-friends/edit", "title", "Friends", "member", "carol").Wants(422).Has("You don’t follow “carol”", `value="Friends"`)
	v.Post("/lists/close-b-friends/edit", "title", "", "member", "bob").Wants(422).Has("Fill this in", "checked")
	v.Post("/lists/close-b-friends/edit", "title", "Friends", "member", "bob").LeadsTo("/lists/close-b-friends")
	v.Get("/lists/close-b-friends").Wants(200).Has("Bob&#39;s words", "You follow", "1 member").Lacks("gambit", "Carol&#39;s words", "composer")
	v.Get("/lists/close-b-friends?order=created").Wants(200).Has("Bob&#39;s words")
	v.Get("/lists").Has("Friends", "1 member", "/lists/close-b-friends/edit")
	// Every page leads to it, the viewer's alone.
	for _, page := range []string{"/", "/settings", "/people", "/bob", "/nobody-here"} {
		v.Get(page).Has(`href="/lists/close-b-friends"`)
		other.Get(page).Lacks("close-b-friends")
	}
	other.Get("/lists/close-b-friends").Wants(404)
	other.Get("/lists/close-b-friends/edit").Wants(404)
	other.Post("/lists/close-b-friends/edit", "title", "Mine").Wants(404)
	other.Post("/lists/close-b-friends/delete").Wants(404)

	v.Post("/lists/close-b-friends/delete").LeadsTo("/lists")
	v.Get("/lists/close-b-friends").Wants(404)
	v.Get("/").Wants(200).Has("Bob&#39;s words").Lacks("close-b-friends")
}

func TestPlacing(t *testing.T) {
	s := webtest.New(t, nil)
	anna, bob := s.Person("anna"), s.Person("bob")
	v := anna.Visitor()
	bob.Post("Bob's words")
	v.Get("/bob").Lacks("/bob/place")
	v.Post("/bob/place", "home", "1").Wants(404)
	v.Post("/bob/follow")
	v.Post("/lists", "title", "Loud").LeadsTo("/lists/loud/edit")
	v.Get("/bob").Has("/bob/place", "Shown in: Home<", `value="loud"`)
	v.Get("/").Has("Bob&#39;s words")
	v.Post("/bob/place", "list", "loud").LeadsTo("/bob")
	v.Get("/bob").Has("Shown in: Loud<")
	v.Get("/").Lacks("Bob&#39;s words")
	v.Get("/lists/loud").Has("Bob&#39;s words")
	v.Post("/bob/place", "list", "none").Wants(422).Has("This list doesn’t exist any more")
	v.Post("/bob/place").LeadsTo("/bob")
	v.Get("/bob").Has("Shown in: nowhere<")
	v.Get("/lists/loud").Lacks("Bob&#39;s words")
	v.Post("/bob/place", "home", "1", "list", "loud", "back", "/bob?order=created").LeadsTo("/bob?order=created")
	v.Get("/").Has("Bob&#39;s words")
	v.Post("/bob/unfollow")
	v.Get("/lists/loud").Wants(200).Has("This list has no members yet")
}

// A list's page moves by itself, and closes when the list goes.
func TestAListIsLive(t *testing.T) {
	s := webtest.New(t, nil)
	anna, bob := s.Person("anna"), s.Person("bob")
	v := anna.Visitor()
	v.Post("/bob/follow")
	v.Post("/lists", "title", "Loud")
	v.Post("/lists/loud/edit", "title", "Loud", "member", "bob")
	v.Get("/lists/loud").Wants(200)
	page := s.Open(anna, "/lists/loud")
	post := bob.Post("Bob's words")
	page.UntilEntry(post.Code)
	v.Post("/lists/loud/delete")
	if c := page.Closed(); c.Code != live.CloseNoPage {
		t.Errorf("the page of a deleted list is closed with %v, want %d", c, live.CloseNoPage)
	}
}

func TestModes(t *testing.T) {
	s := webtest.New(t, nil)
	anna, bob, carol := s.Person("anna"), s.Person("bob"), s.Person("carol")
	v := anna.Visitor()
	v.Post("/bob/follow")
	v.Post("/lists", "title", "Loud")
	v.Post("/bob/place", "home", "1", "list", "loud")
	strange := carol.Post("A stranger")
	bob.Post("A friend")
	bob.Like(strange.Code)
	for _, page := range []string{"/", "/lists/loud"} {
		// Its socket follows what it shows, whatever will be chosen meanwhile.
		v.Get(page).Wants(200).Has("A stranger", "A friend", `data-page="`+page+`?mode=activity"`, `href="`+page+`?mode=friends"`)
		only := v.Get(page + "?mode=friends").Wants(200)
		only.Has("A friend", `data-page="`+page+`?mode=friends"`, `href="`+page+`?mode=friends&amp;order=created"`).Lacks("A stranger")
		v.Get(page+"?mode=friends&order=created").Has("A friend", `data-page="`+page+`?mode=friends&amp;order=created"`).Lacks("A stranger")
		v.Get(page + "?mode=nonsense").Wants(200).Has("A stranger")
	}
	v.Get("/bob?mode=friends").Wants(200).Has("A friend", `data-page="/bob"`).Lacks("mode=")

	// A form that is sent from the page is answered for the page.
	v.Header.Set("Accept", "application/json")
	v.Header.Set("X-River-Page", "/?mode=friends")
	v.Post("/p/" + strange.Code + "/like").Wants(200).Has(`"t":"gone"`)
	v.Header.Set("X-River-Page", "/?mode=activity")
	v.Post("/p/" + strange.Code + "/unlike").Wants(200).Has(`"t":"entry"`)
	v.Header.Del("Accept")
	v.Header.Del("X-River-Page")

	v.Post("/settings/home", "mode", "").Wants(422).Has("Choose one of these")
	v.Post("/settings/home", "mode", "friends").LeadsTo("/settings?saved")
	v.Get("/settings").Has(`value="friends" checked`)
	for _, page := range []string{"/", "/lists/loud"} {
		v.Get(page).Wants(200).Has("A friend", `data-page="`+page+`?mode=friends"`).Lacks("A stranger")
		v.Get(page+"?mode=activity").Has("A friend", "A stranger", `data-page="`+page+`?mode=activity"`)
		// An older page goes on where it began, whatever was chosen since.
		v.Get(page+"?before=9000000000000000").Has("A stranger", `data-page="`+page+`?before=9000000000000000&amp;mode=activity"`)
	}
	page := s.Open(anna, "/?mode=friends")
	carol.Post("Not for this page")
	page.UntilEntry(bob.Post("Another").Code)
}

// The choice counts in the very next page, though the node remembers the other.
func TestAChosenModeCountsAtOnce(t *testing.T) {
	s := webtest.New(t, nil)
	anna, bob, carol := s.Person("anna"), s.Person("bob"), s.Person("carol")
	v := anna.Visitor()
	v.Post("/bob/follow")
	strange := carol.Post("A stranger")
	bob.Like(strange.Code)
	for range 3 {
		v.Get("/").Has("A stranger")
		v.Post("/settings/home", "mode", "friends")
		v.Get("/").Lacks("A stranger")
		v.Post("/settings/home", "mode", "activity")
	}
}
