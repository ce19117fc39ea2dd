package web

import (
	"net/http"

	"riverrun/rivers"
)

// aggregates are the pages made of everybody's posts, by path. Each is of all
// languages or, with ?lang=, of one.
var aggregates = map[string]aggregatePage{
	"/everything": {rivers.Everything, "river.everything", "empty.everythings"},
	"/best":       {rivers.Best, "river.best", "empty.best"},
	"/most-faved": {rivers.MostFaved, "river.mostfaved", "empty.mostfaved"},
}

type aggregatePage struct {
	kind         rivers.Kind
	title, empty string
}

func (s *Server) routeEverything(mux *http.ServeMux) {
	mux.Handle("GET /everything", s.page(s.aggregate))
	mux.Handle("GET /best", s.page(s.aggregate))
	mux.Handle("GET /most-faved", s.page(s.aggregate))
}

// aggregate is what the viewer may read of such a page. A language that posts are
// not told apart by has none.
func (s *Server) aggregate(w http.ResponseWriter, r *request) error {
	path, lang := r.URL.Path, r.URL.Query().Get("lang")
	page := aggregates[path]
	v, err := s.visit(r, page.kind, lang, languagePath(path, lang))
	if err != nil {
		return err
	}
	return s.html(w, r, http.StatusOK, aggregateList(aggregateView{riverView: v, aggregatePage: page, base: path, lang: lang}))
}

// aggregateView is an aggregate's page as components see it.
type aggregateView struct {
	*riverView
	aggregatePage
	base string // the path without the language
	lang string // "" all
}

// titled is the page's name in one language, with the language it is limited to.
func (a aggregatePage) titled(loc *locale, lang string) string {
	title := loc.T(a.title)
	if lang != "" {
		title += " · " + languageNames[lang]
	}
	return title
}
