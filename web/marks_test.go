package web

import (
	"strconv"
	"strings"
	"testing"
)

// TestFaves keeps a post: it is found again, everybody learns that somebody keeps
// it, and nobody who.
func TestFaves(t *testing.T) {
	s := newLiveSite(t, nil)
	anna, bob := s.person("anna"), s.person("bob")
	code := bob.post("Worth keeping").Code
	v := anna.visitor()
	v.get("/filter/saved").wants(200).has("Save a post").lacks("Worth keeping")
	v.post("/p/"+code+"/save", "back", "/bob").leadsTo("/bob")
	v.post("/p/" + code + "/save").leadsTo("/p/" + code)
	v.get("/bob").has("Unsave", "Saved by 1 person")
	for _, address := range []string{"/filter/saved", "/filter/saved?order=created"} {
		v.get(address).wants(200).has("Worth keeping", "Unsave")
	}
	for name, other := range map[string]*visitor{"bob": bob.visitor(), "nobody": s.visitor()} {
		other.get("/bob").wants(200).has("Saved by 1 person").lacks("anna", "Unsave")
		other.get("/anna/faves").wants(404)
		if page := other.get("/anna").wants(200); strings.Contains(page.body, ">Only me</a>") {
			t.Errorf("%s is led to what anna keeps", name)
		}
	}
	s.visitor().get("/filter/saved").leadsTo("/login?back=%2Ffilter%2Fsaved")
	s.visitor().post("/p/" + code + "/save").leadsTo("/login?back=%2F")

	// river.js gets the entry as the page shows it now: gone, where it stood.
	v.header.Set("Accept", "application/json")
	v.header.Set("X-River-Page", "/filter/saved")
	v.post("/p/" + code + "/unsave").wants(200).has(`"t":"gone"`)
	v.post("/p/0000000000/save").wants(404)
	v.header.Del("Accept")
	v.get("/filter/saved").lacks("Worth keeping")
	v.get("/bob").lacks("Saved by")
}

func TestCommentLikes(t *testing.T) {
	s := newLiveSite(t, nil)
	anna, bob := s.person("anna"), s.person("bob")
	code := bob.post("Talk").Code
	id := strconv.FormatInt(bob.comment(code, "Well said.").CommentID, 10)
	form := "/p/" + code + "/comments/" + id
	v := anna.visitor()
	v.get("/bob").has(form+"/like", "Like this comment").lacks(form + "/unlike")
	v.post(form + "/like").leadsTo("/p/" + code + "#c-" + id)
	v.header.Set("Referer", v.base+"/bob?order=created")
	v.post(form + "/like").leadsTo("/bob?order=created#c-" + id)
	v.header.Set("Referer", "https://elsewhere.example/bob")
	v.post(form + "/like").leadsTo("/p/" + code + "#c-" + id)
	v.header.Del("Referer")
	v.get("/bob").has(form+"/unlike", "Unlike this comment. Liked by 1 person").lacks(form + `/like"`)
	bob.visitor().get("/bob").has(form+"/like", "Like this comment. Liked by 1 person").lacks(form + "/unlike")
	s.visitor().get("/bob").has("Liked by 1 person").lacks(form)
	s.visitor().post(form + "/like").leadsTo("/login?back=%2F")

	v.header.Set("Accept", "application/json")
	v.header.Set("X-River-Page", "/bob")
	v.post(form+"/unlike").wants(200).has(`"t":"entry"`, "Like this comment").lacks("Liked by 1 person")
	v.post("/p/" + code + "/comments/99999/like").wants(404)
	v.post("/p/" + code + "/comments/x/like").wants(404)
}
