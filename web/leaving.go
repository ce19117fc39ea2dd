package web

import (
	"net/http"
	"net/url"
	"strconv"
	"time"

	"riverrun/timelines"
	"riverrun/timelines/leaving"
	"riverrun/web/view"
)

func (s settings) deleteForm(w http.ResponseWriter, r *request) error {
	v, err := s.deleteView(r)
	if err != nil {
		return err
	}
	return s.html(w, r, http.StatusOK, view.DeletePage(v))
}

func (s settings) deleteView(r *request) (v view.Delete, err error) {
	v = view.Delete{Base: s.simple(r), Ends: s.now().Add(leaving.Grace)}
	v.Alone, err = s.leaving.Alone(r.Context(), r.viewer.AccountID)
	return v, err
}

// deleteAccount begins the deletion of the viewer's account, after checking the password, and ends all
// sessions.
func (s settings) deleteAccount(w http.ResponseWriter, r *request) error {
	err := s.checkOwnPassword(r)
	var ends time.Time
	if err == nil {
		if err = s.mayChange(r); err == nil {
			var c timelines.Change
			c, ends, err = s.leaving.Leave(r.Context(), r.viewer.AccountID)
			_, err = s.carry(r)(c, err)
		}
	}
	if err != nil {
		is, err := s.formError(r, err)
		if err != nil {
			return err
		}
		v, err := s.deleteView(r)
		if err != nil {
			return err
		}
		v.Error = is
		return s.redisplay(w, r, is, view.DeletePage(v))
	}
	s.forgetSession(w)
	w.Header().Set("Clear-Site-Data", `"cache", "storage"`) // as signing out does
	return s.done(w, r, leftPath+"?"+url.Values{"until": {strconv.FormatInt(ends.Unix(), 10)}}.Encode())
}

// leftPath says until when one can come back.
const leftPath = "/login/left"

func (s signing) left(w http.ResponseWriter, r *request) error {
	until, err := strconv.ParseInt(r.URL.Query().Get("until"), 10, 64)
	if err != nil || until < 0 || until > s.now().Add(leaving.Grace).Unix() {
		return timelines.ErrNotFound
	}
	return s.html(w, r, http.StatusOK, view.LeavingPage(view.Leaving{Base: s.simple(r), Text: view.LeftText(r.loc, time.Unix(until, 0))}))
}

// keep keeps the account of such a page.
func (s signing) keep(w http.ResponseWriter, r *request) error {
	_, err := s.carry(r)(s.leaving.KeepOwn(r.Context(), r.PostFormValue("link")))
	if err != nil {
		return ofLink(err)
	}
	return s.html(w, r, http.StatusOK, view.LeavingPage(view.Leaving{Base: s.simple(r), Kept: true}))
}
