package web

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"time"

	"riverrun/timelines"
	"riverrun/timelines/blobs"
	"riverrun/timelines/exports"
	"riverrun/web/view"
)

// archiveTime is how long an archive may take to be sent.
const archiveTime = 6 * time.Hour

// ownData serves the page of an archive of what the viewer has here, and the archive.
type ownData struct{ *Server }

func (s ownData) routes(mux router) {
	mux.Handle("GET "+view.DataPath, s.members(s.page))
	mux.Handle("POST "+view.DataPath, s.members(s.ask))
	mux.Handle("GET "+view.DataFile, s.members(s.archive))
}

func (s ownData) view(r *request) (view.Data, error) {
	e, err := s.exports.Find(r.Context(), r.viewer.AccountID)
	return view.Data{Base: s.simple(r), Export: e}, err
}

func (s ownData) page(w http.ResponseWriter, r *request) error {
	v, err := s.view(r)
	if err != nil {
		return err
	}
	if r.wantsFragment() {
		return s.html(w, r, http.StatusOK, view.DataLive(v))
	}
	return s.html(w, r, http.StatusOK, view.DataPage(v))
}

// ask asks for an archive in the language of the page.
func (s ownData) ask(w http.ResponseWriter, r *request) error {
	err := s.exports.Ask(r.Context(), r.viewer.AccountID, s.simple(r).Locale.Lang)
	if err != nil {
		is, err := s.formError(r, err)
		if err != nil {
			return err
		}
		v, err := s.view(r)
		if err != nil {
			return err
		}
		v.Error = is
		return s.redisplay(w, r, is, view.DataPage(v))
	}
	return s.done(w, r, view.DataPath)
}

// archive sends the viewer's own archive; there is no address of another's.
func (s ownData) archive(w http.ResponseWriter, r *request) error {
	e, err := s.exports.Find(r.Context(), r.viewer.AccountID)
	if err != nil {
		return err
	}
	if e.State != exports.Ready {
		return timelines.ErrNotFound
	}
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Type", "application/zip")
	h.Set("ETag", `"`+e.Sum().String()+`"`) // a download that broke off goes on
	name := fmt.Sprintf("riverrun-%s-%s.zip", r.me.Name, e.FinishedAt.UTC().Format(time.DateOnly))
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
	if err := http.NewResponseController(w).SetWriteDeadline(time.Now().Add(archiveTime)); err != nil {
		return fmt.Errorf("extend the time of a download: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), archiveTime)
	defer cancel()
	blob, err := s.blobs.Open(ctx, e.Sum(), e.Bytes)
	if err != nil {
		return fmt.Errorf("%w: %w", errStorage, err)
	}
	http.ServeContent(w, r.Request, "", time.Time{}, blob)
	if err := blob.Close(); err != nil && !errors.Is(err, blobs.ErrNotFound) {
		s.log.WarnContext(ctx, "close an archive", "error", err) // it is sent
	}
	return nil
}
