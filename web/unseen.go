package web

import (
	"context"
	"net/http"

	"riverrun/timelines"
)

// What a viewer does not see by their own choice: bans and hides.

func (s *Server) routeUnseen(mux *http.ServeMux) {
	mux.Handle("POST /p/{code}/hide", s.members(s.hidePost))
	mux.Handle("POST /p/{code}/unhide", s.members(s.unhidePost))
	mux.Handle("GET "+unseenPath, s.members(s.unseen))
	mux.Handle("POST "+unseenPath, s.members(s.hideTerm))
	mux.Handle("POST "+unseenPath+"/remove", s.members(s.unhideTerm))
}

// unseenView is the page of what the viewer does not see, with the form for a word
// as it was sent if something was wrong with it.
type unseenView struct {
	*present
	terms              []string
	hidden, banned     []timelines.Account
	hiddenAt, bannedAt listPart
	posts              []timelines.HiddenPost
	postsAt            listPart
	term               string
	wrong              wrong
}

const unseenPath = "/settings/unseen"

// spareView is what lets the viewer do without an account.
type spareView struct {
	*present
	who timelines.Account
}

func (v spareView) isGroup() bool { return v.who.Kind == timelines.Group }

// title says what it offers, "" if that is nothing.
func (v spareView) title() string {
	hidden := v.hides(v.who.ID)
	switch {
	case !v.isGroup() && hidden:
		return v.loc.T("account.ban")
	case !v.isGroup():
		return v.loc.T("account.spare")
	case !hidden:
		return v.loc.T("account.spare.group")
	case v.maySwitch():
		return v.loc.T("account.spare.banned")
	}
	return ""
}

// maySwitch reports whether the viewer may choose to see banned people in the group:
// who has banned anybody, and who administers it, as somebody may have banned them
// without their knowing.
func (v spareView) maySwitch() bool { return len(v.sets.Bans) > 0 || v.administers(v.who.ID) }

// showsBanned reports whether the viewer sees banned people in this group.
func (v spareView) showsBanned() bool { _, ok := v.sets.ShowBanned[v.who.ID]; return ok }

// aboutBanned says whom the switch shows or hides. Who administers the group is told of
// bans in both directions.
func (v spareView) aboutBanned(shown bool) string {
	switch {
	case v.administers(v.who.ID) && shown:
		return v.loc.T("account.apart.shown")
	case v.administers(v.who.ID):
		return v.loc.T("account.apart.hidden")
	case shown:
		return v.loc.T("account.banned.shown")
	}
	return v.loc.T("account.banned.hidden")
}

func (s *Server) unseen(w http.ResponseWriter, r *request) error {
	v, err := s.unseenView(r)
	if err != nil {
		return err
	}
	return s.html(w, r, http.StatusOK, unseenPage(v))
}

func (s *Server) unseenView(r *request) (v unseenView, err error) {
	ctx, me := r.Context(), r.viewer.AccountID
	v.present = s.simple(r)
	if v.terms, err = s.timelines.HiddenTerms(ctx, me); err != nil {
		return v, err
	}
	for _, l := range []struct {
		name   string
		read   func(context.Context, int64, string, int) ([]timelines.Account, error)
		people *[]timelines.Account
		at     *listPart
	}{
		{"accounts", s.timelines.HiddenAccounts, &v.hidden, &v.hiddenAt},
		{"banned", s.timelines.Banned, &v.banned, &v.bannedAt},
	} {
		if *l.at, err = partOf(r, unseenPath, l.name); err != nil {
			return v, err
		}
		found, err := l.read(ctx, me, l.at.after, directoryPage+1)
		if err != nil {
			return v, err
		}
		*l.people = l.at.cut(found)
	}
	return v, s.hiddenPosts(r, &v)
}

// hiddenPosts reads the part of the hidden posts that the request asks for.
func (s *Server) hiddenPosts(r *request, v *unseenView) error {
	v.postsAt = listPart{path: unseenPath, list: "posts", after: r.URL.Query().Get("posts")}
	var last timelines.HiddenPost
	if v.postsAt.after != "" {
		at, code, err := parsePlace(v.postsAt.after, 1)
		if err != nil {
			return err
		}
		last = timelines.HiddenPost{HiddenAt: at, Code: code[0]}
	}
	var err error
	v.posts, err = s.timelines.HiddenPosts(r.Context(), r.viewer.AccountID, last, directoryPage+1)
	if err != nil {
		return err
	}
	if len(v.posts) > directoryPage {
		v.posts = v.posts[:directoryPage]
		last := v.posts[directoryPage-1]
		v.postsAt.next = formatPlace(last.HiddenAt, last.Code)
	}
	ids := make([]int64, len(v.posts))
	for i, p := range v.posts {
		ids[i] = p.AuthorID
	}
	return s.view.name(r.Context(), v.present, ids)
}

func (s *Server) hideTerm(w http.ResponseWriter, r *request) error {
	if err := r.ParseForm(); err != nil {
		return malformedForm(err)
	}
	term := r.PostFormValue("term")
	_, err := s.act(r, func(ctx context.Context) (timelines.Change, error) {
		return s.timelines.HideTerm(ctx, r.viewer.AccountID, term)
	})
	if err != nil {
		is, err := s.wrongIn(r, err)
		if err != nil {
			return err
		}
		v, err := s.unseenView(r)
		if err != nil {
			return err
		}
		v.term, v.wrong = term, is
		return s.again(w, r, is, unseenPage(v))
	}
	return s.done(w, r, unseenPath)
}

func (s *Server) unhideTerm(w http.ResponseWriter, r *request) error {
	if err := r.ParseForm(); err != nil {
		return malformedForm(err)
	}
	term := r.PostFormValue("term")
	_, err := s.act(r, func(ctx context.Context) (timelines.Change, error) {
		return s.timelines.UnhideTerm(ctx, r.viewer.AccountID, term)
	})
	if err != nil {
		return err
	}
	return s.done(w, r, unseenPath)
}

func (s *Server) hidePost(w http.ResponseWriter, r *request) error {
	return s.setHidden(w, r, s.timelines.HidePost, "/")
}

func (s *Server) unhidePost(w http.ResponseWriter, r *request) error {
	return s.setHidden(w, r, s.timelines.UnhidePost, "/p/"+r.PathValue("code"))
}

func (s *Server) setHidden(w http.ResponseWriter, r *request,
	set func(ctx context.Context, actor int64, code string) (int64, timelines.Change, error), back string,
) error {
	if err := r.ParseForm(); err != nil {
		return malformedForm(err)
	}
	code, post := r.PathValue("code"), int64(0)
	c, err := s.act(r, func(ctx context.Context) (c timelines.Change, err error) {
		post, c, err = set(ctx, r.viewer.AccountID, code)
		return c, err
	})
	if err != nil {
		return err
	}
	c.PostID, c.Code = post, code
	return s.answerEntry(w, r, c, r.back(back))
}

func (s *Server) ban(w http.ResponseWriter, r *request) error {
	return s.setAccount(w, r, s.timelines.Ban)
}

func (s *Server) unban(w http.ResponseWriter, r *request) error {
	return s.setAccount(w, r, s.timelines.Unban)
}

func (s *Server) hideAccount(w http.ResponseWriter, r *request) error {
	return s.setAccount(w, r, s.timelines.HideAccount)
}

func (s *Server) unhideAccount(w http.ResponseWriter, r *request) error {
	return s.setAccount(w, r, s.timelines.UnhideAccount)
}

// showBanned lets the viewer see banned people in the group of the address.
func (s *Server) showBanned(w http.ResponseWriter, r *request) error {
	return s.setAccount(w, r, func(ctx context.Context, actor int64, group string) (timelines.Change, error) {
		return s.timelines.ShowBanned(ctx, actor, group, true)
	})
}

// hideBanned undoes showBanned.
func (s *Server) hideBanned(w http.ResponseWriter, r *request) error {
	return s.setAccount(w, r, func(ctx context.Context, actor int64, group string) (timelines.Change, error) {
		return s.timelines.ShowBanned(ctx, actor, group, false)
	})
}

// setAccount answers a form that needs nothing but the account of its address.
func (s *Server) setAccount(w http.ResponseWriter, r *request,
	set func(ctx context.Context, actor int64, name string) (timelines.Change, error),
) error {
	name := r.PathValue("name")
	_, err := s.act(r, func(ctx context.Context) (timelines.Change, error) { return set(ctx, r.viewer.AccountID, name) })
	if err != nil {
		return err
	}
	return s.done(w, r, r.back("/"+name))
}
