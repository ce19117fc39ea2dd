package web

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"riverrun/timelines"
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
	return s.html(w, r, http.StatusOK, view.LoginPage(s.simple(r), view.Login{Back: r.back("/"), Door: r.door}))
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
		var a timelines.Account
		token, a, err = s.timelines.Accounts.SignIn(r.Context(), form.Name, r.PostFormValue("password"))
		account = a.ID
		return err
	})
	return token, account, form, err
}

// signInAgain shows the sign-in form with the error err of signIn.
func (s signing) signInAgain(w http.ResponseWriter, r *request, form view.Login, err error) error {
	if suspended, ok := errors.AsType[*timelines.SuspendedError](err); ok && !r.wantsJSON() {
		token, err := s.reports.AppealLink(r.Context(), suspended.Account.ID)
		if err != nil {
			return err
		}
		v := view.Suspended{Base: s.simple(r), Text: view.SuspendedText(r.loc, suspended), Token: token}
		appeal, err := s.reports.Answered(r.Context(), suspended.Account.ID)
		switch {
		case err == nil:
			v.Appeal = &appeal
		case !errors.Is(err, timelines.ErrNotFound):
			return err
		}
		return s.html(w, r, http.StatusForbidden, view.SuspendedPage(v))
	}
	if is, ok := errors.AsType[*timelines.LeavingError](err); ok && !r.wantsJSON() {
		return s.leavingAgain(w, r, is)
	}
	is := view.FormError{Field: "password", Text: r.loc.T("login.wrong")}
	if !errors.Is(err, timelines.ErrBadCredentials) {
		if is, err = s.formError(r, err); err != nil {
			return err
		}
	}
	form.Error, form.Door = is.Text, r.door
	if r.resumed {
		form.Kept = r.kept()
	}
	return s.redisplay(w, r, is, view.LoginPage(s.simple(r), form))
}

// appeal takes the message of somebody who is suspended to the staff.
func (s signing) appeal(w http.ResponseWriter, r *request) error {
	v := view.Suspended{Base: s.simple(r), Token: r.PostFormValue("link"), Typed: r.PostFormValue("text")}
	_, err := s.reports.Appeal(r.Context(), v.Token, v.Typed)
	if err != nil {
		if err = ofLink(err); errors.Is(err, errLink) {
			return err
		}
		if v.Error, err = s.formError(r, err); err != nil {
			return err
		}
		return s.redisplay(w, r, v.Error, view.SuspendedPage(v))
	}
	v.Sent = true
	return s.html(w, r, http.StatusOK, view.SuspendedPage(v))
}

// logout ends the session, here and in every open page of it, before it answers.
func (s signing) logout(w http.ResponseWriter, r *request) error {
	if r.fromAnothersPage() {
		return errOtherViewer
	}
	if r.signedIn() {
		_, err := s.tiers.Act(r.Context(), func(ctx context.Context) (timelines.Change, error) {
			return s.timelines.Accounts.SignOut(ctx, r.viewer)
		})
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
