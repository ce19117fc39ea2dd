package web

import (
	"net/http"
	"strconv"
	"strings"

	"riverrun/timelines"
	"riverrun/timelines/admin"
	"riverrun/timelines/site"
	"riverrun/web/view"
)

// invitations serves the viewer's own invitations.
type invitations struct{ *Server }

func (s invitations) routes(mux router) {
	mux.Handle("GET "+view.InvitationsPath, s.members(s.list))
	mux.Handle("POST "+view.InvitationsPath, s.members(s.invite))
	mux.Handle("POST "+view.InvitationsPath+"/withdraw", s.members(s.withdraw))
}

// invitationsShown is how many invitations a page has.
const invitationsShown = 50

func (s invitations) page(r *request) (v view.Invitations, err error) {
	ctx := r.Context()
	v = view.Invitations{
		Base: s.simple(r), Site: strings.TrimSuffix(s.url.String(), "/"), Action: view.InvitationsPath, Form: view.NewInvitationForm(),
	}
	door, err := s.rivers.Access().Door(ctx)
	if err != nil {
		return v, err
	}
	staff := r.sets.Staff()
	v.Closed, v.Many, v.Alone = door == site.Closed, staff, staff || door != site.ByApproval
	if v.Groups, err = s.timelines.Accounts.ByID(ctx, r.sets.Administers); err != nil {
		return v, err
	}
	before, err := strconv.ParseInt(r.URL.Query().Get("before"), 10, 64)
	if err != nil || before < 0 {
		before = 0 // the newest
	}
	if v.All, err = s.doors.Invitations(ctx, r.viewer.AccountID, before, invitationsShown+1); err != nil {
		return v, err
	}
	if len(v.All) > invitationsShown {
		v.All = v.All[:invitationsShown]
		v.Next = view.InvitationsPath + "?before=" + strconv.FormatInt(v.All[invitationsShown-1].ID, 10)
	}
	return v, nil
}

func (s invitations) list(w http.ResponseWriter, r *request) error {
	v, err := s.page(r)
	if err != nil {
		return err
	}
	switch r.URL.Query().Get("done") {
	case "made":
		v.Saved = r.loc.T("invitations.made")
	case "withdrawn":
		v.Saved = r.loc.T("invitation.withdrawn")
	}
	return s.html(w, r, http.StatusOK, view.InvitationsPage(v, "/settings"))
}

// carryOwn carries a change that shows on no page but the viewer's own.
func (s invitations) carryOwn(r *request, err error) error {
	_, err = s.carry(r)(timelines.Change{Actor: r.viewer.AccountID}, err)
	return err
}

func (s invitations) invite(w http.ResponseWriter, r *request) error {
	form, n := view.SentInvitation(r.PostForm)
	err := s.mayChange(r)
	if err == nil {
		_, err = s.doors.Invite(r.Context(), admin.By{AccountID: r.viewer.AccountID}, n)
		err = s.carryOwn(r, err)
	}
	if err == nil {
		return s.done(w, r, view.InvitationsPath+"?done=made")
	}
	is, err := s.formError(r, err)
	if err != nil {
		return err
	}
	v, err := s.page(r)
	if err != nil {
		return err
	}
	v.Form, v.Error = form, is
	return s.redisplay(w, r, is, view.InvitationsPage(v, "/settings"))
}

func (s invitations) withdraw(w http.ResponseWriter, r *request) error {
	if err := s.mayChange(r); err != nil {
		return err
	}
	err := s.carryOwn(r, s.doors.Withdraw(r.Context(), admin.By{AccountID: r.viewer.AccountID}, r.PostFormValue("code")))
	if err != nil {
		return err
	}
	return s.done(w, r, view.InvitationsPath+"?done=withdrawn")
}
