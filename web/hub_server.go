package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/web/view"
)

// newHub returns the hub of a server. The figures are registered where the
// registry says; nil: nowhere.
func newHub(s *Server, registry prometheus.Registerer, behind func(context.Context, time.Duration) (bool, error)) (*hub, error) {
	metric, err := newHubMetrics(registry)
	if err != nil {
		return nil, err
	}
	return makeHub(hubConfig{
		rivers: s.rivers,
		pages:  hubSource{s.view, s.seals, s.timelines, s.limits},
		pageOf: func(ctx context.Context, v timelines.Viewer, path string, query url.Values) (rivers.Name, error) {
			return s.pageOf(ctx, v, path, query)
		},
		viewer:  s.viewer,
		hear:    s.tiers.Subscribe,
		behind:  behind,
		log:     s.log,
		address: s.addresses.key,
		origins: []string{s.url.Host},

		patience: s.databaseTimeout,
	}, metric), nil
}

// serveWS answers GET /ws. A session that has ended gets its socket closed with
// the code that says so: a refused handshake tells a browser's script nothing.
func (h *hub) serveWS(w http.ResponseWriter, r *http.Request) error {
	v, err := h.cfg.viewer(r)
	ended := errors.Is(err, timelines.ErrSignedOut)
	if err != nil && !ended {
		return err
	}
	h.serve(w, r, v, h.cfg.address(r), ended)
	return nil
}

// hubSource implements hubPages.
type hubSource struct {
	*view.Renderer
	*sealer
	timelines *timelines.Store
	limits    *limits
}

// maySearch implements hubPages. A page and its socket ask for the same search, each
// within the limit.
func (s hubSource) maySearch(v timelines.Viewer, address string) error {
	return s.limits.liveSearch.allow(searcher(v, address))
}

// PostIDs resolves the codes of posts; those of no post are left out.
func (s hubSource) PostIDs(ctx context.Context, codes []string) (map[string]int64, error) {
	return s.timelines.PostIDs(ctx, codes)
}
