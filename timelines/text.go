package timelines

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Longest texts. Bodies are measured in bytes, as stored; what people see as one
// line, in characters.
const (
	MaxPostBytes    = 100_000
	MaxCommentBytes = 20_000
	maxTitleRunes   = 100
	maxAboutRunes   = 5_000
	maxKeyRunes     = 100
)

// cleanBody returns a body as it is stored: plain text, lines ended by LF alone,
// no white space at the end. It shows something and is at most maxBytes long.
func cleanBody(body string, maxBytes int) (string, error) {
	if !storable(body) {
		return "", &InvalidError{Field: "body", Code: "text_invalid"}
	}
	body = cleanText(body)
	switch {
	case !strings.ContainsFunc(body, visible):
		return "", &InvalidError{Field: "body", Code: "body_empty"}
	case len(body) > maxBytes:
		return "", &InvalidError{Field: "body", Code: "body_long"}
	}
	return body, nil
}

// cleanTitle returns a title as it is stored: one line of 1 to 100 characters.
func cleanTitle(title string) (string, error) {
	if !storable(title) {
		return "", &InvalidError{Field: "title", Code: "text_invalid"}
	}
	// A control character would only serve to imitate another's title, and what
	// turns the direction of writing also to turn what stands after it.
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

// withoutTurns drops the embeddings, overrides and isolates of bidirectional
// text. The marks, which names in Hebrew and Arabic need, stay.
func withoutTurns(r rune) rune {
	if '\u202a' <= r && r <= '\u202e' || '\u2066' <= r && r <= '\u2069' {
		return -1
	}
	return r
}

// visible reports whether a character leaves something to see.
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
		return "", &InvalidError{Field: "about", Code: "body_long"}
	}
	return about, nil
}

// checkLanguage returns an error unless the language has a catalogue, or is
// empty: the browser decides.
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
