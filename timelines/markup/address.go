package markup

import (
	"html"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"riverrun/timelines/marks"
)

// WriteMark writes a mark as a link, to a person's page, to a tag's or to another site. A
// mention links any well-formed name: whether somebody is called so can change, and what is
// written here is kept as it was rendered. An address that no browser may be sent to stays
// text.
func WriteMark(b *strings.Builder, m marks.Mark, written string, turned *Balance) {
	switch m.Kind {
	case marks.Link:
		if href, ok := WebAddress(written); ok {
			WriteLink(b, href, `<bdi dir="ltr">`+html.EscapeString(ShownAddress(written))+`</bdi>`)
		} else {
			b.WriteString(html.EscapeString(turned.Pass(written)))
		}
	case marks.Name:
		writeAnchor(b, "/"+m.Term, "", html.EscapeString(written))
	case marks.Hashtag:
		writeAnchor(b, TagPath(m.Term), "", html.EscapeString(written))
	}
}

// WriteLink writes a link to another site. The content is HTML.
func WriteLink(b *strings.Builder, href, content string) { writeAnchor(b, href, siteLink, content) }

// siteLink are the attributes of a link to another site.
const siteLink = ` rel="nofollow noopener ugc"`

func writeAnchor(b *strings.Builder, href, attributes, content string) {
	b.WriteString(`<a href="`)
	b.WriteString(html.EscapeString(href))
	b.WriteByte('"')
	b.WriteString(attributes)
	b.WriteByte('>')
	b.WriteString(content)
	b.WriteString(`</a>`)
}

// TagPath is the address of a tag's page.
func TagPath(term string) string { return "/tag/" + url.PathEscape(term) }

// WebAddress returns the address if a browser may be sent there.
func WebAddress(s string) (string, bool) {
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

// ShownAddress returns a web address as people read it: the host it leads to, then the rest as
// it was written, cut if it is long. It leaves out the scheme, a lone final slash, and user
// names before the host, which may imitate one.
func ShownAddress(s string) string {
	href, ok := WebAddress(s)
	if !ok {
		return ShortText(s, shownLink)
	}
	host := hostOf(href)
	_, rest, _ := strings.Cut(s, "://")
	i := strings.IndexAny(rest, "/?#")
	if i < 0 || rest[i:] == "/" {
		return host
	}
	return ShortText(host+rest[i:], max(shownLink, utf8.RuneCountInString(host)+2))
}

// ShortText returns at most n characters of a text, without characters that turn the
// direction of the text behind them.
func ShortText(text string, n int) string {
	text = Unturned(text)
	if runes := []rune(text); len(runes) > n {
		return strings.TrimRight(string(runes[:n-1]), " ") + "…"
	}
	return text
}

// hostOf returns the host of an address that WebAddress has returned, with its port.
func hostOf(href string) string {
	_, host, _ := strings.Cut(href, "://")
	if i := strings.IndexAny(host, "/?#"); i >= 0 {
		host = host[:i]
	}
	return host
}

// needsHost reports whether the host must be shown after the text of a link: the text does
// not show, or a word of it looks like an address and does not begin with this host.
func needsHost(text, host string) bool {
	if !strings.ContainsFunc(text, visible) {
		return true
	}
	for word := range strings.FieldsSeq(plainDots.Replace(marks.Fold(shownOnly(text)))) {
		if !likeAddress.MatchString(word) {
			continue
		}
		if _, rest, ok := strings.Cut(word, "://"); ok {
			word = rest
		}
		if i := strings.IndexAny(word, "/?#"); i >= 0 {
			word = word[:i]
		}
		word = strings.Trim(word, `.,:;!?()[]"'«»“”„‘’…`)
		if strings.TrimPrefix(word, "www.") != strings.TrimPrefix(host, "www.") {
			return true
		}
	}
	return false
}

// likeAddress finds a scheme, or a dot inside a word, as in a host.
var likeAddress = regexp.MustCompile(`:/|[\p{L}\p{N}]\.[\p{L}\p{N}][\p{L}\p{N}\p{M}-]`)

// plainDots has what passes for the signs of an address and has no other form in Unicode.
var plainDots = strings.NewReplacer("。", ".", "·", ".", "‧", ".", "•", ".", "⁄", "/", "∕", "/", "꞉", ":", "∶", ":")

// shownOnly returns a text without the characters that do not show.
func shownOnly(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || !unicode.In(r, unicode.C, unicode.Other_Default_Ignorable_Code_Point) {
			return r
		}
		return -1
	}, text)
}

// visible reports whether a character shows.
func visible(r rune) bool {
	return !unicode.IsSpace(r) && !unicode.In(r, unicode.C, unicode.M, unicode.Other_Default_Ignorable_Code_Point)
}
