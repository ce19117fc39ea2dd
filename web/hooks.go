package web

import (
	"context"
	"net/http"
	"strconv"

	"riverrun/timelines"
	"riverrun/web/view"
)

// webhooks serves the page of the viewer's webhooks.
type webhooks struct{ *Server }

func (s webhooks) routes(mux router) {
	mux.Handle("GET "+view.HooksPath, s.members(s.list))
	mux.Handle("POST "+view.HooksPath, s.members(s.make))
	mux.Handle("POST "+view.HooksPath+"/again", s.members(s.again))
	mux.Handle("POST "+view.HooksPath+"/delete", s.members(s.delete))
}

func (s webhooks) page(r *request) (v view.Hooks, err error) {
	v = view.Hooks{Base: s.simple(r)}
	v.All, err = s.hooks.List(r.Context(), r.viewer.AccountID)
	return v, err
}

func (s webhooks) list(w http.ResponseWriter, r *request) error {
	v, err := s.page(r)
	if err != nil {
		return err
	}
	switch r.URL.Query().Get("done") {
	case "again":
		v.Saved = r.loc.T("hooks.again.done")
	case "delete":
		v.Saved = r.loc.T("hooks.deleted")
	}
	return s.html(w, r, http.StatusOK, view.HooksPage(v))
}

// make makes a webhook, after checking the password, and shows its secret on a page that no cache keeps.
func (s webhooks) make(w http.ResponseWriter, r *request) error {
	form := view.SentHook(r.PostForm)
	var secret string
	err := s.checkOwnPassword(r)
	if err == nil {
		if err = s.mayChange(r); err == nil {
			secret, err = s.hooks.Create(r.Context(), r.viewer, form)
			_, err = s.carry(r)(timelines.Change{}, err)
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
		return s.redisplay(w, r, is, view.HooksPage(v))
	}
	v, err := s.page(r)
	if err != nil {
		return err
	}
	v.Secret = secret
	keepNoCopy(w, true)
	return s.html(w, r, http.StatusOK, view.HooksPage(v))
}

// again has a webhook sent now.
func (s webhooks) again(w http.ResponseWriter, r *request) error {
	return s.change(w, r, "again", func(ctx context.Context, id int64) error { return s.hooks.Again(ctx, r.viewer, id) })
}

func (s webhooks) delete(w http.ResponseWriter, r *request) error {
	return s.change(w, r, "delete", func(ctx context.Context, id int64) error { return s.hooks.Delete(ctx, r.viewer.AccountID, id) })
}

// change does something to the webhook that the form names.
func (s webhooks) change(w http.ResponseWriter, r *request, done string, do func(ctx context.Context, id int64) error) error {
	id, err := strconv.ParseInt(r.PostFormValue("id"), 10, 64)
	if err != nil {
		return timelines.ErrNotFound
	}
	if err := s.mayChange(r); err != nil {
		return err
	}
	_, err = s.carry(r)(timelines.Change{}, do(r.Context(), id))
	if err != nil {
		return err
	}
	return s.done(w, r, view.HooksPath+"?done="+done)
}
