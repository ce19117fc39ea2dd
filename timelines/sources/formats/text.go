package formats

import (
	"html"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"riverrun/timelines/markup"
)

// normal returns a text in NFC. Two spellings of one letter are one id, and one word.
func normal(s string) string { return norm.NFC.String(s) }

// cleanRune returns the character that is kept for a character of a text.
func cleanRune(r rune) rune {
	switch {
	case r == '\n', r >= ' ' && r < 0x7f:
		return r
	case r == '\t', r == '\u00a0':
		return ' '
	case r == '\u2028', r == '\u2029', r == '\u0085':
		return '\n'
	case r == '\ufeff', r == '\u00ad', unicode.IsControl(r):
		return -1
	}
	return r
}

// clean makes a text valid UTF-8 without control characters, whose lines end with LF.
func clean(s string) string {
	plain := true
	for i := range len(s) {
		if c := s[i]; c >= 0x7f || c < ' ' && c != '\n' {
			plain = false
			break
		}
	}
	if plain {
		return s
	}
	s = strings.ToValidUTF8(s, "\ufffd")
	if strings.IndexByte(s, '\r') >= 0 {
		s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	}
	return normal(strings.Map(cleanRune, s))
}

// oneLine returns a text, a title or a name, as one line that does not turn the direction of writing.
func oneLine(s string) string {
	s = markup.Unturned(clean(s))
	if !strings.ContainsAny(s, "\n") && !strings.Contains(s, "  ") {
		return strings.TrimSpace(s)
	}
	return strings.Join(strings.Fields(s), " ")
}

// plainText returns a text of several lines, without space at the ends of lines and without two blank
// lines in a row.
func plainText(s string) string {
	s = clean(s)
	var b strings.Builder
	b.Grow(len(s))
	blank := 0
	for line := range strings.SplitSeq(s, "\n") {
		line = strings.TrimRightFunc(line, unicode.IsSpace)
		if line == "" {
			blank++
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\n\n"[:min(blank+1, 2)])
		}
		blank = 0
		b.WriteString(line)
	}
	return b.String()
}

// cutRunes returns at most n characters of a text. A longer text ends with an ellipsis, behind a word
// if one ends near.
func cutRunes(s string, n int) (text string, cut bool) {
	if len(s) <= n || utf8.RuneCountInString(s) <= n {
		return s, false
	}
	end, i := 0, 0
	for i = range s {
		if n--; n == 0 {
			break
		}
	}
	end = i
	if space := strings.LastIndexAny(s[:end], " \n"); space > end-100 && space > end/2 {
		end = space
	}
	return strings.TrimRightFunc(s[:end], unicode.IsSpace) + "…", true
}

// unescape decodes the character references of HTML.
func unescape(s string) string {
	if strings.IndexByte(s, '&') < 0 {
		return s
	}
	return html.UnescapeString(s)
}

// webAddress returns a web address in full, in the form that browsers send.
func webAddress(s string, base *url.URL) (string, bool) {
	s = strings.TrimSpace(s)
	if strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || r == utf8.RuneError }) {
		return "", false
	}
	if strings.IndexByte(s, ' ') >= 0 {
		s = strings.ReplaceAll(s, " ", "%20")
	}
	if !hasWebScheme(s) {
		if base == nil {
			return "", false
		}
		u, err := base.Parse(s)
		if err != nil {
			return "", false
		}
		s = u.String()
	}
	return markup.WebAddress(s)
}

func hasWebScheme(s string) bool {
	return len(s) > 7 && (strings.EqualFold(s[:7], "http://") || len(s) > 8 && strings.EqualFold(s[:8], "https://"))
}
