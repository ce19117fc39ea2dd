package edits

import (
	"regexp"
	"strings"
	"time"

	"github.com/sergi/go-diff/diffmatchpatch"
)

// Op says what happened to a Span.
type Op int

// These say what an edit does with a part of a text.
const (
	Same Op = iota
	Deleted
	Inserted
)

// A Span is a part of two texts that are compared: of both, or of one of them.
type Span struct {
	Op   Op
	Text string
}

// patience bounds the search for the shortest difference of two texts. Beyond it the
// difference is right, but coarser.
const patience = 50 * time.Millisecond

var words = regexp.MustCompile(`[\p{L}\p{M}\p{N}_]+|[\t ]+|.|\n`)

// Compare returns how one text became the other, in whole words. The texts of the spans that
// are not Inserted make up was, and those that are not Deleted make up is.
func Compare(was, is string) []Span {
	var list []string
	index := map[string]rune{}
	encode := func(text string) []rune {
		var coded []rune
		for _, word := range words.FindAllString(text, -1) {
			r, known := index[word]
			if !known {
				r = letter(len(list))
				index[word] = r
				list = append(list, word)
			}
			coded = append(coded, r)
		}
		return coded
	}
	decode := func(coded string) string {
		var b strings.Builder
		for _, r := range coded {
			b.WriteString(list[number(r)])
		}
		return b.String()
	}
	before, after := encode(was), encode(is)
	differ := diffmatchpatch.New()
	differ.DiffTimeout = patience
	var spans []Span
	for _, d := range differ.DiffMainRunes(before, after, false) {
		op := map[diffmatchpatch.Operation]Op{
			diffmatchpatch.DiffEqual: Same, diffmatchpatch.DiffDelete: Deleted, diffmatchpatch.DiffInsert: Inserted,
		}[d.Type]
		spans = append(spans, Span{op, decode(d.Text)})
	}
	return joined(spans)
}

// The words of two texts are numbered, and each number is written as a letter, so that a
// library for texts of letters compares texts of words. There are more letters than two of
// the longest posts have words. Surrogates are no letters.
func letter(n int) rune {
	r := rune(n + 1)
	if r >= surrogates {
		r += surrogateCount
	}
	return r
}

func number(r rune) int {
	if r >= surrogates {
		r -= surrogateCount
	}
	return int(r) - 1
}

const (
	surrogates     = 0xd800
	surrogateCount = 0x800
)

// joined makes one change of those that have nothing but white space between them: a reader
// follows a phrase that was replaced more easily than each of its words.
func joined(spans []Span) []Span {
	var out []Span
	var deleted, inserted strings.Builder
	flush := func() {
		if deleted.Len() > 0 {
			out = append(out, Span{Deleted, deleted.String()})
		}
		if inserted.Len() > 0 {
			out = append(out, Span{Inserted, inserted.String()})
		}
		deleted.Reset()
		inserted.Reset()
	}
	for i, s := range spans {
		between := i+1 < len(spans) && deleted.Len()+inserted.Len() > 0 && strings.TrimSpace(s.Text) == ""
		switch {
		case s.Op == Deleted:
			deleted.WriteString(s.Text)
		case s.Op == Inserted:
			inserted.WriteString(s.Text)
		case between:
			deleted.WriteString(s.Text)
			inserted.WriteString(s.Text)
		default:
			flush()
			out = append(out, s)
		}
	}
	flush()
	return out
}
