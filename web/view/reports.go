package view

import (
	"github.com/a-h/templ"

	"riverrun/timelines"
	"riverrun/timelines/reports"
)

// ReportsPath is the address of the page of the viewer's own reports.
const ReportsPath = "/settings/reports"

// ReportForm is the page on which somebody reports a post, a comment or an account.
type ReportForm struct {
	*Base
	Action string // the address of the form
	Back   string
	Who    timelines.Account // whom it is about
	Said   string            // the beginning of the text; empty: the account
	// The report is about a "post", a "comment" or an "account".
	Of     string
	Reason reports.Reason
	Text   string
	Error  FormError
}

// OwnReports are the viewer's reports, with what came of them.
type OwnReports struct {
	*Base
	All   []reports.Report
	Saved string
}

// ReportTitle says what a report is about.
func ReportTitle(loc *Locale, r reports.Report) string {
	key := "report.of.account"
	switch {
	case r.Appeal && r.Post != "":
		key = "report.of.appeal.post"
	case r.Appeal:
		key = "report.of.appeal"
	case r.Comment != 0:
		key = "report.of.comment"
	case r.Post != "":
		key = "report.of.post"
	case r.Group:
		key = "report.of.group"
	}
	return loc.T(key, "who", "@"+r.Account)
}

// ReportLink is the address of what a report is about.
func ReportLink(r reports.Report) string {
	switch {
	case r.Post == "":
		return "/" + r.Account
	case r.Comment != 0:
		return "/p/" + r.Post + "#" + CommentID(r.Comment)
	}
	return "/p/" + r.Post
}

// reportable reports whether the viewer may report the comment.
func (e *Entry) reportable(authorID int64) bool {
	return e.Rights.member && authorID != e.Rights.account
}

// commentAct is the address of an act on a comment, for links.
func (e *Entry) commentAct(id int64, act string) templ.SafeURL { return CommentURL(e.code(), id, act) }
