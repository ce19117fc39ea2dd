package timelines

import (
	"strings"
	"unicode"

	"riverrun/timelines/rules"
)

// Longest texts, in characters: no text that a browser's maxlength lets through is longer. The posts_body
// and comments_body constraints of the database bound the bytes such texts may take.
const (
	MaxPostRunes    = rules.PostRunes
	MaxCommentRunes = rules.CommentRunes
)

// cleanTitle returns a title as it is stored: one line of 1 to 100 characters. It may not
// contain characters that turn the direction of writing, since they would also turn the
// text after it.
func cleanTitle(title string) (string, error) {
	if strings.ContainsFunc(title, turns) {
		return "", &InvalidError{Field: "title", Code: "title_direction"}
	}
	return importedTitle(title)
}

// importedTitle is cleanTitle for a title that nobody can be asked to change: it leaves out
// characters that turn the direction.
func importedTitle(title string) (string, error) {
	if !storable(title) {
		return "", &InvalidError{Field: "title", Code: "text_invalid"}
	}
	// Control characters could only serve to imitate another account's title.
	title = strings.Join(strings.FieldsFunc(strings.Map(withoutTurns, title), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
	switch {
	case !rules.Shows(title):
		return "", &InvalidError{Field: "title", Code: "title_empty"}
	}
	return rules.TitleLong.Within(title)
}

// turns reports whether a character is an embedding, override or isolate of
// bidirectional text. The marks, which names in Hebrew and Arabic need, are none.
func turns(r rune) bool {
	return '\u202a' <= r && r <= '\u202e' || '\u2066' <= r && r <= '\u2069'
}

func withoutTurns(r rune) rune {
	if turns(r) {
		return -1
	}
	return r
}

// cleanAbout returns an account's description as it is stored; it may be empty.
func cleanAbout(about string) (string, error) {
	if !storable(about) {
		return "", &InvalidError{Field: "about", Code: "text_invalid"}
	}
	about = cleanText(about)
	return rules.AboutLong.Within(about)
}

// checkImported returns an error if a body cannot be stored unchanged.
func checkImported(body string, long rules.Rule) error {
	if !storable(body) {
		return rules.TextInvalid.Broken("")
	}
	return long.Text(body)
}

// checkLanguage returns an error unless the language has a catalogue or is empty, which
// means that the browser decides.
func checkLanguage(language string) error {
	switch language {
	case "", "en", "ru":
		return nil
	}
	return &InvalidError{Field: "language", Code: "language_unknown"}
}

// storable reports whether PostgreSQL can hold the text.
func storable(s string) bool { return rules.Storable(s) }

func cleanText(s string) string {
	return strings.TrimRightFunc(rules.Lines(s), unicode.IsSpace)
}
