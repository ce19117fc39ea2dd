package web

import (
	"net/http"
	"slices"
)

// The pages made of everybody's posts: each is of all languages or, with ?lang=, of
// one.

func (s *Server) routeEverything(mux *http.ServeMux) {
	for _, page := range aggregates() {
		mux.Handle("GET "+page.path, s.page(s.aggregate))
	}
}

// aggregates are the pages of that kind.
func aggregates() []riverPage {
	return slices.DeleteFunc(slices.Clone(riverPages), func(p riverPage) bool { return p.by != "lang" })
}

// aggregate is what the viewer may read of such a page. A language that posts are
// not told apart by has none.
func (s *Server) aggregate(w http.ResponseWriter, r *request) error {
	v, err := s.visit(r)
	if err != nil {
		return err
	}
	return s.html(w, r, http.StatusOK, aggregateList(v))
}
