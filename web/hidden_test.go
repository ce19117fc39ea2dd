package web_test

import (
	"strconv"
	"strings"
	"testing"

	"riverrun/timelines"
	"riverrun/web/view"
	"riverrun/web/webtest"
)

// Banning, and lifting it, without scripts: what both sides see of each other.
func TestBansOnPages(t *testing.T) {
	s := webtest.New(t, nil)
	ann, bob, cat := s.Person("anna"), s.Person("bob"), s.Person("cat")
	a, b, c := ann.Visitor(), bob.Visitor(), cat.Visitor()
	bobs := bob.Post("Hello from bob")
	anns := ann.Post("Hello from anna")
	cats := cat.Post("Hello from cat")
	said := bob.Comment(cats.Code, "A word of bob")
	bob.Like(cats.Code)
	a.Post("/bob/follow").LeadsTo("/bob")

	a.Get("/bob").Wants(200).Has("/bob/ban", "/bob/hide")
	a.Post("/bob/ban").LeadsTo("/bob")
	a.Get("/bob").Wants(403).Has("You have banned bob", "/bob/unban").Lacks("Hello from bob", "/bob/ban\"", "/bob/follow")
	a.Get("/bob/likes").Wants(403)
	b.Get("/anna").Wants(403).Has("You can’t see what anna writes").Lacks("banned", "/anna/unban", "Hello from anna")
	for _, v := range []*webtest.Visitor{a, b} {
		v.Get("/p/" + map[*webtest.Visitor]string{a: bobs.Code, b: anns.Code}[v]).Wants(404)
	}
	a.Get("/everything").Wants(200).Has("Hello from cat", "Hidden comment").Lacks("Hello from bob", "A word of bob", ">bob<", "/bob", "Liked by")
	a.Get("/").Wants(200).Lacks("Hello from bob")
	page := a.Get("/p/"+cats.Code).Wants(200).Has("Hidden comment").Lacks("A word of bob", ">bob<", "Liked by")
	if !strings.Contains(page.Body, `id="`+view.CommentID(said.CommentID)+`"`) {
		t.Error("the placeholder has not the comment's id: links to it lead nowhere")
	}
	remark := "/p/" + cats.Code + "/comments/" + strconv.FormatInt(said.CommentID, 10)
	a.Post(remark + "/like").Wants(404)
	c.Get(remark + "/edit").Wants(200)
	c.Post("/bob/ban").LeadsTo("/bob")
	c.Get(remark + "/edit").Wants(404) // the person who may delete it may not read it there
	c.Post("/bob/unban").LeadsTo("/bob")
	b.Post("/p/" + anns.Code + "/like").Wants(404)
	b.Post("/posts", "body", "psst", "to", "anna").Wants(422).Has("You can’t write to")
	b.Post("/anna/follow").Wants(403)
	c.Get("/everything").Wants(200).Has("Hello from bob", "Hello from anna", "A word of bob")
	s.Visitor().Get("/p/" + bobs.Code).Wants(200)

	a.Get("/settings").Wants(200).Has("/settings/hidden")
	a.Get("/settings/hidden").Wants(200).Has("@bob", "/bob/unban")
	a.Post("/bob/unban", "back", "/settings/hidden").LeadsTo("/settings/hidden")
	a.Get("/settings/hidden").Wants(200).Has("You haven’t banned anyone").Lacks("/bob/unban")
	a.Get("/bob").Wants(200).Has("Hello from bob")
	a.Get("/everything").Wants(200).Has("Hello from bob", "A word of bob", "Liked by")
	a.Get("/").Has("Hello from bob")
	a.Post("/anna/ban").Wants(403)
	a.Post("/nobody-here/ban").Wants(404)
	s.Visitor().Post("/bob/ban").LeadsTo("/login?back=%2F")
}

// In a group one may want to see whom one has banned.
func TestShowBannedOnPages(t *testing.T) {
	s := webtest.New(t, nil)
	ann, bob := s.Person("anna"), s.Person("bob")
	a := ann.Visitor()
	bob.Visitor().Post("/groups", "name", "chess-club", "title", "Chess Club", "access", "public").LeadsTo("/chess-club")
	bob.Post("Hello club", "chess-club")
	bob.Post("Hello all")
	a.Get("/chess-club").Wants(200).Has("Hello club").Lacks("show-banned")
	a.Post("/bob/ban").LeadsTo("/bob")
	a.Get("/chess-club").Wants(200).Has("/chess-club/show-banned").Lacks("Hello club")
	a.Post("/chess-club/show-banned").LeadsTo("/chess-club")
	a.Get("/chess-club").Wants(200).Has("Hello club", "/chess-club/hide-banned")
	a.Get("/everything").Wants(200).Has("Hello club").Lacks("Hello all")
	a.Post("/chess-club/hide-banned").LeadsTo("/chess-club")
	a.Get("/chess-club").Wants(200).Lacks("Hello club")
	a.Post("/bob/show-banned").Wants(404)

	// An administrator may want to see also those who have banned them. The switch is
	// always there: it tells nobody that they are banned.
	b := bob.Visitor()
	ann.Post("A word of anna's", "chess-club")
	for _, lang := range []string{"en", "ru"} {
		b.Header.Set("Accept-Language", lang)
		b.Get("/chess-club").Wants(200).Has("/chess-club/show-banned").Lacks("A word of anna", "people you’ve banned.", "кого забанили.")
	}
	a.Post("/bob/unban").LeadsTo("/bob")
	b.Header.Set("Accept-Language", "en")
	b.Get("/chess-club").Wants(200).Has("/chess-club/show-banned", "A word of anna")
	a.Post("/bob/ban").LeadsTo("/bob")
	b.Post("/chess-club/show-banned").LeadsTo("/chess-club")
	b.Get("/chess-club").Wants(200).Has("/chess-club/hide-banned", "A word of anna")
	s.Person("cat").Visitor().Get("/chess-club").Wants(200).Lacks("show-banned")
}

// Hiding a post, a person, a group and a word without scripts.
func TestHidesOnPages(t *testing.T) {
	s := webtest.New(t, nil)
	ann, bob := s.Person("anna"), s.Person("bob")
	a, other := ann.Visitor(), s.Person("cat").Visitor()
	bob.Visitor().Post("/groups", "name", "chess-club", "title", "Chess Club", "access", "public").LeadsTo("/chess-club")
	one := bob.Post("First of bob")
	bob.Visitor().Post("/settings/pages", "slug", "photos", "title", "Photos", "access", "public")
	bob.Post("A picture of bob's", "bob/photos")
	bob.Post("In the club", "chess-club")
	ann.Post("Football is mine")
	bob.Post("So much FOOTBALL")

	a.Get("/everything").Wants(200).Has("First of bob", `data-menu="hide mute report"`)
	a.Get("/p/" + one.Code).Wants(200).Has("/p/" + one.Code + "/hide")
	a.Post("/p/"+one.Code+"/hide", "back", "/everything").LeadsTo("/everything")
	a.Get("/everything").Wants(200).Has("In the club").Lacks("First of bob")
	a.Get("/bob").Wants(200).Lacks("First of bob")
	a.Get("/p/"+one.Code).Wants(200).Has("First of bob", "Show again", "/p/"+one.Code+"/unhide")
	other.Get("/everything").Wants(200).Has("First of bob")
	a.Get("/settings/hidden").Wants(200).Has("bob: First of bob")
	if entry := a.AsRiver("/p/"+one.Code+"/unhide", "/everything"); !strings.Contains(entry, "First of bob") {
		t.Errorf("unhiding is answered with %s", entry)
	}
	if entry := a.AsRiver("/p/"+one.Code+"/hide", "/everything"); !strings.Contains(entry, `"t":"gone"`) {
		t.Errorf("hiding is answered with %s", entry)
	}
	a.Post("/p/"+one.Code+"/unhide", "back", "/settings/hidden").LeadsTo("/settings/hidden")
	a.Get("/everything").Wants(200).Has("First of bob")

	a.Post("/bob/hide").LeadsTo("/bob")
	a.Get("/bob").Wants(200).Has("First of bob", "A picture", "/bob/unhide")
	a.Get("/bob/photos").Wants(200).Has("A picture") // asked for by name, as his page is
	a.Get("/everything").Wants(200).Has("Football is mine").Lacks("First of bob", "In the club", "A picture")
	a.Get("/chess-club").Wants(200).Lacks("In the club")
	a.Post("/bob/unhide").LeadsTo("/bob")
	a.Post("/chess-club/hide").LeadsTo("/chess-club")
	a.Get("/chess-club").Wants(200).Has("In the club", "/chess-club/unhide")
	a.Get("/everything").Wants(200).Has("First of bob").Lacks("In the club")
	a.Get("/settings/hidden").Wants(200).Has("/chess-club/unhide")

	a.Post("/settings/hidden", "term", "football").LeadsTo("/settings/hidden")
	a.Get("/settings/hidden").Wants(200).Has("football")
	a.Get("/everything").Wants(200).Has("Football is mine").Lacks("So much FOOTBALL")
	a.Post("/settings/hidden", "term", "...").Wants(422).Has("Enter a word")
	a.Post("/settings/hidden", "term", strings.Repeat("x", 60)).Wants(422).Has("50 characters", "xxxxx")
	a.Post("/settings/hidden", "term", "@Carol").Wants(422).Has("on their page, /carol", `value="@Carol"`)
	a.Header.Set("Accept-Language", "ru")
	a.Post("/settings/hidden", "term", "@carol").Wants(422).Has("можно на странице /carol", `value="@carol"`)
	a.Header.Del("Accept-Language")
	a.Get("/settings/hidden").Wants(200).Has("all comments stay").Lacks("carol")
	a.Post("/settings/hidden/remove", "term", "Football").LeadsTo("/settings/hidden")
	a.Get("/everything").Wants(200).Has("So much FOOTBALL")
	a.Post("/p/0000000000/hide").Wants(404)
	a.Post("/p/x/unhide").Wants(404)
	a.Post("/anna/hide").Wants(403)
}

// A person whom the viewer does not see cannot mention them, and brings no post to a tag's
// page by a text behind a placeholder.
func TestMarksOfTheBanned(t *testing.T) {
	s := webtest.New(t, nil)
	ann, bob, cid := s.Person("ann"), s.Person("bob"), s.Person("cid")
	code := ann.Post("Hello").Code
	cid.Comment(code, "look @bob #river")
	b, pages := bob.Visitor(), []string{"/filter/mentions", "/tag/river", "/tag/river?order=created"}
	for _, page := range pages {
		b.Get(page).Wants(200).Has("Hello")
	}
	b.Post("/cid/ban").LeadsTo("/cid")
	for _, page := range pages {
		b.Get(page).Wants(200).Lacks("Hello")
	}
	ann.Visitor().Get("/tag/river").Wants(200).Has("Hello")
	ann.Comment(code, "you too, @bob")
	b.Get("/filter/mentions").Wants(200).Has("Hello")
	b.Get("/tag/river").Wants(200).Lacks("Hello")
	b.Post("/cid/unban").LeadsTo("/cid")
	for _, page := range pages {
		b.Get(page).Wants(200).Has("Hello")
	}
	// A hidden account brings nothing there either, though its comments are read.
	b.Post("/cid/hide").LeadsTo("/cid")
	b.Get("/filter/mentions").Wants(200).Has("Hello")
	b.Get("/tag/river").Wants(200).Lacks("Hello")
	b.Post("/cid/unhide").LeadsTo("/cid")
	b.Get("/tag/river").Wants(200).Has("Hello")
}

// A directory says of nobody what their own page would not.
func TestDirectoriesKeepAboutsOfTheClosed(t *testing.T) {
	s := webtest.New(t, nil)
	ann, bob := s.Person("anna"), s.Person("bob")
	a := ann.Visitor()
	a.Post("/groups", "name", "layoffs", "title", "Layoffs", "about", "Who goes in spring", "access", "private").LeadsTo("/layoffs")
	a.Post("/groups", "name", "chess-club", "title", "Chess Club", "about", "Openings on Mondays", "access", "public").LeadsTo("/chess-club")
	a.Get("/groups").Wants(200).Has("Who goes in spring", "Openings on Mondays")
	for _, v := range []*webtest.Visitor{bob.Visitor(), s.Visitor()} {
		v.Get("/groups").Wants(200).Has("Layoffs", "Openings on Mondays").Lacks("Who goes in spring")
	}
}

// Somebody whose page is closed can be hidden and banned there, and that be taken back.
func TestHidingOnAClosedPage(t *testing.T) {
	s := webtest.New(t, nil)
	ann, bob := s.Person("ann"), s.Person("bob")
	ann.SetAccess("", timelines.Private)
	b := bob.Visitor()
	b.Get("/ann").Wants(403).Has("/ann/hide", "/ann/ban").Lacks("/ann/unhide")
	b.Post("/ann/hide").LeadsTo("/ann")
	b.Get("/ann").Wants(403).Has("/ann/unhide", "/ann/ban").Lacks(`"/ann/hide"`)
	b.Post("/ann/unhide").LeadsTo("/ann")
	b.Post("/ann/ban").LeadsTo("/ann")
	b.Get("/ann").Wants(403).Has("/ann/unban").Lacks(`"/ann/ban"`)
}
