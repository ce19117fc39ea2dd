package web

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"riverrun/timelines"
)

func (s *Server) routeLogin(mux *http.ServeMux) {
	mux.Handle("GET /login", s.page(s.loginForm))
	mux.Handle("POST /login", s.page(s.login))
	mux.Handle("POST /logout", s.page(s.logout))
}

// loginView is the sign-in form, empty or as it was sent.
type loginView struct {
	name, back string
	wrong      string
}

func (s *Server) loginForm(w http.ResponseWriter, r *request) error {
	return s.html(w, r, http.StatusOK, loginPage(s.simple(r), loginView{back: r.back("/")}))
}

func (s *Server) login(w http.ResponseWriter, r *request) error {
	if err := r.ParseForm(); err != nil {
		return malformedForm(err)
	}
	form := loginView{name: strings.ToLower(strings.TrimSpace(r.PostFormValue("username"))), back: r.back("/")}
	// By address against one who tries many names, by name against many who try
	// one.
	err := s.limits.signInAddress.allow(addressKey(r.Request))
	if err == nil {
		err = s.limits.signInName.allow(form.name)
	}
	var token string
	if err == nil {
		token, _, err = s.timelines.SignIn(r.Context(), form.name, r.PostFormValue("password"))
	}
	if err != nil {
		is := wrong{Field: "password", Text: r.loc.T("login.wrong")}
		if !errors.Is(err, timelines.ErrBadCredentials) {
			if is, err = s.wrongIn(r, err); err != nil {
				return err
			}
		}
		form.wrong = is.Text
		return s.again(w, r, is, loginPage(s.simple(r), form))
	}
	s.keepSession(w, token)
	return s.done(w, r, form.back)
}

// logout ends the session, here and in every open page of it, before it answers.
func (s *Server) logout(w http.ResponseWriter, r *request) error {
	if r.signedIn() {
		_, err := s.tiers.Act(r.Context(), func(ctx context.Context) (timelines.Change, error) {
			return s.timelines.SignOut(ctx, r.viewer)
		})
		if err != nil {
			return err
		}
	}
	s.forgetSession(w)
	return s.done(w, r, "/")
}
