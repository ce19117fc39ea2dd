package web

import (
	"errors"
	"net/http"

	"riverrun/timelines"
	"riverrun/web/view"
)

// linkForm shows the form of an address that works once (timelines.LinkPassword). Opening it does not use
// it up, since programs open addresses before people do.
func (s signing) linkForm(w http.ResponseWriter, r *request) error {
	v := view.PasswordLink{Base: s.simple(r), Token: r.URL.Query().Get("link")}
	a, err := s.timelines.Accounts.Linked(r.Context(), v.Token, timelines.LinkPassword)
	if err != nil {
		return ofLink(err)
	}
	v.Name = a.Name
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "no-referrer") // the address is a secret
	return s.html(w, r, http.StatusOK, view.PasswordLinkPage(v))
}

// choosePassword sets the password by such an address, ends all sessions of the account, and signs in.
func (s signing) choosePassword(w http.ResponseWriter, r *request) error {
	v := view.PasswordLink{Base: s.simple(r), Token: r.PostFormValue("link"), Name: r.PostFormValue("username")}
	password := r.PostFormValue("password")
	brings, err := s.brings(r, "/")
	if err != nil {
		return err
	}
	err = s.limits.signInAddress.allow(s.addresses.key(r.Request))
	if err == nil {
		var c timelines.Change
		c, v.Name, err = s.timelines.Accounts.ChoosePassword(r.Context(), v.Token, password)
		_, err = s.carry(r)(c, err)
	}
	if err != nil {
		if err = ofLink(err); errors.Is(err, errLink) {
			return err
		}
		if v.Error, err = s.formError(r, err); err != nil {
			return err
		}
		return s.redisplay(w, r, v.Error, view.PasswordLinkPage(v))
	}
	s.limits.signInAddress.forget(s.addresses.key(r.Request))
	token, a, err := s.timelines.Accounts.SignInWith(r.Context(), v.Name, password, brings)
	if err != nil { // the password is changed all the same
		s.log.WarnContext(r.Context(), "not signed in after a password was chosen", "error", err)
		return redirect(w, r, "/login")
	}
	s.begun(w, r, token, a.ID)
	return s.done(w, r, "/")
}

// ofLink says of a link that does not work any more that it does not.
func ofLink(err error) error {
	if errors.Is(err, timelines.ErrNotFound) {
		return errLink
	}
	return err
}
