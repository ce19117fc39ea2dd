package web

import (
	"net/http"
	"strings"

	"riverrun/timelines"
	"riverrun/timelines/snapshot"
	"riverrun/web/view"
)

// groups lists groups and lets their administrators run them.
type groups struct{ *Server }

func (s groups) routes(mux router) {
	mux.Handle("GET /groups", s.freshAccess(s.groups))
	mux.Handle("POST /groups", s.members(s.createGroup))
}

func (s groups) groups(w http.ResponseWriter, r *request) error {
	v, err := s.groupsView(r, view.GroupForm{})
	if err != nil {
		return err
	}
	return s.html(w, r, http.StatusOK, view.GroupsPage(v))
}

func (s groups) groupsView(r *request, form view.GroupForm) (view.Groups, error) {
	v := view.Groups{Base: s.simple(r), Form: form, Gone: r.URL.Query().Has("gone")}
	var err error
	if v.Directory, err = s.directory(r, timelines.Group); err != nil {
		return v, err
	}
	if v.Sets, err = s.rivers.Access().Sets(r.Context(), r.viewer.AccountID); err != nil {
		return v, err
	}
	if err := s.nameFollows(r, v.Base); err != nil {
		return v, err
	}
	v.Mine = v.Base.Groups()
	return v, nil
}

// inDirectory reports whether a list by name can begin after this one.
func inDirectory(after string) bool {
	return strings.Trim(after, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// directory returns one page of the accounts of a kind: those that the request asks for in
// "q", or all by title, after the account of the name in "after". A text that is no name is
// errNoPage.
func (s *Server) directory(r *request, kind string) (d view.Directory, err error) {
	asked := r.URL.Query()
	d.Query, d.After = strings.TrimSpace(asked.Get("q")), asked.Get("after")
	if !inDirectory(d.After) {
		return d, errNoPage
	}
	if d.Query == "" {
		found, err := s.timelines.Accounts.Directory(r.Context(), kind, d.After, view.DirectoryPage+1)
		if err != nil {
			return d, err
		}
		d.All, d.Next = view.FirstPage(found)
		return d, nil
	}
	q, problem := snapshot.ParseQuery(d.Query)
	if problem != "" {
		// Some of the text may not be valid, and cannot be shown again.
		d.Query = strings.ToValidUTF8(strings.ReplaceAll(d.Query, "\x00", ""), "")
		d.Error = r.loc.T("invalid." + problem)
		return d, nil
	}
	d.All, err = s.timelines.Accounts.Find(r.Context(), kind, q, view.DirectoryPage)
	return d, err
}

func (s groups) createGroup(w http.ResponseWriter, r *request) error {
	form := view.GroupForm{
		Name: r.PostFormValue("name"), Title: r.PostFormValue("title"), About: r.PostFormValue("about"),
	}
	var made timelines.Account
	level, err := view.LevelOf(r.PostFormValue("access"))
	if err == nil {
		form.Access = level
		if err = s.mayChange(r); err == nil {
			var c timelines.Change
			made, c, err = s.timelines.Groups.Create(r.Context(), timelines.NewGroup{
				Actor: r.viewer.AccountID, Name: form.Name, Title: form.Title, About: form.About, Access: form.Access,
			})
			_, err = s.carry(r)(c, err)
		}
	}
	if err != nil {
		if form.Error, err = s.formError(r, err); err != nil {
			return err
		}
		v, err := s.groupsView(r, form)
		if err != nil {
			return err
		}
		return s.redisplay(w, r, form.Error, view.GroupsPage(v))
	}
	return s.done(w, r, "/"+made.Name)
}
