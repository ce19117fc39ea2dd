package web

import (
	"net/http"

	"riverrun/timelines"
	"riverrun/timelines/reports"
	"riverrun/web/view"
)

// reporting serves the forms of reports, and the page of a person's own.
type reporting struct{ *Server }

func (s reporting) routes(mux router) {
	for pattern, of := range map[string]func(*request) (reports.Thing, error){
		"/p/{code}/report": func(r *request) (reports.Thing, error) {
			return reports.Thing{Code: r.PathValue("code")}, nil
		},
		"/p/{code}/comments/{id}/report": func(r *request) (reports.Thing, error) {
			code, id, err := commentOf(r)
			if err == nil && id <= 0 {
				err = errNoPage
			}
			return reports.Thing{Code: code, Comment: id}, err
		},
		"/people/{name}/report": func(r *request) (reports.Thing, error) {
			return reports.Thing{Name: r.PathValue("name")}, nil
		},
	} {
		mux.Handle("GET "+pattern, s.members(func(w http.ResponseWriter, r *request) error {
			t, err := of(r)
			if err != nil {
				return err
			}
			v, err := s.form(r, t)
			if err != nil {
				return err
			}
			keepNoCopy(w, true)
			return s.html(w, r, http.StatusOK, view.ReportPage(v))
		}))
		mux.Handle("POST "+pattern, s.members(func(w http.ResponseWriter, r *request) error {
			t, err := of(r)
			if err != nil {
				return err
			}
			return s.report(w, r, t)
		}))
	}
	mux.Handle("GET "+view.ReportsPath, s.members(s.own))
}

// saidRunes is how much of a text the form shows.
const saidRunes = 300

// form is the form of a report of a thing that the viewer sees.
func (s reporting) form(r *request, t reports.Thing) (view.ReportForm, error) {
	ctx := r.Context()
	v := view.ReportForm{Base: s.simple(r), Action: r.URL.Path, Of: "post", Back: "/p/" + t.Code}
	what, err := s.reports.Subject(ctx, r.viewer.AccountID, t)
	if err != nil {
		return v, err
	}
	switch {
	case t.Name != "":
		v.Of, v.Back = "account", "/"+t.Name
	case t.Comment != 0:
		v.Of, v.Back = "comment", v.Back+"#"+view.CommentID(t.Comment)
	}
	v.Back = r.back(v.Back)
	if err := s.view.NameAccounts(ctx, v.Base, []int64{what.AccountID}); err != nil {
		return v, err
	}
	v.Who = v.Account(what.AccountID)
	said := []rune(view.PlainText(what.Said, true))
	if len(said) > saidRunes {
		said = append(said[:saidRunes], '…')
	}
	v.Said = view.Unturned(string(said))
	return v, nil
}

func (s reporting) report(w http.ResponseWriter, r *request, t reports.Thing) error {
	reason, text := reports.Reason(r.PostFormValue("reason")), r.PostFormValue("text")
	err := s.mayChange(r)
	if err == nil {
		_, err = s.reports.File(r.Context(), r.viewer.AccountID, t, reason, text)
		_, err = s.carry(r)(timelines.Change{Actor: r.viewer.AccountID}, err)
	}
	if err == nil {
		return s.done(w, r, view.ReportsPath+"?sent")
	}
	is, err := s.formError(r, err)
	if err != nil {
		return err
	}
	v, err := s.form(r, t)
	if err != nil {
		return err
	}
	v.Reason, v.Text, v.Error = reason, text, is
	return s.redisplay(w, r, is, view.ReportPage(v))
}

// ownReports is how many of a person's reports the page shows, the latest.
const ownReports = 100

// own shows what the viewer reported. The answers count as seen from then on.
func (s reporting) own(w http.ResponseWriter, r *request) error {
	v := view.OwnReports{Base: s.simple(r)}
	var err error
	if v.All, err = s.reports.Own(r.Context(), r.viewer.AccountID, ownReports); err != nil {
		return err
	}
	if r.URL.Query().Has("sent") {
		v.Saved = r.loc.T("report.sent")
	}
	if err := s.html(w, r, http.StatusOK, view.OwnReportsPage(v)); err != nil || !r.looks() {
		return err
	}
	ctx := r.Context()
	c, err := s.reports.Seen(ctx, r.viewer.AccountID)
	_, err = s.tiers.Carry(ctx, c, err)
	if err != nil && ctx.Err() == nil {
		s.log.WarnContext(ctx, "answers to reports not noted as seen", "error", err) // they count until the page is opened again
	}
	return nil
}

// answered reports whether there are answers to reports that the viewer has not seen.
func (s notifications) answered(r *request) (bool, error) {
	known, err := s.rivers.Access().Alerts(r.Context(), []int64{r.viewer.AccountID})
	if err != nil {
		return false, err
	}
	for _, a := range known[r.viewer.AccountID] {
		if a.Report {
			return true, nil
		}
	}
	return false, nil
}
