package web

import (
	"net/http"
	"strings"

	"riverrun/timelines"
	"riverrun/web/view"
)

func (s signing) signUpForm(w http.ResponseWriter, r *request) error {
	if r.signedIn() {
		return redirect(w, r, "/")
	}
	return s.html(w, r, http.StatusOK, view.SignUpPage(s.simple(r), view.SignUp{Back: r.back("/")}))
}

func (s signing) signUp(w http.ResponseWriter, r *request) error {
	form := view.SignUp{
		Name: strings.TrimSpace(r.PostFormValue("username")), Title: r.PostFormValue("title"), Back: r.back("/"),
	}
	password := r.PostFormValue("password")
	err := s.limits.signUp.allow(s.addresses.key(r.Request))
	if err == nil {
		_, err = s.timelines.Accounts.SignUp(r.Context(), timelines.SignUp{
			Name: form.Name, Title: strings.TrimSpace(form.Title), Password: password, Stranger: true,
		})
	}
	if err != nil {
		if form.Error, err = s.formError(r, err); err != nil {
			return err
		}
		return s.redisplay(w, r, form.Error, view.SignUpPage(s.simple(r), form))
	}
	token, _, err := s.timelines.Accounts.SignIn(r.Context(), form.Name, password)
	if err != nil { // the account is made all the same
		s.log.WarnContext(r.Context(), "not signed in after signing up", "error", err)
		return redirect(w, r, string(view.LoginURL(form.Back)))
	}
	s.keepSession(w, token)
	if form.Back == "/" { // not on the way to some page
		form.Back = view.WelcomeYou
	}
	return s.done(w, r, form.Back)
}
