package formats

import (
	"net/url"
	"strings"
	"time"
)

// entry is what an item says, before conclude decides what counts.
type entry struct {
	guid, guidPermalink string
	title               string
	titlePlain          bool
	link, enclosed      string // alternate link; the first link of any kind
	content, contentOf  string // the longest text, and the field it stood in
	summary, summaryOf  string
	contentPlain        bool
	summaryPlain        bool
	contentBase         *url.URL
	published, updated  dated
	lat, lon            string
	thumbs              []Picture
	duration            string // of the enclosure
}

type dated struct {
	field, value string
	line         int
}

func (f *xmlFeed) item(d *draft) {
	t := &f.tree
	var e entry
	base := f.base
	if b := t.attr(0, xmlSpace, "base"); b != "" {
		base = joined(base, b)
	}
	if l := t.attr(0, xmlSpace, "lang"); l != "" {
		d.setLanguage("xml:lang", l)
	}
	var authors []string
	for c, n := range t.elements(0) {
		d.at = int(n.line)
		switch n.name.space {
		case noSpace:
			if f.bare {
				f.atomField(d, &e, c, n.name.local, base, &authors)
			} else {
				f.rssField(d, &e, c, n.name.local, base, &authors)
			}
		case atomSpace:
			f.atomField(d, &e, c, n.name.local, base, &authors)
		case dcSpace:
			f.dcField(d, &e, c, n.name.local, &authors)
		case contentSpace:
			if n.name.local == "encoded" && e.content == "" {
				e.content, e.contentOf, e.contentBase = t.content(c), "content:encoded", base
			}
		case mediaSpace:
			f.media(d, &e, c, base, 0)
		case itunesSpace:
			f.itunesField(d, &e, c, n.name.local, base, &authors)
		case georssSpace, geoSpace:
			f.placeField(d, &e, c, n.name)
		}
	}
	f.conclude(d, &e, base)
	if len(authors) == 0 {
		authors = f.authors
	}
	if len(authors) > 0 {
		d.setAuthor("author", strings.Join(authors, ", "))
	}
}

func first(to *string, s string) {
	if *to == "" {
		*to = s
	}
}

func (f *xmlFeed) rssField(d *draft, e *entry, c int32, field string, base *url.URL, authors *[]string) {
	t := &f.tree
	switch field {
	case "guid":
		if e.guid == "" {
			e.guid, e.guidPermalink = t.content(c), t.attr(c, noSpace, "isPermaLink")
		}
	case "title":
		first(&e.title, t.content(c))
	case "link":
		if href := t.attr(c, noSpace, "href"); href != "" {
			f.atomLink(d, e, c, base)
		} else {
			first(&e.link, t.content(c))
		}
	case "description":
		if e.summary == "" {
			e.summary, e.summaryOf = t.content(c), field
		}
	case "body": // xhtml:body and RSS 3
		if e.content == "" {
			e.content, e.contentOf, e.contentBase = t.content(c), field, base
		}
	case "pubDate", "pubdate":
		e.published.take(field, t.content(c), d.at)
	case "author":
		*authors = appendAuthor(*authors, t.content(c))
	case "category":
		d.addCategory(field, unescape(t.content(c)))
	case "enclosure":
		d.takeEnclosure(field, enclosed{address: t.attr(c, noSpace, "url"), mediaType: t.attr(c, noSpace, "type"), length: t.attr(c, noSpace, "length")}, base)
	case "image":
		for u, n := range t.elements(c) {
			if n.name.local == "url" {
				d.takePicture(field, t.content(u), "", base)
			}
		}
	case "language":
		d.setLanguage(field, t.content(c))
	}
}

func (x *dated) take(field, value string, line int) {
	if x.value == "" {
		*x = dated{field, value, line}
	}
}

// appendAuthor adds the name of an author written as in RSS: "mail (name)". It leaves the mail
// address out, so that pages never show it.
func appendAuthor(authors []string, s string) []string {
	s = oneLine(unescape(s))
	if mail, name, ok := strings.Cut(s, "("); ok && strings.Contains(mail, "@") {
		s = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(name), ")"))
	} else if name, mail, ok := strings.Cut(s, "<"); ok && strings.Contains(mail, "@") {
		s = strings.TrimSpace(name)
	} else if strings.Contains(s, "@") && !strings.Contains(s, " ") && !strings.HasPrefix(s, "@") {
		return authors
	} else if name, mail, ok := strings.Cut(s, "("); ok && strings.Contains(mail, "@") {
		s = strings.TrimSpace(name)
	}
	if s == "" || len(authors) == 10 {
		return authors
	}
	for _, a := range authors {
		if a == s {
			return authors
		}
	}
	return append(authors, s)
}

func (f *xmlFeed) atomField(d *draft, e *entry, c int32, field string, base *url.URL, authors *[]string) {
	t := &f.tree
	switch field {
	case "id":
		first(&e.guid, t.content(c))
		e.guidPermalink = "false"
	case "title":
		if e.title == "" {
			if e.title, e.titlePlain = f.atomText(c); e.title == "" {
				e.title = t.content(c) // of a type that no title has
			}
		}
	case "link":
		f.atomLink(d, e, c, base)
	case "content":
		if src := t.attr(c, noSpace, "src"); src != "" {
			d.takeEnclosure("content", enclosed{address: src, mediaType: t.attr(c, noSpace, "type")}, joined(base, t.attr(c, xmlSpace, "base")))
		} else if e.content == "" {
			e.content, e.contentPlain = f.atomText(c)
			e.contentOf, e.contentBase = field, joined(base, t.attr(c, xmlSpace, "base"))
		}
	case "summary":
		if e.summary == "" {
			e.summary, e.summaryPlain = f.atomText(c)
			e.summaryOf = field
		}
	case "published", "issued", "created":
		e.published.take(field, t.content(c), d.at)
	case "updated", "modified":
		e.updated.take(field, t.content(c), d.at)
	case "author", "contributor":
		if field == "contributor" {
			return
		}
		for p, n := range t.elements(c) {
			if n.name.local == "name" {
				*authors = appendAuthor(*authors, t.content(p))
			}
		}
	case "category":
		label := t.attr(c, noSpace, "label")
		if label == "" {
			label = t.attr(c, noSpace, "term")
		}
		d.addCategory(field, label)
	}
}

// atomText returns a text of Atom, and whether it is plain rather than HTML.
func (f *xmlFeed) atomText(c int32) (s string, plain bool) {
	t := &f.tree
	kind := strings.ToLower(strings.TrimSpace(t.attr(c, noSpace, "type")))
	switch {
	case t.hasElements(c):
		return t.markup(c), false
	case kind == "html", kind == "text/html", kind == "xhtml", kind == "application/xhtml+xml":
		return t.content(c), false
	case kind == "", kind == "text", kind == "text/plain":
		s = t.content(c)
		return s, kind != "" || !looksHTML(s) // many leave the type out and write HTML
	case strings.HasPrefix(kind, "text/"):
		return t.content(c), true
	}
	return "", true // a picture or a document in base64
}

func (f *xmlFeed) atomLink(d *draft, e *entry, c int32, base *url.URL) {
	t := &f.tree
	href := t.attr(c, noSpace, "href")
	if href == "" {
		href = t.content(c) // as in RSS
	}
	base = joined(base, t.attr(c, xmlSpace, "base"))
	if base != f.r.base {
		if a, ok := webAddress(href, base); ok {
			href = a
		}
	}
	kind := strings.ToLower(strings.TrimSpace(t.attr(c, noSpace, "type")))
	switch strings.ToLower(strings.TrimSpace(t.attr(c, noSpace, "rel"))) {
	case "", "alternate":
		if e.link == "" || kind == "text/html" && e.enclosed == "" {
			e.link = href
		}
		if kind == "text/html" {
			e.enclosed = "html" // the page itself, rather than another form of it
		}
	case "enclosure":
		d.takeEnclosure("link", enclosed{address: href, mediaType: kind, length: t.attr(c, noSpace, "length"), title: t.attr(c, noSpace, "title")}, base)
	}
}

func (f *xmlFeed) dcField(d *draft, e *entry, c int32, field string, authors *[]string) {
	t := &f.tree
	switch field {
	case "creator", "author":
		*authors = appendAuthor(*authors, t.content(c))
	case "date", "issued", "created":
		e.published.take("dc:"+field, t.content(c), d.at)
	case "modified":
		e.updated.take("dc:"+field, t.content(c), d.at)
	case "subject":
		d.addCategory("dc:subject", unescape(t.content(c)))
	case "language":
		d.setLanguage("dc:language", t.content(c))
	case "title":
		first(&e.title, t.content(c))
	case "description":
		if e.summary == "" {
			e.summary, e.summaryOf = t.content(c), "dc:description"
		}
	case "identifier":
		first(&e.guid, t.content(c))
	}
}

func (f *xmlFeed) itunesField(d *draft, e *entry, c int32, field string, base *url.URL, authors *[]string) {
	t := &f.tree
	switch field {
	case "author":
		if len(*authors) == 0 {
			*authors = appendAuthor(*authors, t.content(c))
		}
	case "title":
		first(&e.title, t.content(c))
	case "summary":
		if e.summary == "" {
			e.summary, e.summaryOf = t.content(c), "itunes:summary"
		}
	case "duration":
		first(&e.duration, t.content(c))
	case "image":
		if a, ok := d.address(PictureInvalid, PictureInvalid, "itunes:image", t.attr(c, noSpace, "href"), base); ok {
			e.thumbs = append(e.thumbs, Picture{URL: a})
		}
	}
}

func (f *xmlFeed) placeField(d *draft, e *entry, c int32, n name) {
	t := &f.tree
	pair := func(field, s string) {
		if parts := strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == ',' || r == '\n' || r == '\t' }); len(parts) == 2 {
			d.setPlace(field, "", parts[0], parts[1])
		} else {
			d.problem(PlaceInvalid, field, s)
		}
	}
	switch {
	case n.space == georssSpace && n.local == "point":
		pair("georss:point", t.content(c))
	case n.space == georssSpace && strings.EqualFold(n.local, "featureName"):
		d.setPlace("georss:featurename", t.content(c), "", "")
	case n.space == georssSpace && n.local == "where":
		for p, point := range t.elements(c) {
			if point.name.local != "Point" {
				continue
			}
			for k, pos := range t.elements(p) {
				if pos.name.local == "pos" {
					pair("gml:pos", t.content(k))
				}
			}
		}
	case n.space == geoSpace && n.local == "lat":
		e.lat = t.content(c)
	case n.space == geoSpace && (n.local == "long" || n.local == "lon"):
		e.lon = t.content(c)
	case n.space == geoSpace && n.local == "Point":
		for k, part := range t.elements(c) {
			switch part.name.local {
			case "lat":
				e.lat = t.content(k)
			case "long":
				e.lon = t.content(k)
			}
		}
	}
}

// conclude decides what counts.
func (f *xmlFeed) conclude(d *draft, e *entry, base *url.URL) {
	d.at = 0
	link := strings.TrimSpace(e.link)
	if link == "" && e.guidPermalink != "false" && hasWebScheme(strings.TrimSpace(e.guid)) {
		link = e.guid
	}
	d.setURL("link", link, base)
	d.setID("guid", e.guid)
	if d.ID == "" && !d.wrong && d.URL == "" {
		d.setID("rdf:about", f.tree.attr(0, rdfSpace, "about"))
	}
	if e.titlePlain {
		d.setTitle("title", e.title)
	} else {
		d.setTitle("title", htmlTitle(e.title))
	}
	text, field, plain, textBase := e.content, e.contentOf, e.contentPlain, e.contentBase
	if strings.TrimSpace(text) == "" {
		text, field, plain, textBase = e.summary, e.summaryOf, e.summaryPlain, base
	}
	d.setContentID(e.title, text)
	// Most relative addresses in a text are relative to its page, as no reader would show them.
	if textBase == nil || textBase == f.r.base {
		if page, err := url.Parse(d.URL); err == nil && d.URL != "" {
			textBase = page
		}
	}
	switch {
	case d.large:
	case plain:
		d.setText(field, text)
	default:
		declared := len(d.Pictures)
		d.setEither(field, text, textBase)
		if declared > 0 && field == "description" {
			d.Pictures = d.Pictures[:declared] // they are the same, smaller
		}
	}
	d.plays(secondsOf(e.duration))
	at := func(x dated) time.Time {
		d.at = x.line
		return d.date(x.field, x.value, parseDate)
	}
	d.At = at(e.published)
	d.Updated = at(e.updated)
	d.at = 0
	if d.At.IsZero() {
		d.At = d.Updated
	}
	if e.lat != "" || e.lon != "" {
		d.setPlace("geo:lat", "", e.lat, e.lon)
	}
	d.thumbnails = e.thumbs
}
