package web

import (
	"context"
	"net/http"
	"strings"

	"riverrun/timelines"
)

func (s *Server) routePost(mux *http.ServeMux) {
	mux.Handle("GET /p/{code}", s.page(s.post))
	mux.Handle("GET /p/{code}/edit", s.members(s.editPostForm))
	mux.Handle("POST /p/{code}/edit", s.members(s.editPost))
	mux.Handle("POST /p/{code}/delete", s.members(s.deletePost))
	s.routePlaces(mux)
}

// post is one post with everything on it.
func (s *Server) post(w http.ResponseWriter, r *request) error {
	v, err := s.visit(r)
	if err != nil {
		return err
	}
	e := &entryView{present: v.present, item: &v.page.Items[0]}
	return s.html(w, r, http.StatusOK, postPage(v, e.title()))
}

// title names a post's page: who wrote it, and how it begins. It is part of the
// entry there, so that it follows what is edited.
func (e *entryView) title() string {
	const longest = 60
	line, _, _ := strings.Cut(e.item.Fold.Text.Body, "\n")
	return e.author().Title + ": " + shortText(line, longest)
}

// editView is a form that changes or deletes what was written.
type editView struct {
	address string // without the last segment
	back    string
	body    string
	comment bool
	// change: the text may be changed, not only deleted.
	change bool
	lang   string // chosen, "" automatic; of a post
	wrong  wrong
	// places are where the post stands, to be changed; nil: not a post. was is how they
	// are when the form is opened, as it spells them.
	places *composer
	was    string
}

func (s *Server) editPostForm(w http.ResponseWriter, r *request) error {
	return s.editPostPage(w, r, wrong{})
}

// editPost changes what a post says and where it stands. A form need not ask for
// all of it: what it does not name stays.
func (s *Server) editPost(w http.ResponseWriter, r *request) error {
	if err := r.ParseForm(); err != nil {
		return malformedForm(err)
	}
	code, body, lang := r.PathValue("code"), r.PostFormValue("body"), r.PostFormValue("language")
	to := destinationsOf(r.PostForm["to"])
	c, err := s.act(r, func(ctx context.Context) (timelines.Change, error) {
		switch moves := r.moves(to); {
		case moves && !r.PostForm.Has("body"):
			return s.timelines.SetDestinations(ctx, r.viewer.AccountID, code, to)
		case moves:
			return s.timelines.EditPostAt(ctx, r.viewer.AccountID, code, body, lang, to)
		case !r.PostForm.Has("language"):
			return s.timelines.EditPost(ctx, r.viewer.AccountID, code, body)
		}
		return s.timelines.EditPostIn(ctx, r.viewer.AccountID, code, body, lang)
	})
	if err != nil {
		is, err := s.wrongIn(r, err)
		if err != nil {
			return err
		}
		return s.editPostPage(w, r, is)
	}
	return s.answerEntry(w, r, c, r.back("/p/"+code))
}

func (s *Server) deletePost(w http.ResponseWriter, r *request) error {
	if err := r.ParseForm(); err != nil {
		return malformedForm(err)
	}
	code := r.PathValue("code")
	c, err := s.act(r, func(ctx context.Context) (timelines.Change, error) {
		return s.timelines.DeletePost(ctx, r.viewer.AccountID, code)
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

func (e editView) title(loc *locale) string {
	switch {
	case !e.change:
		return e.deleteTitle(loc)
	case e.comment:
		return loc.T("edit.comment.title")
	}
	return loc.T("edit.post.title")
}

func (e editView) label(loc *locale) string {
	if e.comment {
		return loc.T("comment.body")
	}
	return loc.T("compose.body")
}

func (e editView) longest() string {
	if e.comment {
		return "20000"
	}
	return "100000"
}

func (e editView) deleteTitle(loc *locale) string {
	if e.comment {
		return loc.T("delete.comment.title")
	}
	return loc.T("delete.post.title")
}

func (e editView) deleteSure(loc *locale) string {
	if e.comment {
		return loc.T("delete.comment.sure")
	}
	return loc.T("delete.post.sure")
}
