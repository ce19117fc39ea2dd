package web

import (
	"context"
	"errors"
	"net/url"
	"time"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/web/view"
)

// visit reads the page of a river that r asks for and renders its entries.
func (s *Server) visit(r *request) (*view.River, error) {
	at, n, err := s.riverAt(r.Context(), r.viewer, r.URL.Path, r.URL.Query())
	if err != nil {
		return nil, err
	}
	return s.visitAt(r, at, n)
}

// visitAt is visit of a known river. Every page of a river comes through here.
func (s *Server) visitAt(r *request, at view.Page, n rivers.Name) (*view.River, error) {
	n = view.InMode(n, r.sets, r.URL.Query())
	v, err := s.visitIn(r, at, n)
	if err == nil {
		// The visit brought the access sets up to date, so a mode chosen just now counts.
		if chosen := view.InMode(n, v.Sets, r.URL.Query()); chosen != n {
			return s.visitIn(r, at, chosen)
		}
	}
	return v, err
}

func (s *Server) visitIn(r *request, at view.Page, n rivers.Name) (_ *view.River, err error) {
	ctx, query := r.Context(), r.URL.Query()
	began := time.Now()
	v := &view.River{At: at, Path: at.Address(r.URL.Path, query), Order: n.Order}
	var before rivers.Cursor
	if v.Before = query.Get("before"); v.Before != "" {
		if before, err = s.rivers.Cursor(ctx, r.viewer, v.Before); err != nil {
			return nil, err
		}
	}
	v.Mode = view.ModeParam(n)
	address := view.RiverAddress(v.Path, v.Order, v.Mode, v.Before)
	var kept *view.KeptArticles
	err = s.rivers.AtOneMoment(ctx, func() (rivers.Moment, error) {
		if v.Page, err = s.homes.Visit(ctx, r.viewer, n, before); err != nil {
			return rivers.Moment{}, err
		}
		// The visit brought the access sets up to date, and so the settings of the site.
		settings, err := s.rivers.Access().Site(ctx)
		if err != nil {
			return rivers.Moment{}, err
		}
		r.setSite(settings)
		named := v.Page.Items
		if kept = s.view.Kept(v.Page, r.loc.Lang, address); kept != nil && n.Kind != rivers.Post { // whose title names somebody
			named = nil
		}
		if v.Base, err = s.view.Base(ctx, r.viewer, r.loc, n, v.Page.Sets, named); err != nil {
			return rivers.Moment{}, err
		}
		s.view.At(v.Base, v.Page.At.Clock())
		v.Base.Member, err = s.view.Groups(ctx, v.Base.Sets)
		return v.Page.At, err
	})
	if err != nil {
		return nil, err
	}
	if v.Base.FeedAddress, err = s.feedOf(ctx, at, n, v.Page, v.Path); err != nil {
		return nil, err
	}
	if r.signedIn() {
		counts, err := s.rivers.Unread(ctx, []rivers.UnreadAsk{{Sets: v.Page.Sets, Label: v.Page.Label}})
		if err != nil {
			return nil, err
		}
		v.Base.Unread = counts[0]
	} else if r.door, err = s.rivers.Access().Door(ctx); err != nil {
		return nil, err
	}
	r.dress(v.Base)
	v.Base.NoSignUp = r.closed()
	v.Still = s.homes.Still(n)
	now, err := s.pages.Fingerprint(ctx, n, v.Page.Sets)
	if err != nil {
		return nil, err
	}
	v.Token = s.pages.Token(now)
	v.Base.PageAddress = address
	if err := s.view.Articles(v, kept); err != nil {
		return nil, err
	}
	if v.Page.More {
		v.Next = s.rivers.FormatCursor(v.Page.Next, view.CodeAt(v.Page))
	}
	s.pageTook.WithLabelValues(string(n.Kind)).Observe(time.Since(began).Seconds())
	return v, nil
}

// nameFollows resolves the names of the accounts that the viewer follows and of the viewer's
// own sub-feeds, for the composer's destinations, and who can read these.
func (s *Server) nameFollows(r *request, p *view.Base) error {
	if r.signedIn() {
		if err := s.view.NameSubfeeds(r.Context(), p, []int64{r.viewer.AccountID}); err != nil {
			return err
		}
	}
	if err := s.view.NameAccounts(r.Context(), p, p.Sets.Follows); err != nil {
		return err
	}
	return s.view.NameAudiences(r.Context(), p, nil)
}

// nameGroups resolves the titles of those of these names that are groups which the viewer reads.
func (s *Server) nameGroups(r *request, p *view.Base, names []string) error {
	sets, err := s.rivers.Access().Sets(r.Context(), r.viewer.AccountID)
	if err != nil {
		return err
	}
	found, err := s.timelines.Accounts.Named(r.Context(), names)
	if err != nil {
		return err
	}
	p.GroupTitles = map[string]string{}
	for _, g := range found {
		if g.Kind == timelines.Group && sets.Reads(g.FeedID, g.Access) {
			p.GroupTitles[g.Name] = g.Title
		}
	}
	return nil
}

// pageOf returns the river behind a page's address: the same for the page, its
// socket and the replies to its forms. It says nothing about the right to open it.
// Errors: rivers.ErrNotFound if no river is there, rivers.ErrSignInNeeded,
// *timelines.InvalidError if it is a search for nothing.
func (s *Server) pageOf(ctx context.Context, v timelines.Viewer, path string, query url.Values) (rivers.Name, error) {
	_, n, err := s.riverAt(ctx, v, path, query)
	return n, err
}

// riverAt is pageOf, with the page.
func (s *Server) riverAt(ctx context.Context, v timelines.Viewer, path string, query url.Values) (view.Page, rivers.Name, error) {
	return riverAt(ctx, s.rivers, v, path, query)
}

func riverAt(ctx context.Context, store *rivers.Store, v timelines.Viewer, path string, query url.Values) (view.Page, rivers.Name, error) {
	for _, page := range view.Pages {
		name, ok := page.At(present(path), query)
		if !ok {
			continue
		}
		n, err := store.Resolve(ctx, v, page.Kind, name, view.OrderOf(query))
		if errors.Is(err, rivers.ErrNotFound) {
			continue
		}
		return page, view.InMode(n, nil, query), err
	}
	return view.Page{}, rivers.Name{}, rivers.ErrNotFound
}
