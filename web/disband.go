package web

import (
	"net/http"
	"strings"

	"riverrun/timelines"
	"riverrun/timelines/admin"
	"riverrun/web/view"
)

// deleteForm asks an administrator of a group for its name. A person may have a sub-feed of that slug
// from before it was reserved.
func (s groups) deleteForm(w http.ResponseWriter, r *request) error {
	a, err := s.rivers.Access().AccountNamed(r.Context(), r.PathValue("name"))
	if err != nil {
		return err
	}
	if a.Kind == timelines.User {
		return accounts(s).account(w, r)
	}
	v, err := s.disbandView(r)
	if err != nil {
		return err
	}
	if v.Within, err = s.leaving.Within(r.Context(), v.Who.ID); err != nil {
		return err
	}
	return s.html(w, r, http.StatusOK, view.DisbandPage(v))
}

// disbandView reads the group of the address for the viewer, who must administer it or the site.
func (s groups) disbandView(r *request) (v view.Disband, err error) {
	v.Base = s.simple(r)
	if v.Who, err = s.group(r); err != nil {
		return v, err
	}
	if !r.signedIn() {
		return v, errSignIn
	}
	if v.Sets, err = s.rivers.Access().Sets(r.Context(), r.viewer.AccountID); err != nil {
		return v, err
	}
	if !v.Administers(v.Who.ID) && v.Sets.Role != admin.Administrator {
		return v, timelines.ErrForbidden
	}
	return v, nil
}

// deleteGroup deletes a group, after its name was typed once more. Somebody who administers the site,
// and not the group, also says why.
func (s groups) deleteGroup(w http.ResponseWriter, r *request) error {
	v, err := s.disbandView(r)
	if err != nil {
		return err
	}
	v.Confirm, v.Reason = r.PostFormValue("confirm"), r.PostFormValue("leave_reason")
	confirm := strings.ToLower(strings.TrimPrefix(strings.TrimSpace(v.Confirm), "@"))
	err = s.mayChange(r)
	switch {
	case err != nil:
	case v.Administers(v.Who.ID):
		_, err = s.carry(r)(s.leaving.Disband(r.Context(), r.viewer.AccountID, v.Who.Name, confirm))
	default:
		_, err = s.carry(r)(s.leaving.DeleteGroup(r.Context(), admin.By{AccountID: r.viewer.AccountID}, v.Who.Name, confirm, v.Reason))
	}
	if err == nil {
		return s.done(w, r, "/groups?gone")
	}
	is, err := s.formError(r, err)
	if err != nil {
		return err
	}
	if v.Within, err = s.leaving.Within(r.Context(), v.Who.ID); err != nil {
		return err
	}
	v.Error = is
	return s.redisplay(w, r, is, view.DisbandPage(v))
}
