package web

import (
	"context"
	"net/http"
	"strings"

	"riverrun/timelines"
	"riverrun/timelines/files"
	"riverrun/web/view"
)

// post is one post with everything on it.
func (s posts) post(w http.ResponseWriter, r *request) error {
	v, err := s.visit(r)
	if err != nil {
		return err
	}
	e := &view.Entry{Base: v.Base, Item: &v.Page.Items[0]}
	v.Heading = e.Heading()
	public, err := s.isPublic(r.Context(), v)
	if err != nil {
		return err
	}
	if public {
		v.Public = e.AsPublic(s.publicBase())
	}
	audience, err := s.view.AudienceOf(r.Context(), e)
	if err != nil {
		return err
	}
	var held *timelines.Held
	if e.Item.Fold.Text.Held != "" { // only its author is here
		h, err := s.timelines.Posts.Held(r.Context(), r.viewer.AccountID, e.Item.Fold.Text.Code)
		if err != nil {
			return err
		}
		held = &h
	}
	if err := s.html(w, r, http.StatusOK, view.PostPage(v, e.Title(), audience, held)); err != nil {
		return err
	}
	s.read(r, v)
	if r.looks() {
		s.view.Seen(r.viewer, e.Item)
	}
	return nil
}

func (s posts) editPostForm(w http.ResponseWriter, r *request) error {
	return s.editPostPage(w, r, view.FormError{})
}

// editPost changes a post's text, language and destinations. Fields that the form does not
// have stay as they are.
func (s posts) editPost(w http.ResponseWriter, r *request) error {
	code, to := r.PathValue("code"), destinationsOf(r.PostForm["to"])
	var change timelines.Revision
	moves := r.moves(to)
	if moves {
		change.To = append([]string{}, to...) // none is an error, nil would be no change
	}
	if body := r.PostFormValue("body"); r.PostForm.Has("body") || !moves {
		change.Body = &body
	}
	if language := r.PostFormValue("language"); r.PostForm.Has("language") {
		change.Language = &language
	}
	if r.PostForm.Has(filesField) {
		change.Files, change.SetFiles = r.attachments(), true
	}
	change.Listing = r.listing()
	var c timelines.Change
	err := s.mayChange(r)
	if err == nil {
		err = r.fault()
	}
	if err == nil {
		c, err = s.carry(r)(s.timelines.Posts.Revise(r.Context(), r.viewer.AccountID, code, change))
	}
	if err != nil {
		is, err := s.formError(r, err)
		if err != nil {
			return err
		}
		return s.editPostPage(w, r, is)
	}
	return s.answerEntry(w, r, c, r.back("/p/"+code))
}

// filesOf are the files of a post of the viewer's.
func (s posts) filesOf(ctx context.Context, code string) ([]files.File, error) {
	id, err := s.timelines.Posts.ID(ctx, code)
	if err != nil {
		return nil, err
	}
	return s.timelines.Files.Of(ctx, id, 0)
}

func (s posts) deletePost(w http.ResponseWriter, r *request) error {
	code := r.PathValue("code")
	if err := s.mayChange(r); err != nil {
		return err
	}
	c, err := s.carry(r)(s.timelines.Posts.Delete(r.Context(), r.viewer.AccountID, code))
	if err != nil {
		return err
	}
	back := r.back("/")
	if strings.HasPrefix(back, "/p/"+code) {
		back = "/" // that page is gone
	}
	return s.answerEntry(w, r, c, back)
}
