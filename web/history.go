package web

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"riverrun/timelines/edits"
	"riverrun/web/view"
)

// editsPage is how many edits a page of them shows.
const editsPage = 10

// history shows the author of a post how its text was edited.
func (s posts) history(w http.ResponseWriter, r *request) error {
	ctx, me, code := r.Context(), r.viewer.AccountID, r.PathValue("code")
	var before time.Time
	if at := r.URL.Query().Get("before"); at != "" {
		micros, err := strconv.ParseInt(at, 10, 64)
		if err != nil {
			return errors.Join(errBadRequest, err)
		}
		before = time.UnixMicro(micros)
	}
	// Its errors are those of an edit: the post is missing, or another's.
	if _, err := s.timelines.Posts.Body(ctx, me, code); err != nil {
		return err
	}
	found, err := s.timelines.Edits.Of(ctx, me, code, before, editsPage+1)
	if err != nil {
		return err
	}
	h := view.History{Base: s.simple(r), Code: code}
	if len(found) > editsPage {
		found = found[:editsPage]
		h.Older = strconv.FormatInt(found[editsPage-1].At.UnixMicro(), 10)
	}
	for _, e := range found {
		h.Edits = append(h.Edits, view.HistoryEdit{At: e.At, Spans: edits.Compare(e.Was, e.Is)})
	}
	keepNoCopy(w, true)
	return s.html(w, r, http.StatusOK, view.HistoryPage(h))
}
