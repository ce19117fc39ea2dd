package web

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"riverrun/timelines"
)

// TestReplyWithoutARiver acts on a page whose river was thrown away, or is not as
// deep any more: the reply carries the entry all the same (R3).
func TestReplyWithoutARiver(t *testing.T) {
	s := newLiveSite(t, nil)
	p := s.person("anna")
	anna := p.visitor()
	anna.header.Set("Accept", "application/json")
	anna.header.Set("X-River-Page", "/anna")
	deep := p.post("deep down")
	for i := range 200 {
		p.post("above " + strconv.Itoa(i))
	}
	last := p.post("the last one")
	anna.get("/anna").wants(200)
	for _, lost := range []string{
		`UPDATE rivers SET state = 'retired', retired_at = clock_timestamp() WHERE state = 'live'`,
		`TRUNCATE entries`,
		`TRUNCATE folds`,
	} {
		for _, post := range []timelines.Change{last, deep} {
			if _, err := s.db.Secondary.Exec(t.Context(), lost); err != nil {
				t.Fatal(err)
			}
			anna.post("/p/"+post.Code+"/like").wants(200).has(`"t":"entry"`, `"post":"`+post.Code+`"`, "/unlike")
			anna.post("/p/"+post.Code+"/unlike").wants(200).has(`"t":"entry"`, `"post":"`+post.Code+`"`)
		}
	}
	anna.header.Set("X-River-Page", "/filter/directs")
	anna.post("/p/" + last.Code + "/like").wants(200).has(`"t":"gone"`)
}

func TestRepliesForScripts(t *testing.T) {
	s := newLiveSite(t, nil)
	anna, stranger := s.person("anna").visitor(), s.visitor()
	for _, v := range []*visitor{anna, stranger} {
		v.header.Set("Accept", "application/json")
		v.header.Set("X-River-Page", "/")
	}
	stranger.post("/posts", "body", "x").wants(401).has(`"error"`)
	anna.get("/")
	type frame struct{ T, River, Post, Version, HTML string }
	reply := func(a *answer) frame {
		t.Helper()
		var f frame
		if err := json.Unmarshal([]byte(a.wants(200).body), &f); err != nil {
			t.Fatalf("%s: %v in %s", a.what, err, a.body)
		}
		return f
	}
	made := reply(anna.post("/posts", "body", "Hello"))
	if made.T != "entry" || !strings.Contains(made.HTML, `<article id="p-`+made.Post) || !strings.Contains(made.HTML, "Hello") {
		t.Errorf("a new post: got %+v, want its entry", made)
	}
	liked := reply(anna.post("/p/" + made.Post + "/like"))
	if !strings.Contains(liked.HTML, "Unlike") || liked.Version == made.Version {
		t.Errorf("a like: got %+v, want an entry newer than %s that can be unliked", liked, made.Version)
	}
	anna.post("/posts", "body", "").wants(422).has(`"field":"body"`, `"error":`)
	anna.get("/filter/directs").wants(200)
	anna.header.Set("X-River-Page", "/filter/directs")
	if gone := reply(anna.post("/posts", "body", "Not here")); gone.T != "gone" {
		t.Errorf("a post that the page does not hold: got %+v, want gone", gone)
	}
	anna.header.Set("X-River-Page", "/")
	if gone := reply(anna.post("/p/" + made.Post + "/delete")); gone.T != "gone" || gone.Post != made.Post {
		t.Errorf("a delete: got %+v, want gone %s", gone, made.Post)
	}
	anna.header.Set("X-River-Page", "//elsewhere.example/")
	anna.post("/posts", "body", "Odd page").wants(200)
	// What was done is done, whatever page it is said to be done on.
	for _, page := range []string{"/nobody-here", "/filter/nothing", "/p/0000000000", "/anna/likes/more", "/%zz"} {
		anna.header.Set("X-River-Page", page)
		if gone := reply(anna.post("/posts", "body", "No such page")); gone.T != "gone" {
			t.Errorf("a post from %s: got %+v, want gone", page, gone)
		}
	}
}
