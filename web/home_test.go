package web_test

import (
	"testing"

	"riverrun/timelines"
	"riverrun/web/webtest"
)

// The home page tells people of requests to them, until all are answered.
func TestHomeShowsRequests(t *testing.T) {
	s := webtest.New(t, nil)
	ann, bob, cat := s.Person("ann"), s.Person("bob"), s.Person("cat")
	ann.SetAccess("", timelines.Private)
	a := ann.Visitor()
	a.Post("/groups", "name", "club", "title", "Club", "access", "private").LeadsTo("/club")
	a.Get("/").Wants(200).Lacks("for your answer")
	bob.Visitor().Post("/ann/follow").LeadsTo("/ann")
	a.Get("/").Wants(200).Has("1 person is waiting for your answer", `href="/people#requests"`)
	cat.Visitor().Post("/club/follow").LeadsTo("/club")
	a.Get("/").Wants(200).Has("2 people are waiting for your answer")
	bob.Visitor().Get("/").Wants(200).Lacks("for your answer")
	a.Post("/bob/accept").LeadsTo("/settings")
	a.Post("/cat/decline", "group", "club").LeadsTo("/settings")
	a.Get("/").Wants(200).Lacks("for your answer")
}
