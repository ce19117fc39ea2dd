package web

import (
	"context"
	"net/http"
	"strings"

	"riverrun/timelines"
	"riverrun/web/view"
)

// post is one post with everything on it.
func (s posts) post(w http.ResponseWriter, r *request) error {
	v, err := s.visit(r)
	if err != nil {
		return err
	}
	e := &view.Entry{Base: v.Base, Item: &v.Page.Items[0]}
	if err := s.html(w, r, http.StatusOK, view.PostPage(v, e.Title())); err != nil {
		return err
	}
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
	code, body, to := r.PathValue("code"), r.PostFormValue("body"), destinationsOf(r.PostForm["to"])
	var lang *string
	if r.PostForm.Has("language") {
		chosen := r.PostFormValue("language")
		lang = &chosen
	}
	c, err := s.act(r, func(ctx context.Context) (timelines.Change, error) {
		switch moves := r.moves(to); {
		case moves && !r.PostForm.Has("body"):
			return s.timelines.Posts.SetDestinations(ctx, r.viewer.AccountID, code, to)
		case moves:
			return s.timelines.Posts.EditAt(ctx, r.viewer.AccountID, code, body, lang, to)
		case lang == nil:
			return s.timelines.Posts.Edit(ctx, r.viewer.AccountID, code, body)
		}
		return s.timelines.Posts.EditIn(ctx, r.viewer.AccountID, code, body, *lang)
	})
	if err != nil {
		is, err := s.formError(r, err)
		if err != nil {
			return err
		}
		return s.editPostPage(w, r, is)
	}
	return s.answerEntry(w, r, c, r.back("/p/"+code))
}

func (s posts) deletePost(w http.ResponseWriter, r *request) error {
	code := r.PathValue("code")
	c, err := s.act(r, func(ctx context.Context) (timelines.Change, error) {
		return s.timelines.Posts.Delete(ctx, r.viewer.AccountID, code)
	})
	if err != nil {
		return err
	}
	back := r.back("/")
	if strings.HasPrefix(back, "/p/"+code) {
		back = "/" // that page is gone
	}
	return s.answerEntry(w, r, c, back)
}
