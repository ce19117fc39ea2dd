package web

import (
	"context"
	"net/url"
	"time"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/timelines/access"
	"riverrun/web/view"
)

// patiently is the configuration with a bound on each question its sockets and shards ask
// the stores, which may be away without a word: then a socket closes with "reconnect"
// instead of showing an old page for as long as TCP hopes. The bound is on each question and not on
// what a socket does with the answers: how fast its client reads is not the stores'
// fault. Leases have leaseTimeout.
func (c hubConfig) patiently() hubConfig {
	c.rivers = patientRivers{c.rivers, c.patience}
	c.pages = patientPages{c.pages, c.patience}
	if pageOf, d := c.pageOf, c.patience; pageOf != nil {
		c.pageOf = func(ctx context.Context, v timelines.Viewer, path string, query url.Values) (rivers.Name, error) {
			ctx, cancel := context.WithTimeout(ctx, d)
			defer cancel()
			return pageOf(ctx, v, path, query)
		}
	}
	return c
}

type patientRivers struct {
	riverSource
	patience time.Duration
}

func (p patientRivers) Visit(ctx context.Context, v timelines.Viewer, n rivers.Name, before rivers.Cursor) (*rivers.Page, error) {
	ctx, cancel := context.WithTimeout(ctx, p.patience)
	defer cancel()
	return p.riverSource.Visit(ctx, v, n, before)
}

func (p patientRivers) Flush(ctx context.Context, watches []rivers.Watch, posts []int64) ([]rivers.Seen, error) {
	ctx, cancel := context.WithTimeout(ctx, p.patience)
	defer cancel()
	return p.riverSource.Flush(ctx, watches, posts)
}

func (p patientRivers) FirstPages(ctx context.Context, watches []rivers.Watch) ([]*rivers.Page, error) {
	ctx, cancel := context.WithTimeout(ctx, p.patience)
	defer cancel()
	return p.riverSource.FirstPages(ctx, watches)
}

func (p patientRivers) BringUp(ctx context.Context, names []rivers.Name) ([]rivers.Name, error) {
	ctx, cancel := context.WithTimeout(ctx, p.patience)
	defer cancel()
	return p.riverSource.BringUp(ctx, names)
}

func (p patientRivers) Freshen(ctx context.Context, n rivers.Name) error {
	ctx, cancel := context.WithTimeout(ctx, p.patience)
	defer cancel()
	return p.riverSource.Freshen(ctx, n)
}

func (p patientRivers) Cursor(ctx context.Context, v timelines.Viewer, text string) (rivers.Cursor, error) {
	ctx, cancel := context.WithTimeout(ctx, p.patience)
	defer cancel()
	return p.riverSource.Cursor(ctx, v, text)
}

type patientPages struct {
	hubPages
	patience time.Duration
}

func (p patientPages) ViewerName(ctx context.Context, v timelines.Viewer) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, p.patience)
	defer cancel()
	return p.hubPages.ViewerName(ctx, v)
}

func (p patientPages) PostIDs(ctx context.Context, codes []string) (map[string]int64, error) {
	ctx, cancel := context.WithTimeout(ctx, p.patience)
	defer cancel()
	return p.hubPages.PostIDs(ctx, codes)
}

func (p patientPages) Tags(ctx context.Context, items []rivers.Item, sets *access.Sets) ([]uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, p.patience)
	defer cancel()
	return p.hubPages.Tags(ctx, items, sets)
}

func (p patientPages) sightOf(ctx context.Context, n rivers.Name, sets *access.Sets) (sight, error) {
	ctx, cancel := context.WithTimeout(ctx, p.patience)
	defer cancel()
	return p.hubPages.sightOf(ctx, n, sets)
}

func (p patientPages) sightsOf(ctx context.Context, names []rivers.Name, sets []*access.Sets) ([]sight, error) {
	ctx, cancel := context.WithTimeout(ctx, p.patience)
	defer cancel()
	return p.hubPages.sightsOf(ctx, names, sets)
}

func (p patientPages) Entry(ctx context.Context, l view.Context, n rivers.Name, sets *access.Sets, it rivers.Item) (view.Parts, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, p.patience)
	defer cancel()
	return p.hubPages.Entry(ctx, l, n, sets, it)
}
