package web_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"riverrun/timelines"
	"riverrun/web/webtest"
)

// TestReplyWithoutARiver acts on a page whose river was thrown away, or is not as
// deep any more: the reply carries the entry all the same (R3).
func TestReplyWithoutARiver(t *testing.T) {
	s := webtest.New(t, nil)
	p := s.Person("anna")
	anna := p.Visitor()
	anna.Header.Set("Accept", "application/json")
	anna.Header.Set("X-River-Page", "/anna")
	deep := p.Post("deep down")
	for i := range 200 {
		p.Post("above " + strconv.Itoa(i))
	}
	last := p.Post("the last one")
	anna.Get("/anna").Wants(200)
	for _, lost := range []string{
		`UPDATE rivers SET state = 'retired', retired_at = clock_timestamp() WHERE state = 'live'`,
		`TRUNCATE entries`,
		`TRUNCATE folds`,
	} {
		for _, post := range []timelines.Change{last, deep} {
			if _, err := s.DB.Secondary.Exec(t.Context(), lost); err != nil {
				t.Fatal(err)
			}
			anna.Post("/p/"+post.Code+"/like").Wants(200).Has(`"t":"entry"`, `"post":"`+post.Code+`"`, "/unlike")
			anna.Post("/p/"+post.Code+"/unlike").Wants(200).Has(`"t":"entry"`, `"post":"`+post.Code+`"`)
		}
	}
	anna.Header.Set("X-River-Page", "/filter/messages")
	anna.Post("/p/" + last.Code + "/like").Wants(200).Has(`"t":"gone"`)
}

func TestRepliesForScripts(t *testing.T) {
	s := webtest.New(t, nil)
	anna, stranger := s.Person("anna").Visitor(), s.Visitor()
	for _, v := range []*webtest.Visitor{anna, stranger} {
		v.Header.Set("Accept", "application/json")
		v.Header.Set("X-River-Page", "/")
	}
	stranger.Post("/posts", "body", "x").Wants(401).Has(`"error"`)
	anna.Get("/")
	type frame struct{ T, River, Post, Version, HTML string }
	reply := func(a *webtest.Answer) frame {
		t.Helper()
		var f frame
		if err := json.Unmarshal([]byte(a.Wants(200).Body), &f); err != nil {
			t.Fatalf("%s: %v in %s", a.What, err, a.Body)
		}
		return f
	}
	made := reply(anna.Post("/posts", "body", "Hello"))
	if made.T != "entry" || !strings.Contains(made.HTML, `<article id="p-`+made.Post) || !strings.Contains(made.HTML, "Hello") {
		t.Errorf("a new post: got %+v, want its entry", made)
	}
	liked := reply(anna.Post("/p/" + made.Post + "/like"))
	if !strings.Contains(liked.HTML, "Unlike") || liked.Version == made.Version {
		t.Errorf("a like: got %+v, want an entry newer than %s that can be unliked", liked, made.Version)
	}
	anna.Post("/posts", "body", "").Wants(422).Has(`"field":"body"`, `"error":`)
	anna.Get("/filter/messages").Wants(200)
	anna.Header.Set("X-River-Page", "/filter/messages")
	if gone := reply(anna.Post("/posts", "body", "Not here")); gone.T != "gone" {
		t.Errorf("a post that the page does not hold: got %+v, want gone", gone)
	}
	anna.Header.Set("X-River-Page", "/")
	if gone := reply(anna.Post("/p/" + made.Post + "/delete")); gone.T != "gone" || gone.Post != made.Post {
		t.Errorf("a delete: got %+v, want gone %s", gone, made.Post)
	}
	anna.Header.Set("X-River-Page", "//elsewhere.example/")
	anna.Post("/posts", "body", "Odd page").Wants(200)
	// An act is done, whichever page the form says it was sent from.
	for _, page := range []string{"/nobody-here", "/filter/nothing", "/p/0000000000", "/anna/likes/more", "/%zz"} {
		anna.Header.Set("X-River-Page", page)
		if gone := reply(anna.Post("/posts", "body", "No such page")); gone.T != "gone" {
			t.Errorf("a post from %s: got %+v, want gone", page, gone)
		}
	}
}
