package web_test

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"riverrun/timelines"
	"riverrun/web/webtest"
)

// TestFaves keeps a post: it is found again, everybody learns that somebody keeps
// it, and nobody who.
func TestFaves(t *testing.T) {
	s := webtest.New(t, nil)
	anna, bob := s.Person("anna"), s.Person("bob")
	code := bob.Post("Worth keeping").Code
	v := anna.Visitor()
	v.Get("/filter/saved").Wants(200).Has("Save a post").Lacks("Worth keeping")
	v.Post("/p/"+code+"/save", "back", "/bob").LeadsTo("/bob")
	v.Post("/p/" + code + "/save").LeadsTo("/p/" + code)
	v.Get("/bob").Has("Unsave", "Saved by 1 person")
	for _, address := range []string{"/filter/saved", "/filter/saved?order=created"} {
		v.Get(address).Wants(200).Has("Worth keeping", "Unsave")
	}
	for name, other := range map[string]*webtest.Visitor{"bob": bob.Visitor(), "nobody": s.Visitor()} {
		other.Get("/bob").Wants(200).Has("Saved by 1 person").Lacks("anna", "Unsave")
		other.Get("/anna/faves").Wants(404)
		if page := other.Get("/anna").Wants(200); strings.Contains(page.Body, ">Only me</a>") {
			t.Errorf("%s is led to what anna keeps", name)
		}
	}
	s.Visitor().Get("/filter/saved").LeadsTo("/login?back=%2Ffilter%2Fsaved")
	s.Visitor().Post("/p/" + code + "/save").LeadsTo("/login?back=%2F")

	// river.js gets the entry as the page shows it now: gone, where it stood.
	v.Header.Set("Accept", "application/json")
	v.Header.Set("X-River-Page", "/filter/saved")
	v.Post("/p/" + code + "/unsave").Wants(200).Has(`"t":"gone"`)
	v.Post("/p/0000000000/save").Wants(404)
	v.Header.Del("Accept")
	v.Get("/filter/saved").Lacks("Worth keeping")
	v.Get("/bob").Lacks("Saved by")
}

func TestCommentLikes(t *testing.T) {
	s := webtest.New(t, nil)
	anna, bob := s.Person("anna"), s.Person("bob")
	code := bob.Post("Talk").Code
	id := strconv.FormatInt(bob.Comment(code, "Well said.").CommentID, 10)
	form := "/p/" + code + "/comments/" + id
	v := anna.Visitor()
	v.Get("/bob").Has(form+"/like", `title="Like"`).Lacks(form + "/unlike")
	v.Post(form + "/like").LeadsTo("/p/" + code + "#c-" + id)
	v.Header.Set("Referer", v.Base+"/bob?order=created")
	v.Post(form + "/like").LeadsTo("/bob?order=created#c-" + id)
	v.Header.Set("Referer", "https://elsewhere.example/bob")
	v.Post(form + "/like").LeadsTo("/p/" + code + "#c-" + id)
	v.Header.Del("Referer")
	v.Get("/bob").Has(form+"/unlike", "Unlike. Liked by 1 person").Lacks(form + `/like"`)
	bob.Visitor().Get("/bob").Has(form+"/like", "Like. Liked by 1 person").Lacks(form + "/unlike")
	s.Visitor().Get("/bob").Has("Liked by 1 person").Lacks(form)
	s.Visitor().Post(form + "/like").LeadsTo("/login?back=%2F")

	v.Header.Set("Accept", "application/json")
	v.Header.Set("X-River-Page", "/bob")
	v.Post(form+"/unlike").Wants(200).Has(`"t":"entry"`, form+"/like").Lacks("Liked by 1 person")
	v.Post("/p/" + code + "/comments/99999/like").Wants(404)
	v.Post("/p/" + code + "/comments/x/like").Wants(404)
}

// TestMarkup: what people write now may have markup, and what was written before stays plain,
// also when it is edited.
func TestMarkup(t *testing.T) {
	s := webtest.New(t, nil)
	anna, bob := s.Person("anna"), s.Person("bob")
	const text = "**Bold** and `@bob` in *code* #spring\n> said\n||the end||"
	now := anna.Post(text)
	anna.Comment(now.Code, "so _so_ **@bob**")
	before := anna.Act(func(ctx context.Context) (timelines.Change, error) {
		return s.Store.Posts.Create(ctx, timelines.NewPost{Author: anna.Account.ID, Body: "2 * 3 * 4 `x` @bob", Plain: true})
	})
	v := bob.Visitor()
	v.Get("/p/"+now.Code).Wants(200).Has("<strong>Bold</strong>", ">@bob</code>", "<blockquote", `<a href="/tag/spring"`, `class="spoiler"`,
		"<em>so</em>", `anna: Bold and @bob in code #spring · riverrun</title>`).Lacks("**", "||")
	v.Get("/p/"+before.Code).Wants(200).Has("2 * 3 * 4 `x` <a href=\"/bob\">@bob</a>").Lacks("<em>", "<code")
	anna.Edit(before.Code, "2 * 3 * 5 `x` @bob")
	v.Get("/p/"+before.Code).Wants(200).Has("2 * 3 * 5").Lacks("<em>", "<code")
	v.Get("/feeds/p/"+now.Code+".atom").Wants(200).Has("anna: Bold and @bob in code #spring", "&lt;strong&gt;")

	// Code names nobody. It is the comment that brings the first post to bob's mentions, and
	// the plain text that brings the second.
	s.FollowUp()
	v.Get("/filter/mentions").Has(now.Code, before.Code)
	comment := strconv.FormatInt(anna.Comment(now.Code, "`@bob` #spring").CommentID, 10)
	anna.Visitor().Post("/p/"+now.Code+"/comments/"+comment+"/edit", "body", "`@bob`").Wants(303)
	code := anna.Post("Only `@bob` and\n```\n#autumn\n```").Code
	s.FollowUp()
	v.Get("/filter/mentions").Lacks(code)
	v.Get("/tag/autumn").Lacks(code)
}
