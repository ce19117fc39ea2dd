package web

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"riverrun/timelines"
	"riverrun/timelines/drafts"
	"riverrun/timelines/scheduled"
	"riverrun/web/view"
)

// schedules serves the posts that are to be published at a time.
type schedules struct{ *Server }

func (s schedules) routes(mux router) {
	mux.Handle("GET "+view.ScheduledPath, s.members(s.list))
	mux.Handle("GET "+view.ScheduledPath+"/{code}/edit", s.members(s.edit))
	mux.Handle("POST "+view.ScheduledPath+"/{code}/publish", s.members(s.publish))
	mux.Handle("POST "+view.ScheduledPath+"/{code}/cancel", s.members(s.cancel))
}

func (s schedules) list(w http.ResponseWriter, r *request) error {
	return s.page(w, r, http.StatusOK, view.FormError{})
}

// page is the list. is says why what was asked for was not done.
func (s schedules) page(w http.ResponseWriter, r *request, status int, is view.FormError) error {
	all, err := s.timelines.Scheduled.All(r.Context(), r.viewer.AccountID)
	if err != nil {
		return err
	}
	p := s.simple(r)
	var places []string
	for _, post := range all {
		places = append(append(places, post.Destinations...), post.Problem.Value)
	}
	if err := s.nameGroups(r, p, places); err != nil {
		return err
	}
	keepNoCopy(w, true)
	numbers, err := mine(s).numbers(r)
	if err != nil {
		return err
	}
	return s.html(w, r, status, view.ScheduledPage(p, all, is, numbers))
}

// find returns the viewer's scheduled post that the address names.
func (s schedules) find(r *request) (scheduled.Post, error) {
	code, ok := timelines.ParseCode(r.PathValue("code"))
	if !ok {
		return scheduled.Post{}, timelines.ErrNotFound
	}
	p, found, err := s.timelines.Scheduled.Find(r.Context(), r.viewer.AccountID, code)
	if err == nil && !found {
		err = timelines.ErrNotFound
	}
	return p, err
}

// edit is a page with the form of a scheduled post alone, filled in.
func (s schedules) edit(w http.ResponseWriter, r *request) error {
	p, err := s.find(r)
	if err != nil {
		return err
	}
	page, err := posts(s).composeDraft(r, drafts.Draft{Destinations: p.Destinations, Uploads: p.Uploads}, view.ComposerOfScheduled(p))
	if err != nil {
		return err
	}
	keepNoCopy(w, true)
	return s.html(w, r, http.StatusOK, page)
}

// publish publishes a scheduled post before its time.
func (s schedules) publish(w http.ResponseWriter, r *request) error {
	p, err := s.find(r)
	if err != nil {
		return err
	}
	var c timelines.Change
	err = s.mayChange(r)
	if err == nil {
		c, err = s.carry(r)(s.timelines.Posts.PublishScheduled(r.Context(), r.viewer.AccountID, p.Code))
	}
	if err != nil {
		return s.refuse(w, r, err)
	}
	return redirect(w, r, "/p/"+c.Code)
}

// cancel makes a scheduled post a draft. If there is no room for it, it asks whether the text may go.
func (s schedules) cancel(w http.ResponseWriter, r *request) error {
	p, err := s.find(r)
	if err != nil {
		return err
	}
	version := scheduled.Version{Code: p.Code, SavedAt: view.SavedOf(r.PostFormValue(view.VersionField))}
	discard, kept := r.PostFormValue("discard") != "", false
	if err = s.mayChange(r); err == nil {
		var c timelines.Change
		c, kept, err = s.timelines.Posts.Cancel(r.Context(), r.viewer.AccountID, version, discard)
		_, err = s.carry(r)(c, err)
	}
	switch {
	case err != nil:
		return s.refuse(w, r, err)
	case kept:
		return redirect(w, r, draftsPath)
	case discard:
		return redirect(w, r, view.ScheduledPath)
	}
	keepNoCopy(w, true)
	return s.html(w, r, http.StatusConflict, view.CancelScheduled(s.simple(r), p))
}

// refuse shows the list with what is wrong.
func (s schedules) refuse(w http.ResponseWriter, r *request, err error) error {
	is, err := s.formError(r, err)
	if err != nil {
		return err
	}
	status := is.Status
	if status == 0 {
		status = http.StatusUnprocessableEntity
	}
	sayWhen(w, status, is.Wait)
	return s.page(w, r, status, is)
}

// later is the time of a form as it was sent.
func (r *request) later() view.Later {
	return view.Later{
		Due: strings.TrimSpace(r.PostFormValue(view.DueField)), Zone: strings.TrimSpace(r.PostFormValue(view.ZoneField)), Of: r.scheduled(),
	}
}

// scheduled is the version of a scheduled post that the form was filled from, if any.
func (r *request) scheduled() scheduled.Version {
	code, ok := timelines.ParseCode(r.PostFormValue(view.ScheduledField))
	if !ok {
		return scheduled.Version{}
	}
	return scheduled.Version{Code: code, SavedAt: view.SavedOf(r.PostFormValue(view.VersionField))}
}

// schedule keeps a post of a form for the time that the form has.
func (s posts) schedule(ctx context.Context, post timelines.NewPost, later view.Later) (timelines.Change, error) {
	when, err := timelines.ParseWhen(later.Due, later.Zone)
	if err != nil {
		return timelines.Change{}, err
	}
	return s.timelines.Posts.Schedule(ctx, post, when)
}

// answerScheduled leads to the list of scheduled posts. For river.js it is an answer about no entry, which has a version
// as all that it puts into the page.
func (s posts) answerScheduled(w http.ResponseWriter, r *request) error {
	if r.wantsJSON() {
		writeJSON(w, http.StatusOK, struct {
			T       string `json:"t"`
			Version string `json:"version"`
			To      string `json:"to"`
		}{"done", "0.0", view.ScheduledPath})
		return nil
	}
	return redirect(w, r, view.ScheduledPath)
}

// isGone reports whether a form was filled from a scheduled post that is another one by now.
func isGone(err error) bool { return errors.Is(err, scheduled.ErrGone) }
