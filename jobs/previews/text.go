package previews

import (
	"strings"
	"unicode"
)

// line returns a text as one line of at most limit characters, without control characters
// and those that turn the direction of writing. White space becomes single spaces. A longer
// text ends with a whole word and an ellipsis. A text in which nothing shows becomes empty.
func line(text string, limit int) string {
	var runes []rune
	space := false
	for _, r := range text { // a byte that is not UTF-8 becomes U+FFFD
		switch {
		case unicode.IsSpace(r):
			space = len(runes) > 0
			continue
		case unicode.IsControl(r), turns(r):
			continue
		case space:
			runes, space = append(runes, ' '), false
		}
		if runes = append(runes, r); len(runes) > limit {
			break
		}
	}
	if !strings.ContainsFunc(string(runes), visible) {
		return ""
	}
	if len(runes) <= limit {
		return string(runes)
	}
	cut := limit - 1
	// A word that is most of the text is cut itself.
	for n := cut; n > limit/2; n-- {
		if runes[n] == ' ' {
			cut = n
			break
		}
	}
	return strings.TrimSpace(string(runes[:cut])) + "…"
}

// turns reports whether a character turns the direction of what follows, or ends that: the
// embeddings, overrides and isolates of bidirectional text. In a preview they could turn the
// text beside it.
func turns(r rune) bool {
	return '\u202a' <= r && r <= '\u202e' || '\u2066' <= r && r <= '\u2069'
}

// visible reports whether a character shows.
func visible(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) }
