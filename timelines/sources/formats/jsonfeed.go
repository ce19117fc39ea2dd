package formats

import (
	"io"
	"net/url"
	"strings"

	"riverrun/timelines/rules"
)

// jsonFeed reads JSON Feed 1.0 and 1.1, https://jsonfeed.org.
type jsonFeed struct {
	r       *Reader
	scan    jsonScanner
	state   int
	authors []string
}

const (
	beforeFeed = iota
	inFeed     // a member, or the end, comes next
	inItems
	afterFeed
)

func newJSONFeed(r *Reader) *jsonFeed {
	return &jsonFeed{r: r, scan: jsonScanner{src: r.src, maxDepth: r.limits.Depth, most: r.limits.ItemBytes}}
}

func (j *jsonFeed) next(d *draft) error {
	for {
		var err error
		switch j.state {
		case beforeFeed:
			_, err = j.scan.expect("{")
			j.state = inFeed
			if err == nil && j.peek() == '}' {
				j.r.src.advance(1)
				j.state = afterFeed
			}
		case inFeed:
			err = j.member()
		case inItems:
			return j.item(d)
		case afterFeed:
			j.r.src.skipSpace()
			if len(j.r.src.window()) > 0 {
				return j.r.src.fatal(Malformed, "something follows the end of the feed")
			}
			if j.r.src.err != io.EOF {
				return j.r.src.failed()
			}
			return io.EOF
		}
		if err != nil {
			return err
		}
	}
}

func (j *jsonFeed) peek() byte {
	j.r.src.skipSpace()
	if w := j.r.src.window(); len(w) > 0 {
		return w[0]
	}
	return 0
}

// member reads a member of the feed, or goes into its items.
func (j *jsonFeed) member() error {
	if j.peek() != '"' && j.peek() != 0 {
		return j.r.src.fatal(Malformed, "a name in quotes is expected")
	}
	raw, _, err := j.scan.value()
	if err != nil {
		return err
	}
	key := text(raw)
	if _, err := j.scan.expect(":"); err != nil {
		return err
	}
	if key == "items" {
		if j.peek() == '[' {
			j.r.src.advance(1)
			j.state = inItems
			if j.peek() == ']' {
				j.r.src.advance(1)
				return j.afterMember()
			}
			return nil
		}
		return j.r.src.ended(j.r.src.fatal(NotAFeed, "the items are no array"))
	}
	value, large, err := j.scan.value()
	if err != nil {
		return err
	}
	if !large {
		j.head(key, value)
	}
	return j.afterMember()
}

func (j *jsonFeed) afterMember() error {
	c, err := j.scan.expect(",}")
	j.state = inFeed
	if c == '}' {
		j.state = afterFeed
	}
	return err
}

func (j *jsonFeed) head(key string, value []byte) {
	feed := &j.r.feed
	address := func() string {
		a, ok := webAddress(text(value), j.r.base)
		if !ok || len(a) > rules.ItemURLLong.Most {
			return ""
		}
		return a
	}
	switch key {
	case "title":
		feed.Title, _ = cutRunes(oneLine(text(value)), rules.ItemTitle.Most)
	case "description":
		feed.About, _ = cutRunes(plainText(text(value)), 5000)
	case "home_page_url":
		feed.Site = address()
	case "feed_url":
		feed.Self = address()
	case "icon":
		feed.Picture = address()
	case "favicon":
		if feed.Picture == "" {
			feed.Picture = address()
		}
	case "language":
		feed.Language = j.r.language(text(value))
	case "author", "authors":
		j.authors = authorsOf(value)
	case "hubs":
		elements(value, func(hub []byte) {
			members(hub, func(key string, v []byte) {
				if key == "url" && feed.Hub == "" {
					if a, ok := webAddress(text(v), nil); ok && len(a) <= rules.ItemURLLong.Most {
						feed.Hub = a
					}
				}
			})
		})
	}
}

func authorsOf(value []byte) []string {
	var authors []string
	elements(value, func(author []byte) {
		members(author, func(key string, v []byte) {
			if key == "name" {
				authors = appendAuthor(authors, text(v))
			}
		})
	})
	return authors
}

func (j *jsonFeed) item(d *draft) error {
	j.r.src.skipSpace()
	d.Line = j.r.src.line
	raw, large, err := j.scan.value()
	if err != nil {
		return err
	}
	d.large = large
	if large {
		d.setID("id", idOf(raw))
	} else {
		j.take(d, raw)
	}
	c, err := j.scan.expect(",]")
	if err != nil {
		return err
	}
	if c == ']' {
		return j.afterMember()
	}
	return nil
}

func (j *jsonFeed) take(d *draft, raw []byte) {
	if raw[0] != '{' {
		d.problem(ItemInvalid, "", string(raw[:min(len(raw), 1000)]))
		return
	}
	var id, title, address, external, contentHTML, contentText, summary, image, banner, published, modified string
	var authors []string
	var attachments []byte
	seen := map[string]bool{}
	members(raw, func(key string, value []byte) {
		if seen[key] {
			d.problem(FieldTwice, shortened(key), "")
			return
		}
		if len(seen) < 1000 {
			seen[key] = true
		}
		var to *string
		switch key {
		case "id":
			to = &id
		case "title":
			to = &title
		case "url":
			to = &address
		case "external_url":
			to = &external
		case "content_html":
			to = &contentHTML
		case "content_text":
			to = &contentText
		case "summary":
			to = &summary
		case "image":
			to = &image
		case "banner_image":
			to = &banner
		case "date_published":
			to = &published
		case "date_modified":
			to = &modified
		case "language":
			d.setLanguage(key, text(value))
		case "author", "authors":
			if got := authorsOf(value); len(got) > 0 {
				authors = got
			}
		case "tags":
			elements(value, func(tag []byte) { d.addCategory(key, text(tag)) })
		case "attachments":
			attachments = value
		}
		if to == nil {
			return
		}
		s, ok := scalar(value)
		if !ok {
			d.problem(FieldInvalid, key, string(value[:min(len(value), 1000)]))
		}
		*to = s
	})
	base := j.r.base
	d.setURL("url", address, base)
	if d.URL == "" {
		d.setURL("external_url", external, base)
	}
	d.setID("id", id)
	d.setContentID(title, contentHTML+contentText+summary)
	d.setTitle("title", title)
	if page, err := url.Parse(d.URL); err == nil && d.URL != "" {
		base = page
	}
	switch {
	case strings.TrimSpace(contentHTML) != "":
		d.setHTML("content_html", contentHTML, base)
	case strings.TrimSpace(contentText) != "":
		d.setText("content_text", contentText)
	default:
		d.setText("summary", summary)
	}
	d.takePicture("image", image, "", j.r.base)
	if a, ok := d.address(PictureInvalid, PictureInvalid, "banner_image", banner, j.r.base); ok {
		d.thumbnails = append(d.thumbnails, Picture{URL: a})
	}
	d.At = d.date("date_published", published, parseDate)
	d.Updated = d.date("date_modified", modified, parseDate)
	if d.At.IsZero() {
		d.At = d.Updated
	}
	if len(authors) == 0 {
		authors = j.authors
	}
	if len(authors) > 0 {
		d.setAuthor("author", strings.Join(authors, ", "))
	}
	if attachments != nil {
		elements(attachments, func(a []byte) {
			var e enclosed
			members(a, func(key string, v []byte) {
				switch key {
				case "url":
					e.address = text(v)
				case "mime_type":
					e.mediaType = text(v)
				case "size_in_bytes":
					e.length = text(v)
				case "duration_in_seconds":
					e.duration = text(v)
				case "title":
					e.title = text(v)
				}
			})
			d.takeEnclosure("attachments", e, j.r.base)
		})
	}
}
