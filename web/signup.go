package web

import (
	"net/http"
	"strings"

	"riverrun/timelines"
)

func (s *Server) routeSignUp(mux *http.ServeMux) {
	mux.Handle("GET /signup", s.page(s.signUpForm))
	mux.Handle("POST /signup", s.settled(s.signUp))
}

// signUpView is the form for a new account, empty or as it was sent; the
// password is never sent back.
type signUpView struct {
	name, title, back string
	wrong             wrong
}

func (s *Server) signUpForm(w http.ResponseWriter, r *request) error {
	if r.signedIn() {
		return see(w, r, "/")
	}
	return s.html(w, r, http.StatusOK, signUpPage(s.simple(r), signUpView{back: r.back("/")}))
}

func (s *Server) signUp(w http.ResponseWriter, r *request) error {
	if err := r.ParseForm(); err != nil {
		return malformedForm(err)
	}
	form := signUpView{
		name: strings.TrimSpace(r.PostFormValue("username")), title: r.PostFormValue("title"), back: r.back("/"),
	}
	password := r.PostFormValue("password")
	err := s.limits.signUp.allow(s.addresses.key(r.Request))
	if err == nil {
		_, err = s.timelines.SignUp(r.Context(), timelines.SignUp{
			Name: form.name, Title: strings.TrimSpace(form.title), Password: password,
		})
	}
	if err != nil {
		if form.wrong, err = s.wrongIn(r, err); err != nil {
			return err
		}
		return s.again(w, r, form.wrong, signUpPage(s.simple(r), form))
	}
	token, _, err := s.timelines.SignIn(r.Context(), form.name, password)
	if err != nil { // the account is made all the same
		s.log.WarnContext(r.Context(), "not signed in after signing up", "error", err)
		return see(w, r, string(loginURL(form.back)))
	}
	s.keepSession(w, token)
	return s.done(w, r, form.back)
}
