package marks

import "unicode"

// Words returns the words of a text, folded as tags are: letters, digits and the
// characters that may stand within a word, with the # of a tag.
func Words(text string) []string {
	text = Fold(text)
	within := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '_' }
	var words []string
	from, inside := -1, false // where the word begins; the rune before is within one
	for i, r := range text {
		if within(r) {
			if from < 0 {
				from = i
			}
			inside = true
			continue
		}
		if inside {
			words = append(words, text[from:i])
		}
		if from = -1; r == '#' && !inside {
			from = i
		}
		inside = false
	}
	if inside {
		words = append(words, text[from:])
	}
	return words
}
