package web

import (
	"context"
	"net/http"

	"riverrun/timelines"
	"riverrun/web/view"
)

func (s groups) manageGroup(w http.ResponseWriter, r *request) error {
	v, err := s.manageView(r, r.PathValue("name"))
	if err != nil {
		return err
	}
	v.Saved = r.URL.Query().Has("saved")
	return s.html(w, r, http.StatusOK, view.ManagePage(v))
}

// led begins a page about the group of a name for the viewer, who must administer it.
func (s *Server) led(r *request, group string) (p *view.Base, g timelines.Account, err error) {
	p = s.simple(r)
	if g, err = s.rivers.Access().AccountNamed(r.Context(), group); err != nil {
		return p, g, err
	}
	if g.Kind != timelines.Group {
		return p, g, timelines.ErrNotFound
	}
	if !r.signedIn() {
		return p, g, errSignIn
	}
	if p.Sets, err = s.rivers.Access().Sets(r.Context(), r.viewer.AccountID); err != nil {
		return p, g, err
	}
	if !p.Administers(g.ID) {
		return p, g, timelines.ErrForbidden
	}
	return p, g, nil
}

// manageView reads a group's page for the viewer, who must administer it.
func (s groups) manageView(r *request, group string) (v view.Manage, err error) {
	if v.Base, v.Who, err = s.led(r, group); err != nil {
		return v, err
	}
	v.Profile = r.profileForm(v.Who)
	if v.Waiting, err = s.timelines.Posts.CountWaiting(r.Context(), r.viewer.AccountID, v.Who.ID); err != nil {
		return v, err
	}
	if v.Requests, err = s.requests(r, view.ManagePath(v.Who.Name), v.Who.ID); err != nil {
		return v, err
	}
	return v, s.managedLists(r, &v)
}

// managedLists reads the lists of people. Readers are shown at levels where they count, and
// exclusions wherever there are any, since they keep people from joining at every level.
func (s groups) managedLists(r *request, v *view.Manage) error {
	read := func(l view.ManagedList, of func(context.Context, int64, string, int) ([]timelines.Account, error)) (view.ManagedList, error) {
		var err error
		if l.ListPart, err = partOf(r, l.Path, l.List); err != nil {
			return l, err
		}
		list, err := of(r.Context(), v.Who.ID, l.After, view.DirectoryPage+1)
		l.People = l.Cut(list)
		return l, err
	}
	if v.Who.Access == timelines.Private {
		admitted, err := read(v.Admitted(), s.timelines.Groups.Admitted)
		if err != nil {
			return err
		}
		v.Readers = append(v.Readers, admitted)
	}
	excluded, err := read(v.Excluded(), s.timelines.Groups.Excluded)
	if err != nil {
		return err
	}
	if v.Who.Access == timelines.Protected || len(excluded.People) > 0 {
		v.Readers = append(v.Readers, excluded)
	}
	v.Blocked, err = read(v.Unheard(), s.timelines.Groups.Blocked)
	return err
}

// setGroup changes a group's picture, title and description.
func (s groups) setGroup(w http.ResponseWriter, r *request) error {
	group := r.PathValue("name")
	who, err := s.rivers.Access().AccountNamed(r.Context(), group)
	if err != nil {
		return err
	}
	form := r.profileForm(who)
	err = s.saveProfile(r, s.pictureOf, func(ctx context.Context) (timelines.Change, error) {
		return s.timelines.Groups.SetProfile(ctx, r.viewer.AccountID, group, form.Title, form.About)
	})
	if err != nil {
		return s.manageAgain(w, r, group, err, func(*view.Manage) {})
	}
	return s.profileSaved(w, r, view.ManagePath(group))
}

// manageAgain shows a group's page with the error of one of its forms.
func (s groups) manageAgain(w http.ResponseWriter, r *request, group string, err error, asSent func(*view.Manage)) error {
	is, err := s.formError(r, err)
	if err != nil {
		return err
	}
	v, err := s.manageView(r, group)
	if err != nil {
		return err
	}
	v.Error, v.Profile.Error = is, is
	asSent(&v)
	return s.redisplay(w, r, is, view.ManagePage(v))
}
