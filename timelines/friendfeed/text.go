package friendfeed

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Text turns the HTML of a body into the plain text that riverrun keeps:
//
//   - entities are decoded;
//   - a link becomes "text (url)", or the url alone if the text is that url, whole or
//     shortened; a hashtag that led to FriendFeed's search becomes the hashtag;
//   - a picture becomes its link, never a tag: "alt (url)" or the url;
//   - <br> becomes a new line, a paragraph has blank lines around it, an item of a list
//     has its own line;
//   - all other tags are removed and their text stays; scripts and styles are removed whole.
//
// The result is valid UTF-8 without control characters other than "\n", without
// space at the ends of lines and without two blank lines in a row. Only web and
// mail addresses count as links. The text of other links stays.
func Text(body string) string {
	body = clean(body)
	if !strings.ContainsAny(body, "<&") { // most comments
		return tidy(body)
	}
	t := text{}
	z := html.NewTokenizer(strings.NewReader(body))
	for {
		switch z.Next() {
		case html.ErrorToken:
			// A string has no other error than its end.
			t.closeLink()
			return tidy(t.b.String())
		case html.TextToken:
			if t.mute == 0 {
				t.write(string(z.Text()))
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			t.open(z.Token())
			if t.mute == 0 {
				// Only scripts and styles hold anything but HTML here.
				z.NextIsNotRawText()
			}
		case html.EndTagToken:
			t.close(z.Token().DataAtom)
		}
	}
}

// text is the state of a conversion.
type text struct {
	b strings.Builder
	// mute is the tag whose content is dropped, 0 for none.
	mute atom.Atom
	// The open link: where its text begins, and the text.
	linked      bool
	href, title string
	label       strings.Builder
}

func (t *text) write(s string) {
	s = clean(s)
	if t.linked {
		t.label.WriteString(s)
		return
	}
	t.b.WriteString(s)
}

func (t *text) open(tok html.Token) {
	if t.mute != 0 {
		return
	}
	switch tok.DataAtom {
	case atom.Script, atom.Style:
		if tok.Type == html.StartTagToken {
			t.mute = tok.DataAtom
		}
	case atom.A:
		t.closeLink()
		t.linked, t.href, t.title = true, linkURL(attr(tok, "href")), clean(attr(tok, "title"))
	case atom.Img:
		t.picture(webURL(attr(tok, "src")), strings.TrimSpace(clean(attr(tok, "alt"))))
	default:
		t.breakLine(tok.DataAtom)
	}
}

func (t *text) close(tag atom.Atom) {
	switch {
	case t.mute != 0:
		if t.mute == tag {
			t.mute = 0
		}
	case tag == atom.A:
		t.closeLink()
	case tag != atom.Br:
		t.breakLine(tag)
	}
}

// Marks of breaks. clean keeps them out of people's texts.
const (
	lineMark      = "\x01" // <br>: swallows one newline that follows it in the source
	itemMark      = "\x02" // at least a new line
	paragraphMark = "\x03" // at least a blank line
)

func (t *text) breakLine(tag atom.Atom) {
	mark := ""
	switch tag {
	case atom.Br:
		mark = lineMark
	case atom.P, atom.Blockquote, atom.Pre, atom.Ul, atom.Ol, atom.Table, atom.Hr,
		atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		mark = paragraphMark
	case atom.Div, atom.Li, atom.Tr, atom.Dt, atom.Dd:
		mark = itemMark
	default:
		return
	}
	if t.linked {
		mark = " "
		t.label.WriteString(mark)
		return
	}
	t.b.WriteString(mark)
}

func (t *text) picture(src, alt string) {
	if t.linked {
		// The link leads to what the picture shows. The picture's own address adds nothing.
		t.label.WriteString(alt)
		return
	}
	t.b.WriteString(label(alt, src))
}

func (t *text) closeLink() {
	if !t.linked {
		return
	}
	raw := t.label.String()
	s := strings.TrimSpace(raw)
	lead, trail := "", ""
	if s != "" {
		lead, trail = raw[:strings.Index(raw, s)], raw[strings.Index(raw, s)+len(s):]
	}
	// The title of a shortened link has the long address.
	if shortens(s, t.title) && webURL(t.title) != "" {
		s = webURL(t.title)
	}
	if strings.HasPrefix(s, "#") && !strings.ContainsAny(s, " \n") && ownSearch(t.href) {
		t.href = ""
	}
	t.b.WriteString(lead + label(s, t.href) + trail)
	t.linked, t.href, t.title = false, "", ""
	t.label.Reset()
}

// label returns "text (url)", or one of them if that says it all.
func label(text, url string) string {
	switch {
	case url == "":
		return text
	case text == "" || shortens(text, url):
		return url
	}
	return text + " (" + url + ")"
}

// shortens reports whether text is a short form of url: without scheme, "www." or the last
// slash, or cut off with an ellipsis.
func shortens(text, url string) bool {
	full := bareURL(url)
	if full == "" {
		return false
	}
	start, cut := strings.CutSuffix(text, "...")
	if !cut {
		start, cut = strings.CutSuffix(text, "…")
	}
	if start = bareURL(start); cut {
		return start != "" && strings.HasPrefix(full, start)
	}
	return start == full
}

func bareURL(s string) string {
	s = strings.TrimSpace(s)
	for _, prefix := range []string{"http://", "https://", "ftp://", "www."} {
		if len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix) {
			s = s[len(prefix):]
		}
	}
	return strings.TrimSuffix(s, "/")
}

func ownSearch(href string) bool {
	u, err := url.Parse(href)
	return err == nil && strings.TrimPrefix(u.Host, "www.") == "friendfeed.com" && u.Path == "/search"
}

// linkURL returns the address of a link: webURL, or a mail address.
func linkURL(s string) string {
	s = strings.TrimSpace(clean(s))
	if len(s) > len("mailto:") && strings.EqualFold(s[:7], "mailto:") && !strings.ContainsFunc(s, unicode.IsSpace) {
		address, _, _ := strings.Cut(s[7:], "?")
		return address
	}
	return webURL(s)
}

// webURL returns s if it is an address on the web, otherwise "". It completes one that is
// relative to FriendFeed, and escapes spaces. It is lenient, because people's links contain
// characters that no grammar allows.
func webURL(s string) string {
	s = strings.TrimSpace(clean(s))
	switch {
	case strings.HasPrefix(s, "//"):
		s = "http:" + s
	case strings.HasPrefix(s, "/"):
		s = "http://friendfeed.com" + s
	}
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok || rest == "" || strings.ContainsAny(rest[:1], "/?# ") {
		return ""
	}
	switch strings.ToLower(scheme) {
	case "http", "https", "ftp":
	default:
		return ""
	}
	return urlEscaper.Replace(s)
}

// urlEscaper escapes the characters that would end an address or an attribute.
var urlEscaper = strings.NewReplacer(" ", "%20", "\n", "%0A", "<", "%3C", ">", "%3E", `"`, "%22")

// shortURL returns the form in which an address without a title is shown.
func shortURL(s string) string { return cut(bareURL(s), 80) }

func attr(tok html.Token, name string) string {
	for _, a := range tok.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// clean makes s valid UTF-8 without control characters other than newlines. Tabs and unusual
// spaces become spaces.
func clean(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\u2028', r == '\u2029', r == '\r':
			return '\n'
		case r == '\t', r == '\u00a0':
			return ' '
		case unicode.IsControl(r), r == '\ufeff':
			return -1
		}
		return r
	}, s)
}

// tidy turns the marks of breaks into newlines and removes space that nobody sees.
func tidy(s string) string {
	if !strings.ContainsAny(s, "\n"+lineMark+itemMark+paragraphMark) {
		return strings.Trim(s, " ")
	}
	s = strings.ReplaceAll(s, lineMark+"\n", lineMark)
	s = strings.NewReplacer(lineMark, "\n", itemMark+"\n", itemMark, paragraphMark+"\n", paragraphMark).Replace(s)
	var b strings.Builder
	b.Grow(len(s))
	breaks, least := 0, 0
	flush := func() {
		if n := min(max(breaks, least), 2); n > 0 && b.Len() > 0 {
			b.WriteString("\n\n"[:n])
		}
		breaks, least = 0, 0
	}
	var spaces int
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		piece := s[:size]
		s = s[size:]
		switch {
		case piece == lineMark, r == '\n':
			breaks, spaces = breaks+1, 0
		case piece == itemMark:
			least, spaces = max(least, 1), 0
		case piece == paragraphMark:
			least, spaces = max(least, 2), 0
		case r == ' ':
			spaces++
		default:
			atStart := b.Len() == 0 || breaks > 0 || least > 0
			flush()
			if spaces > 0 && !atStart {
				b.WriteString(strings.Repeat(" ", spaces))
			}
			spaces = 0
			b.WriteString(piece)
		}
	}
	return b.String()
}
