package web

import (
	"net/http"
	"time"

	"riverrun/timelines"
	"riverrun/timelines/signins"
	"riverrun/web/view"
)

// sessions serves the page of where the viewer is signed in.
type sessions struct{ *Server }

func (s sessions) routes(mux router) {
	mux.Handle("GET "+view.SessionsPath, s.members(s.list))
	mux.Handle("POST "+view.SessionsPath, s.members(s.end))
	mux.Handle("POST "+view.SessionsPath+"/seen", s.members(s.seen))
}

func (s sessions) list(w http.ResponseWriter, r *request) error {
	all, err := s.signins.List(r.Context(), r.viewer)
	if err != nil {
		return err
	}
	return s.html(w, r, http.StatusOK, view.SessionsPage(view.Sessions{Base: s.simple(r), All: all, Saved: r.URL.Query().Has("saved")}))
}

// end ends one session, or all others.
func (s sessions) end(w http.ResponseWriter, r *request) error {
	if err := s.mayChange(r); err != nil {
		return err
	}
	_, err := s.carry(r)(s.signins.End(r.Context(), r.viewer, r.PostFormValue("id")))
	if err != nil {
		return err
	}
	return s.done(w, r, view.SessionsPath+"?saved")
}

// seen says that the viewer knows of what happened to the account.
func (s sessions) seen(w http.ResponseWriter, r *request) error {
	if err := s.mayChange(r); err != nil {
		return err
	}
	_, err := s.carry(r)(s.signins.Seen(r.Context(), r.viewer))
	if err != nil {
		return err
	}
	return s.done(w, r, r.back("/"))
}

// begun keeps a new session in the browser, and tells the person's other sessions of it.
func (s *Server) begun(w http.ResponseWriter, r *request, token string, account int64) {
	s.keepSession(w, token)
	if _, err := r.Cookie(s.visitorCookie()); err == nil { // its drafts are the account's now
		s.setVisitor(w, "", -time.Second)
	}
	session, _ := timelines.SessionOf(token)
	_, err := s.carry(r)(s.signins.Begun(r.Context(), timelines.Viewer{AccountID: account, Session: session}, signins.Device(r.UserAgent())))
	if err != nil { // somebody is signed in all the same
		s.log.WarnContext(r.Context(), "a sign-in was not told", "error", err)
	}
}
