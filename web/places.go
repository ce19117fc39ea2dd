package web

import (
	"net/http"
	"slices"
	"strings"

	"riverrun/rivers"
	"riverrun/timelines/kinds"
	"riverrun/web/view"
)

// moves reports whether the form changes the post's destinations: whether it asks for others
// than those it was opened with. If its sender did not touch that part, the destinations stay
// as somebody else may have changed them since.
func (r *request) moves(to []string) bool {
	if !r.PostForm.Has("to") {
		return false
	}
	was := destinationsOf(r.PostForm["was"])
	slices.Sort(was)
	return !r.PostForm.Has("was") || !slices.Equal(was, slices.Sorted(slices.Values(to)))
}

// editPostPage is the page that changes a post. It shows the post as it is or, if the form
// had an error, as it was sent.
func (s posts) editPostPage(w http.ResponseWriter, r *request, is view.FormError) error {
	ctx, me, code := r.Context(), r.viewer.AccountID, r.PathValue("code")
	p := s.simple(r)
	var err error
	if p.Sets, err = s.rivers.Access().Sets(ctx, me); err != nil {
		return err
	}
	if err := s.nameFollows(r, p); err != nil {
		return err
	}
	e := view.Edit{Address: "/p/" + code, Back: r.back("/p/" + code), Change: true, Places: &view.Composer{}, Error: is}
	to, err := s.timelines.Posts.Destinations(ctx, me, code)
	if err != nil {
		return err
	}
	if e.Was = strings.Join(to, " "); r.PostForm.Has("was") {
		e.Was = r.PostForm.Get("was")
	}
	if r.PostForm.Has("to") {
		to = destinationsOf(r.PostForm["to"])
	}
	if err := s.choose(r, p, e.Places, to); err != nil {
		return err
	}
	if r.PostForm.Has(filesField) {
		e.Files, err = s.shownAgain(r)
	} else {
		e.Files, err = s.filesOf(ctx, code)
	}
	if err != nil {
		return err
	}
	if e.Listing = r.listing(); e.Listing == nil {
		if e.Listing, err = s.listingOf(ctx, me, code); err != nil {
			return err
		}
	}
	if r.PostForm.Has("body") {
		e.Body, e.Lang = r.PostForm.Get("body"), r.PostForm.Get("language")
	} else {
		if e.Body, err = s.timelines.Posts.Body(ctx, me, code); err != nil {
			return err
		}
		if e.Lang, err = s.timelines.Posts.Language(ctx, me, code); err != nil {
			return err
		}
	}
	if is.Text != "" {
		return s.redisplay(w, r, is, view.EditPage(p, e))
	}
	keepNoCopy(w, true)
	return s.html(w, r, http.StatusOK, view.EditPage(p, e))
}

// removeForm asks an administrator of a group whether another person's post is to leave it.
func (s posts) removeForm(w http.ResponseWriter, r *request) error {
	code := r.PathValue("code")
	e, err := s.unfolded(r, code)
	if err != nil {
		return err
	}
	v := view.Removal{Base: s.simple(r), Code: code, Text: view.ShortText(view.PlainText(e.Item.Fold.Text.Body, e.Item.Fold.Text.Markup), 300)}
	for _, t := range e.Item.To {
		if t.Kind == kinds.Group && e.Administers(t.TheirID) {
			v.Groups = append(v.Groups, e.Account(t.TheirID))
		}
	}
	if len(v.Groups) == 0 {
		return rivers.ErrForbidden
	}
	return s.html(w, r, http.StatusOK, view.RemovePage(v))
}

// removeFromGroup leads to the group: the post's own page may be closed to the
// viewer from now on.
func (s posts) removeFromGroup(w http.ResponseWriter, r *request) error {
	group := r.PostFormValue("group")
	if err := s.mayChange(r); err != nil {
		return err
	}
	c, err := s.carry(r)(s.timelines.Posts.RemoveFromGroup(r.Context(), r.viewer.AccountID, r.PathValue("code"), group))
	if err != nil {
		return err
	}
	return s.answerEntry(w, r, c, "/"+group)
}
