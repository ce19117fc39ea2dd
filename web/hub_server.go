package web

import (
	"context"

	"riverrun/timelines"
	"riverrun/web/view"
)

// hubSource implements hubPages.
type hubSource struct {
	*view.Renderer
	*sealer
	timelines *timelines.Store
}

// PostIDs resolves the codes of posts; those of no post are left out.
func (s hubSource) PostIDs(ctx context.Context, codes []string) (map[string]int64, error) {
	return s.timelines.PostIDs(ctx, codes)
}
