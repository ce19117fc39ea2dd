package web

import (
	"net/http"

	"riverrun/timelines"
	"riverrun/web/view"
)

// directory lists people.
type directory struct{ *Server }

func (s directory) routes(mux router) {
	mux.Handle("GET /people", s.freshAccess(s.people))
}

// people lists all people by title, and the requests that wait for the viewer's answer.
func (s directory) people(w http.ResponseWriter, r *request) error {
	v := view.People{Base: s.simple(r)}
	var err error
	if v.Directory, err = s.directory(r, timelines.User); err != nil {
		return err
	}
	if v.Requests, err = s.requests(r, "/people", 0); err != nil {
		return err
	}
	return s.html(w, r, http.StatusOK, view.PeoplePage(v))
}
