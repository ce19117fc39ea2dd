package formats

import (
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"riverrun/timelines/rules"
)

// found is what HTML shows besides words.
type found struct {
	pictures []Picture
	files    []File
	cut      bool // the text was longer than is kept
}

// htmlText returns HTML as a person would copy it from a page: paragraphs with a blank line between,
// items of lists with a mark, and the address of a link behind its text. Scripts, styles and forms
// are left out with their contents. All other elements lose only their tags. Relative addresses
// start from base; addresses that are not of the web are left out.
//
// The text has no control characters, no space at the ends of lines, and no two blank lines in a
// row. It is cut a little above its bound. Work and memory are in proportion to the source, and
// elements are not nested in memory, whatever the source is.
func htmlText(source string, base *url.URL) (string, found) {
	h := htmlReader{base: base, source: source}
	h.read(source, false)
	return h.b.String(), h.found
}

// htmlTitle returns a title that may be written in HTML as one line. Tags that HTML does not know are
// text, as in "List<T>".
func htmlTitle(source string) string {
	if strings.IndexByte(source, '<') < 0 {
		return unescape(source)
	}
	h := htmlReader{}
	h.read(source, true)
	return h.b.String()
}

// looksHTML reports whether a text has an element of HTML.
func looksHTML(s string) bool {
	last := strings.LastIndexByte(s, '>') + 1
	for rest := s[:last]; ; {
		i := strings.IndexByte(rest, '<')
		if i < 0 {
			return false
		}
		rest = strings.TrimPrefix(rest[i+1:], "/")
		n := 0
		for n < len(rest) && n < 12 && (isLetter(rest[n]) || n > 0 && '0' <= rest[n] && rest[n] <= '9') {
			n++
		}
		if n > 0 && n < len(rest) && strings.IndexByte(" \t\r\n/>", rest[n]) >= 0 &&
			atom.Lookup([]byte(strings.ToLower(rest[:n]))) != 0 {
			return true
		}
		if strings.HasPrefix(rest, "!--") {
			return true
		}
	}
}

const (
	maxLists  = 20
	maxIndent = 40
	maxFound  = 100 // pictures and files, before those that come twice are left out
	smallSize = 3   // a picture with no more pixels than this is a tracking pixel
)

// textRoom is a little more than a text may have: the end is cut behind a word.
var textRoom = rules.ItemText.Most + 100

type htmlReader struct {
	base  *url.URL
	b     strings.Builder
	runes int
	found

	mute   atom.Atom // the element whose content is left out
	nested int       // how many elements of the same name are open in it
	silent int       // open elements whose text is left out, but not their pictures

	breaks int  // line breaks that come before the next word
	space  bool // a space comes before the next word
	indent int  // spaces of preformatted text that come before the next word
	pre    int
	marker string // of the item of a list that comes next
	lists  []int  // the number of the next item, 0 for a bullet

	source  string             // the whole text
	ended   map[atom.Atom]bool // what ends has found
	playing atom.Atom          // the open audio or video element
	played  bool               // it has a file
	muted   bool               // its text is left out
	held    bool               // the open object has an address

	linked bool
	href   string
	began  int // where the text of the link begins
}

func (h *htmlReader) read(source string, title bool) {
	z := html.NewTokenizer(strings.NewReader(source))
	for {
		switch z.Next() {
		case html.ErrorToken: // a string has no other error than its end
			h.closeLink()
			return
		case html.TextToken:
			if h.mute == 0 && h.silent == 0 {
				h.write(string(z.Text()))
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			raw := ""
			if title {
				raw = string(z.Raw())
			}
			t := z.Token()
			if title && t.DataAtom == 0 {
				h.write(raw)
				continue
			}
			h.open(t)
			if h.mute == 0 {
				z.NextIsNotRawText() // only what is muted holds anything but HTML
			}
		case html.EndTagToken:
			h.close(z.Token().DataAtom)
		}
	}
}

func (h *htmlReader) write(s string) {
	if h.runes > textRoom {
		h.cut = true
		return
	}
	for _, r := range clean(s) {
		switch {
		case r == '\n' && h.pre > 0:
			h.breaks, h.indent = h.breaks+1, 0
			continue
		case r == ' ' && h.pre > 0:
			h.indent++
			continue
		case unicode.IsSpace(r):
			h.space = true
			continue
		}
		h.before()
		h.put(r)
	}
}

func (h *htmlReader) put(r rune) {
	h.b.WriteRune(r)
	h.runes++
}

// before writes the breaks and spaces that come before a word.
func (h *htmlReader) before() {
	switch {
	case h.b.Len() == 0:
		h.marker, h.indent = strings.TrimLeft(h.marker, " "), 0
	case h.breaks > 0:
		for range min(h.breaks, 2) {
			h.put('\n')
		}
	case h.space:
		h.put(' ')
	}
	for range min(h.indent, maxIndent) {
		h.put(' ')
	}
	h.breaks, h.space, h.indent = 0, false, 0
	if h.marker != "" {
		h.b.WriteString(h.marker)
		h.runes += len(h.marker)
		h.marker = ""
	}
}

// lines moves the next word at least n line breaks down.
func (h *htmlReader) lines(n int) { h.breaks = max(h.breaks, n) }

// ends reports whether the text has an end tag of an element. It searches the text once for each element.
func (h *htmlReader) ends(a atom.Atom) bool {
	found, known := h.ended[a]
	if !known {
		if h.ended == nil {
			h.ended = map[atom.Atom]bool{}
		}
		found = strings.Contains(h.source, "</"+a.String())
		h.ended[a] = found
	}
	return found
}

func (h *htmlReader) open(t html.Token) {
	a := t.DataAtom
	if h.mute != 0 {
		if a == h.mute && t.Type == html.StartTagToken {
			h.nested++
		}
		if h.mute == atom.Object {
			h.embedded(t)
		}
		return
	}
	switch a {
	case atom.Script, atom.Style, atom.Template, atom.Noembed, atom.Noframes, atom.Svg, atom.Math, atom.Select, atom.Textarea, atom.Title, atom.Object, atom.Iframe:
		if a == atom.Object || a == atom.Iframe {
			h.lines(2)
			h.held = false
			h.embedded(t)
		}
		if t.Type == html.StartTagToken {
			h.mute, h.nested = a, 0
		}
	case atom.Embed:
		h.embedded(t)
	case atom.Noscript:
		if t.Type == html.StartTagToken {
			h.silent++
		}
	case atom.A:
		h.closeLink()
		if address, ok := linkAddress(attrOf(t, "href"), h.base); ok {
			h.linked, h.href, h.began = true, address, -1
			h.began = h.b.Len()
		}
	case atom.Img, atom.Image:
		h.picture(t)
	case atom.Video, atom.Audio:
		h.lines(1)
		h.stop()
		h.playing = a
		h.file(attrOf(t, "src"), attrOf(t, "type"))
		// Browsers show what is inside only if they do not know the element.
		if t.Type == html.StartTagToken && h.ends(a) {
			h.muted = true
			h.silent++
		}
	case atom.Source:
		h.file(attrOf(t, "src"), attrOf(t, "type"))
	case atom.Br:
		h.breaks++
	case atom.Pre:
		h.lines(2)
		h.pre++
	case atom.Ul, atom.Ol:
		if len(h.lists) == 0 {
			h.lines(2)
		} else {
			h.lines(1)
		}
		if len(h.lists) < maxLists {
			next := 0
			if a == atom.Ol {
				next = 1
				if n, err := strconv.Atoi(attrOf(t, "start")); err == nil && n > 0 && n < 1e6 {
					next = n
				}
			}
			h.lists = append(h.lists, next)
		}
	case atom.Li:
		h.lines(1)
		h.marker = "- "
		if n := len(h.lists); n > 0 {
			if next := &h.lists[n-1]; *next > 0 {
				h.marker = strconv.Itoa(*next) + ". "
				*next++
			}
			h.marker = strings.Repeat("  ", n-1) + h.marker
		}
	default:
		h.block(a)
	}
}

func (h *htmlReader) close(a atom.Atom) {
	if h.mute != 0 {
		if a == h.mute {
			if h.nested--; h.nested < 0 {
				h.mute = 0
			}
		}
		return
	}
	switch a {
	case atom.A:
		h.closeLink()
	case atom.Noscript:
		h.silent = max(h.silent-1, 0)
	case atom.Video, atom.Audio:
		h.stop()
		h.lines(1)
	case atom.Pre:
		h.pre, h.indent = max(h.pre-1, 0), 0
		h.lines(2)
	case atom.Ul, atom.Ol:
		if n := len(h.lists); n > 0 {
			h.lists = h.lists[:n-1]
		}
		h.marker = ""
		if len(h.lists) == 0 {
			h.lines(2)
		} else {
			h.lines(1)
		}
	case atom.Li:
		h.marker = ""
		h.lines(1)
	case atom.P:
		h.block(a)
	case atom.Br: // </br> is one
		h.breaks++
	default:
		h.block(a)
	}
}

func (h *htmlReader) block(a atom.Atom) {
	switch a {
	case atom.P, atom.Blockquote, atom.Table, atom.Hr, atom.Figure, atom.Section, atom.Article, atom.Dl,
		atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		if h.marker == "" { // a paragraph at the beginning of an item stands behind its mark
			h.lines(2)
		}
	case atom.Div, atom.Tr, atom.Dt, atom.Dd, atom.Figcaption, atom.Header, atom.Footer, atom.Address, atom.Summary, atom.Details, atom.Form:
		if h.marker == "" {
			h.lines(1)
		}
	case atom.Td, atom.Th:
		h.space = true
	}
}

// closeLink writes the address of a link, unless the link's text says it.
func (h *htmlReader) closeLink() {
	if !h.linked {
		return
	}
	h.linked = false
	label := strings.TrimSpace(h.b.String()[h.began:])
	switch {
	case label == "": // it held a picture, or nothing
	case saysAddress(label, h.href):
	default:
		space, breaks := h.space, h.breaks
		h.space, h.breaks = true, 0
		h.write("(" + h.href + ")")
		h.space, h.breaks = h.space || space, max(h.breaks, breaks)
	}
}

// saysAddress reports whether the text of a link is its address, whole or shortened, or the name of a
// tag or a person that it leads to, as Mastodon writes them.
func saysAddress(label, address string) bool {
	if label[0] == '#' || label[0] == '@' {
		path, err := url.PathUnescape(strings.TrimSuffix(address, "/"))
		i := strings.LastIndexAny(path, "/=")
		return err == nil && strings.EqualFold(strings.TrimPrefix(path[i+1:], "@"), label[1:]) &&
			(label[0] == '@' || strings.Contains(path, "tag"))
	}
	label, short := strings.CutSuffix(label, "…")
	if !short {
		label, short = strings.CutSuffix(label, "...")
	}
	label, address = bareAddress(label), bareAddress(address)
	return label == address || short && label != "" && strings.HasPrefix(address, label)
}

func bareAddress(s string) string {
	for _, prefix := range []string{"mailto:", "http://", "https://", "www."} {
		if len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix) {
			s = s[len(prefix):]
		}
	}
	return strings.TrimSuffix(s, "/")
}

// linkAddress returns the address that a link leads to: of the web, or of a mail.
func linkAddress(s string, base *url.URL) (string, bool) {
	s = strings.TrimSpace(s)
	if len(s) > rules.ItemURLLong.Most || s == "" || s[0] == '#' {
		return "", false
	}
	if len(s) > 7 && strings.EqualFold(s[:7], "mailto:") {
		mail, _, _ := strings.Cut(s[7:], "?")
		return oneLine(mail), strings.Contains(mail, "@")
	}
	a, ok := webAddress(s, base)
	return a, ok && len(a) <= rules.ItemURLLong.Most
}

func (h *htmlReader) picture(t html.Token) {
	alt := attrOf(t, "alt")
	class := attrOf(t, "class")
	if strings.Contains(class, "emoji") || strings.Contains(class, "smiley") {
		if h.silent == 0 {
			h.write(alt)
		}
		return
	}
	if isSmall(attrOf(t, "width")) || isSmall(attrOf(t, "height")) || hidden(attrOf(t, "style")) || len(h.pictures) == maxFound {
		return
	}
	for _, name := range []string{"src", "data-src", "data-lazy-src", "data-original"} {
		src := attrOf(t, name)
		if len(src) > rules.ItemURLLong.Most {
			continue
		}
		if address, ok := webAddress(src, h.base); ok && len(address) <= rules.ItemURLLong.Most {
			if !isTracker(address) {
				alt, _ := cutRunes(oneLine(alt), rules.ItemAuthor.Most)
				h.pictures = append(h.pictures, Picture{URL: address, Text: alt})
			}
			return
		}
	}
}

// isSmall reports whether a measure of a picture is that of a tracking pixel.
func isSmall(measure string) bool {
	n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(measure), "px"))
	return err == nil && n <= smallSize
}

func hidden(style string) bool {
	style = strings.ReplaceAll(strings.ToLower(style), " ", "")
	for _, s := range []string{"display:none", "visibility:hidden", "width:1px", "height:1px", "width:0", "height:0"} {
		if strings.HasPrefix(style, s) || strings.Contains(style, ";"+s) {
			return true
		}
	}
	return false
}

// isTracker reports whether a picture without measures is a known tracking pixel.
func isTracker(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return true
	}
	switch host := u.Hostname(); {
	case host == "pixel.wp.com", host == "stats.wordpress.com", host == "b.scorecardresearch.com":
		return true
	case host == "feeds.feedburner.com":
		return strings.HasPrefix(u.Path, "/~r/") || strings.HasPrefix(u.Path, "/~ff/")
	case strings.HasSuffix(host, "medium.com"):
		return strings.HasPrefix(u.Path, "/_/stat")
	}
	return false
}

func attrOf(t html.Token, name string) string {
	for _, a := range t.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}
