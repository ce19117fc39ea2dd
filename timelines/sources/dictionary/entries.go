package dictionary

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"riverrun/timelines"
	"riverrun/timelines/marks"
)

// The bounds of a dictionary. The bound of parts is one of memory: each part takes some kilobytes
// while a source is loaded.
const (
	// Most is the largest number of words of a dictionary, its tags included.
	Most         = 2000
	maxWordRunes = 50
	maxParts     = 2 * Most
)

// Entry is a tag, without its #, and the words that stand for it besides its name.
type Entry struct {
	Tag   string
	Words []string
}

// Parse reads a dictionary as people write it: a line for each tag, "tag: word, another word". The
// error is an InvalidError of the field "words": "words_tag" for a line that does not begin with a
// tag, "words_word" for a word that is too long or is none, both with the text as Value, or
// "words_many".
func Parse(text string) ([]Entry, error) {
	invalid := func(code, value string) error {
		runes := []rune(strings.TrimSpace(value))
		return &timelines.InvalidError{Field: "words", Code: code, Value: string(runes[:min(len(runes), maxWordRunes)])}
	}
	var entries []Entry
	at := map[string]int{}
	count, all := 0, 0
	for line := range strings.Lines(strings.ToValidUTF8(text, "\uFFFD")) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		name, list, _ := strings.Cut(line, ":")
		tag := Tag(name)
		if tag == "" || strings.ContainsAny(name, ",;") {
			return nil, invalid("words_tag", name)
		}
		if _, known := at[tag]; !known {
			at[tag] = len(entries)
			entries = append(entries, Entry{Tag: tag})
			count, all = count+1, all+len(parts(nameOf(tag)))
		}
		e := &entries[at[tag]]
		for word := range strings.SplitSeq(list, ",") {
			if word = strings.Join(strings.Fields(word), " "); word == "" {
				continue
			}
			p := parts(word)
			if len(p) == 0 || utf8.RuneCountInString(word) > maxWordRunes || strings.ContainsFunc(word, unicode.IsControl) {
				return nil, invalid("words_word", word)
			}
			same := func(other string) bool { return slices.Equal(parts(other), p) }
			if same(nameOf(tag)) || slices.ContainsFunc(e.Words, same) {
				continue
			}
			e.Words = append(e.Words, word)
			count, all = count+1, all+len(p)
		}
		if count > Most || all > maxParts {
			return nil, &timelines.InvalidError{Field: "words", Code: "words_many", Most: Most}
		}
	}
	return entries, nil
}

// Format returns the text that Parse reads.
func Format(entries []Entry) string {
	var b strings.Builder
	for _, e := range entries {
		b.WriteString("#" + e.Tag)
		if len(e.Words) > 0 {
			b.WriteString(": " + strings.Join(e.Words, ", "))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Tag makes a tag of a name: "Open science" is open_science. It returns "" if no tag can be made of
// it.
func Tag(name string) string {
	var b strings.Builder
	for _, r := range strings.TrimPrefix(strings.TrimSpace(name), "#") {
		switch {
		case isWord(r):
			b.WriteRune(unicode.ToLower(r))
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "_"):
			b.WriteByte('_')
		}
	}
	term, ok := marks.Term(strings.TrimRight(b.String(), "_"))
	if !ok {
		return ""
	}
	return term
}

// nameOf returns the name that a tag stands for.
func nameOf(tag string) string { return strings.ReplaceAll(tag, "_", " ") }

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

// parts returns the words of a text, folded, and each other sign that is not a space: "C++ now" is c,
// +, + and now.
func parts(text string) []string {
	var list []string
	text = marks.Fold(text)
	from := -1 // where a word began
	for i, r := range text {
		if isWord(r) {
			if from < 0 {
				from = i
			}
			continue
		}
		if from >= 0 {
			list = append(list, text[from:i])
			from = -1
		}
		if !unicode.IsSpace(r) && r != '_' {
			list = append(list, string(r))
		}
	}
	if from >= 0 {
		list = append(list, text[from:])
	}
	return list
}
