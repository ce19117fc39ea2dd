package web

import (
	"strings"
	"testing"
)

func TestLists(t *testing.T) {
	s := newLiveSite(t, nil)
	anna, bob, carol := s.person("anna"), s.person("bob"), s.person("carol")
	v, other := anna.visitor(), bob.visitor()
	carol.visitor().post("/groups", "name", "chess-club", "title", "Chess Club", "access", "public")
	bob.post("Bob's words")
	carol.post("Carol's words")
	carol.post("A gambit", "chess-club")
	for _, address := range []string{"/lists", "/lists/friends", "/lists/friends/edit"} {
		s.visitor().get(address).leadsTo("/login?back=" + strings.ReplaceAll(address, "/", "%2F"))
	}
	v.get("/lists/friends").wants(404)
	v.get("/lists/friends/edit").wants(404)
	v.get("/lists").wants(200).has("Create a list")
	v.post("/lists", "title", " ").wants(422).has("Fill this in")
	v.post("/lists", "title", "Close <b>friends").leadsTo("/lists/close-b-friends/edit")
	v.post("/lists", "title", "Close <b>friends").wants(422).has("You already have a list called “Close &lt;b&gt;friends”")
	v.get("/lists/close-b-friends").wants(200).has("This list has no members yet", `data-page="/lists/close-b-friends?mode=activity"`)
	v.get("/lists/close-b-friends/edit").wants(200).has("You don’t follow anyone yet")

	v.post("/bob/follow")
	v.post("/chess-club/follow")
	v.get("/lists/close-b-friends/edit").has(`value="bob"`, `value="chess-club"`).lacks(`value="carol"`, "checked")
	v.post("/lists/close-b-friends/edit", "title", "Friends", "member", "carol").wants(422).has("You don’t follow “carol”", `value="Friends"`)
	v.post("/lists/close-b-friends/edit", "title", "", "member", "bob").wants(422).has("Fill this in", "checked")
	v.post("/lists/close-b-friends/edit", "title", "Friends", "member", "bob").leadsTo("/lists/close-b-friends")
	v.get("/lists/close-b-friends").wants(200).has("Bob&#39;s words", "You follow", "1 member").lacks("gambit", "Carol&#39;s words", "composer")
	v.get("/lists/close-b-friends?order=created").wants(200).has("Bob&#39;s words")
	v.get("/lists").has("Friends", "1 member", "/lists/close-b-friends/edit")
	// Every page leads to it, the viewer's alone.
	for _, page := range []string{"/", "/settings", "/people", "/bob", "/nobody-here"} {
		v.get(page).has(`href="/lists/close-b-friends"`)
		other.get(page).lacks("close-b-friends")
	}
	other.get("/lists/close-b-friends").wants(404)
	other.get("/lists/close-b-friends/edit").wants(404)
	other.post("/lists/close-b-friends/edit", "title", "Mine").wants(404)
	other.post("/lists/close-b-friends/delete").wants(404)

	v.post("/lists/close-b-friends/delete").leadsTo("/lists")
	v.get("/lists/close-b-friends").wants(404)
	v.get("/").wants(200).has("Bob&#39;s words").lacks("close-b-friends")
}

func TestPlacing(t *testing.T) {
	s := newLiveSite(t, nil)
	anna, bob := s.person("anna"), s.person("bob")
	v := anna.visitor()
	bob.post("Bob's words")
	v.get("/bob").lacks("/bob/place")
	v.post("/bob/place", "home", "1").wants(404)
	v.post("/bob/follow")
	v.post("/lists", "title", "Loud").leadsTo("/lists/loud/edit")
	v.get("/bob").has("/bob/place", "Shown in: Home<", `value="loud"`)
	v.get("/").has("Bob&#39;s words")
	v.post("/bob/place", "list", "loud").leadsTo("/bob")
	v.get("/bob").has("Shown in: Loud<")
	v.get("/").lacks("Bob&#39;s words")
	v.get("/lists/loud").has("Bob&#39;s words")
	v.post("/bob/place", "list", "none").wants(422).has("This list doesn’t exist any more")
	v.post("/bob/place").leadsTo("/bob")
	v.get("/bob").has("Shown in: nowhere<")
	v.get("/lists/loud").lacks("Bob&#39;s words")
	v.post("/bob/place", "home", "1", "list", "loud", "back", "/bob?order=created").leadsTo("/bob?order=created")
	v.get("/").has("Bob&#39;s words")
	v.post("/bob/unfollow")
	v.get("/lists/loud").wants(200).has("This list has no members yet")
}

// A list's page moves by itself, and closes when the list goes.
func TestAListIsLive(t *testing.T) {
	s := newLiveSite(t, nil)
	anna, bob := s.person("anna"), s.person("bob")
	v := anna.visitor()
	v.post("/bob/follow")
	v.post("/lists", "title", "Loud")
	v.post("/lists/loud/edit", "title", "Loud", "member", "bob")
	v.get("/lists/loud").wants(200)
	page := s.open(anna, "/lists/loud")
	post := bob.post("Bob's words")
	page.untilEntry(post.Code)
	v.post("/lists/loud/delete")
	if c := page.closed(); c.Code != closeNoPage {
		t.Errorf("the page of a deleted list is closed with %v, want %d", c, closeNoPage)
	}
}

func TestModes(t *testing.T) {
	s := newLiveSite(t, nil)
	anna, bob, carol := s.person("anna"), s.person("bob"), s.person("carol")
	v := anna.visitor()
	v.post("/bob/follow")
	v.post("/lists", "title", "Loud")
	v.post("/bob/place", "home", "1", "list", "loud")
	strange := carol.post("A stranger")
	bob.post("A friend")
	bob.like(strange.Code)
	for _, page := range []string{"/", "/lists/loud"} {
		// Its socket follows what it shows, whatever will be chosen meanwhile.
		v.get(page).wants(200).has("A stranger", "A friend", `data-page="`+page+`?mode=activity"`, `href="`+page+`?mode=friends"`)
		only := v.get(page + "?mode=friends").wants(200)
		only.has("A friend", `data-page="`+page+`?mode=friends"`, `href="`+page+`?mode=friends&amp;order=created"`).lacks("A stranger")
		v.get(page+"?mode=friends&order=created").has("A friend", `data-page="`+page+`?mode=friends&amp;order=created"`).lacks("A stranger")
		v.get(page + "?mode=nonsense").wants(200).has("A stranger")
	}
	v.get("/bob?mode=friends").wants(200).has("A friend", `data-page="/bob"`).lacks("mode=")

	// What is done on the page is answered for the page.
	v.header.Set("Accept", "application/json")
	v.header.Set("X-River-Page", "/?mode=friends")
	v.post("/p/" + strange.Code + "/like").wants(200).has(`"t":"gone"`)
	v.header.Set("X-River-Page", "/?mode=activity")
	v.post("/p/" + strange.Code + "/unlike").wants(200).has(`"t":"entry"`)
	v.header.Del("Accept")
	v.header.Del("X-River-Page")

	v.post("/settings/home", "mode", "").wants(422).has("Choose what to show")
	v.post("/settings/home", "mode", "friends").leadsTo("/settings?saved")
	v.get("/settings").has(`value="friends" checked`)
	for _, page := range []string{"/", "/lists/loud"} {
		v.get(page).wants(200).has("A friend", `data-page="`+page+`?mode=friends"`).lacks("A stranger")
		v.get(page+"?mode=activity").has("A friend", "A stranger", `data-page="`+page+`?mode=activity"`)
		// An older page goes on where it began, whatever was chosen since.
		v.get(page+"?before=9000000000000000").has("A stranger", `data-page="`+page+`?before=9000000000000000&amp;mode=activity"`)
	}
	page := s.open(anna, "/?mode=friends")
	carol.post("Not for this page")
	page.untilEntry(bob.post("Another").Code)
}

// The choice counts in the very next page, though the node remembers the other.
func TestAChosenModeCountsAtOnce(t *testing.T) {
	s := newLiveSite(t, nil)
	anna, bob, carol := s.person("anna"), s.person("bob"), s.person("carol")
	v := anna.visitor()
	v.post("/bob/follow")
	strange := carol.post("A stranger")
	bob.like(strange.Code)
	for range 3 {
		v.get("/").has("A stranger")
		v.post("/settings/home", "mode", "friends")
		v.get("/").lacks("A stranger")
		v.post("/settings/home", "mode", "activity")
	}
}
