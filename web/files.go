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
	"riverrun/timelines/files"
	"riverrun/timelines/links"
	"riverrun/timelines/pictures"
	"riverrun/web/view"
)

// filePages takes uploads before the form that they are for is sent, and serves what is
// attached.
type filePages struct{ *Server }

func (s filePages) routes(mux router) {
	mux.Handle("POST /files", s.withFiles(s.uploaded))
	mux.Handle("GET /files/{code}", s.freshAccess(s.file))
	mux.Handle("GET /files/{code}/{size}", s.freshAccess(s.file))
	mux.Handle("GET /files/{code}/state", s.members(s.state))
	mux.Handle("GET /p/{code}/preview", s.freshAccess(s.preview))
	mux.Handle("POST /files/{code}/discard", s.members(s.discard))
}

// uploadState is the JSON that tells a form about a file.
type uploadState struct {
	Code  string      `json:"code"`
	Name  string      `json:"name"`
	State files.State `json:"state"`
	Bytes int64       `json:"bytes"`
	// Thumb is the size of a picture that suits a tile.
	Thumb string `json:"thumb,omitempty"`
	Alt   string `json:"alt,omitempty"`
}

func stateOf(f files.File) uploadState {
	s := uploadState{Code: f.Code, Name: f.Name, State: f.State, Bytes: f.Bytes, Alt: f.Alt}
	if f.State == files.Picture {
		s.Thumb = string(view.TileSize(f))
	}
	return s
}

// uploaded answers with the files that came, which the sender may attach now.
func (s filePages) uploaded(w http.ResponseWriter, r *request) error {
	if err := r.fault(); err != nil {
		is, err := s.formError(r, err)
		if err != nil {
			return err
		}
		s.answerInvalid(w, r, is)
		return nil
	}
	found, err := s.shownAgain(r)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return errBadRequest
	}
	list := make([]uploadState, len(found))
	for i, f := range found {
		list[i] = stateOf(f)
	}
	writeJSON(w, http.StatusOK, list)
	return nil
}

// state tells the owner of a file whether it is ready.
func (s filePages) state(w http.ResponseWriter, r *request) error {
	code, ok := timelines.ParseCode(r.PathValue("code"))
	if !ok {
		return timelines.ErrNotFound
	}
	found, err := s.timelines.Files.Owned(r.Context(), r.viewer.AccountID, []string{code})
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return timelines.ErrNotFound
	}
	writeJSON(w, http.StatusOK, stateOf(found[0]))
	return nil
}

// discard removes a file that is not attached.
func (s filePages) discard(w http.ResponseWriter, r *request) error {
	code, ok := timelines.ParseCode(r.PathValue("code"))
	if !ok {
		return timelines.ErrNotFound
	}
	if err := s.timelines.Files.Discard(r.Context(), r.viewer.AccountID, code); err != nil {
		return err
	}
	return s.done(w, r, r.back("/"))
}

// fileTime is how long a file may take to be sent.
const fileTime = 10 * time.Minute

// sizes are the sizes that an address may name; none means the full picture, or the file.
var sizes = map[string]struct{}{
	"": {}, string(pictures.Full): {}, string(pictures.Medium): {}, string(pictures.Thumb): {},
	string(pictures.AvatarLarge): {}, string(pictures.AvatarSmall): {},
}

// file serves a picture or a file. Whether the viewer may read it is asked each time, and a
// browser that has a copy asks too, but for the pictures of accounts: everybody may see these,
// and another picture has another address.
func (s filePages) file(w http.ResponseWriter, r *request) error {
	code, ok := timelines.ParseCode(r.PathValue("code"))
	size := r.PathValue("size")
	if _, known := sizes[size]; !known || !ok {
		return timelines.ErrNotFound
	}
	c, err := s.timelines.Files.Find(r.Context(), r.viewer.AccountID, code, size)
	if err != nil {
		return err
	}
	return s.send(w, r, c, code+"."+size)
}

// preview serves the picture of a post's card: to those who may read the post, and at an address
// that does not tell who else links to the page.
func (s filePages) preview(w http.ResponseWriter, r *request) error {
	code, ok := timelines.ParseCode(r.PathValue("code"))
	if !ok {
		return timelines.ErrNotFound
	}
	c, err := s.timelines.Links.Picture(r.Context(), r.viewer.AccountID, code)
	if errors.Is(err, links.ErrNotFound) {
		return timelines.ErrNotFound
	}
	if err != nil {
		return err
	}
	c.Name = code
	return s.send(w, r, c, c.Sum.String()[:16])
}

// send answers with a blob. The version is part of its entity tag.
func (s filePages) send(w http.ResponseWriter, r *request, c files.Content, version string) error {
	h := w.Header()
	tag := `"` + version + `"`
	h.Set("ETag", tag)
	h.Set("Cache-Control", "private, no-cache")
	if private, err := s.rivers.Access().Private(r.Context()); err != nil {
		return err
	} else if c.Public && private {
		h.Set("Cache-Control", "private, max-age=86400, immutable")
	} else if c.Public {
		h.Set("Cache-Control", "public, max-age=86400, immutable")
	}
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	// A stranger wrote it: as a page of its own it may do nothing at all.
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Content-Type", c.Type)
	disposition := "attachment"
	if c.State == files.Picture {
		disposition = "inline"
	}
	h.Set("Content-Disposition", mime.FormatMediaType(disposition, map[string]string{"filename": c.Name}))
	if err := http.NewResponseController(w).SetWriteDeadline(time.Now().Add(fileTime)); err != nil {
		return fmt.Errorf("extend the time of a download: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), fileTime)
	defer cancel()
	blob, err := s.blobs.Open(ctx, c.Sum, c.Bytes)
	if err != nil {
		return fmt.Errorf("%w: %w", errStorage, err)
	}
	http.ServeContent(w, r.Request, "", time.Time{}, blob)
	if err := blob.Close(); err != nil && !errors.Is(err, blobs.ErrNotFound) {
		s.log.WarnContext(ctx, "close a file", "error", err) // it is sent
	}
	return nil
}
