package view

import "riverrun/timelines"

// ProfileForm is the form for what an account says of itself, as it is or as it was sent.
type ProfileForm struct {
	Of           timelines.Account // whose profile
	Title, About string
	// Awaited is the code of a picture that is being made, or empty.
	Awaited string
	Error   FormError
}

// fields are the labels of the fields for the title and the description, and with what a browser
// may fill in the title.
func (f ProfileForm) fields(loc *Locale) (title, about, complete string) {
	if f.Of.Kind == timelines.Group {
		return loc.T("groups.titled"), loc.T("groups.about"), "off"
	}
	return loc.T("signup.titled"), loc.T("settings.about"), "name"
}
