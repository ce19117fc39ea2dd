package web

import (
	"context"
	"errors"
	"net/http"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/timelines/drafts"
	"riverrun/timelines/listings"
	"riverrun/web/view"
)

// market serves what the author of a listing does with it.
type market struct{ *Server }

func (s market) routes(mux router) {
	mux.Handle("GET /p/{code}/listing", s.members(s.listing))
	mux.Handle("POST /p/{code}/close", s.members(s.close))
	mux.Handle("POST /p/{code}/renew", s.members(s.mark(s.timelines.Posts.Renew)))
}

// mark is that of reactions.
func (s market) mark(set func(ctx context.Context, actor int64, code string) (timelines.Change, error)) handler {
	return reactions(s).mark(set)
}

// listing is the page that renews and closes a listing.
func (s market) listing(w http.ResponseWriter, r *request) error {
	page, err := s.listingPage(r, listings.Sale{How: listings.Sold}, view.FormError{})
	if err != nil {
		return err
	}
	return s.html(w, r, http.StatusOK, page)
}

func (s market) listingPage(r *request, sale listings.Sale, is view.FormError) (view.Component, error) {
	code := r.PathValue("code")
	l, err := s.timelines.Posts.Listing(r.Context(), r.viewer.AccountID, code)
	if errors.Is(err, listings.ErrNone) {
		return nil, errNoPage
	}
	if err != nil {
		return nil, err
	}
	v := view.Listing{Base: s.simple(r), Code: code, Listing: l, Sale: sale, Back: r.back("/p/" + code), Error: is}
	return view.ListingPage(v), nil
}

// close closes a listing.
func (s market) close(w http.ResponseWriter, r *request) error {
	code, sale := r.PathValue("code"), listings.Sale{How: r.PostFormValue("how"), Price: r.PostFormValue("sold")}
	var c timelines.Change
	err := s.mayChange(r)
	if err == nil {
		c, err = s.carry(r)(s.timelines.Posts.Close(r.Context(), r.viewer.AccountID, code, sale))
	}
	if err != nil {
		is, err := s.formError(r, err)
		if err != nil {
			return err
		}
		page, err := s.listingPage(r, sale, is)
		if err != nil {
			return err
		}
		return s.redisplay(w, r, is, page)
	}
	return s.answerEntry(w, r, c, r.back("/p/"+code))
}

// listing returns the fields of a listing that a form has, nil if it has none.
func (r *request) listing() *listings.Fields {
	if !r.PostForm.Has("listing") {
		return nil
	}
	return &listings.Fields{
		Price: r.PostFormValue("price"), Currency: r.PostFormValue("currency"), Place: r.PostFormValue("place"),
		Condition: r.PostFormValue("condition"), Until: r.PostFormValue("until"),
	}
}

// listingOf returns the fields of the viewer's own listing, nil if the post is none or it is closed.
func (s *Server) listingOf(ctx context.Context, me int64, code string) (*listings.Fields, error) {
	l, err := s.timelines.Posts.Listing(ctx, me, code)
	if errors.Is(err, listings.ErrNone) || err == nil && l.State == listings.Closed {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	f := l.Fields()
	return &f, nil
}

// newListing is the page with the form for a listing.
func (s posts) newListing(w http.ResponseWriter, r *request) error {
	g, err := s.marketAsked(r)
	if err != nil {
		return err
	}
	place := drafts.ListingPlace(g.Name)
	d, found, err := s.timelines.Drafts.Find(r.Context(), r.viewer.AccountID, place)
	if err != nil {
		return err
	}
	if !found {
		d = drafts.Draft{Place: place, Destinations: []string{g.Name}, Listing: view.NewListing(g)}
	}
	page, err := s.composeDraft(r, d, view.ComposerOf(d))
	if err != nil {
		return err
	}
	keepNoCopy(w, found)
	return s.html(w, r, http.StatusOK, page)
}

// marketAsked is the group that "to" names, if it takes listings and the viewer reads it.
func (s posts) marketAsked(r *request) (timelines.Account, error) {
	g, err := s.rivers.Access().AccountNamed(r.Context(), r.URL.Query().Get("to"))
	if err != nil {
		return timelines.Account{}, err
	}
	sets, err := s.rivers.Access().Sets(r.Context(), r.viewer.AccountID)
	if err != nil {
		return timelines.Account{}, err
	}
	if g.Kind != timelines.Group || g.ListingsIn == "" || !sets.Reads(g.FeedID, g.Access) {
		return timelines.Account{}, errNoPage
	}
	return g, nil
}

// filtered returns which of a group's listings a request asks for, with the error of its form if it is
// wrong. A filter is a search, and has its limit.
func (s accounts) filtered(r *request, n rivers.Name) (view.ListingFilter, view.FormError, error) {
	f, err := view.ListingFilterOf(r.URL.Query())
	if err != nil {
		is, err := s.formError(r, err)
		return f, is, err
	}
	if n.Kind != rivers.Search {
		return f, view.FormError{}, nil
	}
	return f, view.FormError{}, s.limits.search.allow(searcher(r.viewer, s.addresses.key(r.Request)))
}

// setListings lets a group take listings, or no more.
func (s settings) setListings(w http.ResponseWriter, r *request) error {
	group := r.PostFormValue("group")
	err := s.mayChange(r)
	if err == nil {
		_, err = s.carry(r)(s.timelines.Groups.SetListings(r.Context(), r.viewer.AccountID, group, r.PostFormValue("currency")))
	}
	if err != nil {
		return groups(s).manageAgain(w, r, group, err, func(*view.Manage) {})
	}
	return s.done(w, r, view.ManagePath(group)+"?saved")
}
