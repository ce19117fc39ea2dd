package view

import (
	"regexp"
	"strings"

	"github.com/a-h/templ"

	"riverrun/timelines/marks"
	"riverrun/timelines/markup"
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

// writtenHTML is the HTML of a text, which may have markup.
func writtenHTML(body string, withMarkup bool) string {
	if withMarkup {
		return markup.HTML(body)
	}
	return textHTML(body)
}

// shownHTML is writtenHTML for our own pages. They run from left to right, so that paragraphs without
// anything that turns need not find their direction. People's quotation marks are escaped: the
// attribute is ours wherever it stands.
func shownHTML(body string, withMarkup bool) string {
	html := writtenHTML(body, withMarkup)
	if strings.ContainsFunc(body, turning) {
		return html
	}
	return strings.ReplaceAll(html, ` dir="auto"`, "")
}

// PlainText is a text without its markup, if it has any.
func PlainText(body string, withMarkup bool) string {
	if withMarkup {
		return markup.Plain(body)
	}
	return body
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

// writeMarks writes a line with its marks as links.
func writeMarks(b *strings.Builder, text string, turned *Balance) {
	done := 0
	for _, m := range marks.In(text) {
		b.WriteString(templ.EscapeString(turned.Pass(text[done:m.From])))
		done = m.To
		markup.WriteMark(b, m, text[m.From:m.To], turned)
	}
	b.WriteString(templ.EscapeString(turned.Pass(text[done:])))
}

// webAddress returns the address if a browser may be sent there.
func webAddress(s string) (string, bool) { return markup.WebAddress(s) }

// PlainHost returns a host as browsers send it, in ASCII.
func PlainHost(host string) (string, bool) { return markup.PlainHost(host) }

// shownAddress returns a web address as people read it.
func shownAddress(s string) string { return markup.ShownAddress(s) }
