package web

import (
	"context"
	"net/http"

	"riverrun/rivers"
	"riverrun/timelines"
)

func (s *Server) routePlaces(mux *http.ServeMux) {
	mux.Handle("POST /p/{code}/destinations", s.members(s.setDestinations))
	mux.Handle("GET /p/{code}/remove", s.members(s.removeForm))
	mux.Handle("POST /p/{code}/remove", s.members(s.removeFromGroup))
}

// editPostPage is the page that changes a post: its text as in e, and where it
// stands, or was sent to if c says what is wrong with that.
func (s *Server) editPostPage(w http.ResponseWriter, r *request, e editView, c *composer) error {
	ctx, code := r.Context(), r.PathValue("code")
	e.address, e.back, e.change = "/p/"+code, r.back("/p/"+code), true
	p := s.simple(r)
	var err error
	if p.sets, err = s.rivers.Access().Sets(ctx, r.viewer.AccountID); err != nil {
		return err
	}
	if err := s.nameFollows(r, p); err != nil {
		return err
	}
	var to []string
	if c == nil {
		c = &composer{}
		to, err = s.timelines.PostDestinations(ctx, r.viewer.AccountID, code)
	} else {
		to = destinationsOf(r.PostForm["to"])
		if e.body, err = s.timelines.PostBody(ctx, r.viewer.AccountID, code); err == nil {
			e.lang, err = s.timelines.PostLanguage(ctx, r.viewer.AccountID, code)
		}
	}
	if err != nil {
		return err
	}
	if err := s.choose(r, p, c, to); err != nil {
		return err
	}
	e.places = c
	if is := e.wrong; is.Text != "" {
		return s.again(w, r, is, editPage(p, e))
	}
	if is := c.wrong; is.Text != "" {
		return s.again(w, r, is, editPage(p, e))
	}
	return s.html(w, r, http.StatusOK, editPage(p, e))
}

func (s *Server) setDestinations(w http.ResponseWriter, r *request) error {
	if err := r.ParseForm(); err != nil {
		return malformedForm(err)
	}
	code := r.PathValue("code")
	c, err := s.act(r, func(ctx context.Context) (timelines.Change, error) {
		return s.timelines.SetDestinations(ctx, r.viewer.AccountID, code, destinationsOf(r.PostForm["to"]))
	})
	if err != nil {
		is, err := s.wrongIn(r, err)
		if err != nil {
			return err
		}
		return s.editPostPage(w, r, editView{}, &composer{wrong: is})
	}
	return s.answerEntry(w, r, c, r.back("/p/"+code))
}

// removal is the page that takes a post out of groups the viewer administers.
type removal struct {
	*present
	code   string
	groups []timelines.Account
}

// removeForm asks who administers a group whether a post of another's is to leave
// it.
func (s *Server) removeForm(w http.ResponseWriter, r *request) error {
	code := r.PathValue("code")
	e, err := s.unfolded(r, code)
	if err != nil {
		return err
	}
	v := removal{present: s.simple(r), code: code}
	for _, t := range e.item.To {
		if t.Kind == timelines.KindGroup && e.administers(t.TheirID) {
			v.groups = append(v.groups, e.account(t.TheirID))
		}
	}
	if len(v.groups) == 0 {
		return rivers.ErrForbidden
	}
	return s.html(w, r, http.StatusOK, removePage(v))
}

// removeFromGroup leads to the group: the post's own page may be closed to the
// viewer from now on.
func (s *Server) removeFromGroup(w http.ResponseWriter, r *request) error {
	if err := r.ParseForm(); err != nil {
		return malformedForm(err)
	}
	group := r.PostFormValue("group")
	c, err := s.act(r, func(ctx context.Context) (timelines.Change, error) {
		return s.timelines.RemoveFromGroup(ctx, r.viewer.AccountID, r.PathValue("code"), group)
	})
	if err != nil {
		return err
	}
	return s.answerEntry(w, r, c, "/"+group)
}
