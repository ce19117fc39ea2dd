package web

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	"riverrun/timelines"
	"riverrun/timelines/notices"
	"riverrun/web/view"
)

// settings serves the page of a person's settings.
type settings struct{ *Server }

func (s settings) routes(mux router) {
	mux.Handle("GET /settings", s.members(s.settings))
	mux.Handle("POST /settings", s.withPicture(s.ownPicture, s.setProfile))
	mux.Handle("POST /settings/look", s.members(s.setLook))
	mux.Handle("POST /settings/home", s.members(s.setMode))
	mux.Handle("POST /settings/notices", s.members(s.setNotices))
	mux.Handle("POST /settings/access", s.members(s.setAccess))
	mux.Handle("POST /settings/writing", s.members(s.setWriters))
	mux.Handle("POST /settings/listings", s.members(s.setListings))
	mux.Handle("POST /settings/approval", s.members(s.setApproval))
	mux.Handle("POST /settings/password", s.members(s.setPassword))
	mux.Handle("GET "+view.DeletePath, s.members(s.deleteForm))
	mux.Handle("POST "+view.DeletePath, s.members(s.deleteAccount))
}

func (s settings) settings(w http.ResponseWriter, r *request) error {
	v, err := s.settingsView(r)
	if err != nil {
		return err
	}
	v.Saved = r.URL.Query().Has("saved")
	return s.html(w, r, http.StatusOK, view.SettingsPage(v))
}

func (s settings) settingsView(r *request) (view.Settings, error) {
	ctx := r.Context()
	v := view.Settings{Base: s.simple(r), Profile: r.profileForm(r.me), Language: r.me.Language}
	var err error
	if v.PushKey, err = s.pushKey(ctx); err != nil {
		return v, err
	}
	// Levels are read from the primary store: the accounts in memory have names, but no
	// current levels.
	sets, err := s.rivers.Access().Sets(ctx, r.viewer.AccountID)
	if err != nil {
		return v, err
	}
	found, err := s.timelines.Accounts.ByID(ctx, append([]int64{r.viewer.AccountID}, sets.Administers...))
	if err != nil {
		return v, err
	}
	for _, a := range found {
		if a.ID == r.viewer.AccountID {
			v.Access, v.Writers = a.Access, a.Writers
		} else {
			v.Groups = append(v.Groups, a)
		}
	}
	v.Requests, err = s.requests(r, "/settings", 0)
	return v, err
}

func (s settings) setProfile(w http.ResponseWriter, r *request) error {
	form, language := r.profileForm(r.me), r.me.Language
	if r.PostForm.Has("language") { // as the form had it before
		language = r.PostFormValue("language")
	}
	err := s.saveProfile(r, s.ownPicture, func(ctx context.Context) (timelines.Change, error) {
		return s.timelines.Accounts.SetProfile(ctx, r.viewer.AccountID, form.Title, form.About, language)
	})
	if err != nil {
		return s.settingsAgain(w, r, err, func(v *view.Settings) { v.Language = language })
	}
	return s.profileSaved(w, r, "/settings")
}

// setLook chooses the theme and the keys of this browser, and the language of the viewer's pages.
func (s settings) setLook(w http.ResponseWriter, r *request) error {
	theme, language := r.PostFormValue("theme"), r.PostFormValue("language")
	var err error = &timelines.InvalidError{Field: "theme", Code: "theme_unknown"}
	if slices.Contains(view.Themes, theme) {
		if err = s.mayChange(r); err == nil {
			_, err = s.carry(r)(s.timelines.Accounts.SetProfile(r.Context(), r.viewer.AccountID, r.me.Title, r.me.About, language))
		}
	}
	if err != nil {
		return s.settingsAgain(w, r, err, func(v *view.Settings) { v.Language = language })
	}
	s.keepHere(w, themeCookie, theme)
	keys := "off"
	if r.PostForm.Has("keys") {
		keys = ""
	}
	s.keepHere(w, keysCookie, keys)
	return s.done(w, r, "/settings?saved")
}

// setMode chooses what the viewer's home feed and lists show at addresses that do not say.
func (s settings) setMode(w http.ResponseWriter, r *request) error {
	mode := r.PostFormValue("mode")
	var err error = &timelines.InvalidError{Field: "mode", Code: "mode_unknown"}
	if mode == view.ModeFriends || mode == view.ModeActivity {
		if err = s.mayChange(r); err == nil {
			_, err = s.carry(r)(s.timelines.Accounts.SetFriendsOnly(r.Context(), r.viewer.AccountID, mode == view.ModeFriends))
		}
	}
	if err != nil {
		return s.settingsAgain(w, r, err, func(*view.Settings) {})
	}
	return s.done(w, r, "/settings?saved")
}

// setNotices sets which kinds of notifications the viewer wants: those that the form names.
func (s settings) setNotices(w http.ResponseWriter, r *request) error {
	var off notices.Off
	for _, k := range notices.Choices {
		if !slices.Contains(r.PostForm["kind"], strconv.Itoa(int(k))) {
			off = off.With(k)
		}
	}
	err := s.mayChange(r)
	if err == nil {
		_, err = s.carry(r)(s.timelines.Notices.SetKinds(r.Context(), r.viewer.AccountID, off))
	}
	if err != nil {
		return s.settingsAgain(w, r, err, func(*view.Settings) {})
	}
	return s.done(w, r, "/settings?saved")
}

func (s settings) setAccess(w http.ResponseWriter, r *request) error {
	group := r.PostFormValue("group")
	level, err := view.LevelOf(r.PostFormValue("level"))
	if err == nil {
		if err = s.mayChange(r); err == nil {
			_, err = s.carry(r)(s.timelines.Feeds.SetAccess(r.Context(), r.viewer.AccountID, group, level))
		}
	}
	return s.ruled(w, r, group, err)
}

// setWriters sets who may send messages to the viewer, or post to a group.
func (s settings) setWriters(w http.ResponseWriter, r *request) error {
	group, who := r.PostFormValue("group"), timelines.Writers(r.PostFormValue("writers"))
	err := s.mayChange(r)
	if err == nil {
		_, err = s.carry(r)(s.timelines.Groups.SetWriters(r.Context(), r.viewer.AccountID, group, who))
	}
	return s.ruled(w, r, group, err)
}

// ruled answers a form that sets a rule for the viewer, or for a group; it leads back to the
// group's page.
func (s settings) ruled(w http.ResponseWriter, r *request, group string, err error) error {
	switch {
	case err == nil && group == "":
		return s.done(w, r, "/settings?saved")
	case err == nil:
		return s.done(w, r, "/"+group+"/manage?saved")
	case group == "":
		return s.settingsAgain(w, r, err, func(*view.Settings) {})
	}
	return groups(s).manageAgain(w, r, group, err, func(*view.Manage) {})
}

// setPassword changes the viewer's password, after checking the present one. It ends all
// sessions; this browser gets a new one.
func (s settings) setPassword(w http.ResponseWriter, r *request) error {
	ctx, name := r.Context(), r.me.Name
	next := r.PostFormValue("password")
	err := s.checkOwnPassword(r)
	if err == nil {
		if err = s.mayChange(r); err == nil {
			_, err = s.carry(r)(s.timelines.Accounts.ChangePassword(ctx, name, next))
		}
	}
	if err != nil {
		return s.settingsAgain(w, r, err, func(*view.Settings) {})
	}
	token, a, err := s.timelines.Accounts.SignIn(ctx, name, next)
	if err != nil { // the password is changed all the same
		s.log.WarnContext(ctx, "not signed in after a change of password", "error", err)
		return redirect(w, r, string(view.LoginURL("/settings?saved")))
	}
	s.begun(w, r, token, a.ID)
	return s.done(w, r, "/settings?saved")
}

// settingsAgain shows the settings with the error of one of their forms.
func (s settings) settingsAgain(w http.ResponseWriter, r *request, err error, asSent func(*view.Settings)) error {
	is, err := s.formError(r, err)
	if err != nil {
		return err
	}
	v, err := s.settingsView(r)
	if err != nil {
		return err
	}
	v.Error, v.Profile.Error = is, is
	asSent(&v)
	return s.redisplay(w, r, is, view.SettingsPage(v))
}
