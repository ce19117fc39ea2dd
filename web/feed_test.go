package web

import (
	"encoding/json"
	"encoding/xml"
	"strconv"
	"strings"
	"testing"
	"time"

	"riverrun/web/view"
)

// Feed files show what nobody in particular may see, whoever asks, and say who
// wrote it and when.
func TestFeeds(t *testing.T) {
	s := newLiveSite(t, nil)
	ann, bob := s.person("anna"), s.person("bob")
	a := ann.visitor()
	for i := range 30 {
		ann.post("Number " + strconv.Itoa(i))
	}
	post := ann.post("Ask @bob <b>about</b> https://example.org/?a=b&c=d\nand more")
	ann.post("Between us", "bob")
	said := bob.comment(post.Code, "A remark of @anna's")
	bob.like(post.Code)
	base := s.server.url.String()

	reply := a.get("/feeds/anna.atom").wants(200)
	if got := reply.header.Get("Content-Type"); got != "application/atom+xml; charset=utf-8" {
		t.Errorf("content type %q", got)
	}
	var atom view.AtomFeed
	if err := xml.Unmarshal([]byte(reply.body), &atom); err != nil {
		t.Fatalf("%v in\n%s", err, reply.body)
	}
	if len(atom.Entries) != 25 || atom.ID != base+"/anna" || atom.Links[1].Href != base+"/feeds/anna.atom" || atom.Title != "anna" {
		t.Errorf("got %d entries of %q, %q, %+v", len(atom.Entries), atom.Title, atom.ID, atom.Links)
	}
	first := atom.Entries[0]
	if want := base + "/p/" + post.Code; first.ID != want || first.Link.Href != want || first.Author.URI != base+"/anna" {
		t.Errorf("the first entry is %+v, want %s", first, want)
	}
	if want := "anna: Ask @bob <b>about</b> https://example.org/?a=b&c=d"; first.Title != want {
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
	if err := json.Unmarshal([]byte(s.visitor().get("/feeds/everything.json").wants(200).lacks("Between us").body), &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Items) != 25 || doc.Version != "https://jsonfeed.org/version/1.1" || doc.Items[0].URL != base+"/p/"+post.Code {
		t.Errorf("the JSON feed is %+v", doc)
	}
	s.visitor().get("/feeds/bob/likes.atom").wants(200).has("Liked by bob", "Ask @bob")
	s.visitor().get("/feeds/bob/comments.json").wants(200).has(post.Code)
	s.visitor().get("/feeds/p/"+post.Code+".atom").wants(200).has("A remark of", "#"+view.CommentID(said.CommentID), "Ask @bob")
	if got := s.visitor().get("/feeds/everything.atom?order=fresh").wants(200); strings.Count(got.body, "<entry>") != 25 {
		t.Errorf("the feed by freshness is\n%s", got.body)
	}
	s.visitor().get("/feeds/bob.atom").wants(200).lacks("<entry>").has("<updated>1970-01-01T00:00:00Z</updated>")

	for _, address := range []string{
		"/feeds/anna", "/feeds/.atom", "/feeds/anna.rss", "/feeds/", "/feeds/nobody-here.atom", "/feeds/anna/faves.atom",
		"/feeds/filter/messages.atom", "/feeds/settings.atom", "/feeds/p/0000000000.json", "/feeds/feeds/anna.atom.atom", "/feeds/%00.atom",
	} {
		a.get(address).wants(404)
	}
	// A reader who has the file is told so, until something changes.
	tag := reply.header.Get("ETag")
	a.header.Set("If-None-Match", `"other", `+tag)
	if got := a.get("/feeds/anna.atom").wants(304); got.body != "" {
		t.Errorf("not modified, but %q", got.body)
	}
	ann.edit(post.Code, "Never mind")
	a.get("/feeds/anna.atom").wants(200).has("Never mind").lacks("Ask @bob")
}

// A feed shows nothing that went out of sight, and a page names its feed only while
// that is there for all.
func TestFeedsObeyAccess(t *testing.T) {
	s := newLiveSite(t, nil)
	ann, bob := s.person("anna"), s.person("bob")
	a, nobody := ann.visitor(), s.visitor()
	bob.visitor().post("/groups", "name", "chess-club", "title", "Chess Club", "access", "public").leadsTo("/chess-club")
	post := bob.post("In the club", "chess-club")
	for _, page := range []string{"/bob", "/bob/likes", "/chess-club", "/everything", "/p/" + post.Code} {
		a.get(page).wants(200).has(`href="/feeds` + page + `.atom"`)
	}
	for _, page := range []string{"/", "/filter/discussions", "/settings"} {
		a.get(page).wants(200).lacks(`href="/feeds`)
	}
	a.post("/chess-club/follow").leadsTo("/chess-club")
	nobody.get("/feeds/chess-club.atom").wants(200).has("In the club")
	bob.visitor().post("/settings/access", "group", "chess-club", "level", "private").leadsTo("/chess-club/manage?saved")
	for _, v := range []*visitor{nobody, a} { // whoever asks, it is nobody's page
		v.get("/feeds/chess-club.atom").wants(403).lacks("In the club")
		v.get("/feeds/everything.json").wants(200).lacks("In the club")
		v.get("/feeds/p/" + post.Code + ".atom").wants(404)
	}
	for _, page := range []string{"/chess-club", "/p/" + post.Code} {
		a.get(page).wants(200).lacks(`href="/feeds`)
	}
	bob.visitor().post("/settings/access", "level", "protected").leadsTo("/settings?saved")
	a.get("/bob").wants(200).lacks(`href="/feeds`)
	nobody.get("/feeds/bob/likes.atom").wants(403)
}
