package web

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/web/live"
	"riverrun/web/view"
)

// mayChange counts a change by the viewer, within the viewer's limit: it comes before each change. errResumed if the
// form is only to be shown again.
func (s *Server) mayChange(r *request) error {
	if r.resumed {
		return errResumed
	}
	return s.limits.writes.allow(accountKey(r.viewer.AccountID))
}

// carry returns tiers.Carry for a request, so that a change can be its argument: s.carry(r)(s.timelines.Posts.Like(…)).
// That returns when the viewer's own rivers show the change and, if it is a narrowing, every node follows it (Tier 0).
func (s *Server) carry(r *request) func(timelines.Change, error) (timelines.Change, error) {
	return func(c timelines.Change, err error) (timelines.Change, error) {
		return s.tiers.Carry(r.Context(), c, err)
	}
}

// answerEntry answers a change of a post with a redirect or, for river.js, with the post's
// entry as its page shows it now (R3), or with a frame that says that the page does not have
// it. The change is done: somebody who was signed out since may see no entry, but is not
// refused.
func (s *Server) answerEntry(w http.ResponseWriter, r *request, c timelines.Change, back string) error {
	if !r.wantsJSON() {
		return redirect(w, r, back)
	}
	ctx := r.Context()
	gone := live.GoneFrame(c.Code)
	if r.URL.Path == "/posts" {
		gone = live.ElsewhereFrame(c.Code, "/p/"+c.Code) // a new post: river.js goes there
	}
	address, err := url.Parse(localAddress(r.Header.Get("X-River-Page"), "/"))
	if err != nil {
		return writeFrame(w, gone) // no page of ours; the change is done all the same
	}
	n, err := s.pageOf(ctx, r.viewer, address.Path, address.Query())
	if live.IsNoPage(err) || needsSignIn(err) {
		return writeFrame(w, gone) // as little
	}
	if err != nil {
		return err
	}
	it, sets, err := s.homes.Entry(ctx, r.viewer, n, c.PostID)
	if errors.Is(err, rivers.ErrNotFound) || needsSignIn(err) {
		return writeFrame(w, gone) // deleted, or posted to elsewhere, or signed out
	}
	if err != nil {
		return err
	}
	l := view.Context{Viewer: r.viewer, Lang: r.loc.Lang, Page: address.RequestURI()}
	parts, whole, err := s.view.Entry(ctx, l, n, sets, *it)
	if err != nil {
		return err
	}
	frame, err := live.EntryFrame(c.Code, view.Version{Stamp: it.Stamp, Tag: parts.Tag}, it.Place, whole)
	if err != nil {
		return err
	}
	return writeFrame(w, frame)
}

// writeFrame answers with a frame of the socket's protocol.
func writeFrame(w http.ResponseWriter, frame []byte) error {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "private, no-store")
	_, _ = w.Write(frame) // the browser is gone
	return nil
}

// done answers a change that does not concern a post.
func (s *Server) done(w http.ResponseWriter, r *request, back string) error {
	if r.wantsJSON() {
		writeJSON(w, http.StatusOK, struct {
			T string `json:"t"`
		}{"done"})
		return nil
	}
	return redirect(w, r, back)
}

// malformedForm is the error of a form that cannot be parsed; one that is too
// large stays what it is, and one that did not arrive in time is errStalled.
func malformedForm(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("%w: %w", errStalled, err)
	}
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return err
	}
	return fmt.Errorf("%w: %w", errBadRequest, err)
}
