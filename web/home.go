package web

import (
	"maps"
	"net/http"
	"slices"

	"riverrun/web/view"
)

func (s *Server) routeHome(mux *http.ServeMux) {
	mux.Handle("GET /{$}", s.page(s.home))
}

// home is the page people read all day; to who is not signed in it says what
// this place is.
func (s *Server) home(w http.ResponseWriter, r *request) error {
	if r.viewer.Anonymous() {
		return s.html(w, r, http.StatusOK, view.WelcomePage(s.simple(r)))
	}
	v, err := s.visit(r)
	if err != nil {
		return err
	}
	if err := s.nameFollows(r, v.Base); err != nil {
		return err
	}
	asking := 0
	if v.Top() {
		asked := slices.AppendSeq([]int64{r.viewer.AccountID}, maps.Keys(v.Sets.Administers))
		if asking, err = s.rivers.Access().Asking(r.Context(), asked); err != nil {
			return err
		}
	}
	return s.html(w, r, http.StatusOK, view.HomePage(v, view.NewComposer(v.Address()), asking))
}
