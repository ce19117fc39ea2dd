package view

import (
	"time"

	"riverrun/timelines"
)

// DeletePath is the page on which people delete their account.
const DeletePath = "/settings/delete"

// dataPath is the page that gives people what they have here.
const dataPath = "/settings/data"

// Delete is the page on which people delete their account.
type Delete struct {
	*Base
	Ends  time.Time           // until then it can be kept
	Alone []timelines.Account // groups that nobody else administers
	Error FormError
}

// Leaving is the page for somebody whose account is to be deleted.
type Leaving struct {
	*Base
	Text  string
	Token string // keeps the account; empty: the person cannot
	Kept  bool
	// Appeal is for those whom the staff delete or suspended.
	Appeal Appeal
}

func (v Leaving) title() string {
	if v.Kept {
		return v.Locale.T("leaving.stays")
	}
	return v.Locale.T("leaving.title")
}

// LeavingText says to somebody when their account is deleted, and why.
func LeavingText(loc *Locale, is *timelines.LeavingError) string {
	text := loc.T("leaving.until", "date", loc.exact(is.Ends))
	if is.Begun {
		text = loc.T("leaving.begun")
	}
	if is.ByStaff {
		text += " " + loc.T("leaving.staff")
	}
	if is.Reason != "" {
		text += " " + loc.T("leaving.why", "reason", Unturned(is.Reason))
	}
	if is.Suspended != nil {
		text += " " + SuspendedText(loc, is.Suspended)
	}
	return text
}

// LeftText says to somebody until when they can come back.
func LeftText(loc *Locale, ends time.Time) string {
	return loc.T("leaving.left", "date", loc.exact(ends))
}
