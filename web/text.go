package web

import (
	"net/url"
	"regexp"
	"strings"

	"github.com/a-h/templ"
	"mvdan.cc/xurls/v2"
)

// textHTML turns what a person wrote into HTML: paragraphs, line breaks, links,
// mentions and hashtags. Nothing of the person's own markup survives; the only
// elements it can make are p, br, a and span, and the only addresses http,
// https and /name. What it says, read as text, is what was written (a fuzz
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

var (
	paragraphs = regexp.MustCompile(`\n[ \t]*\n[\s]*`)
	// links finds http and https addresses with the scheme written out; anything
	// vaguer would turn "end.Then" into a link.
	links = mustScheme(`https?://`)
	// marks finds @name and #tag. A mark begins a word: nothing that may stand in
	// an address or in a mail address precedes it.
	marks = regexp.MustCompile(`(^|[\s(\[{"'«“‘„,;:!?/—–-])(@[a-z0-9][a-z0-9-]{1,33}[a-z0-9]|#[\p{L}\p{N}][\p{L}\p{N}\p{Mn}_-]*)`)
)

func mustScheme(scheme string) *regexp.Regexp {
	re, err := xurls.StrictMatchingScheme(scheme)
	if err != nil {
		panic(err)
	}
	return re
}

func writeLines(b *strings.Builder, text string) {
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			b.WriteString("<br>")
		}
		writeLinks(b, line)
	}
}

func writeLinks(b *strings.Builder, text string) {
	if !strings.Contains(text, "://") { // most lines, and they need no search
		writeMarks(b, text)
		return
	}
	for text != "" {
		at := links.FindStringIndex(text)
		if at == nil {
			writeMarks(b, text)
			return
		}
		written := text[at[0]:at[1]]
		writeMarks(b, text[:at[0]])
		if href, ok := webAddress(written); ok {
			b.WriteString(anchor(href, shortened(written)))
		} else {
			b.WriteString(templ.EscapeString(written))
		}
		text = text[at[1]:]
	}
}

// writeMarks writes text with its mentions as links to people's pages and its
// hashtags set apart. A mention links any well-formed name: whether somebody is
// called so can change, what is written here is kept as it was rendered.
func writeMarks(b *strings.Builder, text string) {
	if !strings.ContainsAny(text, "@#") {
		b.WriteString(templ.EscapeString(text))
		return
	}
	done := 0
	for _, at := range marks.FindAllStringSubmatchIndex(text, -1) {
		from, to := at[4], at[5]
		mark := text[from:to]
		b.WriteString(templ.EscapeString(text[done:from]))
		done = to
		switch {
		case mark[0] == '#':
			b.WriteString(`<span class="tag">`)
			b.WriteString(templ.EscapeString(mark))
			b.WriteString(`</span>`)
		case continues(text[to:]):
			b.WriteString(mark)
		default:
			b.WriteString(`<a href="/`)
			b.WriteString(mark[1:])
			b.WriteString(`">`)
			b.WriteString(mark)
			b.WriteString(`</a>`)
		}
	}
	b.WriteString(templ.EscapeString(text[done:]))
}

// continues reports whether a word goes on in rest, so that "@ann_lee" and
// "@anna@example.org" are no mention of anybody here.
func continues(rest string) bool {
	if rest == "" {
		return false
	}
	c := rest[0]
	return c == '_' || c == '@' || c >= 0x80 || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' || '0' <= c && c <= '9'
}

// anchor is a link to another site, with that text.
func anchor(href, text string) string {
	return `<a href="` + templ.EscapeString(href) + `" rel="nofollow noopener ugc">` + templ.EscapeString(text) + `</a>`
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
