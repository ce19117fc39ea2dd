package web

import (
	"net/http"
	"strconv"

	"riverrun/timelines"
	"riverrun/web/view"
)

// appTokens serves the page of the viewer's app tokens.
type appTokens struct{ *Server }

func (s appTokens) routes(mux router) {
	mux.Handle("GET "+view.TokensPath, s.members(s.list))
	mux.Handle("POST "+view.TokensPath, s.members(s.make))
	mux.Handle("POST "+view.TokensPath+"/revoke", s.members(s.revoke))
}

func (s appTokens) page(r *request) (v view.Tokens, err error) {
	v = view.Tokens{Base: s.simple(r), Form: view.NewTokenForm()}
	v.All, err = s.tokens.List(r.Context(), r.viewer.AccountID)
	return v, err
}

func (s appTokens) list(w http.ResponseWriter, r *request) error {
	v, err := s.page(r)
	if err != nil {
		return err
	}
	if r.URL.Query().Has("saved") {
		v.Saved = r.loc.T("tokens.revoked")
	}
	return s.html(w, r, http.StatusOK, view.TokensPage(v))
}

// make makes a token, after checking the password, and shows it on a page that no cache keeps.
func (s appTokens) make(w http.ResponseWriter, r *request) error {
	form, n := view.SentToken(r.PostForm)
	var token string
	err := s.checkOwnPassword(r)
	if err == nil {
		if err = s.mayChange(r); err == nil {
			var c timelines.Change
			token, c, err = s.tokens.Create(r.Context(), r.viewer, n)
			_, err = s.carry(r)(c, err)
		}
	}
	if err != nil {
		is, err := s.formError(r, err)
		if err != nil {
			return err
		}
		v, err := s.page(r)
		if err != nil {
			return err
		}
		v.Form, v.Error = form, is
		return s.redisplay(w, r, is, view.TokensPage(v))
	}
	v, err := s.page(r)
	if err != nil {
		return err
	}
	v.Made = token
	keepNoCopy(w, true)
	return s.html(w, r, http.StatusOK, view.TokensPage(v))
}

func (s appTokens) revoke(w http.ResponseWriter, r *request) error {
	id, err := strconv.ParseInt(r.PostFormValue("id"), 10, 64)
	if err != nil {
		return timelines.ErrNotFound
	}
	if err = s.mayChange(r); err == nil {
		_, err = s.carry(r)(s.tokens.Revoke(r.Context(), r.viewer, id))
	}
	if err != nil {
		return err
	}
	return s.done(w, r, view.TokensPath+"?saved")
}
