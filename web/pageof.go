package web

import (
	"context"
	"net/url"
	"strings"

	"riverrun/rivers"
	"riverrun/timelines"
)

// pageOf returns the river behind a page's address: the same for the page, its
// socket and the replies to its forms. It says nothing about the right to open
// it. Errors: rivers.ErrNotFound if no river is there, rivers.ErrSignInNeeded,
// *timelines.InvalidError if it is a search for nothing.
func (s *Server) pageOf(ctx context.Context, v timelines.Viewer, path string, query url.Values) (rivers.Name, error) {
	n, err := s.riverAt(ctx, v, path, query)
	if err == nil && n.Kind.HasModes() {
		n = n.In(modeOf(n.Kind, nil, query))
	}
	return n, err
}

func (s *Server) riverAt(ctx context.Context, v timelines.Viewer, path string, query url.Values) (rivers.Name, error) {
	order := orderOf(query)
	switch segments := strings.Split(strings.TrimPrefix(path, "/"), "/"); {
	case path == "/":
		return s.rivers.Resolve(ctx, v, rivers.Home, "", order)
	case aggregates[path].kind != "":
		return s.rivers.Resolve(ctx, v, aggregates[path].kind, query.Get("lang"), order)
	case path == "/search":
		return s.rivers.Resolve(ctx, v, rivers.Search, query.Get("q"), order)
	case len(segments) == 2 && segments[0] == "filter":
		f, ok := filters[segments[1]]
		if !ok {
			return rivers.Name{}, rivers.ErrNotFound
		}
		return s.rivers.Resolve(ctx, v, f.kind, "", order)
	case len(segments) == 2 && segments[0] == "tag":
		return s.rivers.Resolve(ctx, v, rivers.Hashtag, segments[1], order)
	case len(segments) == 2 && segments[0] == "lists":
		return s.rivers.Resolve(ctx, v, rivers.List, segments[1], order)
	case len(segments) == 2 && segments[0] == "p":
		return s.rivers.Resolve(ctx, v, rivers.Post, segments[1], order)
	case len(segments) == 1:
		return s.accountRiver(ctx, v, segments[0], "", order)
	case len(segments) == 2:
		return s.accountRiver(ctx, v, segments[0], segments[1], order)
	}
	return rivers.Name{}, rivers.ErrNotFound
}

func (s *Server) accountRiver(ctx context.Context, v timelines.Viewer, name, page string, order rivers.Order) (rivers.Name, error) {
	a, err := s.rivers.Access().AccountNamed(ctx, name)
	if err != nil {
		return rivers.Name{}, err
	}
	kind, err := accountKind(v, a, page)
	if err != nil {
		return rivers.Name{}, rivers.ErrNotFound
	}
	return s.rivers.Resolve(ctx, v, kind, riverName(kind, a, page), order)
}
