package web

import (
	"net/http"

	"riverrun/rivers"
)

// filters are the viewer's own pages under /filter/.
var filters = map[string]filterPage{
	"discussions": {rivers.Discussions, "river.discussions", "empty.discussions"},
	"directs":     {rivers.Directs, "river.directs", "empty.directs"},
	"faves":       {rivers.Faves, "river.faves", "empty.faves"},
	"eyes":        {rivers.Eyes, "river.eyes", "empty.eyes"},
	"mentions":    {rivers.Mentions, "river.mentions", "empty.mentions"},
}

type filterPage struct {
	kind         rivers.Kind
	title, empty string
}

func (s *Server) routeFilter(mux *http.ServeMux) {
	mux.Handle("GET /filter/{page}", s.page(s.filter))
}

func (s *Server) filter(w http.ResponseWriter, r *request) error {
	f, ok := filters[r.PathValue("page")]
	if !ok {
		return errNoPage
	}
	path := "/filter/" + r.PathValue("page")
	v, err := s.visit(r, f.kind, "", path)
	if err != nil {
		return err
	}
	if err := s.nameFollows(r, v.present); err != nil {
		return err
	}
	return s.html(w, r, http.StatusOK, filterList(v, f))
}
