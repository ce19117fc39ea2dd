package web

import (
	"context"
	"net/http"
	"net/url"

	"riverrun/timelines"
	"riverrun/web/view"
)

// pictureOf returns the account whose picture a form brings: the viewer's, or that of the group
// that the address names.
func (s settings) pictureOf(ctx context.Context, r *request) (int64, error) {
	group := r.URL.Query().Get("of")
	if group == "" {
		return r.viewer.AccountID, nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.databaseTimeout)
	defer cancel()
	a, err := s.rivers.Access().AccountNamed(ctx, group)
	if err == nil && a.Kind != timelines.Group {
		err = timelines.ErrNotFound
	}
	return a.ID, err
}

// setPicture answers a form that brought a picture, which is to be made yet, or that removes
// the one there is.
func (s settings) setPicture(w http.ResponseWriter, r *request) error {
	group := r.URL.Query().Get("of")
	err := r.fault()
	account := int64(0)
	if err == nil {
		account, err = s.pictureOf(r.Context(), r)
	}
	code := r.PostForm.Get(uploadField)
	switch {
	case err != nil:
	case r.PostForm.Has("remove"):
		_, err = s.act(r, func(ctx context.Context) (timelines.Change, error) {
			return s.timelines.Files.RemovePicture(ctx, r.viewer.AccountID, account)
		})
	case code == "":
		err = &timelines.InvalidError{Field: fileField, Code: "file_none"}
	}
	if err != nil {
		return s.ruled(w, r, group, err)
	}
	back, err := url.Parse(r.back("/settings"))
	if err != nil {
		return errBadRequest
	}
	query := back.Query()
	query.Set("saved", "")
	if query.Del("picture"); code != "" {
		query.Set("picture", code)
	}
	back.RawQuery = query.Encode()
	return s.done(w, r, back.String())
}

// awaited is the picture that the page says is being made.
func (r *request) awaited() string {
	code, _ := timelines.ParseCode(r.URL.Query().Get("picture"))
	return code
}

// pictureForm is the form for the picture of an account, of which one may be on its way.
func (r *request) pictureForm(of timelines.Account, back string) view.PictureForm {
	return view.PictureForm{Of: of, Back: back, Awaited: r.awaited()}
}
