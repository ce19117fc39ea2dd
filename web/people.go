package web

import (
	"net/http"

	"riverrun/timelines"
)

func (s *Server) routePeople(mux *http.ServeMux) {
	mux.Handle("GET /people", s.settled(s.people))
}

// peopleView is the directory of people as components see it.
type peopleView struct {
	*present
	all      []timelines.Account
	next     string
	requests requestList
}

// people is everybody by name, and who waits for the viewer's answer.
func (s *Server) people(w http.ResponseWriter, r *request) error {
	v := peopleView{present: s.simple(r)}
	var err error
	if v.all, v.next, err = s.directory(r, timelines.User, r.URL.Query().Get("after")); err != nil {
		return err
	}
	if v.requests, err = s.requests(r, "/people", 0); err != nil {
		return err
	}
	return s.html(w, r, http.StatusOK, peoplePage(v))
}
