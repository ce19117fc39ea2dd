package adminpages

import (
	"context"
	"net/url"
	"slices"

	"riverrun/timelines"
	"riverrun/timelines/reports"
	"riverrun/web/view"
)

const (
	reportsPath   = Path + "/reports"
	reportPattern = reportsPath + "/{code}"
)

// ReportPath is the address of the page about a report.
func ReportPath(code string) string { return reportsPath + "/" + code }

// reportsView is the queue of reports.
type reportsView struct {
	*view.Base
	which reports.Filter
	all   []reports.Report
	next  string
}

func (p *Pages) reportQueue(c Call) error {
	asked := c.Request().URL.Query()
	v := reportsView{Base: c.Base(), which: reports.Filter(asked.Get("which"))}
	if !slices.Contains(reports.Filters, v.which) {
		v.which = reports.NotDone
	}
	after, ok := timelines.ParseCode(asked.Get("after"))
	if !ok {
		after = ""
	}
	var err error
	if v.all, err = p.reports.List(c.Request().Context(), v.which, after, perPage+1); err != nil {
		return err
	}
	if len(v.all) > perPage {
		v.all = v.all[:perPage]
		v.next = v.all[perPage-1].Code
	}
	return c.Show(reportsPage(v))
}

func reportFilterPath(which reports.Filter) string {
	if which == reports.NotDone {
		return reportsPath
	}
	return reportsPath + "?" + url.Values{"which": {string(which)}}.Encode()
}

// nextPath is the address of the next part of the queue.
func (v reportsView) nextPath() string {
	q := url.Values{"after": {v.next}}
	if v.which != reports.NotDone {
		q.Set("which", string(v.which))
	}
	return reportsPath + "?" + q.Encode()
}

// reportView is the page about one report.
type reportView struct {
	*view.Base
	it     reports.Report
	notes  []reports.Note
	others []reports.Report
	saved  string
	err    view.FormError
	// As the forms were sent.
	note, answer string
	outcome      reports.Outcome
}

// mine reports whether the viewer has taken the report.
func (v reportView) mine() bool {
	return v.it.TakenBy != "" && v.it.TakenBy == v.Account(v.Viewer.AccountID).Name
}

// othersShown is how many other reports about an account its page shows.
const othersShown = 20

// suspendPath leads to the form that suspends the account, with the reason filled in.
func (v reportView) suspendPath() string {
	reason := ""
	if v.it.Reason != "" {
		reason = v.Locale.T("report.reason." + string(v.it.Reason))
	}
	return PersonPath(v.it.Account) + "?" + url.Values{"reason": {reason}}.Encode() + "#suspend"
}

func (p *Pages) reportView(c Call) (v reportView, err error) {
	ctx := c.Request().Context()
	v.Base = c.Base()
	if v.it, err = p.reports.Get(ctx, c.Request().PathValue("code")); err != nil {
		return v, err
	}
	if v.notes, err = p.reports.Notes(ctx, v.it.ID); err != nil {
		return v, err
	}
	v.others, err = p.reports.About(ctx, v.it.Account, othersShown+1)
	v.others = slices.DeleteFunc(v.others, func(r reports.Report) bool { return r.ID == v.it.ID })
	return v, err
}

func (p *Pages) report(c Call) error {
	v, err := p.reportView(c)
	if err != nil {
		return err
	}
	if done := c.Request().URL.Query().Get("done"); slices.Contains([]string{"taken", "noted", "ended", "removed"}, done) {
		v.saved = v.Locale.T("admin.done." + done)
	}
	return c.Show(reportPage(v))
}

// onReport is the form of an act on a report; done names what the page then says.
func (p *Pages) onReport(done string, act func(context.Context, Call, string) (timelines.Change, error)) func(Call) error {
	return func(c Call) error {
		code := c.Request().PathValue("code")
		err := c.MayChange()
		if err == nil {
			err = c.Carry(act(c.Request().Context(), c, code))
		}
		if err == nil {
			return c.Done(ReportPath(code) + "?done=" + done)
		}
		return c.Again(err, func(is view.FormError) (view.Component, error) {
			v, err := p.reportView(c)
			r := c.Request()
			v.err, v.note, v.answer, v.outcome = is, r.PostFormValue("note"), r.PostFormValue("answer"), reports.Outcome(r.PostFormValue("outcome"))
			return reportPage(v), err
		})
	}
}

func (p *Pages) takeReport(ctx context.Context, c Call, code string) (timelines.Change, error) {
	return p.reports.Take(ctx, c.By(), code)
}

func (p *Pages) noteReport(ctx context.Context, c Call, code string) (timelines.Change, error) {
	return p.reports.AddNote(ctx, c.By(), code, c.Request().PostFormValue("note"))
}

func (p *Pages) endReport(ctx context.Context, c Call, code string) (timelines.Change, error) {
	r := c.Request()
	return p.reports.End(ctx, c.By(), code, reports.Outcome(r.PostFormValue("outcome")), r.PostFormValue("answer"))
}

// removeReported removes what a report is about.
func (p *Pages) removeReported(ctx context.Context, c Call, code string) (timelines.Change, error) {
	it, err := p.reports.Get(ctx, code)
	if err != nil {
		return timelines.Change{}, err
	}
	switch {
	case it.Post == "":
		return timelines.Change{}, timelines.ErrNotFound
	case it.Comment != 0:
		return p.staff.RemoveComment(ctx, c.By(), it.Post, it.Comment, "report "+it.Code)
	}
	return p.staff.RemovePost(ctx, c.By(), it.Post, "report "+it.Code)
}
