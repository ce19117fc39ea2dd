package view

import (
	"riverrun/timelines"
)

// Manage is the page on which administrators run their group, as components
// see it, with one of the forms as it was sent if it had an error.
type Manage struct {
	*Base
	Who       timelines.Account // the group
	Profile   ProfileForm
	Requests  Requests
	Waiting   int           // posts that wait for approval
	Readers   []ManagedList // admitted, excluded
	Blocked   ManagedList
	Saved     bool
	Error     FormError
	Act, Name string // the form about a person that had an error
}

// ManagedList is a list of people (blocked, admitted, excluded), with the forms that add and
// remove one.
type ManagedList struct {
	ListPart
	title, hint   string
	People        []timelines.Account
	do, undo      string
	doing, undone string // labels
	takes         bool   // undoing it takes something away
}

// errorIn returns the error of the forms of a list.
func (v Manage) errorIn(l ManagedList) string {
	if v.Act == l.do || v.Act == l.undo {
		return v.Error.at("name")
	}
	return ""
}

// stray returns the error of a form about a person that the page does not have, such as a
// hand-made one.
func (v Manage) stray() string {
	for _, l := range append([]ManagedList{v.Blocked}, v.Readers...) {
		if v.errorIn(l) != "" {
			return ""
		}
	}
	return v.Error.at("name")
}

// typed is the name in the form of a list.
func (v Manage) typed(l ManagedList) string {
	if v.Act == l.do {
		return v.Name
	}
	return ""
}

func ManagePath(group string) string { return "/" + group + "/manage" }

// part is the first part of one of the lists.
func (v Manage) part(list string) ListPart {
	return ListPart{Path: ManagePath(v.Who.Name), List: list}
}

func (v Manage) Admitted() ManagedList {
	return ManagedList{
		ListPart: v.part("admitted"), title: v.Locale.T("manage.admitted"), hint: v.Locale.T("manage.admitted.hint"),
		do: "admit", doing: v.Locale.T("feeds.admit"), undo: "dismiss", undone: v.Locale.T("feeds.remove"), takes: true,
	}
}

func (v Manage) Excluded() ManagedList {
	l := ManagedList{
		ListPart: v.part("excluded"), title: v.Locale.T("manage.excluded"), hint: v.Locale.T("manage.excluded.kept"),
		do: "exclude", doing: v.Locale.T("manage.exclude"), undo: "unexclude", undone: v.Locale.T("feeds.unexclude"),
	}
	if v.Who.Access == timelines.Protected {
		l.hint = v.Locale.T("manage.excluded.hint")
	}
	return l
}

func (v Manage) Unheard() ManagedList {
	return ManagedList{
		ListPart: v.part("blocked"), title: v.Locale.T("manage.blocked"), hint: v.Locale.T("manage.blocked.hint"),
		do: "block", doing: v.Locale.T("members.block"), undo: "unblock", undone: v.Locale.T("members.unblock"),
	}
}
