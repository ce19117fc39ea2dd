package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/web/view"
)

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
	for _, page := range view.Pages {
		name, ok := page.At(path, query)
		if !ok {
			continue
		}
		n, err := s.rivers.Resolve(ctx, v, page.Kind, name, view.OrderOf(query))
		if errors.Is(err, rivers.ErrNotFound) {
			continue
		}
		return page, view.InMode(n, nil, query), err
	}
	return view.Page{}, rivers.Name{}, rivers.ErrNotFound
}

func (s *Server) routePlain(mux *http.ServeMux) {
	for _, page := range view.Pages {
		if page.Plain {
			mux.Handle("GET "+page.Path, s.page(s.plain))
		}
	}
}

// plain answers with a page that is no more than its row says.
func (s *Server) plain(w http.ResponseWriter, r *request) error {
	v, err := s.visit(r)
	if err != nil {
		return err
	}
	var c *view.Composer
	if v.At.Compose != nil && v.Top() {
		if err := s.nameFollows(r, v.Base); err != nil {
			return err
		}
		form := v.At.Compose(v.Address())
		c = &form
	}
	keepNoCopy(w, v.RiverName.Kind == rivers.Directs)
	return s.html(w, r, http.StatusOK, view.PlainPage(v, c))
}
