package rules

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Storable reports whether PostgreSQL can hold the text: valid UTF-8 without NUL. No browser sends
// anything else.
func Storable(s string) bool {
	return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0
}

// Shows reports whether a text shows anything.
func Shows(s string) bool { return strings.ContainsFunc(s, visible) }

// visible reports whether a character shows.
func visible(r rune) bool {
	return !unicode.IsSpace(r) && !unicode.In(r, unicode.C, unicode.M, unicode.Other_Default_Ignorable_Code_Point)
}

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// Lines returns a text whose lines end with LF alone.
func Lines(s string) string { return lineEnds.Replace(s) }

// Unfinished returns the text of a draft as it is stored. It may be empty. long is the rule of what it is
// to become, PostLong or CommentLong, or VisitorLong.
func Unfinished(body string, long Rule) (string, error) {
	if !Storable(body) {
		return "", TextInvalid.Broken("")
	}
	return long.Within(Lines(body))
}

// Body returns the text of a post or a comment as it is stored: lines ended by LF alone, no white space
// at the end. It shows something, unless it may be empty, as it may beside files. long is PostLong or
// CommentLong.
func Body(body string, long Rule, mayBeEmpty bool) (string, error) {
	body, err := Unfinished(strings.TrimRightFunc(body, unicode.IsSpace), long)
	switch {
	case err != nil:
		return "", err
	case Shows(body):
		return body, nil
	case mayBeEmpty:
		return "", nil
	}
	return "", BodyEmpty.Broken("")
}
