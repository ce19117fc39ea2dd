package web

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"riverrun/rivers"
	"riverrun/tiers"
	"riverrun/timelines"
	"riverrun/timelines/admin"
	"riverrun/timelines/drafts"
	"riverrun/timelines/files"
	"riverrun/timelines/leaving"
	"riverrun/timelines/outage"
	"riverrun/timelines/snapshot"
	"riverrun/timelines/sources"
	"riverrun/web/api"
	"riverrun/web/view"
)

// Errors of this package; problems has the answer to each.
var (
	errNoPage      = errors.New("no such address")
	errMethod      = errors.New("no such method at this address")
	errSignIn      = errors.New("not signed in")
	errFilesSignIn = errors.New("files of somebody who is not signed in")
	errPrivate     = errors.New("file of a private site")
	errLimited     = errors.New("too many tries")
	errCrossOrigin = errors.New("cross-origin form")
	errOtherViewer = errors.New("page was made for another viewer")
	errStalled     = errors.New("form did not arrive in time")
	errBadRequest  = errors.New("malformed request")
	errLink        = errors.New("link that does not work any more")
	errPanic       = errors.New("panic")
	errResumed     = errors.New("signed in, not sent yet")
	errRules       = errors.New("has not agreed to the rules")
)

// problem is an error as people meet it: a status, and the catalogue's title
// and text, which never hold anything of the error itself.
type problem struct {
	status      int
	title, text string
}

var (
	missing   = problem{http.StatusNotFound, "error.missing.title", "error.missing"}
	forbidden = problem{http.StatusForbidden, "error.forbidden.title", "error.forbidden"}
	busy      = problem{http.StatusServiceUnavailable, "error.busy.title", "error.busy"}
	fault     = problem{http.StatusInternalServerError, "error.fault.title", "error.fault"}
	bad       = problem{http.StatusBadRequest, "error.bad.title", "error.bad"}
)

// problems is the one table from errors to answers. Any other error is a fault of the server.
// A missing page and one that the viewer may not know of have the same row.
var problems = []struct {
	err error
	is  problem
}{
	{errNoPage, missing},
	{errLink, problem{http.StatusNotFound, "error.missing.title", "error.link"}},
	{errMethod, problem{http.StatusMethodNotAllowed, "error.bad.title", "error.method"}},
	{timelines.ErrNotFound, missing},
	{rivers.ErrNotFound, missing},
	{timelines.ErrBlocked, problem{http.StatusForbidden, "error.forbidden.title", "error.blocked"}}, // one of the next but one
	{timelines.ErrExcluded, problem{http.StatusForbidden, "error.forbidden.title", "error.excluded"}},
	{timelines.ErrForbidden, forbidden},
	{leaving.ErrBegun, problem{http.StatusConflict, "leaving.title", "leaving.begun"}},
	{rivers.ErrForbidden, forbidden},
	{errCrossOrigin, problem{http.StatusForbidden, "error.forbidden.title", "error.crossorigin"}},
	{errOtherViewer, problem{http.StatusConflict, "error.otherviewer.title", "error.otherviewer"}},
	{errFilesSignIn, problem{http.StatusUnauthorized, "error.signin.title", "error.files.signin"}},
	{errPrivate, problem{http.StatusUnauthorized, "error.signin.title", "error.signin"}},
	{errRules, problem{http.StatusForbidden, "error.rules.title", "error.rules"}},
	{errLimited, problem{http.StatusTooManyRequests, "error.limited.title", "error.limited"}},
	{timelines.ErrBusy, busy},
	{errStalled, problem{http.StatusRequestTimeout, "error.busy.title", "error.stalled"}},
	{errBadRequest, bad},
	{drafts.ErrInvalid, bad},
	{drafts.ErrNotFound, missing},
	{errResumed, bad}, // of a form that is not shown again
	{snapshot.ErrBroad, problem{http.StatusBadRequest, "error.broad.title", "search.broad"}},
	{rivers.ErrUnavailable, busy},
	{files.ErrNotFound, missing},
	{sources.ErrNotFound, missing},
	{errStorage, busy},
	{tiers.ErrBehind, problem{http.StatusServiceUnavailable, "error.busy.title", "error.behind"}},
	{timelines.ErrNotSaved, problem{http.StatusServiceUnavailable, "error.busy.title", "error.notsaved"}}, // after ErrBehind: that change is saved
	{context.DeadlineExceeded, busy},
}

func problemOf(err error) problem {
	for _, p := range problems {
		if errors.Is(err, p.err) {
			return p.is
		}
	}
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return problem{http.StatusRequestEntityTooLarge, "error.large.title", "error.large"}
	}
	if outage.Is(err) {
		return busy
	}
	return fault
}

// needsSignIn reports whether signing in is the answer to err.
func needsSignIn(err error) bool {
	return errors.Is(err, errSignIn) || errors.Is(err, rivers.ErrSignInNeeded) || errors.Is(err, timelines.ErrSignedOut)
}

// fail answers a request whose handler returned err. It is the only place that
// logs a handler's error.
func (s *Server) fail(w http.ResponseWriter, r *request, err error) {
	ctx := r.Context()
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return // nobody listens any more
	}
	// When a body fails to arrive net/http ends the request's context, though the visitor
	// may still read an answer.
	ctx = context.WithoutCancel(ctx)
	r.Request = r.WithContext(ctx)
	if errors.Is(err, timelines.ErrSignedOut) {
		s.forgetSession(w)
		r.viewer, r.me, r.sets = timelines.Viewer{}, timelines.Account{}, nil
	}
	if needsSignIn(err) {
		s.askToSignIn(w, r)
		return
	}
	if s.askToAgree(w, r, err) {
		return
	}
	if invalid, ok := errors.AsType[*timelines.InvalidError](err); ok {
		// A form without a page of its own, such as a hand-made one.
		s.answerInvalid(w, r, s.invalid(r, invalid))
		return
	}
	if slow, ok := errors.AsType[*timelines.StrangerError](err); ok {
		s.answerInvalid(w, r, strangerError(r, slow))
		return
	}
	p := problemOf(err)
	text := r.loc.T(p.text, "when", view.In(r.loc, waitFor(err)))
	code := requestCode(ctx)
	switch {
	case p.status >= http.StatusInternalServerError:
		s.log.ErrorContext(ctx, "request failed", "code", code, "method", r.Method, "path", loggedPath(r.Request),
			"account", r.viewer.AccountID, "error", err)
	case p.status != http.StatusNotFound:
		s.log.InfoContext(ctx, "request refused", "code", code, "method", r.Method, "path", loggedPath(r.Request),
			"account", r.viewer.AccountID, "status", p.status, "error", err)
	}
	sayWhen(w, p.status, waitFor(err))
	if strings.HasPrefix(r.URL.Path, "/api/") { // an address that no operation has
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(p.status)
		is := api.Problem{Type: "about:blank", Title: http.StatusText(p.status), Status: p.status, Code: codeOf(p), Detail: text}
		_ = json.NewEncoder(w).Encode(is) // the caller is gone
		return
	}
	if r.wantsJSON() {
		writeJSON(w, p.status, view.FormError{Text: text})
		return
	}
	page := s.simple(r)
	page.Code = code
	var typed string
	if !errors.Is(err, errCrossOrigin) && !errors.Is(err, tiers.ErrBehind) { // another's words, and saved ones
		typed = r.typed()
	}
	keepNoCopy(w, typed != "")
	if err := s.html(w, r, p.status, view.ProblemPage(page, r.loc.T(p.title), text, typed)); err != nil {
		s.log.ErrorContext(ctx, "the error page failed", "code", code, "error", err)
	}
}

// askToSignIn answers a request that needs an account with the sign-in page. It leads back to
// the page asked for, and keeps the form if one came with a text.
func (s *Server) askToSignIn(w http.ResponseWriter, r *request) {
	if r.wantsJSON() {
		writeJSON(w, http.StatusUnauthorized, view.FormError{Text: r.loc.T("error.signin")})
		return
	}
	if kept := r.kept(); kept != nil {
		keepNoCopy(w, true)
		page := view.LoginPage(s.simple(r), view.Login{Kept: kept})
		if err := s.html(w, r, http.StatusUnauthorized, page); err != nil {
			s.log.ErrorContext(r.Context(), "the sign-in page failed", "error", err)
		}
		return
	}
	back := r.address()
	if r.Method != http.MethodGet {
		back = r.back("/")
	}
	http.Redirect(w, r.Request, "/login?back="+url.QueryEscape(back), http.StatusSeeOther)
}

// invalid puts an InvalidError into the reader's words.
func (s *Server) invalid(r *request, err *timelines.InvalidError) view.FormError {
	return view.FormError{Field: err.Field, Code: err.Code, Text: view.InvalidText(r.loc, err)}
}

// formError returns the error of the form if err is one, so that the form can be shown again;
// it returns any other error as it is.
func (s *Server) formError(r *request, err error) (view.FormError, error) {
	if errors.Is(err, timelines.ErrBusy) || errors.Is(err, errStorage) {
		return view.FormError{Text: r.loc.T("error.busy"), Status: http.StatusServiceUnavailable}, nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []view.FormError
		for _, one := range joined.Unwrap() {
			is, rest := s.formError(r, one)
			if rest != nil {
				return view.FormError{}, err
			}
			more := is.More
			is.More = nil
			if same := slices.IndexFunc(all, func(e view.FormError) bool { return e.Field == is.Field }); same >= 0 {
				all[same].Text += " " + is.Text // two files, say
				continue
			}
			all = append(append(all, is), more...)
		}
		all[0].More = all[1:]
		return all[0], nil
	}
	if invalid, ok := errors.AsType[*timelines.InvalidError](err); ok {
		return s.invalid(r, invalid), nil
	}
	if isGone(err) {
		return view.FormError{Text: r.loc.T("scheduled.gone"), Status: http.StatusConflict}, nil
	}
	if file, ok := errors.AsType[*sourceFileError](err); ok {
		what, todo := view.ProblemText(r.loc, string(file.fatal.Code))
		return view.FormError{Field: file.field, Text: strings.TrimSpace(what + " " + todo)}, nil
	}
	if is, ok := errors.AsType[*timelines.SuspendedError](err); ok {
		return view.FormError{Text: view.SuspendedText(r.loc, is), Status: http.StatusForbidden}, nil
	}
	if is, ok := errors.AsType[*timelines.LeavingError](err); ok {
		return view.FormError{Text: view.LeavingText(r.loc, is), Status: http.StatusForbidden}, nil
	}
	if errors.Is(err, leaving.ErrBegun) {
		return view.FormError{Text: r.loc.T("admin.error.begun"), Status: http.StatusConflict}, nil
	}
	if errors.Is(err, timelines.ErrNameTaken) {
		return view.FormError{Field: "name", Text: r.loc.T("invalid.name_taken")}, nil
	}
	for problem, key := range map[error]string{
		admin.ErrSelf: "admin.error.self", admin.ErrStaff: "admin.error.staff", admin.ErrLastAdministrator: "admin.error.last",
	} {
		if errors.Is(err, problem) {
			return view.FormError{Text: r.loc.T(key), Status: http.StatusForbidden}, nil
		}
	}
	if is, ok := doorError(r, err); ok {
		return is, nil
	}
	if errors.Is(err, errLimited) {
		wait := waitFor(err)
		return view.FormError{Text: r.loc.T("error.limited", "when", view.In(r.loc, wait)), Status: http.StatusTooManyRequests, Wait: wait}, nil
	}
	if slow, ok := errors.AsType[*timelines.StrangerError](err); ok {
		return strangerError(r, slow), nil
	}
	if errors.Is(err, timelines.ErrBlocked) { // perhaps not for ever
		return view.FormError{Text: r.loc.T("error.blocked"), Status: http.StatusForbidden}, nil
	}
	if errors.Is(err, errResumed) {
		return view.FormError{Text: r.loc.T("login.resumed"), Status: http.StatusOK}, nil
	}
	return view.FormError{}, err
}

// strangerError tells somebody new that they have written as much as they may for now.
func strangerError(r *request, slow *timelines.StrangerError) view.FormError {
	return view.FormError{Text: view.StrangerText(r.loc, slow), Status: http.StatusTooManyRequests, Wait: slow.After}
}

// waitFor returns when to try again after an error that says that it was too often.
func waitFor(err error) time.Duration {
	if slow, ok := errors.AsType[*limitedError](err); ok {
		return slow.after
	}
	return time.Minute // nobody knows: until others have arrived
}

// sayWhen says when to try again, if the answer is refused only for now: after wait, as the text
// says, if it was too often.
func sayWhen(w http.ResponseWriter, status int, wait time.Duration) {
	switch status {
	case http.StatusTooManyRequests:
		w.Header().Set("Retry-After", strconv.Itoa(int(view.RoundWait(wait).Seconds())))
	case http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "5")
	}
}

func (s *Server) answerInvalid(w http.ResponseWriter, r *request, is view.FormError) {
	status := cmp.Or(is.Status, http.StatusUnprocessableEntity)
	sayWhen(w, status, is.Wait)
	if r.wantsJSON() {
		writeJSON(w, status, is)
		return
	}
	keepNoCopy(w, true)
	page := view.ProblemPage(s.simple(r), r.loc.T("error.bad.title"), is.Text, r.typed())
	if err := s.html(w, r, status, page); err != nil {
		s.log.ErrorContext(r.Context(), "the error page failed", "error", err)
	}
}

// redisplay shows a form again, with the typed text and its error.
func (s *Server) redisplay(w http.ResponseWriter, r *request, is view.FormError, page view.Component) error {
	status := cmp.Or(is.Status, http.StatusUnprocessableEntity)
	sayWhen(w, status, is.Wait)
	if r.wantsJSON() {
		writeJSON(w, status, is)
		return nil
	}
	keepNoCopy(w, true)
	return s.html(w, r, status, page)
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	body, err := json.Marshal(value)
	if err != nil {
		http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(body) // the browser is gone
}
