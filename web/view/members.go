package view

import (
	"riverrun/timelines"
)

// Members is the page of a group's members as components see it.
type Members struct {
	*Base
	Who    timelines.Account // the group
	Admins []timelines.Account
	Leads  ListPart           // of the administrators
	All    []timelines.Member // who are no administrators
	After  string             // where this page of them begins
	Next   string             // where the next one does, "" if there is none
	Count  int                // of all members, administrators who are among them
	Error  FormError
}

// leadsAlone reports whether the group has only one administrator, who cannot step down.
func (v Members) leadsAlone() bool {
	return len(v.Admins) == 1 && v.Leads.After == "" && v.Leads.Next == ""
}

// none returns the text in place of members: there are none, or all are administrators.
func (v Members) none() string {
	if v.Count == 0 {
		return v.Locale.T("members.none.all")
	}
	return v.Locale.T("members.none")
}

// Path is the page's address without a query.
func (v Members) Path() string { return "/" + v.Who.Name + "/members" }

// address is the page's own, where the forms of its members lead back to.
func (v Members) address() string {
	if v.After == "" {
		return v.Path()
	}
	return v.Path() + "?after=" + v.After // a name, as inDirectory made sure
}
