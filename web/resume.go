package web

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"riverrun/timelines"
	"riverrun/web/view"
)

// If a form with a text comes without a session, for example because the session ended while
// it was written, the answer is a sign-in page that holds the whole form and goes to the
// form's address. After signing in there, one gets the form again with everything in it.
// Nothing is done until it is sent again: it may be another account, with other places than
// those the text was meant for.
//
// The form is not kept on the server, where most of them would never be fetched, nor in the
// address, which ends up in logs.

// typed returns the text the request's form came with, "" if there is none.
func (r *request) typed() string {
	if r.Method != http.MethodPost || r.ParseForm() != nil {
		return ""
	}
	if text := r.PostForm.Get("body"); strings.TrimSpace(text) != "" {
		return text
	}
	return ""
}

// kept returns the request's form, nil if it has no text to lose.
func (r *request) kept() *view.KeptForm {
	text := r.typed()
	if text == "" {
		return nil
	}
	k := &view.KeptForm{Address: localAddress(r.URL.EscapedPath(), "/"), Text: text}
	for _, name := range slices.Sorted(maps.Keys(r.PostForm)) {
		switch name {
		case "body", "username", "password", view.ResumeField, view.AgreeField, viewerField:
			continue
		}
		for _, value := range r.PostForm[name] {
			k.Others = append(k.Others, view.KeptField{Name: name, Value: value})
		}
	}
	return k
}

// resume checks whether the form comes from a sign-in page that kept it, and if so signs its
// sender in. answered: it could not, and the answer says why.
func (s *Server) resume(w http.ResponseWriter, r *request) (answered bool, err error) {
	if r.Method != http.MethodPost {
		return false, nil
	}
	if r.resumed = r.PostForm.Has(view.ResumeField); !r.resumed || r.signedIn() {
		return false, nil
	}
	token, account, form, err := signing{s}.signIn(r)
	if err != nil {
		return true, signing{s}.signInAgain(w, r, form, err)
	}
	s.begun(w, r, token, account)
	session, ok := timelines.SessionOf(token)
	if !ok {
		return false, timelines.ErrSignedOut
	}
	v, err := s.rivers.Access().Session(r.Context(), session)
	if err != nil {
		return false, err
	}
	return false, s.introduce(r, v)
}
