package web

import (
	"context"
	"net/http"

	"riverrun/timelines"
	"riverrun/web/view"
)

// Bans and hides: posts that a viewer does not see by their own choice.

// hiding serves the page of bans and hides, and their forms.
type hiding struct{ *Server }

func (s hiding) routes(mux router) {
	mux.Handle("POST /p/{code}/hide", s.members(s.hidePost))
	mux.Handle("POST /p/{code}/unhide", s.members(s.unhidePost))
	mux.Handle("POST /p/{code}/mute", s.members(s.mutePost))
	mux.Handle("POST /p/{code}/unmute", s.members(s.unmutePost))
	mux.Handle("GET "+hiddenPath, s.members(s.page))
	mux.Handle("POST "+hiddenPath, s.members(s.hideTerm))
	mux.Handle("POST "+hiddenPath+"/remove", s.members(s.unhideTerm))
}

const hiddenPath = "/settings/hidden"

func (s hiding) page(w http.ResponseWriter, r *request) error {
	v, err := s.pageView(r)
	if err != nil {
		return err
	}
	return s.html(w, r, http.StatusOK, view.HiddenPage(v))
}

func (s hiding) pageView(r *request) (v view.Hidden, err error) {
	ctx, me := r.Context(), r.viewer.AccountID
	v.Base = s.simple(r)
	if v.Terms, err = s.timelines.Hides.Terms(ctx, me); err != nil {
		return v, err
	}
	for _, l := range []struct {
		name   string
		read   func(context.Context, int64, string, int) ([]timelines.Account, error)
		people *[]timelines.Account
		at     *view.ListPart
	}{
		{"accounts", s.timelines.Hides.Accounts, &v.Hidden, &v.HiddenAt},
		{"banned", s.timelines.Bans.Banned, &v.Banned, &v.BannedAt},
	} {
		if *l.at, err = partOf(r, hiddenPath, l.name); err != nil {
			return v, err
		}
		found, err := l.read(ctx, me, l.at.After, view.DirectoryPage+1)
		if err != nil {
			return v, err
		}
		*l.people = l.at.Cut(found)
	}
	v.PostsAt.List, v.MutedAt.List = "posts", "muted"
	if v.Posts, err = s.hiddenPosts(r, v.Base, s.timelines.Hides.Posts, &v.PostsAt); err != nil {
		return v, err
	}
	v.Muted, err = s.hiddenPosts(r, v.Base, s.timelines.Notices.Muted, &v.MutedAt)
	return v, err
}

// hiddenPosts reads the part of a list of posts that the request asks for: of those hidden, or
// of those muted.
func (s hiding) hiddenPosts(r *request, p *view.Base,
	read func(context.Context, int64, timelines.HiddenPost, int) ([]timelines.HiddenPost, error), part *view.ListPart,
) ([]timelines.HiddenPost, error) {
	part.Path, part.After = hiddenPath, r.URL.Query().Get(part.List)
	var last timelines.HiddenPost
	if part.After != "" {
		at, code, err := parsePlace(part.After, 1)
		if err != nil {
			return nil, err
		}
		last = timelines.HiddenPost{HiddenAt: at, Code: code[0]}
	}
	posts, err := read(r.Context(), r.viewer.AccountID, last, view.DirectoryPage+1)
	if err != nil {
		return nil, err
	}
	if len(posts) > view.DirectoryPage {
		posts = posts[:view.DirectoryPage]
		last := posts[view.DirectoryPage-1]
		part.Next = formatPlace(last.HiddenAt, last.Code)
	}
	ids := make([]int64, len(posts))
	for i, p := range posts {
		ids[i] = p.AuthorID
	}
	return posts, s.view.NameAccounts(r.Context(), p, ids)
}

func (s hiding) hideTerm(w http.ResponseWriter, r *request) error {
	term := r.PostFormValue("term")
	err := s.mayChange(r)
	if err == nil {
		_, err = s.carry(r)(s.timelines.Hides.HideTerm(r.Context(), r.viewer.AccountID, term))
	}
	if err != nil {
		is, err := s.formError(r, err)
		if err != nil {
			return err
		}
		v, err := s.pageView(r)
		if err != nil {
			return err
		}
		v.Term, v.Error = term, is
		return s.redisplay(w, r, is, view.HiddenPage(v))
	}
	return s.done(w, r, hiddenPath)
}

func (s hiding) unhideTerm(w http.ResponseWriter, r *request) error {
	term := r.PostFormValue("term")
	if err := s.mayChange(r); err != nil {
		return err
	}
	_, err := s.carry(r)(s.timelines.Hides.UnhideTerm(r.Context(), r.viewer.AccountID, term))
	if err != nil {
		return err
	}
	return s.done(w, r, hiddenPath)
}

func (s hiding) hidePost(w http.ResponseWriter, r *request) error {
	return s.setHidden(w, r, s.timelines.Hides.HidePost, "/")
}

func (s hiding) unhidePost(w http.ResponseWriter, r *request) error {
	return s.setHidden(w, r, s.timelines.Hides.UnhidePost, "/p/"+r.PathValue("code"))
}

func (s hiding) mutePost(w http.ResponseWriter, r *request) error {
	return s.setHidden(w, r, s.timelines.Notices.Mute, "/p/"+r.PathValue("code"))
}

func (s hiding) unmutePost(w http.ResponseWriter, r *request) error {
	return s.setHidden(w, r, s.timelines.Notices.Unmute, "/p/"+r.PathValue("code"))
}

func (s hiding) setHidden(w http.ResponseWriter, r *request,
	set func(ctx context.Context, actor int64, code string) (int64, timelines.Change, error), back string,
) error {
	code, post := r.PathValue("code"), int64(0)
	var c timelines.Change
	err := s.mayChange(r)
	if err == nil {
		post, c, err = set(r.Context(), r.viewer.AccountID, code)
		c, err = s.carry(r)(c, err)
	}
	if err != nil {
		return err
	}
	c.PostID, c.Code = post, code
	return s.answerEntry(w, r, c, r.back(r.beside(code, back)))
}

// showBanned says whether the viewer sees banned people in the group of the address.
func (s hiding) showBanned(shown bool) handler {
	return s.setAccount(func(ctx context.Context, actor int64, group string) (timelines.Change, error) {
		return s.timelines.Bans.ShowBanned(ctx, actor, group, shown)
	})
}

// setAccount answers a form that needs nothing but the account of its address.
func (s *Server) setAccount(set func(ctx context.Context, actor int64, name string) (timelines.Change, error)) handler {
	return func(w http.ResponseWriter, r *request) error {
		name := r.PathValue("name")
		if err := s.mayChange(r); err != nil {
			return err
		}
		_, err := s.carry(r)(set(r.Context(), r.viewer.AccountID, name))
		if err != nil {
			return err
		}
		return s.done(w, r, r.back("/"+name))
	}
}
