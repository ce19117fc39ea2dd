package sources

import (
	"slices"
	"strings"

	"golang.org/x/text/language"

	"riverrun/timelines"
	"riverrun/timelines/sources/formats"
)

// body is the text of the post that an item becomes: its title, its text and its address, each
// on lines of its own.
func body(it *formats.Item) string {
	var parts []string
	for _, part := range []string{it.Title, it.Text, it.URL} {
		if part != "" && !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	text := []rune(strings.Join(parts, "\n\n"))
	return string(text[:min(len(text), timelines.MaxPostRunes)])
}

// languageOf is the language that the source says, as posts are told apart by it.
func languageOf(it *formats.Item) string {
	tag, err := language.Parse(it.Language)
	if err != nil {
		return "" // the text shows it
	}
	base, _ := tag.Base()
	return base.String()
}
