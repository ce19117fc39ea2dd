package web

import "net/http"

func (s *Server) routeFaves(mux *http.ServeMux) {
	mux.Handle("POST /p/{code}/fave", s.members(s.fave))
	mux.Handle("POST /p/{code}/unfave", s.members(s.unfave))
}

func (s *Server) fave(w http.ResponseWriter, r *request) error {
	return s.mark(w, r, s.timelines.Fave)
}

func (s *Server) unfave(w http.ResponseWriter, r *request) error {
	return s.mark(w, r, s.timelines.Unfave)
}
