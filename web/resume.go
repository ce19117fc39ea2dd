package web

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"riverrun/timelines"
	"riverrun/web/view"
)

// A form with a text that comes without a session, as one does whose session ended
// while it was being written, is answered by a sign-in page that holds the whole
// form and goes to where the form went. Whoever signs in there gets the form again
// with all that is in it, and nothing is done until they send it: it may be another
// account, and other places than those the text was meant for.
//
// It is not kept on the server, where it would be in the way of what nobody comes
// back for, nor in the address, which ends up in logs.

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
		case "body", "username", "password", view.ResumeField, viewerField:
			continue
		}
		for _, value := range r.PostForm[name] {
			k.Others = append(k.Others, view.KeptField{Name: name, Value: value})
		}
	}
	return k
}

// resume reads whether the form comes from a sign-in page that kept it, and signs
// its sender in if need be. answered: it could not, and said why.
func (s *Server) resume(w http.ResponseWriter, r *request) (answered bool, err error) {
	if r.Method != http.MethodPost {
		return false, nil
	}
	if err := r.ParseForm(); err != nil {
		return false, malformedForm(err)
	}
	if r.resumed = r.PostForm.Has(view.ResumeField); !r.resumed || r.signedIn() {
		return false, nil
	}
	token, form, err := signing{s}.signIn(r)
	if err != nil {
		return true, signing{s}.signInAgain(w, r, form, err)
	}
	s.keepSession(w, token)
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
