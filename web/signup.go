package web

import (
	"errors"
	"net/http"
	"strings"

	"riverrun/timelines"
	"riverrun/timelines/doors"
	"riverrun/timelines/site"
	"riverrun/web/view"
)

// asked is the address that says that somebody waits to be let in.
const asked = "/signup?asked=1"

func (s signing) signUpForm(w http.ResponseWriter, r *request) error {
	if r.signedIn() {
		return redirect(w, r, "/")
	}
	query := r.URL.Query()
	form := view.SignUp{Back: r.back("/"), Invitation: query.Get("invitation"), Asked: query.Has("asked")}
	return s.showSignUp(r, form, func(page view.Component) error { return s.html(w, r, http.StatusOK, page) })
}

// showSignUp shows the form as the site's door has it.
func (s signing) showSignUp(r *request, form view.SignUp, show func(view.Component) error) (err error) {
	if form.Door, err = s.rivers.Access().Door(r.Context()); err != nil {
		return err
	}
	if form.Invitation != "" {
		state, err := s.doors.Find(r.Context(), form.Invitation)
		if err != nil {
			return err
		}
		if state != doors.Good {
			form.Bad, form.Invitation = state, ""
		}
	}
	if form.Door == site.ByApproval {
		n, err := s.doors.CountWaiting(r.Context())
		if err != nil {
			return err
		}
		form.Full = n >= doors.MaxWaiting
	}
	if form.Visitor, err = s.waits(r, form.Back); err != nil {
		return err
	}
	return show(view.SignUpPage(s.simple(r), form))
}

func (s signing) signUp(w http.ResponseWriter, r *request) error {
	form := view.SignUp{
		Name: strings.TrimSpace(r.PostFormValue("username")), Title: r.PostFormValue("title"), Back: r.back("/"),
		Invitation: r.PostFormValue("invitation"), Sentence: r.PostFormValue("sentence"),
	}
	password := r.PostFormValue("password")
	waits := false
	brings, err := s.brings(r, form.Back)
	if err != nil {
		return err
	}
	rules, err := r.agreed()
	if err == nil {
		err = s.limits.signUp.allow(s.addresses.key(r.Request))
	}
	if err == nil {
		var c timelines.Change
		_, waits, c, err = s.doors.SignUp(r.Context(), doors.SignUp{
			SignUp:     timelines.SignUp{Name: form.Name, Title: strings.TrimSpace(form.Title), Password: password, RulesAgreed: rules, Stranger: true},
			Invitation: form.Invitation, Sentence: form.Sentence,
		})
		_, err = s.carry(r)(c, err)
	}
	if err != nil {
		if form.Error, err = s.formError(r, err); err != nil {
			return err
		}
		return s.showSignUp(r, form, func(page view.Component) error { return s.redisplay(w, r, form.Error, page) })
	}
	if waits {
		return s.done(w, r, asked)
	}
	token, a, err := s.timelines.Accounts.SignInWith(r.Context(), form.Name, password, brings)
	if err != nil { // the account is made all the same
		s.log.WarnContext(r.Context(), "not signed in after signing up", "error", err)
		return redirect(w, r, string(view.LoginURL(form.Back)))
	}
	s.begun(w, r, token, a.ID)
	if form.Back == "/" { // not on the way to some page
		form.Back = view.WelcomeYou
	}
	return s.done(w, r, form.Back)
}

// doorError returns the error of a form if err is one of the site's doors.
func doorError(r *request, err error) (view.FormError, bool) {
	if bad, ok := errors.AsType[*doors.InvitationError](err); ok {
		return view.FormError{Text: r.loc.T("invitation." + string(bad.State))}, true
	}
	if waits, ok := errors.AsType[*timelines.WaitingError](err); ok {
		text := r.loc.T("login.waiting")
		if waits.Refused != nil {
			text = r.loc.T("login.refused")
			if waits.Answer != "" {
				text = r.loc.T("login.refused.answer", "answer", view.Unturned(waits.Answer))
			}
		}
		return view.FormError{Text: text, Status: http.StatusForbidden}, true
	}
	for problem, is := range map[error]view.FormError{
		doors.ErrClosed:    {Text: "door.closed", Status: http.StatusForbidden},
		doors.ErrUninvited: {Text: "door.invitation", Status: http.StatusForbidden},
		doors.ErrFull:      {Text: "door.full", Status: http.StatusServiceUnavailable},
		doors.ErrMany:      {Text: "invitation.many", Status: http.StatusTooManyRequests},
		doors.ErrAnswered:  {Text: "signups.answered", Status: http.StatusConflict},
	} {
		if errors.Is(err, problem) {
			is.Text = r.loc.T(is.Text)
			return is, true
		}
	}
	return view.FormError{}, false
}
