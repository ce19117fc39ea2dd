package web

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"riverrun/timelines"
)

func (s *Server) routeSearch(mux *http.ServeMux) {
	mux.Handle("GET /search", s.page(s.search))
}

// searchView is the page of a search. There is no river where nothing was, or could
// be, asked for.
type searchView struct {
	*present
	text  string // as it was typed
	wrong string
	river *riverView
	// nobody are the names in the query that no account has. Whoever has one has a page
	// that says so: that there is an account is no secret, whatever it lets the viewer
	// read.
	nobody []string
	// accounts are the people and groups whose names or titles begin as was asked for:
	// what the directories show of them.
	accounts []timelines.Account
	// common: nothing was found because its words are too common to be searched for.
	common bool
}

func (v searchView) title() string {
	if v.text == "" {
		return v.loc.T("search.label")
	}
	return v.loc.T("search.title", "q", v.text)
}

// searcher is whose searches are counted together.
func searcher(v timelines.Viewer, address string) string {
	if v.Anonymous() {
		return address
	}
	return accountKey(v.AccountID)
}

// search is what a query finds of all the viewer may read, and the form to ask
// again.
func (s *Server) search(w http.ResponseWriter, r *request) error {
	view := searchView{text: strings.TrimSpace(r.URL.Query().Get("q"))}
	if view.text == "" {
		return s.searchForm(w, r, view, http.StatusOK)
	}
	if err := s.limits.search.allow(searcher(r.viewer, s.addresses.key(r.Request))); err != nil {
		return err
	}
	river, err := s.visit(r)
	invalid, isInvalid := errors.AsType[*timelines.InvalidError](err)
	switch {
	case isInvalid:
		// Not all that was sent can be shown again.
		view.text = strings.ToValidUTF8(strings.ReplaceAll(view.text, "\x00", ""), "")
		view.wrong = s.invalid(r, invalid).Text
		return s.searchForm(w, r, view, http.StatusBadRequest)
	case errors.Is(err, timelines.ErrBroad):
		s.log.WarnContext(r.Context(), "search refused", "account", r.viewer.AccountID, "error", err)
		view.wrong = r.loc.T("search.broad")
		return s.searchForm(w, r, view, http.StatusBadRequest)
	case err != nil:
		return err
	}
	view.present, view.river = river.present, river
	view.hushed = true
	if err := s.lookAround(r, &view); err != nil {
		return err
	}
	return s.html(w, r, http.StatusOK, searchPage(view))
}

// mostAccounts is how many people and groups a search shows.
const mostAccounts = 10

// lookAround finds what stands above the posts that a search found. Each part is a
// statement to the primary store, of which the search of one page needs one at most: who
// is called so, for a query of words alone; which names nobody has, for one with names;
// and, where nothing was found, whether its words are too common, which adds one.
func (s *Server) lookAround(r *request, v *searchView) error {
	q, err := timelines.ParseQuery(v.text)
	if err != nil {
		return err
	}
	if v.river.top() {
		if v.accounts, err = s.timelines.FindAccounts(r.Context(), q, mostAccounts); err != nil {
			return err
		}
	}
	if v.nobody, err = s.unknownIn(r, q); err != nil {
		return err
	}
	if len(v.river.articles) == 0 {
		v.common, err = s.timelines.TooCommon(r.Context(), q)
	}
	return err
}

// searchForm answers with the form alone, where there is no river that would find out
// who looks.
func (s *Server) searchForm(w http.ResponseWriter, r *request, view searchView, status int) error {
	if err := s.settle(w, r); err != nil {
		return err
	}
	view.present = s.simple(r)
	view.hushed = true
	return s.html(w, r, status, searchPage(view))
}

// unknownIn returns the names in a query that no account has.
func (s *Server) unknownIn(r *request, q timelines.Query) ([]string, error) {
	names := q.Names()
	if len(names) == 0 {
		return nil, nil
	}
	accounts, err := s.timelines.AccountsNamed(r.Context(), names)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(names, func(name string) bool {
		return slices.ContainsFunc(accounts, func(a timelines.Account) bool { return a.Name == name })
	}), nil
}
