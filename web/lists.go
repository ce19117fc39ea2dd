package web

import (
	"context"
	"net/http"
	"slices"

	"riverrun/rivers"
	"riverrun/timelines"
)

func (s *Server) routeLists(mux *http.ServeMux) {
	mux.Handle("GET /lists", s.members(s.lists))
	mux.Handle("POST /lists", s.members(s.createList))
	mux.Handle("GET /lists/{slug}", s.page(s.list))
	mux.Handle("GET /lists/{slug}/edit", s.members(s.editListPage))
	mux.Handle("POST /lists/{slug}/edit", s.members(s.editList))
	mux.Handle("POST /lists/{slug}/delete", s.members(s.deleteList))
}

// shownLists is how many lists stand in the navigation of every page.
const shownLists = 12

func listPath(l timelines.List) string { return "/lists/" + l.Slug }

// listsView is the viewer's lists as components see them.
type listsView struct {
	*present
	title string // of the new one, as it was sent
	wrong wrong
}

func (s *Server) lists(w http.ResponseWriter, r *request) error {
	return s.html(w, r, http.StatusOK, listsPage(listsView{present: s.simple(r)}))
}

// createList makes a list and leads to where its members are chosen.
func (s *Server) createList(w http.ResponseWriter, r *request) error {
	if err := r.ParseForm(); err != nil {
		return malformedForm(err)
	}
	title := r.PostFormValue("title")
	var made timelines.List
	_, err := s.act(r, func(ctx context.Context) (c timelines.Change, err error) {
		made, c, err = s.timelines.CreateList(ctx, timelines.NewList{Actor: r.viewer.AccountID, Title: title})
		return c, err
	})
	if err != nil {
		is, err := s.wrongIn(r, err)
		if err != nil {
			return err
		}
		return s.again(w, r, is, listsPage(listsView{present: s.simple(r), title: title, wrong: is}))
	}
	return s.done(w, r, listPath(made)+"/edit")
}

// listView is a list's page as components see it.
type listView struct {
	*riverView
	list timelines.List
}

// list is the page of one of the viewer's lists.
func (s *Server) list(w http.ResponseWriter, r *request) error {
	v, err := s.visit(r)
	if err != nil {
		return err
	}
	l, ok := v.page.Sets.List(r.PathValue("slug"))
	if !ok {
		return rivers.ErrNotFound // gone since
	}
	return s.html(w, r, http.StatusOK, listPage(listView{riverView: v, list: l}))
}

// listEdit is the form of a list, as it stands or as it was sent.
type listEdit struct {
	*present
	list   timelines.List
	title  string
	chosen []string // names
	wrong  wrong
}

func (e listEdit) includes(a timelines.Account) bool { return slices.Contains(e.chosen, a.Name) }

func (s *Server) editListPage(w http.ResponseWriter, r *request) error {
	e, err := s.listEdit(r)
	if err != nil {
		return err
	}
	return s.html(w, r, http.StatusOK, editListPage(e))
}

// listEdit returns the form of the address's list as it stands.
func (s *Server) listEdit(r *request) (listEdit, error) {
	e := listEdit{present: s.simple(r)}
	var ok bool
	if e.list, ok = e.sets.List(r.PathValue("slug")); !ok {
		return e, errNoPage
	}
	if err := s.nameFollows(r, e.present); err != nil {
		return e, err
	}
	e.title = e.list.Title
	for _, id := range e.list.Members {
		e.chosen = append(e.chosen, e.account(id).Name)
	}
	return e, nil
}

func (s *Server) editList(w http.ResponseWriter, r *request) error {
	if err := r.ParseForm(); err != nil {
		return malformedForm(err)
	}
	slug, title, members := r.PathValue("slug"), r.PostFormValue("title"), r.PostForm["member"]
	_, err := s.act(r, func(ctx context.Context) (timelines.Change, error) {
		return s.timelines.EditList(ctx, r.viewer.AccountID, slug, title, members)
	})
	if err != nil {
		is, err := s.wrongIn(r, err)
		if err != nil {
			return err
		}
		e, err := s.listEdit(r)
		if err != nil {
			return err
		}
		e.title, e.chosen, e.wrong = title, members, is
		return s.again(w, r, is, editListPage(e))
	}
	return s.done(w, r, "/lists/"+slug)
}

func (s *Server) deleteList(w http.ResponseWriter, r *request) error {
	_, err := s.act(r, func(ctx context.Context) (timelines.Change, error) {
		return s.timelines.DeleteList(ctx, r.viewer.AccountID, r.PathValue("slug"))
	})
	if err != nil {
		return err
	}
	return s.done(w, r, "/lists")
}

// place says where what the account of the address posts is brought to the
// viewer.
func (s *Server) place(w http.ResponseWriter, r *request) error {
	name := r.PathValue("name")
	_, err := s.act(r, func(ctx context.Context) (timelines.Change, error) {
		return s.timelines.Place(ctx, r.viewer.AccountID, name, r.PostForm.Has("home"), r.PostForm["list"])
	})
	if err != nil {
		return err
	}
	return s.done(w, r, r.back("/"+name))
}

// apart reports whether the account is kept out of the viewer's home feed.
func (p *present) apart(id int64) bool { _, ok := p.sets.OutOfHome[id]; return ok }

// placed says where the account's posts are brought to the viewer.
func (v accountView) placed() []string {
	var where []string
	if !v.apart(v.who.ID) {
		where = append(where, v.loc.T("nav.home"))
	}
	for _, l := range v.sets.Lists {
		if l.Includes(v.who.ID) {
			where = append(where, l.Title)
		}
	}
	if len(where) == 0 {
		where = append(where, v.loc.T("account.place.nowhere"))
	}
	return where
}
