package web

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"riverrun/rivers"
	"riverrun/timelines"
)

// accountActs are the forms under an account's name.
var accountActs = map[string]func(*Server, http.ResponseWriter, *request) error{
	"subscribe":   (*Server).subscribe,
	"unsubscribe": (*Server).unsubscribe,
	"accept":      (*Server).accept,
	"ban":         (*Server).ban,
	"unban":       (*Server).unban,
	"hide":        (*Server).hideAccount,
	"unhide":      (*Server).unhideAccount,
	"show-banned": (*Server).showBanned,
	"hide-banned": (*Server).hideBanned,
	"decline":     (*Server).decline,
	"manage":      (*Server).setGroup,
	"promote":     (*Server).promote,
	"demote":      (*Server).demote,
	"block":       (*Server).block,
	"unblock":     (*Server).unblock,
	"remove":      (*Server).removeMember,
	"exclude":     (*Server).excludeReader,
	"unexclude":   (*Server).unexcludeReader,
	"admit":       (*Server).admitReader,
	"dismiss":     (*Server).dismissReader,
	"place":       (*Server).place,
}

// groupPages are the pages of a group that show no river, by the second segment
// of their address. The primary store alone decides what they show.
var groupPages = map[string]func(*Server, http.ResponseWriter, *request) error{
	"members": (*Server).groupMembers,
	"manage":  (*Server).manageGroup,
}

func (s *Server) routeAccount(mux *http.ServeMux) {
	mux.Handle("GET /{name}", s.page(s.account))
	river := s.page(s.account)
	ofGroup := s.settled(func(w http.ResponseWriter, r *request) error {
		if path, ok := lowered(r); ok {
			return movedTo(w, r.Request, path)
		}
		return groupPages[r.PathValue("page")](s, w, r)
	})
	mux.HandleFunc("GET /{name}/{page}", func(w http.ResponseWriter, r *http.Request) {
		if _, ok := groupPages[r.PathValue("page")]; ok {
			ofGroup.ServeHTTP(w, r)
		} else {
			river.ServeHTTP(w, r)
		}
	})
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

// lowered returns the path of the page that is meant by one with capitals in its name:
// names are in lower case, and people write them as they speak.
func lowered(r *request) (path string, ok bool) {
	name := r.PathValue("name")
	rest, plain := strings.CutPrefix(r.URL.EscapedPath(), "/"+name)
	lower := strings.ToLower(name)
	return "/" + lower + rest, lower != name && plain && timelines.IsName(lower)
}

// account is a person's or a group's page.
func (s *Server) account(w http.ResponseWriter, r *request) error {
	if path, ok := lowered(r); ok {
		return movedTo(w, r.Request, path)
	}
	name := r.PathValue("name")
	a, err := s.rivers.Access().AccountNamed(r.Context(), name)
	if err != nil {
		return err
	}
	at, n, err := s.riverAt(r.Context(), r.viewer, r.URL.Path, r.URL.Query())
	if err != nil {
		return err
	}
	var view accountView
	err = s.rivers.AtOneMoment(r.Context(), func() (rivers.Moment, error) {
		if view, err = s.accountView(r, at, n, name); err != nil {
			return rivers.Moment{}, err
		}
		return view.page.At, nil
	})
	if errors.Is(err, rivers.ErrForbidden) {
		return s.closedAccount(w, r, a, n.Term)
	}
	if err != nil {
		return err
	}
	if r.signedIn() && !view.reads() {
		relation, err := s.timelines.Relation(r.Context(), r.viewer.AccountID, a.ID)
		if err != nil {
			return err
		}
		view.requested = relation.Requested
	}
	return s.html(w, r, http.StatusOK, accountPage(view))
}

// accountView reads the page of a river of the account of that name and, after it, what
// stands around: together they are to be AtOneMoment.
func (s *Server) accountView(r *request, at riverPage, n rivers.Name, name string) (accountView, error) {
	v, err := s.visitAt(r, at, n)
	if err != nil {
		return accountView{}, err
	}
	if err := s.nameFollows(r, v.present); err != nil {
		return accountView{}, err
	}
	// The visit brought the cache to the clock: the level is the present one.
	a, err := s.rivers.Access().AccountNamed(r.Context(), name)
	if err != nil {
		return accountView{}, err
	}
	view := accountView{riverView: v, who: a, access: a.Access}
	if a.Kind == timelines.User {
		if view.subfeeds, err = s.view.openSubfeedsOf(r.Context(), v.sets, a.ID); err != nil {
			return accountView{}, err
		}
	}
	if view.isGroup() {
		if view.members, err = s.rivers.Access().MemberCount(r.Context(), a.ID); err != nil {
			return accountView{}, err
		}
	}
	if n.Kind == rivers.Subfeed {
		for _, f := range view.subfeeds {
			if f.Slug == n.Term {
				view.subfeed, view.access = f.Subfeed, f.access
			}
		}
	}
	return view, nil
}

// openSubfeed is a sub-feed the viewer may open.
type openSubfeed struct {
	timelines.Subfeed
	access timelines.Level
}

// accountView is an account's page as components see it.
type accountView struct {
	*riverView
	who      timelines.Account
	access   timelines.Level   // of the page
	members  int               // of a group
	subfeeds []openSubfeed     // those the viewer may open
	subfeed  timelines.Subfeed // whose page this is; zero on other pages
	// requested: the viewer asked to subscribe and waits for an answer.
	requested bool
}

func (v accountView) isSubfeed() bool { return v.subfeed.Slug != "" }

func (v accountView) isGroup() bool { return v.who.Kind == timelines.Group }

// isFeed reports whether the page is that of what is posted there.
func (v accountView) isFeed() bool { return v.at.kind == rivers.User || v.isGroup() }

// reads reports whether the viewer may read the account itself: on the page of one of
// its sub-feeds it may be closed.
func (v accountView) reads() bool { return v.sets.Reads(v.who.FeedID, v.who.Access) }

// shut says that the viewer cannot subscribe, nor ask to.
func (v accountView) shut() string {
	if v.isGroup() {
		return v.loc.T("account.shut.group")
	}
	return v.loc.T("account.shut", "who", v.who.Title)
}

// empty is what stands in place of entries.
func (v accountView) empty() string {
	if mine := v.isMe(v.who.ID); mine && v.isSubfeed() {
		return v.loc.T("empty.subfeed.me")
	} else if mine && v.isFeed() {
		return v.loc.T("empty.user.me")
	}
	return v.riverView.empty()
}

// mayPost reports whether the viewer may write here: on the own page, and in a
// group as it says for itself.
func (v accountView) mayPost() bool {
	if !v.signedIn() || !v.isFeed() && !v.isSubfeed() || !v.top() {
		return false
	}
	if v.isGroup() {
		return v.mayPostTo(v.who)
	}
	return v.isMe(v.who.ID)
}

// unheard says why the viewer cannot post to this group; "" if that is no matter
// here.
func (v accountView) unheard() string {
	switch {
	case !v.signedIn() || !v.isGroup() || !v.top() || v.mayPost():
		return ""
	case v.blockedBy(v.who.ID):
		return v.loc.T("account.unheard.blocked")
	case v.who.Writers == timelines.WritersAdmins:
		return v.loc.T("account.unheard.admins")
	}
	return v.loc.T("account.unheard.members")
}

// mayWriteTo reports whether the viewer may write to this person directly, as far
// as can be told here: whom the person follows is asked when the form is sent.
func (v accountView) mayWriteTo() bool {
	if !v.signedIn() || !v.isFeed() || !v.top() || v.isGroup() || v.isMe(v.who.ID) {
		return false
	}
	switch v.who.Writers {
	case timelines.WritersNobody:
		return false
	case timelines.WritersMutual:
		return v.follows(v.who.ID)
	}
	return true
}

// composer is the page's form for a post to this account.
func (v accountView) composer() composer {
	if v.isSubfeed() {
		return newComposer(v.address()).within(v.who.Name + "/" + v.subfeed.Slug)
	}
	return newComposer(v.address(), v.who)
}

// direct is the page's form for a direct message to this person. The message is
// on neither's page: the form leads to where it can be seen.
func (v accountView) direct() composer {
	c := directComposer("/filter/directs")
	c.people, c.shows = v.who.Name, false
	return c
}

// closedAccount is the page of an account that does not let the viewer read,
// with what can be done about it: the sub-feeds that are open, and asking. slug is
// that of the sub-feed whose page it is, or empty. No river is made for it.
func (s *Server) closedAccount(w http.ResponseWriter, r *request, a timelines.Account, slug string) error {
	if r.wantsJSON() {
		return rivers.ErrForbidden
	}
	c := closedView{present: s.simple(r), who: a}
	err := s.rivers.AtOneMoment(r.Context(), func() (at rivers.Moment, err error) {
		if at, err = s.rivers.Now(r.Context()); err != nil {
			return at, err
		}
		if c.sets, err = s.rivers.Access().Sets(r.Context(), r.viewer.AccountID); err != nil || a.Kind != timelines.User {
			return at, err
		}
		c.subfeeds, err = s.view.openSubfeedsOf(r.Context(), c.sets, a.ID)
		return at, err
	})
	if err != nil {
		return err
	}
	if slug != "" && !c.apart() {
		// A protected sub-feed: to ask for a subscription would not open it.
		c.who.Access, c.subfeed = timelines.Protected, slug
		return s.html(w, r, http.StatusForbidden, closedPage(c))
	}
	if r.signedIn() {
		relation, err := s.timelines.Relation(r.Context(), r.viewer.AccountID, a.ID)
		if err != nil {
			return err
		}
		c.requested, c.banned = relation.Requested, relation.Banned
	}
	return s.html(w, r, http.StatusForbidden, closedPage(c))
}

type closedView struct {
	*present
	who       timelines.Account
	subfeed   string        // the slug of the sub-feed that is closed; empty: the account
	subfeeds  []openSubfeed // those that are open
	requested bool
	banned    bool // by the viewer
}

// apart reports whether a ban closes the page, whoever set it.
func (c closedView) apart() bool { return c.banned || c.sets.Apart(c.who.ID) }

// path is that of the page that is closed.
func (c closedView) path() string { return string(accountURL(c.who, c.subfeed)) }

func (c closedView) isGroup() bool { return c.who.Kind == timelines.Group }

// reason says why the page is closed.
func (c closedView) reason() string {
	switch {
	case c.banned:
		return c.loc.T("account.banned", "who", c.who.Title)
	case c.apart():
		return c.loc.T("account.apart", "who", c.who.Title)
	case c.leftOut(c.who) && c.isGroup():
		return c.loc.T("account.excluded.group", "who", c.who.Title)
	case c.leftOut(c.who):
		return c.loc.T("account.excluded", "who", c.who.Title)
	case c.subfeed != "":
		return c.loc.T("account.protected.page")
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
	return s.answerRequest(w, r, s.timelines.Accept)
}

// decline turns the account of the address down; they are not told.
func (s *Server) decline(w http.ResponseWriter, r *request) error {
	return s.answerRequest(w, r, s.timelines.Decline)
}

func (s *Server) answerRequest(w http.ResponseWriter, r *request,
	answer func(ctx context.Context, actor int64, name, group string) (timelines.Change, error),
) error {
	_, err := s.act(r, func(ctx context.Context) (timelines.Change, error) {
		return answer(ctx, r.viewer.AccountID, r.PathValue("name"), r.PostFormValue("group"))
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

// shortText is at most n characters of a text, none of which turns the direction of what
// follows.
func shortText(text string, n int) string {
	text = unturned(text)
	if runes := []rune(text); len(runes) > n {
		return strings.TrimRight(string(runes[:n-1]), " ") + "…"
	}
	return text
}
