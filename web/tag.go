package web

import (
	"net/http"

	"riverrun/timelines/marks"
	"riverrun/web/view"
)

func (s *Server) routeTag(mux *http.ServeMux) {
	mux.Handle("GET /tag/{tag}", s.page(s.tag))
}

// tag is the page of a hashtag: every post that has it, in its own text or in a
// comment, as far as the viewer may read it. Whether anybody has used the tag is
// not said: a page without entries is the same.
func (s *Server) tag(w http.ResponseWriter, r *request) error {
	term, ok := marks.Term(r.PathValue("tag"))
	if !ok {
		return errNoPage
	}
	if term != r.PathValue("tag") {
		// One page per tag, however it was written.
		address := view.TagPath(term)
		if r.URL.RawQuery != "" {
			address += "?" + r.URL.RawQuery
		}
		return see(w, r, address)
	}
	v, err := s.visit(r)
	if err != nil {
		return err
	}
	return s.html(w, r, http.StatusOK, view.PlainPage(v, nil))
}
