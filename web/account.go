package web

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"riverrun/rivers"
	"riverrun/timelines"
)

// accountPages are the pages of a user besides the posts, by the second segment
// of their address. ServeMux cannot hold GET /{name}/likes beside GET /p/{code},
// of which neither is the more special; hence this table.
var accountPages = map[string]rivers.Kind{
	"likes":    rivers.Likes,
	"comments": rivers.Comments,
	"faves":    rivers.Faves,
}

// accountActs are the forms under an account's name.
var accountActs = map[string]func(*Server, http.ResponseWriter, *request) error{
	"subscribe":   (*Server).subscribe,
	"unsubscribe": (*Server).unsubscribe,
	"accept":      (*Server).accept,
	"place":       (*Server).place,
}

func (s *Server) routeAccount(mux *http.ServeMux) {
	mux.Handle("GET /{name}", s.page(func(w http.ResponseWriter, r *request) error {
		return s.account(w, r, r.PathValue("name"), "")
	}))
	mux.Handle("GET /{name}/{page}", s.page(func(w http.ResponseWriter, r *request) error {
		return s.account(w, r, r.PathValue("name"), r.PathValue("page"))
	}))
	mux.Handle("POST /{name}/{act}", s.members(func(w http.ResponseWriter, r *request) error {
		act, ok := accountActs[r.PathValue("act")]
		if !ok {
			return errNoPage
		}
		if err := r.ParseForm(); err != nil {
			return malformedForm(err)
		}
		return act(s, w, r)
	}))
}

// accountKind is the river kind of an account's page; page "" is its posts. What
// somebody keeps is a page for nobody else.
func accountKind(v timelines.Viewer, a timelines.Account, page string) (rivers.Kind, error) {
	if page == "" {
		if a.Kind == timelines.Group {
			return rivers.Group, nil
		}
		return rivers.User, nil
	}
	kind, ok := accountPages[page]
	if !ok || a.Kind != timelines.User || kind == rivers.Faves && a.ID != v.AccountID {
		return "", errNoPage
	}
	return kind, nil
}

// account is a person's or a group's page.
func (s *Server) account(w http.ResponseWriter, r *request, name, page string) error {
	a, err := s.rivers.Access().AccountNamed(r.Context(), name)
	if err != nil {
		return err
	}
	kind, err := accountKind(r.viewer, a, page)
	if err != nil {
		return err
	}
	path := "/" + a.Name
	if page != "" {
		path += "/" + page
	}
	v, err := s.visit(r, kind, a.Name, path)
	if errors.Is(err, rivers.ErrForbidden) {
		return s.closedAccount(w, r, a)
	}
	if err != nil {
		return err
	}
	if err := s.nameFollows(r, v.present); err != nil {
		return err
	}
	// The visit brought the cache to the clock: the level is the present one.
	if a, err = s.rivers.Access().AccountNamed(r.Context(), name); err != nil {
		return err
	}
	return s.html(w, r, http.StatusOK, accountPage(accountView{riverView: v, who: a, page: page}))
}

// accountView is an account's page as components see it.
type accountView struct {
	*riverView
	who  timelines.Account
	page string // second segment of the address
}

func (v accountView) isGroup() bool { return v.who.Kind == timelines.Group }

// title names the page.
func (v accountView) title() string {
	switch v.page {
	case "likes":
		return v.loc.T("river.likes", "who", v.who.Title)
	case "comments":
		return v.loc.T("river.comments", "who", v.who.Title)
	case "faves":
		return v.loc.T("river.faves")
	}
	return v.who.Title
}

// empty is what stands in place of entries.
func (v accountView) empty() string {
	switch {
	case v.page != "":
		return v.loc.T("empty."+v.page, "who", v.who.Title)
	case v.isGroup():
		return v.loc.T("empty.group")
	case v.isMe(v.who.ID):
		return v.loc.T("empty.user.me")
	}
	return v.loc.T("empty.user", "who", v.who.Title)
}

// mayPost reports whether the viewer may write here: on the own page, in a group
// as its member, in an open group as anybody who is signed in.
func (v accountView) mayPost() bool {
	if !v.signedIn() || v.page != "" || !v.top() {
		return false
	}
	if v.isGroup() {
		return v.who.Access == timelines.Public || v.follows(v.who.ID) || v.administers(v.who.ID)
	}
	return v.isMe(v.who.ID)
}

// mayWriteTo reports whether the viewer may write to this person directly.
func (v accountView) mayWriteTo() bool {
	return v.signedIn() && v.page == "" && v.top() && !v.isGroup() && !v.isMe(v.who.ID)
}

// composer is the page's form for a post to this account.
func (v accountView) composer() composer { return newComposer(v.address(), v.who) }

// direct is the page's form for a direct message to this person. The message is
// on neither's page: the form leads to where it can be seen.
func (v accountView) direct() composer {
	c := directComposer("/filter/directs")
	c.people, c.shows = v.who.Name, false
	return c
}

// closedAccount is the page of an account that does not let the viewer read,
// with what can be done about it. No river is made for it.
func (s *Server) closedAccount(w http.ResponseWriter, r *request, a timelines.Account) error {
	if r.wantsJSON() {
		return rivers.ErrForbidden
	}
	c := closedView{present: s.simple(r), who: a}
	if r.signedIn() {
		relation, err := s.timelines.Relation(r.Context(), r.viewer.AccountID, a.ID)
		if err != nil {
			return err
		}
		c.requested = relation.Requested
	}
	return s.html(w, r, http.StatusForbidden, closedPage(c))
}

type closedView struct {
	*present
	who       timelines.Account
	requested bool
}

func (c closedView) isGroup() bool { return c.who.Kind == timelines.Group }

// asked says what the viewer waits for.
func (c closedView) asked() string {
	if c.isGroup() {
		return c.loc.T("account.asked.group")
	}
	return c.loc.T("account.asked", "who", c.who.Title)
}

// reason says why the page is closed.
func (c closedView) reason() string {
	switch {
	case c.who.Access == timelines.Protected:
		return c.loc.T("account.protected.signin", "who", c.who.Title)
	case c.isGroup():
		return c.loc.T("account.private.group")
	}
	return c.loc.T("account.private.user", "who", c.who.Title)
}

func (s *Server) subscribe(w http.ResponseWriter, r *request) error {
	name := r.PathValue("name")
	_, err := s.act(r, func(ctx context.Context) (timelines.Change, error) {
		c, _, err := s.timelines.Subscribe(ctx, r.viewer.AccountID, name)
		return c, err
	})
	if err != nil {
		return err
	}
	return s.done(w, r, r.back("/"+name))
}

func (s *Server) unsubscribe(w http.ResponseWriter, r *request) error {
	name := r.PathValue("name")
	_, err := s.act(r, func(ctx context.Context) (timelines.Change, error) {
		return s.timelines.Unsubscribe(ctx, r.viewer.AccountID, name)
	})
	if err != nil {
		return err
	}
	return s.done(w, r, r.back("/"+name))
}

// accept admits the account of the address: to the viewer's own page, or to the
// group the form names.
func (s *Server) accept(w http.ResponseWriter, r *request) error {
	_, err := s.act(r, func(ctx context.Context) (timelines.Change, error) {
		return s.timelines.Accept(ctx, r.viewer.AccountID, r.PathValue("name"), r.PostFormValue("group"))
	})
	if err != nil {
		return err
	}
	return s.done(w, r, r.back("/settings"))
}

// cutAbout returns what is folded away of a description too long to stand above
// every page: what firstLine does not show.
func cutAbout(text string) (rest string, long bool) {
	const most = 400 // bytes: about five lines on a phone
	if len(text) <= most {
		return "", false
	}
	first, rest, _ := strings.Cut(text, "\n")
	if firstLine(text) != first {
		return text, true
	}
	return rest, true
}

// firstLine is how a longer text begins.
func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return shortText(line, 120)
}

// shortText is at most n characters of a text.
func shortText(text string, n int) string {
	if runes := []rune(text); len(runes) > n {
		return strings.TrimRight(string(runes[:n-1]), " ") + "…"
	}
	return text
}
