package view

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"riverrun/timelines/markup"
)

// Balance passes on stretches of one paragraph and keeps count of the directions begun in
// them. The zero Balance is ready.
type Balance = markup.Balance

// Turns reports whether a character turns the direction of what follows, or ends that.
func Turns(r rune) bool { return markup.Turns(r) }

// Unturned returns a text without the characters that turn its direction.
func Unturned(text string) string { return markup.Unturned(text) }

// onward reports whether a character is one of those that are never written from right to left, nor
// make others so. There are more than these; a text with another one is treated as if it turned.
func onward(r rune) bool {
	switch {
	case r < 0x590: // Latin, Greek, Cyrillic, Armenian; Hebrew comes next
	case 0x1e00 <= r && r <= 0x1fff: // more of Latin and Greek
	case 0x2010 <= r && r <= 0x2027: // dashes, quotation marks, the ellipsis
	case 0x20a0 <= r && r <= 0x2bff: // currencies, arrows, symbols
	case 0x3000 <= r && r <= 0xd7ff: // Chinese, Japanese, Korean
	case 0x1f000 <= r && r <= 0x1faff: // emoji
	default:
		return false
	}
	return true
}

// isolated reports whether a name has to stand in <bdi>, so that it and the text beside it do not turn
// each other. All our own text runs from left to right. A name from a letter to a letter or digit of
// such a script, without anything that turns, reads there as it would alone.
func isolated(name string) bool {
	first, _ := utf8.DecodeRuneInString(name)
	last, _ := utf8.DecodeLastRuneInString(name)
	cased := func(r rune) bool { return unicode.IsUpper(r) || unicode.IsLower(r) }
	return !cased(first) || !cased(last) && (last < '0' || '9' < last) || strings.ContainsFunc(name, turning)
}

// turning reports whether a character may be of a text that does not run from left to right.
func turning(r rune) bool { return !onward(r) }
