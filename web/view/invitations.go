package view

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"riverrun/timelines"
	"riverrun/timelines/doors"
)

// InvitationsPath is the address of the viewer's own invitations.
const InvitationsPath = "/settings/invitations"

// Invitations is a page of invitations, and the form for a new one.
type Invitations struct {
	*Base
	All    []doors.Invitation
	Site   string // the site's address, without a slash at its end
	Action string // where the forms go; withdrawing goes below it
	// By: the list says who made each.
	By bool
	// Alone: the viewer may invite without a group. Many: for more than one newcomer, too.
	Alone, Many bool
	Closed      bool                // nobody can sign up, so nobody is invited
	Groups      []timelines.Account // that the viewer is in charge of
	Form        InvitationForm
	Next        string // the address of the next part, or empty
	Saved       string
	Error       FormError
}

// InvitationForm is the form as it was sent.
type InvitationForm struct {
	Uses, Days string
	Groups     []string
	Note       string
}

// InvitationDays are the choices of how long an invitation is good.
var InvitationDays = []string{"1", "7", "30", "365"}

// NewInvitationForm is the form at first.
func NewInvitationForm() InvitationForm { return InvitationForm{Uses: "1", Days: "7"} }

func (f InvitationForm) has(group string) bool { return slices.Contains(f.Groups, group) }

// link is the address that is given to newcomers.
func (v Invitations) link(i doors.Invitation) string { return v.Site + "/signup?invitation=" + i.Code }

// mayInvite reports whether there is a form.
func (v Invitations) mayInvite() bool { return !v.Closed && (v.Alone || len(v.Groups) > 0) }

// atNames are names as they are written of accounts.
func atNames(names []string) string { return "@" + strings.Join(names, ", @") }

// SentInvitation reads the form as it was sent. A number that is none is 0, which is refused.
func SentInvitation(sent url.Values) (InvitationForm, doors.New) {
	f := InvitationForm{Uses: sent.Get("uses"), Days: sent.Get("days"), Groups: sent["group"], Note: sent.Get("note")}
	n := doors.New{Groups: f.Groups, Note: f.Note}
	n.Uses, _ = strconv.Atoi(f.Uses)
	n.Days, _ = strconv.Atoi(f.Days)
	return f, n
}
