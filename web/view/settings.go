package view

import (
	"slices"
	"strings"

	"riverrun/timelines"
)

// Settings is the settings as components see them, with one of the forms as
// it was sent if it had an error.
type Settings struct {
	*Base
	Profile  ProfileForm
	Language string
	// PushKey is the site's key for pushes, or empty: there are none.
	PushKey  string
	Access   timelines.Level
	Writers  timelines.Writers
	Groups   []timelines.Account // those the viewer administers
	Requests Requests
	Saved    bool
	Error    FormError
}

// opens reports whether a section is open from the start: the one whose form has an error in
// one of these fields, or the first one if there is none.
func (v Settings) opens(fields ...string) bool {
	if v.Error.Text == "" {
		return fields[0] == ""
	}
	if fields[0] == "" {
		return v.Error.at("title") != "" || v.Error.at("about") != "" || v.Error.at("file") != ""
	}
	return slices.ContainsFunc(fields, func(field string) bool { return v.Error.at(field) != "" })
}

// mode says what the home feed shows.
func (v Settings) mode() string {
	if v.Sets.FriendsOnly {
		return v.Locale.T("settings.home.friends")
	}
	return v.Locale.T("settings.home.activity")
}

// look says which colours and which language are chosen.
func (v Settings) look() string {
	language := v.Locale.T("settings.language.auto")
	for _, l := range Locales {
		if l.Lang == v.Language {
			language = l.name
		}
	}
	return themeText(v.Locale, v.Theme) + " · " + language
}

func (v Settings) groupNames() string {
	var names []string
	for _, g := range v.Groups {
		names = append(names, g.Title)
	}
	return strings.Join(names, ", ")
}

// Themes are the choices of colours: those of the device, light, dark.
var Themes = []string{"", "light", "dark"}

func themeText(loc *Locale, theme string) string {
	switch theme {
	case "light":
		return loc.T("settings.theme.light")
	case "dark":
		return loc.T("settings.theme.dark")
	}
	return loc.T("settings.theme.device")
}
