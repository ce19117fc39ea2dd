package timelines

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Longest texts, in characters: no text that a browser's maxlength lets through is
// longer, as that counts some characters as two, and none as less than one. The
// posts_body and comments_body constraints of the database bound the bytes such texts
// may take.
const (
	MaxPostRunes    = 100_000
	MaxCommentRunes = 20_000
	maxTitleRunes   = 100
	maxAboutRunes   = 5_000
	maxKeyRunes     = 100
)

// cleanBody returns a body as it is stored: plain text, lines ended by LF alone,
// no white space at the end. It shows something and has at most maxRunes characters.
func cleanBody(body string, maxRunes int) (string, error) {
	if !storable(body) {
		return "", &InvalidError{Field: "body", Code: "text_invalid"}
	}
	body = cleanText(body)
	switch {
	case !strings.ContainsFunc(body, visible):
		return "", &InvalidError{Field: "body", Code: "body_empty"}
	case utf8.RuneCountInString(body) > maxRunes:
		return "", bodyLong("body", maxRunes)
	}
	return body, nil
}

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
	case !strings.ContainsFunc(title, visible):
		return "", &InvalidError{Field: "title", Code: "title_empty"}
	case utf8.RuneCountInString(title) > maxTitleRunes:
		return "", &InvalidError{Field: "title", Code: "title_long"}
	}
	return title, nil
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

// visible reports whether a character shows.
func visible(r rune) bool {
	return !unicode.IsSpace(r) && !unicode.In(r, unicode.C, unicode.M, unicode.Other_Default_Ignorable_Code_Point)
}

// cleanAbout returns an account's description as it is stored; it may be empty.
func cleanAbout(about string) (string, error) {
	if !storable(about) {
		return "", &InvalidError{Field: "about", Code: "text_invalid"}
	}
	about = cleanText(about)
	if utf8.RuneCountInString(about) > maxAboutRunes {
		return "", bodyLong("about", maxAboutRunes)
	}
	return about, nil
}

// bodyLong is the error of a text of more than maxRunes characters.
func bodyLong(field string, maxRunes int) error {
	return &InvalidError{Field: field, Code: "body_long", Most: maxRunes}
}

// checkImported returns an error if a body cannot be stored unchanged.
func checkImported(body string, maxRunes int) error {
	switch {
	case !storable(body):
		return &InvalidError{Field: "body", Code: "text_invalid"}
	case utf8.RuneCountInString(body) > maxRunes:
		return bodyLong("body", maxRunes)
	}
	return nil
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

// storable reports whether PostgreSQL can hold the text: valid UTF-8 without
// NUL. No browser sends anything else.
func storable(s string) bool {
	return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0
}

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

func cleanText(s string) string {
	return strings.TrimRightFunc(lineEnds.Replace(s), unicode.IsSpace)
}
