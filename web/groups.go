package web

import (
	"context"
	"net/http"
	"strings"

	"riverrun/timelines"
)

func (s *Server) routeGroups(mux *http.ServeMux) {
	mux.Handle("GET /groups", s.settled(s.groups))
	mux.Handle("POST /groups", s.members(s.createGroup))
}

// directoryPage is how many accounts a directory shows at once.
const directoryPage = 100

// groupsView is the directory of groups as components see it.
type groupsView struct {
	*present
	mine  []timelines.Account
	all   []timelines.Account
	after string // where this page of the directory begins
	next  string // where the next one does, "" if there is none
	form  groupForm
}

// groupForm is the form for a new group, empty or as it was sent.
type groupForm struct {
	name, title, about string
	access             timelines.Level
	wrong              wrong
}

func (s *Server) groups(w http.ResponseWriter, r *request) error {
	v, err := s.groupsView(r, groupForm{})
	if err != nil {
		return err
	}
	return s.html(w, r, http.StatusOK, groupsPage(v))
}

func (s *Server) groupsView(r *request, form groupForm) (groupsView, error) {
	v := groupsView{present: s.simple(r), form: form, after: r.URL.Query().Get("after")}
	var err error
	if v.all, v.next, err = s.directory(r, timelines.Group, v.after); err != nil {
		return v, err
	}
	if v.sets, err = s.rivers.Access().Sets(r.Context(), r.viewer.AccountID); err != nil {
		return v, err
	}
	if err := s.nameFollows(r, v.present); err != nil {
		return v, err
	}
	v.mine = v.present.groups()
	return v, nil
}

// inDirectory reports whether a list by name can begin after this one.
func inDirectory(after string) bool {
	return strings.Trim(after, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// directory returns one page of the accounts of a kind, by name. What is no name
// is no place in it.
func (s *Server) directory(r *request, kind, after string) (page []timelines.Account, next string, err error) {
	if !inDirectory(after) {
		return nil, "", errNoPage
	}
	page, err = s.timelines.ListAccounts(r.Context(), kind, after, directoryPage+1)
	if err != nil {
		return nil, "", err
	}
	page, next = firstPage(page)
	return page, next, nil
}

// firstPage cuts accounts by name, of which directoryPage+1 were asked for, to a
// page, and says after whom the next one begins, "" if there is none.
func firstPage(list []timelines.Account) (page []timelines.Account, next string) {
	if len(list) <= directoryPage {
		return list, ""
	}
	page = list[:directoryPage]
	return page, page[directoryPage-1].Name
}

func (s *Server) createGroup(w http.ResponseWriter, r *request) error {
	if err := r.ParseForm(); err != nil {
		return malformedForm(err)
	}
	form := groupForm{
		name: r.PostFormValue("name"), title: r.PostFormValue("title"), about: r.PostFormValue("about"),
	}
	var made timelines.Account
	level, err := levelOf(r.PostFormValue("access"))
	if err == nil {
		form.access = level
		_, err = s.act(r, func(ctx context.Context) (c timelines.Change, err error) {
			made, c, err = s.timelines.CreateGroup(ctx, timelines.NewGroup{
				Actor: r.viewer.AccountID, Name: form.name, Title: form.title, About: form.about, Access: form.access,
			})
			return c, err
		})
	}
	if err != nil {
		if form.wrong, err = s.wrongIn(r, err); err != nil {
			return err
		}
		v, err := s.groupsView(r, form)
		if err != nil {
			return err
		}
		return s.again(w, r, form.wrong, groupsPage(v))
	}
	return s.done(w, r, "/"+made.Name)
}

// levelOf reads a level out of a form. It has to be chosen: InvalidError
// "level_unknown".
func levelOf(text string) (timelines.Level, error) {
	level, ok := timelines.ParseLevel(text)
	if !ok {
		return 0, &timelines.InvalidError{Field: "level", Code: "level_unknown"}
	}
	return level, nil
}
