package view

import (
	"riverrun/timelines"
)

// Hidden is the page of the viewer's bans and hides, with the form for a word as it was sent
// if it had an error.
type Hidden struct {
	*Base
	Terms              []string
	Hidden, Banned     []timelines.Account
	HiddenAt, BannedAt ListPart
	Posts, Muted       []timelines.HiddenPost
	PostsAt, MutedAt   ListPart
	Term               string
	Error              FormError
}

// hideMenu is the menu with which the viewer hides or bans an account.
type hideMenu struct {
	*Base
	who timelines.Account
}

func (v hideMenu) isGroup() bool { return v.who.Kind == timelines.Group }

// title names what it offers, "" for nothing.
func (v hideMenu) title() string {
	hidden := v.hides(v.who.ID)
	switch {
	case !v.isGroup() && hidden:
		return v.Locale.T("account.ban")
	case !v.isGroup():
		return v.Locale.T("account.hideorban")
	case !hidden:
		return v.Locale.T("account.hideorban.group")
	case v.maySwitch():
		return v.Locale.T("account.hideorban.banned")
	}
	return ""
}

// maySwitch reports whether the viewer may choose to see banned people in the group: if they
// have banned anybody, or administer the group, since others may have banned them unknown to
// them.
func (v hideMenu) maySwitch() bool { return len(v.Sets.Bans) > 0 || v.Administers(v.who.ID) }

// showsBanned reports whether the viewer sees banned people in this group.
func (v hideMenu) showsBanned() bool { return v.Sets.ShowBanned.Has(v.who.ID) }

// aboutBanned explains whom the switch shows or hides. For administrators it mentions bans in
// both directions.
func (v hideMenu) aboutBanned(shown bool) string {
	switch {
	case v.Administers(v.who.ID) && shown:
		return v.Locale.T("account.apart.shown")
	case v.Administers(v.who.ID):
		return v.Locale.T("account.apart.hidden")
	case shown:
		return v.Locale.T("account.banned.shown")
	}
	return v.Locale.T("account.banned.hidden")
}
