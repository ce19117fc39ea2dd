package markup

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"riverrun/timelines/marks"
)

// Escape returns a source that shows a plain text as it is: its signs are no markup, and its
// @names and #tags are no marks. Its web addresses stay links.
//
// Texts from elsewhere are written so into a source that has marks and links of its own.
func Escape(text string) string { return escape(text, true) }

// EscapeMarkup is Escape for a text whose @names and #tags count.
func EscapeMarkup(text string) string { return escape(text, false) }

func escape(text string, withMarks bool) string {
	if !strings.ContainsAny(text, "\\`*_~|[@#>-1") {
		return text
	}
	var b strings.Builder
	b.Grow(len(text) + len(text)/16 + 8)
	from := 0
	for _, m := range marks.In(text) {
		if m.Kind != marks.Link {
			continue
		}
		// Signs of emphasis at the end of an address are no part of it for the parser.
		to := m.From + len(strings.TrimRight(text[m.From:m.To], "*_~|"))
		escapeBetween(&b, text, from, m.From, withMarks)
		b.WriteString(text[m.From:to])
		from = to
	}
	escapeBetween(&b, text, from, len(text), withMarks)
	return b.String()
}

// escapeBetween escapes a stretch of a text that has no address.
func escapeBetween(b *strings.Builder, text string, from, to int, withMarks bool) {
	for i := from; i < to; i++ {
		if escapes(text, i, withMarks) {
			b.WriteByte('\\')
		}
		b.WriteByte(text[i])
	}
}

// escapes reports whether the sign at i needs a backslash.
func escapes(text string, i int, withMarks bool) bool {
	c, before, after := text[i], text[:i], text[i+1:]
	switch c {
	case '\\', '`', '*', '[':
		return true
	case '_':
		return !endsWord(before) || !beginsWord(after)
	case '~', '|':
		return strings.HasSuffix(before, string(c)) || strings.HasPrefix(after, string(c))
	case '@', '#':
		return withMarks && !endsWord(before) && (beginsWord(after) || strings.HasPrefix(after, "_"))
	case '>':
		return beginsLine(before)
	case '-':
		return beginsLine(before) && endsItemMark(after)
	case '.', ')':
		number := strings.TrimRight(before, "0123456789")
		return len(number) < i && strings.TrimLeft(before[len(number):], "0") == "1" && beginsLine(number) && endsItemMark(after)
	}
	return false
}

// beginsLine reports whether what follows is the first on its line.
func beginsLine(before string) bool {
	line := strings.TrimRight(before, " \t")
	return line == "" || strings.HasSuffix(line, "\n")
}

// endsItemMark reports whether the mark of a list's item may end before this.
func endsItemMark(after string) bool {
	return after == "" || strings.ContainsRune(" \t\n", rune(after[0]))
}

func endsWord(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

func beginsWord(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsLetter(r) || unicode.IsNumber(r)
}
