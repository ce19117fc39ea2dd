package web

import (
	"context"
	"net/http"

	"riverrun/timelines"
)

// manageView is the page on which administrators run their group, as components
// see it, with one of the forms as it was sent if something was wrong with it.
type manageView struct {
	*present
	who          timelines.Account // the group
	title, about string
	name         string // in the form that blocks somebody
	requests     []requestView
	blocked      []timelines.Account
	saved        bool
	wrong        wrong
}

func managePath(group string) string { return "/" + group + "/manage" }

func (s *Server) manageGroup(w http.ResponseWriter, r *request) error {
	v, err := s.manageView(r, r.PathValue("name"))
	if err != nil {
		return err
	}
	v.saved = r.URL.Query().Has("saved")
	return s.html(w, r, http.StatusOK, managePage(v))
}

// manageView reads a group's page for the viewer, who must administer it.
func (s *Server) manageView(r *request, group string) (manageView, error) {
	ctx := r.Context()
	v := manageView{present: s.simple(r)}
	var err error
	if v.who, err = s.rivers.Access().AccountNamed(ctx, group); err != nil {
		return v, err
	}
	if v.who.Kind != timelines.Group {
		return v, timelines.ErrNotFound
	}
	if !r.signedIn() {
		return v, errSignIn
	}
	if v.sets, err = s.rivers.Access().Sets(ctx, r.viewer.AccountID); err != nil {
		return v, err
	}
	if !v.administers(v.who.ID) {
		return v, timelines.ErrForbidden
	}
	v.title, v.about = v.who.Title, v.who.About
	all, err := s.requests(r)
	if err != nil {
		return v, err
	}
	for _, q := range all {
		if q.group.ID == v.who.ID {
			v.requests = append(v.requests, q)
		}
	}
	v.blocked, err = s.timelines.Blocked(ctx, v.who.ID)
	return v, err
}

// setGroup changes what a group says of itself.
func (s *Server) setGroup(w http.ResponseWriter, r *request) error {
	group, title, about := r.PathValue("name"), r.PostFormValue("title"), r.PostFormValue("about")
	_, err := s.act(r, func(ctx context.Context) (timelines.Change, error) {
		return s.timelines.SetGroupProfile(ctx, r.viewer.AccountID, group, title, about)
	})
	if err != nil {
		return s.manageAgain(w, r, group, err, func(v *manageView) { v.title, v.about = title, about })
	}
	return s.done(w, r, managePath(group)+"?saved")
}

// manageAgain shows a group's page with what was wrong in one of its forms.
func (s *Server) manageAgain(w http.ResponseWriter, r *request, group string, err error, asSent func(*manageView)) error {
	is, err := s.wrongIn(r, err)
	if err != nil {
		return err
	}
	v, err := s.manageView(r, group)
	if err != nil {
		return err
	}
	v.wrong = is
	asSent(&v)
	return s.again(w, r, is, managePage(v))
}
