package web

import (
	"net/http"
	"strings"

	"riverrun/timelines/sources/formats"
	"riverrun/web/view"
)

// feedHelp is the page for people who make feeds, with its schema and examples.
type feedHelp struct{ *Server }

func (s feedHelp) routes(mux router) {
	mux.Handle("GET /help/feeds", s.page(s.show))
	for ending, file := range map[string]struct {
		mime    string
		content []byte
	}{
		".xsd":    {"application/xml; charset=utf-8", formats.XSD()},
		".xml":    {"application/xml; charset=utf-8", formats.Example(formats.XML)},
		".csv":    {"text/csv; charset=utf-8", formats.Example(formats.CSV)},
		".ndjson": {"application/x-ndjson; charset=utf-8", formats.Example(formats.NDJSON)},
	} {
		mux.Handle("GET /help/feeds"+ending, s.page(func(w http.ResponseWriter, _ *request) error {
			w.Header().Set("Content-Type", file.mime)
			w.Header().Set("Cache-Control", "no-cache")
			_, _ = w.Write(file.content) // the client is gone
			return nil
		}))
	}
}

func (s feedHelp) show(w http.ResponseWriter, r *request) error {
	return s.html(w, r, http.StatusOK, view.FeedHelpPage(&view.FeedHelp{Base: s.simple(r), Site: strings.TrimSuffix(s.url.String(), "/"), Limits: s.sources.Limits()}))
}
