package web

import (
	"net/http"

	"riverrun/web/view"
)

// The pages made of everybody's posts: each is of all languages or, with ?lang=, of
// one.

func (s *Server) routeEverything(mux *http.ServeMux) {
	for _, page := range view.Aggregates() {
		mux.Handle("GET "+page.Path, s.page(s.aggregate))
	}
}

// aggregate is what the viewer may read of such a page. A language that posts are
// not told apart by has none.
func (s *Server) aggregate(w http.ResponseWriter, r *request) error {
	v, err := s.visit(r)
	if err != nil {
		return err
	}
	return s.html(w, r, http.StatusOK, view.AggregateList(v))
}
