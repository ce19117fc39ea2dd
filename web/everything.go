package web

import (
	"net/http"

	"riverrun/rivers"
)

func (s *Server) routeEverything(mux *http.ServeMux) {
	mux.Handle("GET /everything", s.page(s.everything))
}

// everything is all the viewer may read.
func (s *Server) everything(w http.ResponseWriter, r *request) error {
	v, err := s.visit(r, rivers.Everything, "", "/everything")
	if err != nil {
		return err
	}
	return s.html(w, r, http.StatusOK, everythingPage(v))
}
