package view

import (
	"riverrun/timelines"
	"riverrun/timelines/reports"
)

// Suspended is the page for somebody who is suspended, with a form for a message to the staff.
type Suspended struct {
	*Base
	Text string // until when, and why; empty when the form is shown again
	// Appeal is the last one that the staff answered, if any.
	Appeal *reports.Report
	Token  string
	Typed  string
	Sent   bool
	Error  FormError
}

// SuspendedText says to somebody that they are suspended, until when, and why.
func SuspendedText(loc *Locale, is *timelines.SuspendedError) string {
	text := loc.T("login.suspended")
	if is.Ends != nil {
		text = loc.T("login.suspended.to", "date", loc.exact(*is.Ends))
	}
	return text + " " + loc.T("login.suspended.why", "reason", Unturned(is.Reason))
}
