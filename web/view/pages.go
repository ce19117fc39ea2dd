package view

import (
	"net/url"
	"strings"

	"riverrun/rivers"
)

// Page is a page that shows a river: a row of Pages. A page that is
// plain needs no more than its row and its texts; any other has a handler, which
// stands with its route in a file of its own.
type Page struct {
	Kind rivers.Kind
	// Path is its address. The segments in braces name the river, or the query's
	// parameter By does.
	Path, By string
	// Title is its title and Empty the text in place of entries: keys of the catalogues, which
	// may use the slots of Base.text. A page with other texts has them in its template.
	Title, Empty string
	// Unfed: it has no feed file. A feed reader must not repeat a search each hour for ever.
	Unfed bool
	// Filtered: the river is a search for listings of the account, as the query says (ListingFilter).
	Filtered bool
	// Plain: it shows its title, its entries and nothing else.
	Plain bool
	// Compose is the form above the newest entries of a plain page, if there is one.
	Compose func(back string) Composer
}

// Pages are all pages that show a river. If two have the same address, the one whose river
// exists is shown.
var Pages = []Page{
	{Kind: rivers.Home, Path: "/", Title: "river.home", Empty: "empty.home"},
	{Kind: rivers.Everything, Path: "/everything", By: "lang", Title: "river.everything", Empty: "empty.everythings"},
	{Kind: rivers.Best, Path: "/best", By: "lang", Title: "river.best", Empty: "empty.best"},
	{Kind: rivers.MostFaved, Path: "/best/saved", By: "lang", Title: "river.mostsaved", Empty: "empty.mostsaved"},
	{Kind: rivers.Search, Path: "/search", By: "q", Title: "search.title", Empty: "search.empty", Unfed: true},
	{Kind: rivers.Discussions, Path: "/filter/discussions", Title: "river.discussions", Empty: "empty.discussions", Plain: true},
	{Kind: rivers.Directs, Path: "/filter/messages", Title: "river.messages", Empty: "empty.messages", Plain: true, Compose: directComposer},
	{Kind: rivers.Eyes, Path: "/filter/only-me", Title: "river.eyes", Empty: "empty.eyes", Plain: true, Compose: eyesComposer},
	{Kind: rivers.Faves, Path: "/filter/saved", Title: "river.saved", Empty: "empty.saved", Plain: true},
	{Kind: rivers.Mentions, Path: "/filter/mentions", Title: "river.mentions", Empty: "empty.mentions", Plain: true},
	{Kind: rivers.Notifications, Path: NotificationsPath, Title: "river.notifications", Empty: "empty.notifications"},
	{Kind: rivers.Hashtag, Path: "/tag/{tag}", Title: "river.tag", Empty: "empty.tag"},
	{Kind: rivers.List, Path: "/lists/{slug}", Title: "river.list", Empty: "empty.list"},
	{Kind: rivers.Post, Path: "/p/{code}"},
	{Kind: rivers.Search, Path: "/{name}", Title: "river.user", Empty: "listings.empty", Unfed: true, Filtered: true},
	{Kind: rivers.User, Path: "/{name}", Title: "river.user", Empty: "empty.user"},
	{Kind: rivers.Group, Path: "/{name}", Title: "river.user", Empty: "empty.group"},
	{Kind: rivers.Likes, Path: "/{name}/likes", Title: "river.likes", Empty: "empty.likes"},
	{Kind: rivers.Comments, Path: "/{name}/comments", Title: "river.comments", Empty: "empty.comments"},
	// An old address of what I saved: pages from before still follow it.
	{Kind: rivers.Faves, Path: "/{name}/faves", Title: "river.saved", Empty: "empty.saved"},
	{Kind: rivers.Subfeed, Path: "/{name}/{slug}", Title: "river.subfeed", Empty: "empty.subfeed"},
}

// At reports whether the page stands at an address, and what names its river
// there.
func (p Page) At(path string, query url.Values) (name string, ok bool) {
	pattern, given := strings.Split(p.Path, "/"), strings.Split(path, "/")
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
	if p.Filtered {
		f, fault := ListingFilterOf(query)
		return f.search(strings.Join(names, "")), fault == nil && f != (ListingFilter{})
	}
	if p.By != "" {
		return strings.TrimSpace(query.Get(p.By)), true
	}
	return strings.Join(names, "/"), true
}

// Address is the page's own of a path and query: the path, and what names the
// river in the query.
func (p Page) Address(path string, query url.Values) string {
	address := (&url.URL{Path: path}).EscapedPath()
	if name := strings.TrimSpace(query.Get(p.By)); p.By != "" && name != "" {
		address += "?" + url.Values{p.By: {name}}.Encode()
	}
	if f, fault := ListingFilterOf(query); p.Filtered && fault == nil {
		address += f.query()
	}
	return address
}

// text is a text of the catalogue about the river, with these slots: {who} the
// account whose page it is, {feed} its sub-feed, {list} the viewer's list, {tag} and
// {q} what was asked for, {me} the viewer's name.
func (p *Base) text(key string) string {
	var feed, list string
	for _, f := range p.subfeeds {
		if f.AccountID == p.RiverName.TheirID && f.Slug == p.RiverName.Term {
			feed = p.subfeedTitle(f)
		}
	}
	for _, l := range p.Sets.Lists {
		if l.ID == p.RiverName.TheirID {
			list = l.Title
		}
	}
	return p.Locale.T(key, "who", p.Account(p.RiverName.Account()).Title, "feed", feed, "list", list,
		"tag", p.RiverName.Term, "q", p.RiverName.Term, "me", p.me().Name)
}

// TitleOf names the page of the river that p presents; of an aggregate in one
// language with that language.
func (p *Base) TitleOf(page Page) string {
	title := p.text(page.Title)
	if page.By == "lang" && p.RiverName.Term != "" {
		title += " · " + LanguageNames[p.RiverName.Term]
	}
	return title
}
