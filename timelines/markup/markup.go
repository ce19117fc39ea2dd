package markup

import (
	"math"
	"strings"

	"github.com/yuin/goldmark/ast"

	"riverrun/timelines/marks"
)

// SpoilerLabel is the id of the element that names spoilers in the language of the page.
// Each page that shows HTML has it once, hidden. Where it is missing, as in feeds, a spoiler
// is called "Spoiler".
const SpoilerLabel = "spoiler-label"

// HTML returns a source as HTML.
//
// It may stand on a page as it is (templ.Raw), whatever the source: the only elements are p,
// br, em, strong, del, code, pre, blockquote, ul, ol, li, a, bdi, span and input, the only
// classes and attributes those written here, and the only addresses http, https, /name and
// /tag/term. Elements are properly nested, to a depth of 20 at most.
func HTML(source string) string {
	return write(source, writer{})
}

// Plain returns the text of a source: its words without any markup, each block on a line of
// its own, for titles, notifications and search words. It is the text that HTML shows, with
// "[…]" for each spoiler. No character turns the direction of what follows.
func Plain(source string) string {
	return Unturned(write(source, writer{textAlone: true}))
}

func write(source string, w writer) string {
	w.source = []byte(source)
	root := parse(w.source)
	w.marks = marks.In(prose(source, root))
	w.Grow(len(source) + len(source)/4 + 16)
	w.children(root)
	return w.String()
}

// Prose returns a source with spaces for everything that is no prose: code, links with their
// text, and markup. Each character of the prose stands where it stands in the source, in
// bytes. The @names and #tags that marks finds in it are those that HTML links: the ones
// that count.
func Prose(source string) string {
	return prose(source, parse([]byte(source)))
}

func prose(source string, root ast.Node) string {
	b := []byte(strings.Repeat(" ", len(source)))
	for i := range len(source) {
		if source[i] == '\n' {
			b[i] = '\n'
		}
	}
	copyProse(b, source, root)
	return string(b)
}

func copyProse(b []byte, source string, n ast.Node) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.CodeSpan, *ast.Link:
		case *ast.Text:
			written := source[c.Segment.Start:c.Segment.Stop]
			// goldmark takes what it leaves of the signs behind an emphasis from their beginning,
			// so that they seem to stand where those are which end the emphasis.
			if _, ok := c.PreviousSibling().(*ast.Emphasis); ok && strings.Trim(written, "*_") == "" {
				continue
			}
			copy(b[c.Segment.Start:], written)
		default:
			copyProse(b, source, c)
		}
	}
}

// FirstLink returns the first web address of a source, be it written out or behind a text. A
// source with a spoiler has none, since what the page there says of itself may spoil too.
func FirstLink(source string) (address string, ok bool) {
	root := parse([]byte(source))
	if hasSpoiler(root) {
		return "", false
	}
	written := len(source)
	for _, m := range marks.In(prose(source, root)) {
		if m.Kind == marks.Link {
			if address, ok = WebAddress(source[m.From:m.To]); ok {
				written = m.From
				break
			}
		}
	}
	if href, at := firstBehindText(root); at < written {
		return href, true
	}
	return address, ok
}

// firstBehindText returns the address of the first link whose text is another, and the place
// where that text begins.
func firstBehindText(n ast.Node) (href string, at int) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if link, ok := c.(*ast.Link); ok {
			return string(link.Destination), firstText(link)
		}
		if href, at := firstBehindText(c); href != "" {
			return href, at
		}
	}
	return "", math.MaxInt
}

func firstText(n ast.Node) int {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			return t.Segment.Start
		}
		if at := firstText(c); at < math.MaxInt {
			return at
		}
	}
	return math.MaxInt - 1
}
