package web

import (
	"net/url"
	"regexp"
	"strings"

	"github.com/a-h/templ"

	"riverrun/timelines/marks"
)

// textHTML turns what a person wrote into HTML: paragraphs, line breaks, links,
// mentions and hashtags. Nothing of the person's own markup survives; the only
// elements it can make are p, br and a, and the only addresses http, https, /name
// and /tag/term. What it says, read as text, is what was written (a fuzz
// test), save that long addresses are shown shortened.
func textHTML(body string) string {
	var b strings.Builder
	b.Grow(len(body) + len(body)/4 + 16)
	for _, paragraph := range paragraphs.Split(strings.Trim(body, "\n"), -1) {
		if strings.TrimSpace(paragraph) == "" {
			continue
		}
		b.WriteString("<p>")
		writeLines(&b, paragraph)
		b.WriteString("</p>")
	}
	return b.String()
}

var paragraphs = regexp.MustCompile(`\n[ \t]*\n[\s]*`)

func writeLines(b *strings.Builder, text string) {
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			b.WriteString("<br>")
		}
		writeMarks(b, line)
	}
}

// writeMarks writes a line with its marks as links: addresses, mentions to
// people's pages, hashtags to theirs. A mention links any well-formed name: whether
// somebody is called so can change, what is written here is kept as it was rendered.
func writeMarks(b *strings.Builder, text string) {
	done := 0
	for _, m := range marks.In(text) {
		b.WriteString(templ.EscapeString(text[done:m.From]))
		done = m.To
		written := text[m.From:m.To]
		switch m.Kind {
		case marks.Link:
			if href, ok := webAddress(written); ok {
				writeSiteLink(b, href, shortened(written))
			} else {
				b.WriteString(templ.EscapeString(written))
			}
		case marks.Name:
			writeLink(b, "/"+m.Term, "", written)
		case marks.Hashtag:
			writeLink(b, tagPath(m.Term), "", written)
		}
	}
	b.WriteString(templ.EscapeString(text[done:]))
}

// writeLink writes a link; attributes are HTML.
func writeLink(b *strings.Builder, href, attributes, text string) {
	b.WriteString(`<a href="`)
	b.WriteString(templ.EscapeString(href))
	b.WriteByte('"')
	b.WriteString(attributes)
	b.WriteByte('>')
	b.WriteString(templ.EscapeString(text))
	b.WriteString(`</a>`)
}

// writeSiteLink writes a link to another site, with that text.
func writeSiteLink(b *strings.Builder, href, text string) {
	writeLink(b, href, ` rel="nofollow noopener ugc"`, text)
}

// webAddress returns the address if a browser may be sent there.
func webAddress(s string) (string, bool) {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" {
		return "", false
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return "", false
	}
	return u.String(), true
}

// shownLink is how many characters of an address are shown.
const shownLink = 48

// shortened is an address as people read it: without the scheme and a lone
// final slash, cut when long.
func shortened(s string) string {
	if _, rest, ok := strings.Cut(s, "://"); ok {
		s = rest
	}
	if i := strings.IndexByte(s, '/'); i == len(s)-1 {
		s = s[:max(i, 0)]
	}
	return shortText(s, shownLink)
}
