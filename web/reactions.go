package web

import (
	"context"
	"net/http"
	"strconv"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/web/view"
)

// reactions serves likes and saves of posts.
type reactions struct{ *Server }

func (s reactions) routes(mux router) {
	mux.Handle("POST /p/{code}/save", s.members(s.mark(s.timelines.Posts.Fave)))
	mux.Handle("POST /p/{code}/unsave", s.members(s.mark(s.timelines.Posts.Unfave)))
	mux.Handle("POST /p/{code}/fave", s.members(s.mark(s.timelines.Posts.Fave)))     // an old address
	mux.Handle("POST /p/{code}/unfave", s.members(s.mark(s.timelines.Posts.Unfave))) // an old address
	mux.Handle("GET /p/{code}/likes", s.page(s.moreLikes))
	mux.Handle("POST /p/{code}/like", s.members(s.mark(s.timelines.Posts.Like)))
	mux.Handle("POST /p/{code}/unlike", s.members(s.mark(s.timelines.Posts.Unlike)))
}

// moreLikes answers river.js with the line of likes, with that many names. Without river.js
// the address leads to the post's page, which has all the names it can.
func (s reactions) moreLikes(w http.ResponseWriter, r *request) error {
	code := r.PathValue("code")
	if !r.wantsFragment() {
		return redirect(w, r, "/p/"+code)
	}
	shown, err := strconv.Atoi(r.URL.Query().Get("shown"))
	if err != nil || shown < 1 {
		return errBadRequest
	}
	e, err := s.unfolded(r, code)
	if err != nil {
		return err
	}
	html, err := view.Bytes(view.EntryLikes(e, min(shown, rivers.MaxPeople)))
	if err != nil {
		return err
	}
	return writeFragment(w, html)
}

// mark answers a form that needs nothing but the post.
func (s reactions) mark(set func(ctx context.Context, actor int64, code string) (timelines.Change, error)) handler {
	return func(w http.ResponseWriter, r *request) error {
		code := r.PathValue("code")
		if err := s.mayChange(r); err != nil {
			return err
		}
		c, err := s.carry(r)(set(r.Context(), r.viewer.AccountID, code))
		if err != nil {
			return err
		}
		return s.answerEntry(w, r, c, r.back(r.beside(code, "/p/"+code)))
	}
}
