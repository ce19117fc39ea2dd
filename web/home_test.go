package web

import (
	"testing"

	"riverrun/timelines"
)

// Who is asked for something hears of it on the home page, until all are answered.
func TestHomeSaysWhoWaits(t *testing.T) {
	s := newLiveSite(t, nil)
	ann, bob, cat := s.person("ann"), s.person("bob"), s.person("cat")
	ann.setAccess("", timelines.Private)
	a := ann.visitor()
	a.post("/groups", "name", "club", "title", "Club", "access", "private").leadsTo("/club")
	a.get("/").wants(200).lacks("for your answer")
	bob.visitor().post("/ann/follow").leadsTo("/ann")
	a.get("/").wants(200).has("1 person is waiting for your answer", `href="/people#requests"`)
	cat.visitor().post("/club/follow").leadsTo("/club")
	a.get("/").wants(200).has("2 people are waiting for your answer")
	bob.visitor().get("/").wants(200).lacks("for your answer")
	a.post("/bob/accept").leadsTo("/settings")
	a.post("/cat/decline", "group", "club").leadsTo("/settings")
	a.get("/").wants(200).lacks("for your answer")
}
