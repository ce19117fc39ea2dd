package web_test

import (
	"encoding/json"
	"encoding/xml"
	"strconv"
	"strings"
	"testing"
	"time"

	"riverrun/web/view"
	"riverrun/web/webtest"
)

// Feed files show posts that anybody may see, to anybody who asks, and say who
// wrote them and when.
func TestFeeds(t *testing.T) {
	s := webtest.New(t, nil)
	ann, bob := s.Person("anna"), s.Person("bob")
	a := ann.Visitor()
	for i := range 30 {
		ann.Post("Number " + strconv.Itoa(i))
	}
	post := ann.Post("Ask @bob <b>about</b> https://example.org/?a=b&c=d\nand more")
	ann.Post("Between us", "bob")
	said := bob.Comment(post.Code, "A remark of @anna's")
	bob.Like(post.Code)
	base := s.Server.URL().String()

	reply := a.Get("/feeds/anna.atom").Wants(200)
	if got := reply.Header.Get("Content-Type"); got != "application/atom+xml; charset=utf-8" {
		t.Errorf("content type %q", got)
	}
	var atom view.AtomFeed
	if err := xml.Unmarshal([]byte(reply.Body), &atom); err != nil {
		t.Fatalf("%v in\n%s", err, reply.Body)
	}
	if len(atom.Entries) != 25 || atom.ID != base+"/anna" || atom.Links[1].Href != base+"/feeds/anna.atom" || atom.Title != "anna" {
		t.Errorf("got %d entries of %q, %q, %+v", len(atom.Entries), atom.Title, atom.ID, atom.Links)
	}
	first := atom.Entries[0]
	if want := base + "/p/" + post.Code; first.ID != want || first.Links[0].Href != want || first.Author.URI != base+"/anna" {
		t.Errorf("the first entry is %+v, want %s", first, want)
	}
	if want := "anna: Ask @bob <b>about</b> example.org/?a=b&c=d"; first.Title != want {
		t.Errorf("its title is %q, want %q", first.Title, want)
	}
	for _, want := range []string{`href="` + base + `/bob"`, "&lt;b&gt;about", `href="https://example.org/?a=b&amp;c=d"`, "<br>and more"} {
		if !strings.Contains(first.Content.Text, want) {
			t.Errorf("its text lacks %q:\n%s", want, first.Content.Text)
		}
	}
	for _, at := range []string{first.Updated, first.Published, atom.Updated} {
		if when, err := time.Parse(time.RFC3339, at); err != nil || time.Since(when) > time.Hour {
			t.Errorf("a date is %q (%v)", at, err)
		}
	}

	var doc view.JsonFeed
	if err := json.Unmarshal([]byte(s.Visitor().Get("/feeds/everything.json").Wants(200).Lacks("Between us").Body), &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Items) != 25 || doc.Version != "https://jsonfeed.org/version/1.1" || doc.Items[0].URL != base+"/p/"+post.Code {
		t.Errorf("the JSON feed is %+v", doc)
	}
	s.Visitor().Get("/feeds/bob/likes.atom").Wants(200).Has("Liked by bob", "Ask @bob")
	s.Visitor().Get("/feeds/bob/comments.json").Wants(200).Has(post.Code)
	s.Visitor().Get("/feeds/p/"+post.Code+".atom").Wants(200).Has("A remark of", "#"+view.CommentID(said.CommentID), "Ask @bob")
	if got := s.Visitor().Get("/feeds/everything.atom?order=fresh").Wants(200); strings.Count(got.Body, "<entry>") != 25 {
		t.Errorf("the feed by freshness is\n%s", got.Body)
	}
	s.Visitor().Get("/feeds/bob.atom").Wants(200).Lacks("<entry>").Has("<updated>1970-01-01T00:00:00Z</updated>")

	for _, address := range []string{
		"/feeds/anna", "/feeds/.atom", "/feeds/anna.rss", "/feeds/", "/feeds/nobody-here.atom", "/feeds/anna/faves.atom",
		"/feeds/filter/messages.atom", "/feeds/settings.atom", "/feeds/p/0000000000.json", "/feeds/feeds/anna.atom.atom", "/feeds/%00.atom",
	} {
		a.Get(address).Wants(404)
	}
	// A reader who has the file is told so, until something changes.
	tag := reply.Header.Get("ETag")
	a.Header.Set("If-None-Match", `"other", `+tag)
	if got := a.Get("/feeds/anna.atom").Wants(304); got.Body != "" {
		t.Errorf("not modified, but %q", got.Body)
	}
	ann.Edit(post.Code, "Never mind")
	a.Get("/feeds/anna.atom").Wants(200).Has("Never mind").Lacks("Ask @bob")
}

// A feed shows nothing that went out of sight, and a page names its feed only while
// that is there for all.
func TestFeedsObeyAccess(t *testing.T) {
	s := webtest.New(t, nil)
	ann, bob := s.Person("anna"), s.Person("bob")
	a, nobody := ann.Visitor(), s.Visitor()
	bob.Visitor().Post("/groups", "name", "chess-club", "title", "Chess Club", "access", "public").LeadsTo("/chess-club")
	post := bob.Post("In the club", "chess-club")
	for _, page := range []string{"/bob", "/bob/likes", "/chess-club", "/everything", "/p/" + post.Code} {
		a.Get(page).Wants(200).Has(`href="/feeds` + page + `.atom"`)
	}
	for _, page := range []string{"/", "/filter/discussions", "/settings"} {
		a.Get(page).Wants(200).Lacks(`href="/feeds`)
	}
	a.Post("/chess-club/follow").LeadsTo("/chess-club")
	nobody.Get("/feeds/chess-club.atom").Wants(200).Has("In the club")
	bob.Visitor().Post("/settings/access", "group", "chess-club", "level", "private").LeadsTo("/chess-club/manage?saved")
	for _, v := range []*webtest.Visitor{nobody, a} { // it is the same page for everybody who asks
		v.Get("/feeds/chess-club.atom").Wants(403).Lacks("In the club")
		v.Get("/feeds/everything.json").Wants(200).Lacks("In the club")
		v.Get("/feeds/p/" + post.Code + ".atom").Wants(404)
	}
	for _, page := range []string{"/chess-club", "/p/" + post.Code} {
		a.Get(page).Wants(200).Lacks(`href="/feeds`)
	}
	bob.Visitor().Post("/settings/access", "level", "protected").LeadsTo("/settings?saved")
	a.Get("/bob").Wants(200).Lacks(`href="/feeds`)
	nobody.Get("/feeds/bob/likes.atom").Wants(403)
}
