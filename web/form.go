package web

import "riverrun/timelines"

// fieldView is one line of a form.
type fieldView struct {
	form, name string // together they name the input's id
	label      string
	value      string
	hint       string
	wrong      string
	complete   string // autocomplete
	password   bool
	address    bool // a name as addresses have it: no capitals, no spelling
	required   bool
	focus      bool
}

func (f fieldView) id() string { return f.form + "-" + f.name }

func (f fieldView) kind() string {
	if f.password {
		return "password"
	}
	return "text"
}

var levels = []timelines.Level{timelines.Public, timelines.Protected, timelines.Private}

// levelText says who may read at a level, as a choice in a form.
func levelText(loc *locale, level timelines.Level, group bool) string {
	switch level {
	case timelines.Public:
		return loc.T("settings.access.public")
	case timelines.Protected:
		return loc.T("settings.access.protected")
	}
	if group {
		return loc.T("settings.access.members")
	}
	return loc.T("settings.access.private")
}

// levelBadge says in a word who may read at a level.
func levelBadge(loc *locale, level timelines.Level) string {
	switch level {
	case timelines.Public:
		return loc.T("account.public")
	case timelines.Protected:
		return loc.T("account.protected")
	}
	return loc.T("account.private")
}

// writersText says who may post to a group, or write directs to a person, as a
// choice in a form.
func writersText(loc *locale, who timelines.Writers, group bool) string {
	switch who {
	case timelines.WritersMembers:
		return loc.T("writers.members")
	case timelines.WritersAdmins:
		return loc.T("writers.admins")
	case timelines.WritersFollowed:
		return loc.T("writers.followed")
	case timelines.WritersMutual:
		return loc.T("writers.mutual")
	case timelines.WritersNobody:
		return loc.T("writers.nobody")
	}
	if group {
		return loc.T("writers.readers")
	}
	return loc.T("writers.anyone")
}
