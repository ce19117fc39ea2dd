package web

import (
	"errors"
	"net/http"
	"strings"

	"riverrun/timelines"
	"riverrun/timelines/reports"
	"riverrun/web/view"
)

// signing serves signing up, in and out.
type signing struct{ *Server }

func (s signing) routes(mux router) {
	mux.Handle("GET /login", s.freshAccess(s.loginForm))
	mux.Handle("POST /login", s.page(s.login))
	mux.Handle("GET /login/link", s.freshAccess(s.linkForm))
	mux.Handle("POST /login/link", s.freshAccess(s.choosePassword))
	mux.Handle("POST /login/appeal", s.freshAccess(s.appeal))
	mux.Handle("GET "+leftPath, s.freshAccess(s.left))
	mux.Handle("POST /login/keep", s.freshAccess(s.keep))
	mux.Handle("POST /logout", s.page(s.logout))
	mux.Handle("GET /signup", s.freshAccess(s.signUpForm))
	mux.Handle("POST /signup", s.freshAccess(s.signUp))
}

func (s signing) loginForm(w http.ResponseWriter, r *request) error {
	waits, err := s.waits(r, r.back("/"))
	if err != nil {
		return err
	}
	return s.html(w, r, http.StatusOK, view.LoginPage(s.simple(r), view.Login{Back: r.back("/"), Door: r.door, Visitor: waits}))
}

func (s signing) login(w http.ResponseWriter, r *request) error {
	token, account, form, err := s.signIn(r)
	if err != nil {
		return s.signInAgain(w, r, form, err)
	}
	s.begun(w, r, token, account)
	return s.done(w, r, form.Back)
}

// signIn begins a session for the name and password of a form that is parsed.
func (s signing) signIn(r *request) (token string, account int64, form view.Login, err error) {
	form = view.Login{Name: strings.ToLower(strings.TrimSpace(r.PostFormValue("username"))), Back: r.back("/")}
	err = s.tryPassword(r, form.Name, func() (err error) {
		brings, err := s.brings(r, form.Back)
		if err != nil {
			return err
		}
		var a timelines.Account
		token, a, err = s.timelines.Accounts.SignInWith(r.Context(), form.Name, r.PostFormValue("password"), brings)
		account = a.ID
		return err
	})
	return token, account, form, err
}

// signInAgain shows the sign-in form with the error err of signIn.
func (s signing) signInAgain(w http.ResponseWriter, r *request, form view.Login, err error) error {
	if !r.wantsJSON() {
		page, err := s.shutOut(r, err, view.Appeal{})
		if err != nil {
			return err
		}
		if page != nil {
			return s.html(w, r, http.StatusForbidden, page)
		}
	}
	is := view.FormError{Field: "password", Text: r.loc.T("login.wrong")}
	if !errors.Is(err, timelines.ErrBadCredentials) {
		if is, err = s.formError(r, err); err != nil {
			return err
		}
	}
	form.Error, form.Door = is.Text, r.door
	if form.Visitor, err = s.waits(r, form.Back); err != nil {
		return err
	}
	if r.resumed {
		form.Kept = r.kept()
	}
	return s.redisplay(w, r, is, view.LoginPage(s.simple(r), form))
}

// shutOut returns the page for somebody who typed the right password and is suspended, or is to be
// deleted; nil if the error why is another one.
func (s signing) shutOut(r *request, why error, appeal view.Appeal) (page view.Component, err error) {
	if is, ok := errors.AsType[*timelines.SuspendedError](why); ok {
		v := view.Suspended{Base: s.simple(r), Text: view.SuspendedText(r.loc, is)}
		v.Appeal, err = s.mayAppeal(r, is.Account.ID, appeal)
		return view.SuspendedPage(v), err
	}
	if is, ok := errors.AsType[*timelines.LeavingError](why); ok {
		v := view.Leaving{Base: s.simple(r), Text: view.LeavingText(r.loc, is)}
		if is.Begun {
			return view.LeavingPage(v), nil
		}
		if !is.ByStaff {
			if v.Token, err = s.leaving.KeepLink(r.Context(), is.Account.ID); err != nil {
				return nil, err
			}
		}
		if is.ByStaff || is.Suspended != nil {
			v.Appeal, err = s.mayAppeal(r, is.Account.ID, appeal)
		}
		return view.LeavingPage(v), err
	}
	return nil, nil
}

// mayAppeal adds the last appeal of an account, and the link for another one unless it waits.
func (s signing) mayAppeal(r *request, account int64, v view.Appeal) (view.Appeal, error) {
	latest, err := s.reports.LatestAppeal(r.Context(), account)
	switch {
	case err == nil:
		v.Latest = &latest
	case !errors.Is(err, timelines.ErrNotFound):
		return v, err
	}
	if v.Token == "" && (v.Latest == nil || v.Latest.State == reports.Done) {
		v.Token, err = s.reports.AppealLink(r.Context(), account)
		return v, err
	}
	return v, nil
}

// appeal takes the message of somebody who may not sign in to the staff.
func (s signing) appeal(w http.ResponseWriter, r *request) error {
	v := view.Appeal{Token: r.PostFormValue("link"), Typed: r.PostFormValue("text")}
	account, err := s.timelines.Accounts.Linked(r.Context(), v.Token, timelines.LinkAppeal)
	if err == nil {
		_, err = s.reports.Appeal(r.Context(), v.Token, v.Typed)
	}
	if err = ofLink(err); errors.Is(err, errLink) {
		return err
	}
	v.Sent = err == nil
	if err != nil {
		if v.Error, err = s.formError(r, err); err != nil {
			return err
		}
	}
	why := s.timelines.Accounts.MaySignIn(r.Context(), account)
	if why == nil { // just now
		return s.done(w, r, "/login")
	}
	page, err := s.shutOut(r, why, v)
	switch {
	case err != nil:
		return err
	case page == nil:
		return s.signInAgain(w, r, view.Login{Back: "/"}, why)
	case v.Sent:
		return s.html(w, r, http.StatusOK, page)
	}
	return s.redisplay(w, r, v.Error, page)
}

// logout ends the session, here and in every open page of it, before it answers.
func (s signing) logout(w http.ResponseWriter, r *request) error {
	if r.fromAnothersPage() {
		return errOtherViewer
	}
	if r.signedIn() {
		_, err := s.carry(r)(s.timelines.Accounts.SignOut(r.Context(), r.viewer))
		if err != nil {
			return err
		}
	}
	s.forgetSession(w)
	// This also clears pages in the browser's memory and the storage of scripts. It leaves
	// cookies, since it would clear those of all sites of the same domain.
	w.Header().Set("Clear-Site-Data", `"cache", "storage"`)
	return s.done(w, r, "/")
}
