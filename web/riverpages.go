package web

import (
	"net/http"

	"riverrun/rivers"
	"riverrun/timelines/marks"
	"riverrun/web/view"
)

// riverPages serves the pages that show a river and little else.
type riverPages struct{ *Server }

func (s riverPages) routes(mux router) {
	for _, page := range view.Aggregates() {
		mux.Handle("GET "+page.Path, s.page(s.aggregate))
	}
	mux.Handle("GET /tag/{tag}", s.page(s.tag))
	mux.Handle("GET /{$}", s.page(s.home))
	mux.Handle("GET /help/keys", s.page(s.keys))
	for _, page := range view.Pages {
		if page.Plain {
			mux.Handle("GET "+page.Path, s.page(s.plain))
		}
	}
}

// aggregate is the page of all posts, the best or the most saved, of all languages or one.
func (s riverPages) aggregate(w http.ResponseWriter, r *request) error {
	v, err := s.visit(r)
	if err != nil {
		return err
	}
	return s.html(w, r, http.StatusOK, view.AggregateList(v))
}

// home is the home page. For anonymous visitors it explains the site.
func (s riverPages) home(w http.ResponseWriter, r *request) error {
	if r.viewer.Anonymous() {
		return s.html(w, r, http.StatusOK, view.WelcomePage(s.simple(r)))
	}
	v, err := s.visit(r)
	if err != nil {
		return err
	}
	if r.looks() && v.Sets.RulesAgreed < r.site.Asks() {
		return errRules
	}
	c := view.NewComposer(v.Address())
	asking := 0
	if v.Top() {
		if err := s.view.NameComposer(r.Context(), v.Base, c); err != nil {
			return err
		}
		asked := append([]int64{r.viewer.AccountID}, v.Sets.Administers...)
		if asking, err = s.rivers.Access().RequestCount(r.Context(), asked); err != nil {
			return err
		}
	}
	toFollow := s.suggest(r.Context(), v.Base)
	if err := s.html(w, r, http.StatusOK, view.HomePage(v, c, asking, toFollow)); err != nil {
		return err
	}
	if v.Top() && r.looks() {
		s.view.SeenHome(r.viewer)
	}
	return nil
}

// keys is the page of keys.
func (s riverPages) keys(w http.ResponseWriter, r *request) error {
	return s.html(w, r, http.StatusOK, view.KeysPage(s.simple(r)))
}

// tag is the page of a hashtag: every post that has it, in its own text or in a
// comment, as far as the viewer may read it. Whether anybody has used the tag is
// not said: a page without entries is the same.
func (s riverPages) tag(w http.ResponseWriter, r *request) error {
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
		return redirect(w, r, address)
	}
	v, err := s.visit(r)
	if err != nil {
		return err
	}
	return s.html(w, r, http.StatusOK, view.PlainPage(v, nil))
}

// plain answers with a page that is fully described by its row.
func (s riverPages) plain(w http.ResponseWriter, r *request) error {
	v, err := s.visit(r)
	if err != nil {
		return err
	}
	var c *view.Composer
	if v.At.Compose != nil && v.Top() {
		form := v.At.Compose(v.Address()).Naming(r.URL.Query().Get("to"))
		if err := s.view.NameComposer(r.Context(), v.Base, form); err != nil {
			return err
		}
		c = &form
	}
	keepNoCopy(w, v.RiverName.Kind == rivers.Directs)
	return s.html(w, r, http.StatusOK, view.PlainPage(v, c))
}
