package markup

import (
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
)

// Cut returns the first n characters of a source if it has more, as CloseSpoiler leaves them.
func Cut(source string, n int) string {
	for i := range source {
		if n == 0 {
			return CloseSpoiler(source[:i])
		}
		n--
	}
	return source
}

// CloseSpoiler ends the spoiler that is open at the end of what was cut off a longer source, so
// that it stays one. Other marks that the rest would end are the signs they are.
//
// The rest need not end it: then what would be shown is hidden.
func CloseSpoiler(beginning string) string {
	// A sign that is a half of ||, and what would keep || from being one, are left out.
	text := strings.TrimRightFunc(beginning, func(r rune) bool { return r == '|' || r == '\\' || unicode.IsSpace(r) })
	open := openSpoilers(text)
	switch {
	case len(open) == 0:
		return beginning
	case len(open) > 1:
		// Another || would end the last of them. The first one hides the others.
		return text[:open[0]] + "||…||"
	}
	if closed := text + "||"; len(openSpoilers(closed)) == 0 {
		return closed
	}
	return beginning // it is inside of something that has ended
}

// openSpoilers returns where in the source the || stand that begin a spoiler in its last block
// and are not followed by the end of one.
func openSpoilers(source string) []int {
	root, p := parseWith([]byte(source))
	last := root
	for c := last.LastChild(); c != nil && c.Type() == ast.TypeBlock; c = c.LastChild() {
		last = c
	}
	if last != p.block {
		return nil
	}
	return p.open
}
