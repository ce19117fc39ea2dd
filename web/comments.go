package web

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/web/view"
)

// comments writes, changes and unfolds comments.
type comments struct{ *Server }

func (s comments) routes(mux router) {
	mux.Handle("GET /p/{code}/comments", s.page(s.moreComments))
	mux.Handle("POST /p/{code}/comments", s.withFiles(s.createComment))
	mux.Handle("GET /p/{code}/comments/{id}/edit", s.members(s.editCommentForm))
	mux.Handle("POST /p/{code}/comments/{id}/edit", s.withFiles(s.editComment))
	mux.Handle("POST /p/{code}/comments/{id}/delete", s.members(s.deleteComment))
	mux.Handle("POST /p/{code}/comments/{id}/like", s.members(s.markComment(s.timelines.Comments.Like)))
	mux.Handle("POST /p/{code}/comments/{id}/unlike", s.members(s.markComment(s.timelines.Comments.Unlike)))
}

// commentsStep is how many comments one step unfolds.
const commentsStep = 50

// moreComments answers river.js with the next comments between two of them. Without
// river.js the address leads to the post's page, which has all.
func (s comments) moreComments(w http.ResponseWriter, r *request) error {
	code := r.PathValue("code")
	if !r.wantsFragment() {
		return redirect(w, r, "/p/"+code)
	}
	var ids [2]int64
	first, second, _ := strings.Cut(r.URL.Query().Get("between"), "-")
	for i, id := range []string{first, second} {
		var err error
		if ids[i], err = strconv.ParseInt(id, 10, 64); err != nil {
			return errors.Join(errBadRequest, err)
		}
	}
	e, err := s.unfolded(r, code)
	if err != nil {
		return err
	}
	shown := e.Item.Fold.Comments.Shown
	after := slices.IndexFunc(shown, func(c rivers.Comment) bool { return c.ID == ids[0] })
	to := slices.IndexFunc(shown, func(c rivers.Comment) bool { return c.ID == ids[1] })
	if after < 0 || to < after {
		return rivers.ErrNotFound // deleted meanwhile: the page is about to hear of it
	}
	e.Rights = e.Special()
	from := max(min(after+1, to), to-commentsStep)
	html, err := view.Bytes(view.CommentStep(e, after, from, to))
	if err != nil {
		return err
	}
	return writeFragment(w, html)
}

// unfolded returns a post with everything on it, as one entry.
func (s *Server) unfolded(r *request, code string) (*view.Entry, error) {
	it, sets, err := s.rivers.Unfold(r.Context(), r.viewer, code)
	if err != nil {
		return nil, err
	}
	it.Full = true
	p, err := s.view.Base(r.Context(), r.viewer, r.loc, rivers.Name{}, sets, []rivers.Item{*it})
	if err != nil {
		return nil, err
	}
	p.PageAddress = localAddress(r.Header.Get("X-River-Page"), "")
	return &view.Entry{Base: p, Item: it}, nil
}

func writeFragment(w http.ResponseWriter, html []byte) error {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "private, no-store")
	_, _ = w.Write(html) // the browser is gone
	return nil
}

func (s comments) createComment(w http.ResponseWriter, r *request) error {
	if r.PostForm.Has(view.KeepField) {
		return unsent(s).save(w, r)
	}
	code := r.PathValue("code")
	comment := timelines.NewComment{
		Author: r.viewer.AccountID, Code: code, Body: r.PostFormValue("body"), Key: r.PostFormValue("key"),
		Files: r.attachments(),
		Draft: r.draft(),
	}
	var c timelines.Change
	err := s.mayChange(r)
	if err == nil {
		err = r.fault()
	}
	if err == nil {
		c, err = s.carry(r)(s.timelines.Comments.Create(r.Context(), comment))
	}
	if err != nil {
		is, err := s.formError(r, err)
		if err != nil {
			return err
		}
		again, err := s.shownAgain(r)
		if err != nil {
			return err
		}
		return s.redisplay(w, r, is, view.CommentAgain(s.simple(r), view.CommentForms{
			Files:   again,
			Address: "/p/" + code + "/comments", Back: r.back("/p/" + code),
			Body: comment.Body, Key: is.Key(comment.Key), Error: is, Place: "/p/" + code, Saved: r.savedAt(),
		}))
	}
	return s.answerEntry(w, r, c, r.back("/p/"+code+"#"+view.CommentID(c.CommentID)))
}

// commentOf reads the comment's id and its post's code from an address.
func commentOf(r *request) (code string, id int64, err error) {
	id, err = strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return "", 0, errNoPage
	}
	return r.PathValue("code"), id, nil
}

// editCommentForm shows a comment to its author, to change it, and to other people who may
// delete it.
func (s comments) editCommentForm(w http.ResponseWriter, r *request) error {
	code, id, err := commentOf(r)
	if err != nil {
		return err
	}
	e, err := s.unfolded(r, code)
	if err != nil {
		return err
	}
	shown := e.Item.Fold.Comments.Shown
	i := slices.IndexFunc(shown, func(c rivers.Comment) bool { return c.ID == id })
	if i < 0 || e.Item.Hides(shown[i].Author) {
		return rivers.ErrNotFound
	}
	e.Rights = e.Special()
	if !e.MayDelete(&shown[i]) {
		return timelines.ErrForbidden
	}
	form := view.Edit{
		Address: "/p/" + code + "/comments/" + strconv.FormatInt(id, 10), Back: "/p/" + code + "#" + view.CommentID(id),
		Body: view.PlainText(shown[i].Body, shown[i].Markup), Comment: true,
	}
	if e.MayEdit(&shown[i]) {
		form.Change = true
		if form.Body, err = s.timelines.Comments.Body(r.Context(), r.viewer.AccountID, code, id); err != nil {
			return err
		}
		if form.Files, err = s.timelines.Files.Of(r.Context(), e.Item.PostID, id); err != nil {
			return err
		}
	}
	keepNoCopy(w, true)
	return s.html(w, r, http.StatusOK, view.EditPage(s.simple(r), form))
}

func (s comments) editComment(w http.ResponseWriter, r *request) error {
	code, id, err := commentOf(r)
	if err != nil {
		return err
	}
	body := r.PostFormValue("body")
	var c timelines.Change
	if err = s.mayChange(r); err == nil {
		err = r.fault()
	}
	switch {
	case err != nil:
	case r.PostForm.Has(filesField):
		c, err = s.carry(r)(s.timelines.Comments.EditFiles(r.Context(), r.viewer.AccountID, code, id, body, r.attachments()))
	default:
		c, err = s.carry(r)(s.timelines.Comments.Edit(r.Context(), r.viewer.AccountID, code, id, body))
	}
	if err != nil {
		is, err := s.formError(r, err)
		if err != nil {
			return err
		}
		again, err := s.shownAgain(r)
		if err != nil {
			return err
		}
		return s.redisplay(w, r, is, view.EditPage(s.simple(r), view.Edit{
			Files:   again,
			Address: "/p/" + code + "/comments/" + strconv.FormatInt(id, 10), Back: r.back("/p/" + code),
			Body: body, Comment: true, Change: true, Error: is,
		}))
	}
	return s.answerEntry(w, r, c, r.back("/p/"+code+"#"+view.CommentID(id)))
}

func (s comments) deleteComment(w http.ResponseWriter, r *request) error {
	code, id, err := commentOf(r)
	if err != nil {
		return err
	}
	if err := s.mayChange(r); err != nil {
		return err
	}
	c, err := s.carry(r)(s.timelines.Comments.Delete(r.Context(), r.viewer.AccountID, code, id))
	if err != nil {
		return err
	}
	return s.answerEntry(w, r, c, r.back("/p/"+code))
}

// markComment answers a form that needs nothing but the comment. Its button is in the part
// that all pages share, so the form cannot name its page; the browser does.
func (s comments) markComment(set func(ctx context.Context, actor int64, code string, id int64) (timelines.Change, error)) handler {
	return func(w http.ResponseWriter, r *request) error {
		code, id, err := commentOf(r)
		if err != nil {
			return err
		}
		if err := s.mayChange(r); err != nil {
			return err
		}
		c, err := s.carry(r)(set(r.Context(), r.viewer.AccountID, code, id))
		if err != nil {
			return err
		}
		return s.answerEntry(w, r, c, r.cameFrom("/p/"+code)+"#"+view.CommentID(id))
	}
}
