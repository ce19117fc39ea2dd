package formats

import (
	"errors"
	"io"
	"net/url"
	"strconv"
	"strings"
	"time"

	"riverrun/timelines/rules"
)

// xmlFeed reads RSS of all versions, RDF and Atom. It takes each item, and each field of the head,
// out of the stream as a tree. Elements of RSS may stand in Atom and the other way round, as feeds
// mix them.
type xmlFeed struct {
	r    *Reader
	scan *xmlScanner
	tree tree

	wrap  int // how many containers are open: rss, channel, feed
	ended bool
	base  *url.URL // of the whole feed
	bare  bool     // Atom without its namespace

	authors []string // of the feed: for entries without an author
}

func newXMLFeed(r *Reader) *xmlFeed {
	return &xmlFeed{r: r, scan: newScanner(r.src, r.limits, false), base: r.base}
}

func (f *xmlFeed) next(d *draft) error {
	for {
		at := f.r.src.offset()
		tok, err := f.scan.next()
		if err != nil {
			whole := f.r.src.err == nil || errors.Is(f.r.src.err, io.EOF)
			if f.ended && whole && (errors.Is(err, &Fatal{Code: Malformed}) || errors.Is(err, &Fatal{Code: Truncated})) {
				f.r.note(TextAround)
				return io.EOF
			}
			return err
		}
		switch tok.kind {
		case endOfFile:
			return io.EOF
		case textRun:
			if f.ended && strings.TrimSpace(string(tok.text)) != "" {
				f.r.note(TextAround)
			}
			if f.wrap == 0 && !f.ended && strings.TrimSpace(string(tok.text)) != "" {
				return f.r.src.fatal(NotAFeed, "text stands before the first element")
			}
			continue
		case endTag:
			if f.wrap--; f.wrap == 0 {
				f.ended = true
			}
			continue
		}
		n := tok.name
		if f.ended {
			if f.isContainer(n) {
				return f.r.src.fatal(Malformed, "a second root <%s>", n.local)
			}
			// Without its items a full list would look as if they had been deleted. Their namespace
			// has ended with the root, so the name alone counts.
			if n.local == "item" || n.local == "entry" {
				return f.r.src.fatal(Malformed, "<%s> stands behind the end of the feed", n.local)
			}
			// This is a script or the like, added by a server or a browser.
			f.r.note(TextAround)
			return io.EOF
		}
		if f.isContainer(n) {
			f.wrap++
			f.takeBase(f.scan.value)
			if l := f.langOf(); l != "" && f.r.feed.Language == "" {
				f.r.feed.Language = f.r.language(l)
			}
			continue
		}
		if f.wrap == 0 {
			return notAFeed(f.r.src, n)
		}
		isItem := n.local == "item" && n.space == noSpace || n.local == "entry" && f.isAtom(n)
		line := tok.line
		if err := f.take(tok, at, isItem); err != nil {
			return err
		}
		if isItem {
			d.Line = line
			d.large = f.tree.over
			f.item(d)
			return nil
		}
		if !f.tree.over {
			f.head(d)
		}
	}
}

// notAFeed returns the error for a root that belongs to no feed.
func notAFeed(src *source, root name) error {
	if strings.EqualFold(root.local, "html") {
		return src.fatal(Page, "the root is <html>")
	}
	return src.fatal(NotAFeed, "the root is <%s>", root.local)
}

// isContainer reports whether an element holds items or the head.
func (f *xmlFeed) isContainer(n name) bool {
	switch f.wrap {
	case 0:
		if n.local == "feed" && (n.space == atomSpace || n.space == noSpace) {
			f.bare = n.space == noSpace
			return true
		}
		return n.local == "rss" || n.local == "RDF" || n.local == "channel" && n.space == noSpace
	case 1:
		return n.local == "channel" && n.space == noSpace
	}
	return false
}

func (f *xmlFeed) isAtom(n name) bool {
	return n.space == atomSpace || f.bare && n.space == noSpace
}

// takeBase takes the xml:base of the last start tag.
func (f *xmlFeed) takeBase(value func(attr) string) {
	for _, a := range f.scan.tok.attrs {
		if a.space == xmlSpace && a.local == "base" {
			f.base = joined(f.base, value(a))
		}
	}
}

func (f *xmlFeed) langOf() string {
	for _, a := range f.scan.tok.attrs {
		if a.space == xmlSpace && a.local == "lang" {
			return f.scan.value(a)
		}
	}
	return ""
}

// joined returns the base that an xml:base makes of the base around it.
func joined(base *url.URL, s string) *url.URL {
	s = strings.TrimSpace(s)
	if s == "" || len(s) > rules.ItemURLLong.Most {
		return base
	}
	var u *url.URL
	var err error
	if base != nil {
		u, err = base.Parse(s)
	} else {
		u, err = url.Parse(s)
	}
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return base
	}
	return u
}

// take reads an element with all its contents into the tree.
func (f *xmlFeed) take(tok *token, at int64, isItem bool) error {
	f.tree.begin(f.scan, tok, at, f.r.limits.ItemBytes)
	f.scan.floor = f.scan.depth()
	defer func() { f.scan.floor = 0 }()
	depth := 0
	n := tok.name
	for {
		tok, err := f.scan.next()
		if err != nil {
			return err
		}
		switch tok.kind {
		case endOfFile:
			return errors.New("formats: the scanner let an open element end") // it does not
		case startTag:
			if depth == 0 && isItem && tok.name == n {
				return f.r.src.fatal(Malformed, "an item stands inside of an item")
			}
			depth++
		case endTag:
			depth--
		}
		if f.tree.take(f.scan, tok) {
			return nil
		}
	}
}

// head takes a field of the feed.
func (f *xmlFeed) head(d *draft) {
	if len(f.tree.nodes) == 0 {
		return
	}
	t, n, feed := &f.tree, f.tree.nodes[0].name, &f.r.feed
	text := func() string { s, _ := cutRunes(oneLine(htmlTitle(t.content(0))), rules.ItemTitle.Most); return s }
	set := func(to *string, s string) {
		if *to == "" {
			*to = s
		}
	}
	address := func(s string) string {
		a, ok := webAddress(s, f.base)
		if !ok || len(a) > rules.ItemURLLong.Most {
			return ""
		}
		return a
	}
	switch {
	case n.local == "link" && (f.isAtom(n) || t.attr(0, noSpace, "href") != ""):
		a := address(t.attr(0, noSpace, "href"))
		switch rel := strings.ToLower(t.attr(0, noSpace, "rel")); rel {
		case "", "alternate":
			set(&feed.Site, a)
		case "hub":
			set(&feed.Hub, a)
		case "self":
			set(&feed.Self, a)
		}
	case n.local == "author" && f.isAtom(n):
		for p, e := range t.elements(0) {
			if e.name.local == "name" {
				f.authors = appendAuthor(f.authors, t.content(p))
			}
		}
	case n.space == noSpace || f.isAtom(n):
		switch n.local {
		case "title":
			set(&feed.Title, text())
		case "description", "subtitle", "tagline":
			about, _ := cutRunes(htmlTitle(t.content(0)), 5000)
			set(&feed.About, plainText(about))
		case "link":
			set(&feed.Site, address(t.content(0)))
		case "language":
			set(&feed.Language, f.r.language(t.content(0)))
		case "ttl":
			if m, err := strconv.Atoi(strings.TrimSpace(t.content(0))); err == nil && m > 0 {
				feed.TTL = time.Duration(min(m, 31*24*60)) * time.Minute
			}
		case "image":
			for c, e := range t.elements(0) {
				if e.name.local == "url" {
					set(&feed.Picture, address(t.content(c)))
				}
			}
		case "logo", "icon":
			set(&feed.Picture, address(t.content(0)))
		}
	case n.space == dcSpace && n.local == "title":
		set(&feed.Title, text())
	case n.space == dcSpace && n.local == "language":
		set(&feed.Language, f.r.language(t.content(0)))
	case n.space == itunesSpace && n.local == "image":
		set(&feed.Picture, address(t.attr(0, noSpace, "href")))
	case n.space == itunesSpace && n.local == "new-feed-url":
		set(&feed.Moved, address(t.content(0)))
	case n.space == historySpace && n.local == "complete":
		feed.Complete = true
	case n.space == syndicationSpace && n.local == "updatePeriod" && feed.TTL == 0:
		feed.TTL = periods[strings.ToLower(strings.TrimSpace(t.content(0)))]
	case n.space == syndicationSpace && n.local == "updateFrequency" && feed.TTL > 0:
		if k, err := strconv.Atoi(strings.TrimSpace(t.content(0))); err == nil && k > 0 && k <= 1000 {
			feed.TTL /= time.Duration(k)
		}
	}
}

var periods = map[string]time.Duration{
	"hourly": time.Hour, "daily": 24 * time.Hour, "weekly": 7 * 24 * time.Hour,
	"monthly": 30 * 24 * time.Hour, "yearly": 31 * 24 * time.Hour,
}
