package live

import (
	"context"
	"net/url"
	"time"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/timelines/access"
	"riverrun/web/view"
)

// withTimeouts returns the configuration with a bound on each question to the stores. A store
// may fall silent: then a socket closes with "reconnect" instead of showing an old page for as
// long as TCP waits. The bound is on each question and not on what a socket does with the
// answers, as the stores are not to blame for a slow client. Leases have leaseTimeout.
func (c Config) withTimeouts() Config {
	c.Rivers = boundedRivers{c.Rivers, c.QueryTimeout}
	c.Pages = boundedPages{c.Pages, c.QueryTimeout}
	if pageOf, d := c.PageOf, c.QueryTimeout; pageOf != nil {
		c.PageOf = func(ctx context.Context, v timelines.Viewer, path string, query url.Values) (rivers.Name, error) {
			ctx, cancel := context.WithTimeout(ctx, d)
			defer cancel()
			return pageOf(ctx, v, path, query)
		}
	}
	return c
}

type boundedRivers struct {
	Rivers
	timeout time.Duration
}

func (p boundedRivers) Visit(ctx context.Context, v timelines.Viewer, n rivers.Name, before rivers.Cursor) (*rivers.Page, error) {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	return p.Rivers.Visit(ctx, v, n, before)
}

func (p boundedRivers) Flush(ctx context.Context, watches []rivers.Watch, posts []int64) ([]rivers.Seen, error) {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	return p.Rivers.Flush(ctx, watches, posts)
}

func (p boundedRivers) FirstPages(ctx context.Context, watches []rivers.Watch) ([]*rivers.Page, error) {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	return p.Rivers.FirstPages(ctx, watches)
}

func (p boundedRivers) BringUp(ctx context.Context, names []rivers.Name) ([]rivers.Name, error) {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	return p.Rivers.BringUp(ctx, names)
}

func (p boundedRivers) Freshen(ctx context.Context, n rivers.Name) error {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	return p.Rivers.Freshen(ctx, n)
}

func (p boundedRivers) Cursor(ctx context.Context, v timelines.Viewer, text string) (rivers.Cursor, error) {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	return p.Rivers.Cursor(ctx, v, text)
}

func (p boundedRivers) Unread(ctx context.Context, asks []rivers.UnreadAsk) ([]int, error) {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	return p.Rivers.Unread(ctx, asks)
}

type boundedPages struct {
	Pages
	timeout time.Duration
}

func (p boundedPages) ViewerName(ctx context.Context, v timelines.Viewer) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	return p.Pages.ViewerName(ctx, v)
}

func (p boundedPages) PostIDs(ctx context.Context, codes []string) (map[string]int64, error) {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	return p.Pages.PostIDs(ctx, codes)
}

func (p boundedPages) Tags(ctx context.Context, items []rivers.Item, sets *access.Sets) ([]uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	return p.Pages.Tags(ctx, items, sets)
}

func (p boundedPages) Fingerprint(ctx context.Context, n rivers.Name, sets *access.Sets) (Fingerprint, error) {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	return p.Pages.Fingerprint(ctx, n, sets)
}

func (p boundedPages) Fingerprints(ctx context.Context, names []rivers.Name, sets []*access.Sets) ([]Fingerprint, error) {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	return p.Pages.Fingerprints(ctx, names, sets)
}

func (p boundedPages) Entry(ctx context.Context, l view.Context, n rivers.Name, sets *access.Sets, it rivers.Item) (view.Parts, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	return p.Pages.Entry(ctx, l, n, sets, it)
}
