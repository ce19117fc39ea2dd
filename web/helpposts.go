package web

import (
	"net/http"

	"riverrun/timelines/rules"
	"riverrun/web/view"
)

// postHelp is the page of what a post can have.
type postHelp struct{ *Server }

func (s postHelp) routes(mux router) {
	mux.Handle("GET "+view.PostHelpPath, s.page(s.show))
}

func (s postHelp) show(w http.ResponseWriter, r *request) error {
	return s.html(w, r, http.StatusOK, view.PostHelpPage(&view.PostHelp{Base: s.simple(r), Set: map[string]int{
		rules.SetFileSize:     int(s.fileSize / 1_000_000),
		rules.SetPostFiles:    s.timelines.Files.MostOfPost(),
		rules.SetCommentFiles: s.timelines.Files.MostOfComment(),
	}}))
}
