package web

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/web/view"
)

// accounts serves the pages of people and groups, and the forms under a name.
type accounts struct{ *Server }

// forms are the forms under a name, by the last segment of the address.
func (s accounts) forms() map[string]handler {
	h, g, store := hiding(s), groups(s), s.timelines
	unfollow := s.setAccount(store.Subscriptions.Unsubscribe)
	return map[string]handler{
		"follow":      s.follow(),
		"unfollow":    unfollow,
		"subscribe":   s.follow(), // an old address
		"unsubscribe": unfollow,   // an old address
		"accept":      s.answerRequest(store.Subscriptions.Accept),
		"decline":     s.answerRequest(store.Subscriptions.Decline),
		"place":       lists(s).place,
		"ban":         s.setAccount(store.Bans.Ban),
		"unban":       s.setAccount(store.Bans.Unban),
		"hide":        s.setAccount(store.Hides.HideAccount),
		"unhide":      s.setAccount(store.Hides.UnhideAccount),
		"show-banned": h.showBanned(true),
		"hide-banned": h.showBanned(false),
		"promote":     g.moderate(store.Groups.Promote),
		"demote":      g.moderate(store.Groups.Demote),
		"block":       g.moderate(store.Groups.Block),
		"unblock":     g.moderate(store.Groups.Unblock),
		"remove":      g.moderate(store.Groups.RemoveMember),
		"exclude":     g.moderate(store.Groups.Exclude),
		"unexclude":   g.moderate(store.Groups.Unexclude),
		"delete":      g.deleteGroup,
		"admit":       g.moderate(store.Groups.Admit),
		"dismiss":     g.moderate(store.Groups.Dismiss),
	}
}

func (s accounts) routes(mux router) {
	forms := s.forms()
	// The pages of a group that show no river: the primary store alone decides what
	// they show.
	groupPages := map[string]handler{"members": groups(s).groupMembers, "manage": groups(s).manageGroup, "delete": groups(s).deleteForm, "sources": sourcePages(s).list, "tags": tagWords(s).group(tagWords(s).page), "waiting": approvals(s).list}
	mux.Handle("GET /{name}", s.page(s.account))
	river := s.page(s.account)
	ofGroup := s.freshAccess(func(w http.ResponseWriter, r *request) error {
		if path, ok := lowered(r); ok {
			return movedTo(w, r.Request, path)
		}
		return groupPages[r.PathValue("page")](w, r)
	})
	mux.HandleFunc("GET /{name}/{page}", func(w http.ResponseWriter, r *http.Request) {
		if _, ok := groupPages[r.PathValue("page")]; ok {
			ofGroup.ServeHTTP(w, r)
		} else {
			river.ServeHTTP(w, r)
		}
	})
	mux.Handle("POST /{name}/manage", s.withPicture(groups(s).pictureOf, groups(s).setGroup))
	mux.Handle("POST /{name}/{act}", s.members(func(w http.ResponseWriter, r *request) error {
		act, ok := forms[r.PathValue("act")]
		if !ok {
			return errNoPage
		}
		return act(w, r)
	}))
}

// lowered returns the path of the page that an address with capitals in its name means:
// names are in lower case, but people may write them with capitals.
func lowered(r *request) (path string, ok bool) {
	name := r.PathValue("name")
	rest, plain := strings.CutPrefix(r.URL.EscapedPath(), "/"+name)
	lower := strings.ToLower(name)
	return "/" + lower + rest, lower != name && plain && timelines.IsName(lower)
}

// account is a person's or a group's page.
func (s accounts) account(w http.ResponseWriter, r *request) error {
	if path, ok := lowered(r); ok {
		return movedTo(w, r.Request, path)
	}
	name := r.PathValue("name")
	a, err := s.rivers.Access().AccountNamed(r.Context(), name)
	if err != nil {
		return err
	}
	if query := view.InCurrency(r.URL.Query(), a.ListingsIn); query != "" {
		return redirect(w, r, r.URL.EscapedPath()+query)
	}
	at, n, err := s.riverAt(r.Context(), r.viewer, r.URL.Path, r.URL.Query())
	if err != nil {
		return err
	}
	if n.Kind == rivers.Faves {
		return movedTo(w, r.Request, savedPath)
	}
	filter, wrong, err := s.filtered(r, n)
	if err != nil {
		return err
	}
	var page view.Account
	err = s.rivers.AtOneMoment(r.Context(), func() (rivers.Moment, error) {
		if page, err = s.accountView(r, at, n, name); err != nil {
			return rivers.Moment{}, err
		}
		page.Filter = filter
		return page.Page.At, nil
	})
	if errors.Is(err, rivers.ErrForbidden) {
		return s.closedAccount(w, r, a, subfeedSlug(n))
	}
	if err != nil {
		return err
	}
	if r.signedIn() && !page.Reads() {
		relation, err := s.timelines.Subscriptions.Relation(r.Context(), r.viewer.AccountID, a.ID)
		if err != nil {
			return err
		}
		page.Requested = relation.Requested
	}
	if page.IsFeed() && page.Top() {
		public, err := s.isPublic(r.Context(), page.River)
		if err != nil {
			return err
		}
		if public {
			page.River.Public = page.AsPublic(s.publicBase())
		}
	}
	if wrong.Text != "" {
		page.Wrong = wrong
		return s.html(w, r, http.StatusBadRequest, view.AccountPage(page))
	}
	return s.html(w, r, http.StatusOK, view.AccountPage(page))
}

// subfeedSlug is the slug of the sub-feed whose river it is, or empty.
func subfeedSlug(n rivers.Name) string {
	if n.Kind == rivers.Subfeed {
		return n.Term
	}
	return ""
}

// accountView reads the page of a river of the account of that name and, after it, the parts
// around the entries. It runs within AtOneMoment, which repeats it until both are of one moment.
func (s accounts) accountView(r *request, at view.Page, n rivers.Name, name string) (view.Account, error) {
	v, err := s.visitAt(r, at, n)
	if err != nil {
		return view.Account{}, err
	}
	// The visit brought the cache to the clock: the level is the present one.
	a, err := s.rivers.Access().AccountNamed(r.Context(), name)
	if err != nil {
		return view.Account{}, err
	}
	v.Heading = "@" + a.Name
	v.NoIndex = v.NoIndex || at.Filtered
	page := view.Account{River: v, Who: a, Access: a.Access}
	if n.Kind == rivers.Search && (!page.Reads() || v.Sets.BlockedBetween(a.ID) || v.Sets.Unseen.Has(a.ID)) {
		return view.Account{}, rivers.ErrForbidden // as of the group's own river
	}
	if a.Kind == timelines.User {
		if page.Subfeeds, err = s.view.OpenSubfeedsOf(r.Context(), v.Sets, a.ID); err != nil {
			return view.Account{}, err
		}
	}
	if page.Reads() {
		if page.Profile, err = s.profile(r.Context(), v.Base, a); err != nil {
			return view.Account{}, err
		}
	}
	if n.Kind == rivers.Subfeed {
		for _, f := range page.Subfeeds {
			if f.Slug == n.Term {
				page.Subfeed, page.Access = f.Subfeed, f.Access
			}
		}
	}
	if c, ok := page.Composer(); ok {
		return page, s.view.NameComposer(r.Context(), v.Base, c)
	}
	return page, nil
}

// closedAccount is the page of an account that the viewer may not read. It shows the
// sub-feeds that are open, and lets the viewer ask. slug is that of the sub-feed whose page
// it is, or empty. No river is made for it.
func (s *Server) closedAccount(w http.ResponseWriter, r *request, a timelines.Account, slug string) error {
	if r.wantsJSON() {
		return rivers.ErrForbidden
	}
	sets, err := s.rivers.Access().Sets(r.Context(), r.viewer.AccountID)
	if err != nil {
		return err
	}
	if sets.Unseen.Has(a.ID) { // neither name nor picture of theirs is shown
		page := view.ProblemPage(s.simple(r), r.loc.T("error.forbidden.title"), r.loc.T("account.suspended"), "")
		return s.html(w, r, http.StatusForbidden, page)
	}
	c := view.Closed{Base: s.simple(r), Who: a}
	c.Heading = "@" + a.Name
	err = s.rivers.AtOneMoment(r.Context(), func() (at rivers.Moment, err error) {
		if at, err = s.rivers.Now(r.Context()); err != nil {
			return at, err
		}
		if c.Sets, err = s.rivers.Access().Sets(r.Context(), r.viewer.AccountID); err != nil || a.Kind != timelines.User {
			return at, err
		}
		c.Subfeeds, err = s.view.OpenSubfeedsOf(r.Context(), c.Sets, a.ID)
		return at, err
	})
	if err != nil {
		return err
	}
	if slug != "" && !c.BlockedBetween() {
		// A protected sub-feed: to follow the account would not open it.
		c.Who.Access, c.Subfeed = timelines.Protected, slug
		return s.html(w, r, http.StatusForbidden, view.ClosedPage(c))
	}
	if r.signedIn() {
		relation, err := s.timelines.Subscriptions.Relation(r.Context(), r.viewer.AccountID, a.ID)
		if err != nil {
			return err
		}
		c.Requested, c.Banned = relation.Requested, relation.Banned
	}
	return s.html(w, r, http.StatusForbidden, view.ClosedPage(c))
}

func (s accounts) follow() handler {
	return s.setAccount(func(ctx context.Context, actor int64, name string) (timelines.Change, error) {
		c, _, err := s.timelines.Subscriptions.Subscribe(ctx, actor, name)
		return c, err
	})
}

// answerRequest accepts or declines the request of the account of the address, to the viewer
// or to the group that the form names. An account that is declined is not told.
func (s accounts) answerRequest(answer func(ctx context.Context, actor int64, name, group string) (timelines.Change, error)) handler {
	return func(w http.ResponseWriter, r *request) error {
		if err := s.mayChange(r); err != nil {
			return err
		}
		_, err := s.carry(r)(answer(r.Context(), r.viewer.AccountID, r.PathValue("name"), r.PostFormValue("group")))
		if err != nil {
			return err
		}
		return s.done(w, r, r.back("/settings"))
	}
}
