package web

import (
	"strconv"
	"strings"
	"testing"

	"riverrun/timelines"
	"riverrun/web/view"
)

// Banning, and lifting it, without scripts: what both sides see of each other.
func TestBansOnPages(t *testing.T) {
	s := newLiveSite(t, nil)
	ann, bob, cat := s.person("anna"), s.person("bob"), s.person("cat")
	a, b, c := ann.visitor(), bob.visitor(), cat.visitor()
	bobs := bob.post("Hello from bob")
	anns := ann.post("Hello from anna")
	cats := cat.post("Hello from cat")
	said := bob.comment(cats.Code, "A word of bob")
	bob.like(cats.Code)
	a.post("/bob/follow").leadsTo("/bob")

	a.get("/bob").wants(200).has("/bob/ban", "/bob/hide")
	a.post("/bob/ban").leadsTo("/bob")
	a.get("/bob").wants(403).has("You have banned bob", "/bob/unban").lacks("Hello from bob", "/bob/ban\"", "/bob/follow")
	a.get("/bob/likes").wants(403)
	b.get("/anna").wants(403).has("You can’t see what anna writes").lacks("banned", "/anna/unban", "Hello from anna")
	for _, v := range []*visitor{a, b} {
		v.get("/p/" + map[*visitor]string{a: bobs.Code, b: anns.Code}[v]).wants(404)
	}
	a.get("/everything").wants(200).has("Hello from cat", "Hidden comment").lacks("Hello from bob", "A word of bob", ">bob<", "/bob", "Liked by")
	a.get("/").wants(200).lacks("Hello from bob")
	page := a.get("/p/"+cats.Code).wants(200).has("Hidden comment").lacks("A word of bob", ">bob<", "Liked by")
	if !strings.Contains(page.body, `id="`+view.CommentID(said.CommentID)+`"`) {
		t.Error("the placeholder has not the comment's id: links to it lead nowhere")
	}
	remark := "/p/" + cats.Code + "/comments/" + strconv.FormatInt(said.CommentID, 10)
	a.post(remark + "/like").wants(404)
	c.get(remark + "/edit").wants(200)
	c.post("/bob/ban").leadsTo("/bob")
	c.get(remark + "/edit").wants(404) // whoever may delete it may not read it there
	c.post("/bob/unban").leadsTo("/bob")
	b.post("/p/" + anns.Code + "/like").wants(404)
	b.post("/posts", "body", "psst", "to", "anna").wants(422).has("You can’t write to")
	b.post("/anna/follow").wants(403)
	c.get("/everything").wants(200).has("Hello from bob", "Hello from anna", "A word of bob")
	s.visitor().get("/p/" + bobs.Code).wants(200)

	a.get("/settings").wants(200).has("/settings/hidden")
	a.get("/settings/hidden").wants(200).has("@bob", "/bob/unban")
	a.post("/bob/unban", "back", "/settings/hidden").leadsTo("/settings/hidden")
	a.get("/settings/hidden").wants(200).has("You haven’t banned anyone").lacks("/bob/unban")
	a.get("/bob").wants(200).has("Hello from bob")
	a.get("/everything").wants(200).has("Hello from bob", "A word of bob", "Liked by")
	a.get("/").has("Hello from bob")
	a.post("/anna/ban").wants(403)
	a.post("/nobody-here/ban").wants(404)
	s.visitor().post("/bob/ban").leadsTo("/login?back=%2F")
}

// In a group one may want to see whom one has banned.
func TestShowBannedOnPages(t *testing.T) {
	s := newLiveSite(t, nil)
	ann, bob := s.person("anna"), s.person("bob")
	a := ann.visitor()
	bob.visitor().post("/groups", "name", "chess-club", "title", "Chess Club", "access", "public").leadsTo("/chess-club")
	bob.post("Hello club", "chess-club")
	bob.post("Hello all")
	a.get("/chess-club").wants(200).has("Hello club").lacks("show-banned")
	a.post("/bob/ban").leadsTo("/bob")
	a.get("/chess-club").wants(200).has("/chess-club/show-banned").lacks("Hello club")
	a.post("/chess-club/show-banned").leadsTo("/chess-club")
	a.get("/chess-club").wants(200).has("Hello club", "/chess-club/hide-banned")
	a.get("/everything").wants(200).has("Hello club").lacks("Hello all")
	a.post("/chess-club/hide-banned").leadsTo("/chess-club")
	a.get("/chess-club").wants(200).lacks("Hello club")
	a.post("/bob/show-banned").wants(404)

	// Who keeps order there may want to see those too who have banned them. The switch
	// is always there: it tells nobody that they are banned.
	b := bob.visitor()
	ann.post("A word of anna's", "chess-club")
	for _, lang := range []string{"en", "ru"} {
		b.header.Set("Accept-Language", lang)
		b.get("/chess-club").wants(200).has("/chess-club/show-banned").lacks("A word of anna", "people you’ve banned.", "кого забанили.")
	}
	a.post("/bob/unban").leadsTo("/bob")
	b.header.Set("Accept-Language", "en")
	b.get("/chess-club").wants(200).has("/chess-club/show-banned", "A word of anna")
	a.post("/bob/ban").leadsTo("/bob")
	b.post("/chess-club/show-banned").leadsTo("/chess-club")
	b.get("/chess-club").wants(200).has("/chess-club/hide-banned", "A word of anna")
	s.person("cat").visitor().get("/chess-club").wants(200).lacks("show-banned")
}

// Hiding a post, a person, a group and a word without scripts.
func TestHidesOnPages(t *testing.T) {
	s := newLiveSite(t, nil)
	ann, bob := s.person("anna"), s.person("bob")
	a, other := ann.visitor(), s.person("cat").visitor()
	bob.visitor().post("/groups", "name", "chess-club", "title", "Chess Club", "access", "public").leadsTo("/chess-club")
	one := bob.post("First of bob")
	bob.visitor().post("/settings/pages", "slug", "photos", "title", "Photos", "access", "public")
	bob.post("A picture of bob's", "bob/photos")
	bob.post("In the club", "chess-club")
	ann.post("Football is mine")
	bob.post("So much FOOTBALL")

	a.get("/everything").wants(200).has("First of bob", "/p/"+one.Code+"/hide")
	a.post("/p/"+one.Code+"/hide", "back", "/everything").leadsTo("/everything")
	a.get("/everything").wants(200).has("In the club").lacks("First of bob")
	a.get("/bob").wants(200).lacks("First of bob")
	a.get("/p/"+one.Code).wants(200).has("First of bob", "Show again", "/p/"+one.Code+"/unhide")
	other.get("/everything").wants(200).has("First of bob")
	a.get("/settings/hidden").wants(200).has("bob: First of bob")
	if entry := a.asRiver("/p/"+one.Code+"/unhide", "/everything"); !strings.Contains(entry, "First of bob") {
		t.Errorf("unhiding is answered with %s", entry)
	}
	if entry := a.asRiver("/p/"+one.Code+"/hide", "/everything"); !strings.Contains(entry, `"t":"gone"`) {
		t.Errorf("hiding is answered with %s", entry)
	}
	a.post("/p/"+one.Code+"/unhide", "back", "/settings/hidden").leadsTo("/settings/hidden")
	a.get("/everything").wants(200).has("First of bob")

	a.post("/bob/hide").leadsTo("/bob")
	a.get("/bob").wants(200).has("First of bob", "A picture", "/bob/unhide")
	a.get("/bob/photos").wants(200).has("A picture") // asked for by name, as his page is
	a.get("/everything").wants(200).has("Football is mine").lacks("First of bob", "In the club", "A picture")
	a.get("/chess-club").wants(200).lacks("In the club")
	a.post("/bob/unhide").leadsTo("/bob")
	a.post("/chess-club/hide").leadsTo("/chess-club")
	a.get("/chess-club").wants(200).has("In the club", "/chess-club/unhide")
	a.get("/everything").wants(200).has("First of bob").lacks("In the club")
	a.get("/settings/hidden").wants(200).has("/chess-club/unhide")

	a.post("/settings/hidden", "term", "football").leadsTo("/settings/hidden")
	a.get("/settings/hidden").wants(200).has("football")
	a.get("/everything").wants(200).has("Football is mine").lacks("So much FOOTBALL")
	a.post("/settings/hidden", "term", "...").wants(422).has("Enter a word")
	a.post("/settings/hidden", "term", strings.Repeat("x", 60)).wants(422).has("50 characters", "xxxxx")
	a.post("/settings/hidden", "term", "@Carol").wants(422).has("on their page, /carol", `value="@Carol"`)
	a.header.Set("Accept-Language", "ru")
	a.post("/settings/hidden", "term", "@carol").wants(422).has("можно на странице /carol", `value="@carol"`)
	a.header.Del("Accept-Language")
	a.get("/settings/hidden").wants(200).has("all comments stay").lacks("carol")
	a.post("/settings/hidden/remove", "term", "Football").leadsTo("/settings/hidden")
	a.get("/everything").wants(200).has("So much FOOTBALL")
	a.post("/p/0000000000/hide").wants(404)
	a.post("/p/x/unhide").wants(404)
	a.post("/anna/hide").wants(403)
}

// Whom one does not see calls one nowhere, and brings no post to a tag's page by
// what stands behind a placeholder.
func TestMarksOfTheBanned(t *testing.T) {
	s := newLiveSite(t, nil)
	ann, bob, cid := s.person("ann"), s.person("bob"), s.person("cid")
	code := ann.post("Hello").Code
	cid.comment(code, "look @bob #river")
	b, pages := bob.visitor(), []string{"/filter/mentions", "/tag/river", "/tag/river?order=created"}
	for _, page := range pages {
		b.get(page).wants(200).has("Hello")
	}
	b.post("/cid/ban").leadsTo("/cid")
	for _, page := range pages {
		b.get(page).wants(200).lacks("Hello")
	}
	ann.visitor().get("/tag/river").wants(200).has("Hello")
	ann.comment(code, "you too, @bob")
	b.get("/filter/mentions").wants(200).has("Hello")
	b.get("/tag/river").wants(200).lacks("Hello")
	b.post("/cid/unban").leadsTo("/cid")
	for _, page := range pages {
		b.get(page).wants(200).has("Hello")
	}
	// Whom one hides brings nothing there either, though their comments are read.
	b.post("/cid/hide").leadsTo("/cid")
	b.get("/filter/mentions").wants(200).has("Hello")
	b.get("/tag/river").wants(200).lacks("Hello")
	b.post("/cid/unhide").leadsTo("/cid")
	b.get("/tag/river").wants(200).has("Hello")
}

// A directory says of nobody what their own page would not.
func TestDirectoriesKeepAboutsOfTheClosed(t *testing.T) {
	s := newLiveSite(t, nil)
	ann, bob := s.person("anna"), s.person("bob")
	a := ann.visitor()
	a.post("/groups", "name", "layoffs", "title", "Layoffs", "about", "Who goes in spring", "access", "private").leadsTo("/layoffs")
	a.post("/groups", "name", "chess-club", "title", "Chess Club", "about", "Openings on Mondays", "access", "public").leadsTo("/chess-club")
	a.get("/groups").wants(200).has("Who goes in spring", "Openings on Mondays")
	for _, v := range []*visitor{bob.visitor(), s.visitor()} {
		v.get("/groups").wants(200).has("Layoffs", "Openings on Mondays").lacks("Who goes in spring")
	}
}

// Somebody whose page is closed can be hidden and banned there, and that be taken back.
func TestHidingOnAClosedPage(t *testing.T) {
	s := newLiveSite(t, nil)
	ann, bob := s.person("ann"), s.person("bob")
	ann.setAccess("", timelines.Private)
	b := bob.visitor()
	b.get("/ann").wants(403).has("/ann/hide", "/ann/ban").lacks("/ann/unhide")
	b.post("/ann/hide").leadsTo("/ann")
	b.get("/ann").wants(403).has("/ann/unhide", "/ann/ban").lacks(`"/ann/hide"`)
	b.post("/ann/unhide").leadsTo("/ann")
	b.post("/ann/ban").leadsTo("/ann")
	b.get("/ann").wants(403).has("/ann/unban").lacks(`"/ann/ban"`)
}
