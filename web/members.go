package web

import (
	"context"
	"net/http"
	"strings"

	"riverrun/timelines"
	"riverrun/web/view"
)

// groupMembers lists the members of a group, for everybody who may open it.
func (s groups) groupMembers(w http.ResponseWriter, r *request) error {
	return s.showMembers(w, r, r.URL.Query().Get("after"), view.FormError{})
}

// showMembers shows the page of members, with the error of one of its forms.
func (s groups) showMembers(w http.ResponseWriter, r *request, after string, is view.FormError) error {
	ctx := r.Context()
	if !inDirectory(after) {
		return errNoPage
	}
	v := view.Members{Base: s.simple(r), After: after, Error: is}
	var err error
	if v.Who, err = s.group(r); err != nil {
		return err
	}
	if v.Sets, err = s.rivers.Access().Sets(ctx, r.viewer.AccountID); err != nil {
		return err
	}
	if !v.Sets.Reads(v.Who.FeedID, v.Who.Access) {
		return s.closedAccount(w, r, v.Who, "")
	}
	if v.Leads, err = partOf(r, v.Path(), "admins"); err != nil {
		return err
	}
	admins, err := s.timelines.Groups.Administrators(ctx, v.Who.ID, v.Leads.After, view.DirectoryPage+1)
	if err != nil {
		return err
	}
	v.Admins = v.Leads.Cut(admins)
	if v.Count, err = s.rivers.Access().MemberCount(ctx, v.Who.ID); err != nil {
		return err
	}
	if v.All, err = s.timelines.Groups.Members(ctx, v.Who.ID, after, view.DirectoryPage+1); err != nil {
		return err
	}
	if len(v.All) > view.DirectoryPage {
		v.All = v.All[:view.DirectoryPage]
		v.Next = v.All[view.DirectoryPage-1].Name
	}
	if is.Text != "" {
		return s.redisplay(w, r, is, view.MembersPage(v))
	}
	return s.html(w, r, http.StatusOK, view.MembersPage(v))
}

// group returns the group of the address with its present level, or
// timelines.ErrNotFound.
func (s groups) group(r *request) (timelines.Account, error) {
	a, err := s.rivers.Access().AccountNamed(r.Context(), r.PathValue("name"))
	if err == nil && a.Kind != timelines.Group {
		err = timelines.ErrNotFound
	}
	return a, err
}

// moderate makes an administrator's change to the person that the form names, in the group
// of the address. The form is on the page of members or on the administrators' page.
func (s groups) moderate(do func(ctx context.Context, actor int64, group, name string) (timelines.Change, error)) handler {
	return func(w http.ResponseWriter, r *request) error {
		group := r.PathValue("name")
		var name string
		if names := destinationsOf(r.PostForm["name"]); len(names) > 0 {
			name = names[0] // typed as people type names, with @ and capitals
		}
		err := s.mayChange(r)
		if err == nil {
			_, err = s.carry(r)(do(r.Context(), r.viewer.AccountID, group, name))
		}
		back := r.back("/" + group + "/members")
		if err == nil {
			return s.done(w, r, back)
		}
		if path, _, _ := strings.Cut(back, "?"); path == view.ManagePath(group) {
			return s.manageAgain(w, r, group, err, func(v *view.Manage) {
				v.Act, v.Name = r.PathValue("act"), r.PostFormValue("name")
			})
		}
		is, err := s.formError(r, err)
		if err != nil {
			return err
		}
		return s.showMembers(w, r, "", is)
	}
}
