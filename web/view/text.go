package view

import (
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/a-h/templ"
	"golang.org/x/net/idna"

	"riverrun/timelines/marks"
)

// textHTML turns what a person wrote into HTML: paragraphs, line breaks, links,
// mentions and hashtags. Nothing of the person's own markup survives; the only
// elements it can make are p, br, a and bdi, and the only addresses http, https, /name
// and /tag/term. Read as text it is the original (a fuzz test checks that), except that
// addresses are shown as by shownAddress, and that a turned direction of writing ends with
// its paragraph.
func textHTML(body string) string {
	var b strings.Builder
	b.Grow(len(body) + len(body)/4 + 16)
	for _, paragraph := range paragraphs.Split(strings.Trim(body, "\n"), -1) {
		if strings.TrimSpace(paragraph) == "" {
			continue
		}
		b.WriteString(`<p dir="auto">`)
		writeLines(&b, paragraph)
		b.WriteString("</p>")
	}
	return b.String()
}

var paragraphs = regexp.MustCompile(`\n[ \t]*\n[\s]*`)

func writeLines(b *strings.Builder, text string) {
	var turned Balance
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			b.WriteString("<br>")
		}
		writeMarks(b, line, &turned)
	}
	b.WriteString(turned.End())
}

// writeMarks writes a line with its marks as links: addresses, mentions to
// people's pages, hashtags to theirs. A mention links any well-formed name: whether
// somebody is called so can change, what is written here is kept as it was rendered.
func writeMarks(b *strings.Builder, text string, turned *Balance) {
	done := 0
	for _, m := range marks.In(text) {
		b.WriteString(templ.EscapeString(turned.Pass(text[done:m.From])))
		done = m.To
		written := text[m.From:m.To]
		switch m.Kind {
		case marks.Link:
			if href, ok := webAddress(written); ok {
				writeLink(b, href, siteLink, `<bdi dir="ltr">`+templ.EscapeString(shownAddress(written))+`</bdi>`)
			} else {
				b.WriteString(templ.EscapeString(turned.Pass(written)))
			}
		case marks.Name:
			writeLink(b, "/"+m.Term, "", templ.EscapeString(written))
		case marks.Hashtag:
			writeLink(b, TagPath(m.Term), "", templ.EscapeString(written))
		}
	}
	b.WriteString(templ.EscapeString(turned.Pass(text[done:])))
}

// siteLink are the attributes of a link to another site.
const siteLink = ` rel="nofollow noopener ugc"`

// writeLink writes a link; attributes and html are HTML.
func writeLink(b *strings.Builder, href, attributes, html string) {
	b.WriteString(`<a href="`)
	b.WriteString(templ.EscapeString(href))
	b.WriteByte('"')
	b.WriteString(attributes)
	b.WriteByte('>')
	b.WriteString(html)
	b.WriteString(`</a>`)
}

// webAddress returns the address if a browser may be sent there.
func webAddress(s string) (string, bool) {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return "", false
	}
	host, ok := PlainHost(u.Hostname())
	if !ok {
		return "", false
	}
	if port := u.Port(); port != "" {
		host += ":" + port
	}
	u.User, u.Host = nil, host
	return u.String(), true
}

// PlainHost returns a host as browsers send it, in ASCII: other letters may look like
// those of another name, and only its ASCII form cannot.
func PlainHost(host string) (string, bool) {
	if at, err := netip.ParseAddr(host); err == nil && at.Is6() {
		return "[" + at.WithZone("").String() + "]", true
	}
	for _, r := range host {
		if r >= utf8.RuneSelf {
			var err error
			if host, err = idna.Lookup.ToASCII(host); err != nil {
				return "", false
			}
			break
		}
	}
	host = strings.ToLower(host)
	return host, asciiHost.MatchString(host)
}

var asciiHost = regexp.MustCompile(`^[a-z0-9_.-]*[a-z0-9][a-z0-9_.-]*$`)

// shownLink is how many characters of an address are shown; its host is shown whole.
const shownLink = 48

// shownAddress returns a web address as people read it: the host it leads to, then the rest as
// it was written, cut if it is long. It leaves out the scheme, a lone final slash, and user
// names before the host, which may imitate one.
func shownAddress(s string) string {
	href, ok := webAddress(s)
	if !ok {
		return ShortText(s, shownLink)
	}
	_, host, _ := strings.Cut(href, "://")
	if i := strings.IndexAny(host, "/?#"); i >= 0 {
		host = host[:i]
	}
	_, rest, _ := strings.Cut(s, "://")
	i := strings.IndexAny(rest, "/?#")
	if i < 0 || rest[i:] == "/" {
		return host
	}
	return ShortText(host+rest[i:], max(shownLink, utf8.RuneCountInString(host)+2))
}
