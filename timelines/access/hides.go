package access

import (
	"slices"
	"strings"

	"riverrun/timelines/marks"
)

// Hides (source: PRODUCT, "hide a post; hide by person, group, tag, word"): what
// one viewer does not want to see. They are loaded with the viewer's Sets and decided
// where something is shown; they move the access clock and nothing else.
type Hides struct {
	// Posts are hidden one by one.
	Posts IDs
	// Accounts are people and groups. Posts of a hidden person are hidden, and so are
	// posts that stand on a page only by that person's likes and comments. Their comments
	// under others' posts are shown as part of the conversation; a ban hides those too.
	Accounts IDs
	// Terms are tags, with their #, and words, in order.
	Terms []Term
}

// Term is a hidden word, several in a row, or a tag: its words in lower case, the
// tag's with its #.
type Term []string

// Match returns the first of the hidden terms that a text has in it, nil if it has
// none: the same words, whole, side by side, in upper or lower case. Neither endings
// nor spellings are guessed.
func (h *Hides) Match(text string) Term {
	if len(h.Terms) == 0 {
		return nil
	}
	words := marks.Words(text)
	i := slices.IndexFunc(h.Terms, func(t Term) bool {
		for i := range words {
			if len(words)-i >= len(t) && slices.EqualFunc(t, words[i:i+len(t)], sameWord) {
				return true
			}
		}
		return false
	})
	if i < 0 {
		return nil
	}
	return h.Terms[i]
}

// sameWord: a hidden tag is found as a tag only, a hidden word also as a tag.
func sameWord(hidden, word string) bool {
	return hidden == word || strings.TrimPrefix(word, "#") == hidden
}
