package web

import (
	"net/http"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/web/view"
)

// lists serves a person's own lists of accounts that they follow.
type lists struct{ *Server }

func (s lists) routes(mux router) {
	mux.Handle("GET /lists", s.members(s.lists))
	mux.Handle("POST /lists", s.members(s.createList))
	mux.Handle("GET /lists/{slug}", s.page(s.list))
	mux.Handle("GET /lists/{slug}/edit", s.members(s.editListPage))
	mux.Handle("POST /lists/{slug}/edit", s.members(s.editList))
	mux.Handle("POST /lists/{slug}/delete", s.members(s.deleteList))
}

func (s lists) lists(w http.ResponseWriter, r *request) error {
	return s.html(w, r, http.StatusOK, view.ListsPage(view.Lists{Base: s.simple(r)}))
}

// createList makes a list and leads to the page on which its members are chosen.
func (s lists) createList(w http.ResponseWriter, r *request) error {
	title := r.PostFormValue("title")
	var made timelines.List
	err := s.mayChange(r)
	if err == nil {
		var c timelines.Change
		made, c, err = s.timelines.Lists.Create(r.Context(), timelines.NewList{Actor: r.viewer.AccountID, Title: title})
		_, err = s.carry(r)(c, err)
	}
	if err != nil {
		is, err := s.formError(r, err)
		if err != nil {
			return err
		}
		return s.redisplay(w, r, is, view.ListsPage(view.Lists{Base: s.simple(r), Title: title, Error: is}))
	}
	return s.done(w, r, view.ListPath(made)+"/edit")
}

// list is the page of one of the viewer's lists.
func (s lists) list(w http.ResponseWriter, r *request) error {
	v, err := s.visit(r)
	if err != nil {
		return err
	}
	l, ok := v.Page.Sets.List(r.PathValue("slug"))
	if !ok {
		return rivers.ErrNotFound // gone since
	}
	return s.html(w, r, http.StatusOK, view.ListPage(view.List{River: v, List: l}))
}

func (s lists) editListPage(w http.ResponseWriter, r *request) error {
	e, err := s.listEdit(r)
	if err != nil {
		return err
	}
	return s.html(w, r, http.StatusOK, view.EditListPage(e))
}

// listEdit returns the form of the address's list as it stands.
func (s lists) listEdit(r *request) (view.ListEdit, error) {
	e := view.ListEdit{Base: s.simple(r)}
	var ok bool
	if e.List, ok = e.Sets.List(r.PathValue("slug")); !ok {
		return e, errNoPage
	}
	if err := s.nameFollows(r, e.Base); err != nil {
		return e, err
	}
	e.Title = e.List.Title
	for _, id := range e.List.Members {
		e.Chosen = append(e.Chosen, e.Account(id).Name)
	}
	return e, nil
}

func (s lists) editList(w http.ResponseWriter, r *request) error {
	slug, title, members := r.PathValue("slug"), r.PostFormValue("title"), r.PostForm["member"]
	err := s.mayChange(r)
	if err == nil {
		_, err = s.carry(r)(s.timelines.Lists.Edit(r.Context(), r.viewer.AccountID, slug, title, members))
	}
	if err != nil {
		is, err := s.formError(r, err)
		if err != nil {
			return err
		}
		e, err := s.listEdit(r)
		if err != nil {
			return err
		}
		e.Title, e.Chosen, e.Error = title, members, is
		return s.redisplay(w, r, is, view.EditListPage(e))
	}
	return s.done(w, r, "/lists/"+slug)
}

func (s lists) deleteList(w http.ResponseWriter, r *request) error {
	if err := s.mayChange(r); err != nil {
		return err
	}
	_, err := s.carry(r)(s.timelines.Lists.Delete(r.Context(), r.viewer.AccountID, r.PathValue("slug")))
	if err != nil {
		return err
	}
	return s.done(w, r, "/lists")
}

// place sets where the viewer reads the account of the address: in the home page and in
// which lists.
func (s lists) place(w http.ResponseWriter, r *request) error {
	name := r.PathValue("name")
	if err := s.mayChange(r); err != nil {
		return err
	}
	_, err := s.carry(r)(s.timelines.Lists.Place(r.Context(), r.viewer.AccountID, name, r.PostForm.Has("home"), r.PostForm["list"]))
	if err != nil {
		return err
	}
	return s.done(w, r, r.back("/"+name))
}
