package web

import (
	"context"
	"net/http"
	"net/url"

	"riverrun/timelines"
	"riverrun/web/view"
)

// ownPicture names the viewer's account as the one whose picture a form brings.
func (s *Server) ownPicture(_ context.Context, r *request) (int64, error) {
	return r.viewer.AccountID, nil
}

// pictureOf names the group of the address as the account whose picture a form brings.
func (s groups) pictureOf(ctx context.Context, r *request) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, s.databaseTimeout)
	defer cancel()
	a, err := s.rivers.Access().AccountNamed(ctx, r.PathValue("name"))
	if err == nil && a.Kind != timelines.Group {
		err = timelines.ErrNotFound
	}
	return a.ID, err
}

// profileForm is the form for what an account says of itself, with what was sent of it. A picture
// may be on its way.
func (r *request) profileForm(of timelines.Account) view.ProfileForm {
	code, _ := timelines.ParseCode(r.URL.Query().Get("picture"))
	f := view.ProfileForm{Of: of, Title: of.Title, About: of.About, Awaited: code}
	if r.PostForm.Has("title") {
		f.Title = r.PostForm.Get("title")
	}
	if r.PostForm.Has("about") {
		f.About = r.PostForm.Get("about")
	}
	return f
}

// saveProfile saves what was sent, and takes the picture away if that was asked for and none came.
// The picture that came is recorded by then, unless there is a fault with it.
func (s *Server) saveProfile(r *request, of func(context.Context, *request) (int64, error), save func(context.Context) (timelines.Change, error)) error {
	if err := r.fault(); err != nil {
		return err
	}
	if r.PostForm.Has("remove") && !r.PostForm.Has(uploadField) {
		account, err := of(r.Context(), r)
		if err != nil {
			return err
		}
		if err = s.mayChange(r); err == nil {
			_, err = s.carry(r)(s.timelines.Files.RemovePicture(r.Context(), r.viewer.AccountID, account))
		}
		if err != nil {
			return err
		}
	}
	if err := s.mayChange(r); err != nil {
		return err
	}
	_, err := s.carry(r)(save(r.Context()))
	return err
}

// profileSaved answers the form, and says at the page that a picture is being made.
func (s *Server) profileSaved(w http.ResponseWriter, r *request, page string) error {
	page += "?saved"
	if code := r.PostForm.Get(uploadField); code != "" {
		page += "&picture=" + url.QueryEscape(code)
	}
	return s.done(w, r, page)
}
