package view

import (
	"slices"

	"riverrun/timelines"
)

// shownPlaces is how many lists, and how many groups, stand in the navigation of every page.
const shownPlaces = 8

func ListPath(l timelines.List) string { return "/lists/" + l.Slug }

// Lists is the viewer's lists as components see them.
type Lists struct {
	*Base
	Title string // of the new one, as it was sent
	Error FormError
}

// List is a list's page as components see it.
type List struct {
	*River
	List timelines.List
}

// ListEdit is the form of a list, as it stands or as it was sent.
type ListEdit struct {
	*Base
	List   timelines.List
	Title  string
	Chosen []string // names
	Error  FormError
}

func (e ListEdit) includes(a timelines.Account) bool { return slices.Contains(e.Chosen, a.Name) }

// outOfHome reports whether the account is kept out of the viewer's home page.
func (p *Base) outOfHome(id int64) bool { return p.Sets.OutOfHome.Has(id) }

// placed names the pages on which the viewer reads the account's posts.
func (v Account) placed() []string {
	var where []string
	if !v.outOfHome(v.Who.ID) {
		where = append(where, v.Locale.T("nav.home"))
	}
	for _, l := range v.Sets.Lists {
		if l.Includes(v.Who.ID) {
			where = append(where, l.Title)
		}
	}
	if len(where) == 0 {
		where = append(where, v.Locale.T("account.place.nowhere"))
	}
	return where
}
