package web

import (
	"net/http"
	"strings"

	"riverrun/web/view"
)

// apiHelp is the page for people who write programs.
type apiHelp struct{ *Server }

func (s apiHelp) routes(mux router) { mux.Handle("GET "+view.APIHelpPath, s.page(s.show)) }

func (s apiHelp) show(w http.ResponseWriter, r *request) error {
	v := &view.APIHelp{Base: s.simple(r), Site: strings.TrimSuffix(s.url.String(), "/")}
	v.Operations, v.Types = s.api.Document()
	return s.html(w, r, http.StatusOK, view.APIHelpPage(v))
}
