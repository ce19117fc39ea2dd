package view

import "riverrun/timelines"

// SuspendedText says to somebody that they are suspended, until when, and why.
func SuspendedText(loc *Locale, is *timelines.SuspendedError) string {
	text := loc.T("login.suspended")
	if is.Ends != nil {
		text = loc.T("login.suspended.to", "date", loc.exact(*is.Ends))
	}
	return text + " " + loc.T("login.suspended.why", "reason", Unturned(is.Reason))
}

// SignUp is the form for a new account, empty or as it was sent; the
// password is never sent back.
type SignUp struct {
	Name, Title, Back string
	Error             FormError
}
