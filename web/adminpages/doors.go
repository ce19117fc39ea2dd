package adminpages

import (
	"net/url"
	"strconv"
	"strings"

	"riverrun/timelines"
	"riverrun/timelines/admin"
	"riverrun/timelines/doors"
	"riverrun/timelines/site"
	"riverrun/web/view"
)

// doorPages are the pages of who comes in: the doors, invitations, and people who wait.
type doorPages struct {
	timelines *timelines.Store
	store     *doors.Store
	site      *site.Store
}

func newDoorPages(t *timelines.Store) doorPages { return doorPages{t, doors.Open(t), site.Open(t)} }

// Addresses of these pages.
const (
	doorsPath       = Path + "/doors"
	invitationsPath = Path + "/invitations"
	signupsPath     = Path + "/signups"
)

func (p doorPages) routes() []Route {
	return []Route{
		{"GET " + doorsPath, admin.Administrator, p.show},
		{"POST " + doorsPath, admin.Administrator, p.set},
		{"GET " + invitationsPath, admin.Moderator, p.invitations},
		{"POST " + invitationsPath, admin.Moderator, p.invite},
		{"POST " + invitationsPath + "/withdraw", admin.Moderator, p.withdraw},
		{"GET " + signupsPath, admin.Moderator, p.signups},
		{"POST " + signupsPath + "/{name}/admit", admin.Moderator, p.admit},
		{"POST " + signupsPath + "/{name}/refuse", admin.Moderator, p.refuse},
	}
}

// asConfigured is the choice of what the configuration says.
const asConfigured = "configured"

// doorsView is the page of the doors. Its values are those of the form.
type doorsView struct {
	*view.Base
	signup, private                       string
	configuredSignup, configuredIsPrivate string
	saved                                 string
	err                                   view.FormError
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

func (p doorPages) doorsView(c Call) (doorsView, error) {
	o := p.timelines.Options()
	v := doorsView{
		Base: c.Base(), signup: asConfigured, private: asConfigured,
		configuredSignup: string(site.Site{}.Door(o)), configuredIsPrivate: onOff(o.Private),
	}
	is, err := site.Read(c.Request().Context(), p.timelines.Pool())
	if err != nil {
		return v, err
	}
	if is.SignUp != nil {
		v.signup = string(*is.SignUp)
	}
	if is.Private != nil {
		v.private = onOff(*is.Private)
	}
	return v, nil
}

func (p doorPages) show(c Call) error {
	v, err := p.doorsView(c)
	if err != nil {
		return err
	}
	if c.Request().URL.Query().Get("done") == "saved" {
		v.saved = v.Locale.T("doors.saved")
	}
	return c.Show(doorsPage(v))
}

func (p doorPages) set(c Call) error {
	signup, private := c.Request().PostFormValue("signup"), c.Request().PostFormValue("private")
	var door *site.SignUp
	var isPrivate *bool
	if signup != asConfigured {
		one := site.SignUp(signup) // site.Set checks it
		door = &one
	}
	err := error(nil)
	switch private {
	case "on", "off":
		on := private == "on"
		isPrivate = &on
	case asConfigured:
	default:
		err = &timelines.InvalidError{Field: "private", Code: "private_unknown"}
	}
	if err == nil {
		if err = c.MayChange(); err == nil {
			err = c.Carry(p.site.Set(c.Request().Context(), c.By(), func(s *site.Site) { s.SignUp, s.Private = door, isPrivate }))
		}
	}
	if err == nil {
		return c.Done(doorsPath + "?done=saved")
	}
	return c.Again(err, func(is view.FormError) (view.Component, error) {
		v, err := p.doorsView(c)
		v.signup, v.private, v.err = signup, private, is
		return doorsPage(v), err
	})
}

func (p doorPages) invitationsView(c Call) (v view.Invitations, err error) {
	ctx := c.Request().Context()
	v = view.Invitations{
		Base: c.Base(), Site: strings.TrimSuffix(c.Address(""), "/"), Action: invitationsPath, By: true, Alone: true, Many: true, Form: view.NewInvitationForm(),
	}
	is, err := site.Read(ctx, p.timelines.Pool())
	if err != nil {
		return v, err
	}
	v.Closed = is.Door(p.timelines.Options()) == site.Closed
	if v.Groups, err = p.timelines.Accounts.ByID(ctx, v.Sets.Administers); err != nil {
		return v, err
	}
	if v.All, err = p.store.Invitations(ctx, 0, place(c, "before"), perPage+1); err != nil {
		return v, err
	}
	if len(v.All) > perPage {
		v.All = v.All[:perPage]
		v.Next = invitationsPath + "?before=" + strconv.FormatInt(v.All[perPage-1].ID, 10)
	}
	return v, nil
}

// place is where a part of a list begins; 0: at its beginning.
func place(c Call, name string) int64 {
	n, err := strconv.ParseInt(c.Request().URL.Query().Get(name), 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

func (p doorPages) invitations(c Call) error {
	v, err := p.invitationsView(c)
	if err != nil {
		return err
	}
	switch c.Request().URL.Query().Get("done") {
	case "made":
		v.Saved = v.Locale.T("invitations.made")
	case "withdrawn":
		v.Saved = v.Locale.T("invitation.withdrawn")
	}
	return c.Show(view.InvitationsPage(v, Path))
}

func (p doorPages) invite(c Call) error {
	form, n := view.SentInvitation(c.Request().PostForm)
	err := c.MayChange()
	if err == nil {
		_, err = p.store.Invite(c.Request().Context(), c.By(), n)
		err = c.Carry(timelines.Change{Actor: c.By().AccountID}, err)
	}
	if err == nil {
		return c.Done(invitationsPath + "?done=made")
	}
	return c.Again(err, func(is view.FormError) (view.Component, error) {
		v, err := p.invitationsView(c)
		v.Form, v.Error = form, is
		return view.InvitationsPage(v, Path), err
	})
}

func (p doorPages) withdraw(c Call) error {
	if err := c.MayChange(); err != nil {
		return err
	}
	err := c.Carry(timelines.Change{Actor: c.By().AccountID}, p.store.Withdraw(c.Request().Context(), c.By(), c.Request().PostFormValue("code")))
	if err != nil {
		return err
	}
	return c.Done(invitationsPath + "?done=withdrawn")
}

// signupsView is the list of people who wait to be let in, or of those who were refused.
type signupsView struct {
	*view.Base
	refused bool
	all     []doors.Application
	next    string
	saved   string
	// failed is whose form has the error, and answer what was sent with it.
	failed, answer string
	err            view.FormError
}

func signupsList(refused bool) string {
	if refused {
		return signupsPath + "?which=refused"
	}
	return signupsPath
}

func (p doorPages) signupsView(c Call) (signupsView, error) {
	v := signupsView{Base: c.Base(), refused: c.Request().URL.Query().Get("which") == "refused"}
	list := p.store.Waiting
	if v.refused {
		list = p.store.Refused
	}
	var err error
	v.all, err = list(c.Request().Context(), place(c, "after"), perPage+1)
	if len(v.all) > perPage {
		v.all = v.all[:perPage]
		address := signupsList(v.refused)
		v.next = address + view.QuerySign(address) + url.Values{"after": {strconv.FormatInt(v.all[perPage-1].AccountID, 10)}}.Encode()
	}
	return v, err
}

func (p doorPages) signups(c Call) error {
	v, err := p.signupsView(c)
	if err != nil {
		return err
	}
	switch c.Request().URL.Query().Get("done") {
	case "admitted":
		v.saved = v.Locale.T("signups.done.admitted")
	case "refused":
		v.saved = v.Locale.T("signups.done.refused")
	}
	return c.Show(signupsPage(v))
}

func (p doorPages) admit(c Call) error {
	name := c.Request().PathValue("name")
	err := c.MayChange()
	if err == nil {
		err = c.Carry(p.store.Admit(c.Request().Context(), c.By(), name))
	}
	return p.answered(c, err, "admitted", "")
}

func (p doorPages) refuse(c Call) error {
	name, answer := c.Request().PathValue("name"), c.Request().PostFormValue("answer")
	err := c.MayChange()
	if err == nil {
		err = c.Carry(p.store.Refuse(c.Request().Context(), c.By(), name, answer))
	}
	return p.answered(c, err, "refused", answer)
}

// answered answers a form of the list.
func (p doorPages) answered(c Call, err error, done, answer string) error {
	if err == nil {
		return c.Done(signupsPath + "?done=" + done)
	}
	return c.Again(err, func(is view.FormError) (view.Component, error) {
		v, err := p.signupsView(c)
		v.failed, v.answer, v.err = c.Request().PathValue("name"), answer, is
		return signupsPage(v), err
	})
}

// answerTo is what was sent as the answer to a person.
func (v signupsView) answerTo(name string) string {
	if name != v.failed {
		return ""
	}
	return v.answer
}
