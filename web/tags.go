package web

import (
	"net/http"

	"riverrun/timelines"
	"riverrun/timelines/sources/dictionary"
	"riverrun/web/view"
)

// tagWords serves the pages on which people, and administrators of groups, say which words give a
// post which tags.
type tagWords struct{ *Server }

func (s tagWords) routes(mux router) {
	mux.Handle("GET "+view.OwnTagsPath, s.members(s.own(s.page)))
	mux.Handle("POST "+view.OwnTagsPath, s.members(s.own(s.save)))
	mux.Handle("POST /{name}/tags", s.members(s.group(s.save)))
}

// own gives a handler the viewer, and group a group that the viewer administers.
func (s tagWords) own(h func(http.ResponseWriter, *request, view.Tags) error) handler {
	return func(w http.ResponseWriter, r *request) error {
		return h(w, r, view.Tags{Base: s.simple(r), Who: r.me})
	}
}

func (s tagWords) group(h func(http.ResponseWriter, *request, view.Tags) error) handler {
	return func(w http.ResponseWriter, r *request) error {
		who, err := s.rivers.Access().AccountNamed(r.Context(), r.PathValue("name"))
		switch {
		case err != nil:
			return err
		case who.Kind != timelines.Group:
			return errNoPage
		case r.viewer.Anonymous():
			return errSignIn
		}
		v := view.Tags{Base: s.simple(r), Who: who}
		if v.Sets, err = s.rivers.Access().Sets(r.Context(), r.viewer.AccountID); err != nil {
			return err
		}
		if !v.Administers(who.ID) {
			return timelines.ErrForbidden
		}
		return h(w, r, v)
	}
}

func (s tagWords) page(w http.ResponseWriter, r *request, v view.Tags) error {
	entries, err := s.dictionary.Read(r.Context(), r.viewer.AccountID, v.Who.Name)
	if err != nil {
		return err
	}
	v.Words, v.Saved = dictionary.Format(entries), r.URL.Query().Has("saved")
	return s.html(w, r, http.StatusOK, view.TagsPage(v))
}

func (s tagWords) save(w http.ResponseWriter, r *request, v view.Tags) error {
	v.Words = r.PostFormValue("words")
	entries, err := dictionary.Parse(v.Words)
	if err == nil {
		err = s.dictionary.Write(r.Context(), r.viewer.AccountID, v.Who.Name, entries)
	}
	if err != nil {
		if v.Error, err = s.formError(r, err); err != nil {
			return err
		}
		return s.redisplay(w, r, v.Error, view.TagsPage(v))
	}
	return s.done(w, r, v.Path()+"?saved")
}
