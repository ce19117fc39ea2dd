// Package reports is about what people report to the staff: a post, a comment or an account. The
// staff take a report, write notes, and end it with an outcome and an answer, which its reporter
// is told (access.Alert). An appeal of somebody who is suspended, or whom the staff delete, is a report too, about themselves, and so is one against the block of a post (AppealPost).
//
// A report keeps the text as it was when it was reported. So the staff can judge it though they are
// no readers of a private post, and though it was edited since.
//
// Each act of the staff is one transaction that checks their role and writes the audit log, as in
// package admin.
package reports
