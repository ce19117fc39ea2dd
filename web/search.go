package web

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strings"

	"riverrun/timelines"
	"riverrun/timelines/access"
	"riverrun/timelines/snapshot"
	"riverrun/web/view"
)

// searches serves the page of search.
type searches struct{ *Server }

func (s searches) routes(mux router) {
	mux.Handle("GET /search", s.page(s.search))
	mux.Handle("GET /search/names", s.page(s.names))
}

// searcher is the key under which searches are counted.
func searcher(v timelines.Viewer, address string) string {
	if v.Anonymous() {
		return address
	}
	return accountKey(v.AccountID)
}

// search shows the posts that a query finds and the viewer may read, and the form.
func (s searches) search(w http.ResponseWriter, r *request) error {
	page := view.Search{Text: strings.TrimSpace(r.URL.Query().Get("q"))}
	if page.Text == "" {
		return s.searchForm(w, r, page, http.StatusOK)
	}
	if err := s.limits.search.allow(searcher(r.viewer, s.addresses.key(r.Request))); err != nil {
		return err
	}
	river, err := s.visit(r)
	invalid, isInvalid := errors.AsType[*timelines.InvalidError](err)
	switch {
	case isInvalid:
		// Some of the text may not be valid, and cannot be shown again.
		page.Text = strings.ToValidUTF8(strings.ReplaceAll(page.Text, "\x00", ""), "")
		page.Error = s.invalid(r, invalid).Text
		return s.searchForm(w, r, page, http.StatusBadRequest)
	case errors.Is(err, snapshot.ErrBroad):
		s.log.WarnContext(r.Context(), "search refused", "account", r.viewer.AccountID, "error", err)
		page.Error = r.loc.T("search.broad")
		return s.searchForm(w, r, page, http.StatusBadRequest)
	case err != nil:
		return err
	}
	page.Base, page.River = river.Base, river
	page.NoIndex = true
	if err := s.lookAround(r, &page); err != nil {
		return err
	}
	return s.html(w, r, http.StatusOK, view.SearchPage(page))
}

// mostNames is how many people are offered to somebody who types a name, and namesMet how many
// they are chosen from.
const (
	mostNames = 6
	namesMet  = 100
)

// names offers the people whose name or title has a word that begins with "q", those first
// whom the viewer follows, as HTML for a list. With "to" it offers destinations: also groups that
// take the viewer's posts, and nobody with whom a ban stands between.
func (s searches) names(w http.ResponseWriter, r *request) error {
	if r.viewer.Anonymous() {
		return errSignIn
	}
	if err := s.limits.names.allow(accountKey(r.viewer.AccountID)); err != nil {
		return err
	}
	q, problem := snapshot.ParseQuery(r.URL.Query().Get("q"))
	if problem != "" {
		return &timelines.InvalidError{Field: "q", Code: problem}
	}
	p, kind := s.simple(r), timelines.User
	destinations := r.URL.Query().Has("to")
	if destinations {
		kind = ""
	}
	found, err := s.timelines.Accounts.Find(r.Context(), kind, q, namesMet)
	if err != nil {
		return err
	}
	if destinations {
		if found, err = s.destinationsAmong(r, p, found); err != nil {
			return err
		}
	}
	slices.SortStableFunc(found, func(a, b timelines.Account) int {
		return cmp.Compare(rank(r.sets, a.ID), rank(r.sets, b.ID))
	})
	html, err := view.Bytes(view.NameOptions(p, found[:min(len(found), mostNames)]))
	if err != nil {
		return err
	}
	return writeFragment(w, html)
}

// destinationsAmong returns those of some accounts to which the viewer may send something, as far
// as the node knows: people, and groups that the viewer may read and write to.
func (s searches) destinationsAmong(r *request, p *view.Base, found []timelines.Account) ([]timelines.Account, error) {
	// The form reads levels and bans of the primary store by itself; these are for the offer.
	if err := s.rivers.RefreshAccess(r.Context()); err != nil {
		return nil, err
	}
	sets, err := s.rivers.Access().Sets(r.Context(), r.viewer.AccountID)
	if err != nil {
		return nil, err
	}
	p.Sets = sets
	ids := make([]int64, len(found))
	for i, a := range found {
		ids[i] = a.ID
	}
	open, err := s.readable(r.Context(), p, ids)
	if err != nil {
		return nil, err
	}
	var groups []timelines.Account
	found = slices.DeleteFunc(found, func(a timelines.Account) bool {
		if a.Kind == timelines.User {
			return a.ID == r.viewer.AccountID || sets.BlockedBetween(a.ID)
		}
		g, ok := open[a.ID]
		if !ok || !p.MayPostTo(g) {
			return true
		}
		groups = append(groups, g)
		return false
	})
	return found, s.view.NameAudiences(r.Context(), p, groups)
}

// rank is 0 for those whom a viewer follows, and 1 for others.
func rank(sets *access.Sets, account int64) int {
	if sets.Follows.Has(account) {
		return 0
	}
	return 1
}

// mostAccounts is how many people and groups a search shows.
const mostAccounts = 10

// lookAround reads the parts above the posts of a search. Each is a statement in the primary
// store, and a search needs at most one of the first two: the accounts of that name, for a
// query of words alone; the names that nobody has, for a query with names; and, if nothing
// was found, whether the words are too common.
func (s searches) lookAround(r *request, v *view.Search) error {
	q, problem := snapshot.ParseQuery(v.Text)
	if problem != "" {
		return &timelines.InvalidError{Field: "q", Code: problem}
	}
	var err error
	if v.River.Top() {
		if v.Accounts, err = s.timelines.Accounts.Find(r.Context(), "", q, mostAccounts); err != nil {
			return err
		}
	}
	if v.Nobody, err = s.unknownIn(r, q); err != nil {
		return err
	}
	if len(v.River.Articles) == 0 {
		v.Common, err = q.TooCommon(r.Context(), s.timelines.Pool())
	}
	return err
}

// searchForm answers with the form alone. There is no river then whose visit would check the
// session.
func (s searches) searchForm(w http.ResponseWriter, r *request, page view.Search, status int) error {
	if err := s.refreshAccess(w, r); err != nil {
		return err
	}
	page.Base = s.simple(r)
	page.NoIndex = true
	return s.html(w, r, status, view.SearchPage(page))
}

// unknownIn returns the names in a query that no account has.
func (s searches) unknownIn(r *request, q snapshot.Query) ([]string, error) {
	names := q.Names()
	if len(names) == 0 {
		return nil, nil
	}
	accounts, err := s.timelines.Accounts.Named(r.Context(), names)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(names, func(name string) bool {
		return slices.ContainsFunc(accounts, func(a timelines.Account) bool { return a.Name == name })
	}), nil
}
