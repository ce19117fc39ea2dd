package view

import (
	"crypto/rand"
	"time"

	"riverrun/timelines"
)

// Field is one line of a form.
type Field struct {
	form, name string // together they name the input's id
	label      string
	value      string
	hint       string
	err        string
	complete   string // autocomplete
	password   bool
	address    bool // a name as addresses have it: no capitals, no spelling
	required   bool
	focus      bool
}

func (f Field) id() string { return f.form + "-" + f.name }

func (f Field) kind() string {
	if f.password {
		return "password"
	}
	return "text"
}

var levels = []timelines.Level{timelines.Public, timelines.Protected, timelines.Private}

// levelText names a level as a choice in a form.
func levelText(loc *Locale, level timelines.Level, group bool) string {
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

// levelBadge names a level in a word.
func levelBadge(loc *Locale, level timelines.Level) string {
	switch level {
	case timelines.Public:
		return loc.T("account.public")
	case timelines.Protected:
		return loc.T("account.protected")
	}
	return loc.T("account.private")
}

// levelIcon is the picture of a level.
func levelIcon(level timelines.Level) string {
	if level == timelines.Public {
		return "globe"
	}
	return "lock"
}

// writersText names a rule for writers, of a group or a person, as a choice in a form.
func writersText(loc *Locale, who timelines.Writers, group bool) string {
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

// FormError is the error of a form, with its field; the zero FormError is none. It is the JSON
// that river.js gets.
type FormError struct {
	Field string `json:"field,omitempty"`
	// Code is that of a timelines.InvalidError: programs read it, people the text.
	Code string `json:"code,omitempty"`
	Text string `json:"error"`
	// More are further errors, each of another field.
	More []FormError `json:"more,omitempty"`
	// Status is the status of the answer if the form itself is right, 0 if it is not.
	Status int `json:"-"`
	// Wait is when to try again, if Status says that it was too often.
	Wait time.Duration `json:"-"`
}

// at returns the error of a field, or "".
func (w FormError) at(field string) string {
	for _, is := range append([]FormError{w}, w.More...) {
		if is.Field == field {
			return is.Text
		}
	}
	return ""
}

// At returns the error of a field, or "" if it has none; "" is the form as a whole.
func (w FormError) At(field string) string { return w.at(field) }

// Key returns the key for the form when it is shown again: the one it was sent with,
// which keeps what has been done from being done twice, or another if that is wrong.
func (w FormError) Key(sent string) string {
	if w.Field == "key" {
		return rand.Text()
	}
	return sent
}

// visitKey is the key of a form on a page of a river, which a page that did not change has again. A post
// or comment that comes into the page gives the next visit another key (timelines.VisitKey). river.js gives each visit one
// of its own in place of a key that begins like this one, so that two tabs of one page do not share it.
func visitKey(seen string) string { return timelines.VisitKey + seen }
