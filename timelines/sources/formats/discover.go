package formats

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"

	"riverrun/timelines/rules"
)

const (
	maxPageBytes  = 2 << 20
	maxDiscovered = 20
)

// Discovered is a feed that a page names.
type Discovered struct {
	URL   string `json:"url"`
	Title string `json:"title,omitempty"` // as the page calls it; may be empty
	Type  string `json:"type,omitempty"`  // the media type it is said to have
}

// Discover finds the feeds that an HTML page names by <link rel="alternate">, in their order, at most
// 20. It reads the first 2 MiB of the page. address is the address of the page. contentType is the
// type that came with it, "" if none did. Discover does not guess addresses. It returns only the
// errors of the reader.
func Discover(page io.Reader, address, contentType string) ([]Discovered, error) {
	base, err := url.Parse(address)
	if err != nil || base.Host == "" {
		base = nil
	}
	below := &remembering{in: io.LimitReader(page, maxPageBytes)}
	in, err := charset.NewReader(below, contentType)
	if below.err != nil {
		return nil, fmt.Errorf("read page: %w", below.err)
	}
	if err != nil {
		return nil, nil // an empty page
	}
	var feeds []Discovered
	z := html.NewTokenizer(in)
	z.SetMaxBuf(256 << 10)
	for {
		switch z.Next() {
		case html.ErrorToken:
			if err := z.Err(); below.err != nil || err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, html.ErrBufferExceeded) {
				return nil, fmt.Errorf("read page: %w", errors.Join(below.err, err))
			}
			return feeds, nil
		case html.StartTagToken, html.SelfClosingTagToken:
			t := z.Token()
			switch t.DataAtom {
			case atom.Base:
				base = joined(base, attrOf(t, "href"))
			case atom.Link:
				f, ok := discovered(t, base)
				if ok && !slices.ContainsFunc(feeds, func(g Discovered) bool { return g.URL == f.URL }) {
					if feeds = append(feeds, f); len(feeds) == maxDiscovered {
						return feeds, nil
					}
				}
			}
		}
	}
}

var feedTypes = []string{
	"application/rss+xml", "application/atom+xml", "application/feed+json", "application/rdf+xml",
	"application/x-rss+xml", "application/xml", "text/xml", "application/json",
}

func discovered(t html.Token, base *url.URL) (Discovered, bool) {
	rel := strings.Fields(strings.ToLower(attrOf(t, "rel")))
	kind, _, _ := strings.Cut(strings.ToLower(attrOf(t, "type")), ";")
	kind = strings.TrimSpace(kind)
	isFeed := slices.Contains(rel, "feed") || slices.Contains(rel, "alternate") && slices.Contains(feedTypes, kind)
	a, ok := webAddress(attrOf(t, "href"), base)
	if !isFeed || !ok || len(a) > rules.ItemURLLong.Most {
		return Discovered{}, false
	}
	// Every page of WordPress names its own data this way.
	if kind == "application/json" && strings.Contains(a, "/wp-json") {
		return Discovered{}, false
	}
	title, _ := cutRunes(oneLine(attrOf(t, "title")), rules.ItemTitle.Most)
	return Discovered{URL: a, Title: title, Type: oneLine(kind)}, true
}
