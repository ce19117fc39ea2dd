package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"riverrun/rivers"
	"riverrun/timelines"
)

// riverPage is a page that shows a river: a row of riverPages. A page that is
// plain needs no more than its row and its texts; any other has a handler, which
// stands with its route in a file of its own.
type riverPage struct {
	kind rivers.Kind
	// path is its address. What stands there for the segments in braces names the
	// river, or the parameter by of the query does.
	path, by string
	// title is what it is called, and empty what stands in place of entries: keys of
	// the catalogues, which may use the slots of present.text. A page that has more to
	// say says it itself.
	title, empty string
	// unfed: it has no feed file. A reader that asks each hour, for ever, is no search.
	unfed bool
	// plain: its title, its entries and nothing else stand on it.
	plain bool
	// compose is the form above the newest entries of a plain page, if there is one.
	compose func(back string) composer
}

// riverPages are all pages that show a river. Where two could stand at one address,
// that one does whose river there is.
var riverPages = []riverPage{
	{kind: rivers.Home, path: "/", title: "river.home", empty: "empty.home"},
	{kind: rivers.Everything, path: "/everything", by: "lang", title: "river.everything", empty: "empty.everythings"},
	{kind: rivers.Best, path: "/best", by: "lang", title: "river.best", empty: "empty.best"},
	{kind: rivers.MostFaved, path: "/most-faved", by: "lang", title: "river.mostfaved", empty: "empty.mostfaved"},
	{kind: rivers.Search, path: "/search", by: "q", title: "search.title", empty: "search.empty", unfed: true},
	{kind: rivers.Discussions, path: "/filter/discussions", title: "river.discussions", empty: "empty.discussions", plain: true},
	{kind: rivers.Directs, path: "/filter/directs", title: "river.directs", empty: "empty.directs", plain: true, compose: directComposer},
	{kind: rivers.Eyes, path: "/filter/eyes", title: "river.eyes", empty: "empty.eyes", plain: true, compose: eyesComposer},
	{kind: rivers.Faves, path: "/filter/faves", title: "river.faves", empty: "empty.faves", plain: true},
	{kind: rivers.Mentions, path: "/filter/mentions", title: "river.mentions", empty: "empty.mentions", plain: true},
	{kind: rivers.Hashtag, path: "/tag/{tag}", title: "river.tag", empty: "empty.tag"},
	{kind: rivers.List, path: "/lists/{slug}", title: "river.list", empty: "empty.list"},
	{kind: rivers.Post, path: "/p/{code}"},
	{kind: rivers.User, path: "/{name}", title: "river.user", empty: "empty.user"},
	{kind: rivers.Group, path: "/{name}", title: "river.user", empty: "empty.group"},
	{kind: rivers.Likes, path: "/{name}/likes", title: "river.likes", empty: "empty.likes"},
	{kind: rivers.Comments, path: "/{name}/comments", title: "river.comments", empty: "empty.comments"},
	{kind: rivers.Faves, path: "/{name}/faves", title: "river.faves", empty: "empty.faves"},
	{kind: rivers.Subfeed, path: "/{name}/{slug}", title: "river.subfeed", empty: "empty.subfeed"},
}

// at reports whether the page stands at an address, and what names its river
// there.
func (p riverPage) at(path string, query url.Values) (name string, ok bool) {
	pattern, given := strings.Split(p.path, "/"), strings.Split(path, "/")
	if len(pattern) != len(given) {
		return "", false
	}
	var names []string
	for i, segment := range pattern {
		switch {
		case strings.HasPrefix(segment, "{"):
			names = append(names, given[i])
		case segment != given[i]:
			return "", false
		}
	}
	if p.by != "" {
		return strings.TrimSpace(query.Get(p.by)), true
	}
	return strings.Join(names, "/"), true
}

// address is the page's own of a path and query: the path, and what names the
// river in the query.
func (p riverPage) address(path string, query url.Values) string {
	address := (&url.URL{Path: path}).EscapedPath()
	if name := strings.TrimSpace(query.Get(p.by)); p.by != "" && name != "" {
		address += "?" + url.Values{p.by: {name}}.Encode()
	}
	return address
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
func (s *Server) riverAt(ctx context.Context, v timelines.Viewer, path string, query url.Values) (riverPage, rivers.Name, error) {
	for _, page := range riverPages {
		name, ok := page.at(path, query)
		if !ok {
			continue
		}
		n, err := s.rivers.Resolve(ctx, v, page.kind, name, orderOf(query))
		if errors.Is(err, rivers.ErrNotFound) {
			continue
		}
		return page, inMode(n, nil, query), err
	}
	return riverPage{}, rivers.Name{}, rivers.ErrNotFound
}

// text is a text of the catalogue about the river, with these slots: {who} the
// account whose page it is, {feed} its sub-feed, {list} the viewer's list, {tag} and
// {q} what was asked for, {me} the viewer's name.
func (p *present) text(key string) string {
	var feed, list string
	for _, f := range p.subfeeds {
		if f.AccountID == p.river.TheirID && f.Slug == p.river.Term {
			feed = p.subfeedTitle(f)
		}
	}
	for _, l := range p.sets.Lists {
		if l.ID == p.river.TheirID {
			list = l.Title
		}
	}
	return p.loc.T(key, "who", p.account(p.river.Account()).Title, "feed", feed, "list", list,
		"tag", p.river.Term, "q", p.river.Term, "me", p.me().Name)
}

// titleOf names the page of the river that p presents; of an aggregate in one
// language with that language.
func (p *present) titleOf(page riverPage) string {
	title := p.text(page.title)
	if page.by == "lang" && p.river.Term != "" {
		title += " · " + languageNames[p.river.Term]
	}
	return title
}

func (s *Server) routePlain(mux *http.ServeMux) {
	for _, page := range riverPages {
		if page.plain {
			mux.Handle("GET "+page.path, s.page(s.plain))
		}
	}
}

// plain answers with a page that is no more than its row says.
func (s *Server) plain(w http.ResponseWriter, r *request) error {
	v, err := s.visit(r)
	if err != nil {
		return err
	}
	var c *composer
	if v.at.compose != nil && v.top() {
		if err := s.nameFollows(r, v.present); err != nil {
			return err
		}
		form := v.at.compose(v.address())
		c = &form
	}
	keepNoCopy(w, v.river.Kind == rivers.Directs)
	return s.html(w, r, http.StatusOK, plainPage(v, c))
}
