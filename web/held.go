package web

import (
	"net/http"

	"riverrun/timelines"
	"riverrun/timelines/publishing"
	"riverrun/web/view"
)

// held serves what authors do about posts that only they see: they appeal against a block, or wait no longer for a group.
type held struct{ *Server }

func (s held) routes(mux router) {
	mux.Handle("GET /p/{code}/appeal", s.members(s.form))
	mux.Handle("POST /p/{code}/appeal", s.members(s.appeal))
	mux.Handle("POST /p/{code}/stop-waiting", s.members(s.stopWaiting))
}

// view is the form of an appeal of the viewer's against the block of a post.
func (s held) view(r *request) (view.AppealForm, error) {
	v := view.AppealForm{Base: s.simple(r)}
	h, err := s.timelines.Posts.Held(r.Context(), r.viewer.AccountID, r.PathValue("code"))
	if err == nil && h.Status != publishing.Blocked {
		err = timelines.ErrNotFound
	}
	v.Code, v.Reason = r.PathValue("code"), h.Reason
	return v, err
}

func (s held) form(w http.ResponseWriter, r *request) error {
	v, err := s.view(r)
	if err != nil {
		return err
	}
	keepNoCopy(w, true)
	return s.html(w, r, http.StatusOK, view.AppealPage(v))
}

func (s held) appeal(w http.ResponseWriter, r *request) error {
	text := r.PostFormValue("text")
	err := s.mayChange(r)
	if err == nil {
		_, err = s.reports.AppealPost(r.Context(), r.viewer.AccountID, r.PathValue("code"), text)
		_, err = s.carry(r)(timelines.Change{Actor: r.viewer.AccountID}, err)
	}
	if err == nil {
		return s.done(w, r, view.ReportsPath+"?sent")
	}
	is, err := s.formError(r, err)
	if err != nil {
		return err
	}
	v, err := s.view(r)
	if err != nil {
		return err
	}
	v.Text, v.Error = text, is
	return s.redisplay(w, r, is, view.AppealPage(v))
}

func (s held) stopWaiting(w http.ResponseWriter, r *request) error {
	code := r.PathValue("code")
	if err := s.mayChange(r); err != nil {
		return err
	}
	_, err := s.carry(r)(s.timelines.Posts.StopWaiting(r.Context(), r.viewer.AccountID, code))
	if err != nil {
		return err
	}
	return s.done(w, r, "/p/"+code)
}
