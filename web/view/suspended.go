package view

import (
	"riverrun/timelines"
	"riverrun/timelines/reports"
)

// Suspended is the page for somebody who is suspended, with a form for a message to the staff.
type Suspended struct {
	*Base
	Text   string // until when, and why
	Appeal Appeal
}

// Appeal is the part of a page that takes a message to the staff.
type Appeal struct {
	Latest *reports.Report // the last one, if any
	Token  string          // sends one; empty: the person cannot
	Typed  string
	Sent   bool
	Error  FormError
}

// waits is true if one is with the staff.
func (v Appeal) waits() bool { return v.Latest != nil && v.Latest.State != reports.Done }

// SuspendedText says to somebody that they are suspended, until when, and why.
func SuspendedText(loc *Locale, is *timelines.SuspendedError) string {
	text := loc.T("login.suspended")
	if is.Ends != nil {
		text = loc.T("login.suspended.to", "date", loc.exact(*is.Ends))
	}
	return text + " " + loc.T("login.suspended.why", "reason", Unturned(is.Reason))
}
