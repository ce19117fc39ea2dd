package timelines

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"riverrun/timelines/marks"
)

// Query is what somebody searches for, understood. Its zero value finds nothing.
//
// The language: words, all of which must be there, whatever their endings;
// "phrases", whose words stand side by side; #tags; from:name, who wrote the text,
// any of several; in:name, the group or the person's feeds where the post stands,
// and in:name/slug, the sub-feed alone, any of several; each of these with a - before it must not be.
// from: and in: are от: and в: too, and the name me, in Russian я or меня, is the viewer. There is no wrong
// query: a quote left open ends with the query, and what says nothing (a lone -,
// from: without a name) is passed over.
//
// A post is found by one text: its own, or one of its comments, which alone must
// have all that is asked for and nothing of what is not; and the post's own text
// must have nothing of that either. So a post about dogs is not found by a remark
// on cats when one asks for cats -dogs. What other comments say is no matter: a
// comment that the reader may not see must not decide what is found.
type Query struct{ terms []queryTerm }

// queryTerm is one of the things a query asks for. Text is in lower case: words
// with single spaces between, a tag without its #, a name, a name with a slash and a
// sub-feed's slug.
type queryTerm struct {
	kind termKind
	not  bool
	text string
}

type termKind int

const (
	termText termKind = iota
	termTag
	termFrom
	termIn
)

// prefixes of the terms that have one, in the canonical form.
var prefixes = map[termKind]string{termTag: "#", termFrom: "from:", termIn: "in:"}

// spellings are all prefixes that are understood.
var spellings = map[string]termKind{"#": termTag, "from:": termFrom, "от:": termFrom, "in:": termIn, "в:": termIn}

// self is the name that stands for the viewer, in the canonical form: too short to be
// anybody's. selves are what it is in other words.
const self = "me"

var selves = []string{"я", "меня"}

// Bounds of a query, in characters as typed and in terms.
const (
	MaxQueryRunes = 200
	MaxQueryTerms = 16
)

// ParseQuery understands a query. InvalidError if it is longer than the bounds:
// "query_long", "query_terms"; or no text at all: "text_invalid".
func ParseQuery(text string) (Query, error) {
	invalid := func(code string) (Query, error) {
		return Query{}, &InvalidError{Field: "q", Code: code}
	}
	if !storable(text) {
		return invalid("text_invalid")
	}
	text = strings.TrimSpace(text)
	if utf8.RuneCountInString(text) > MaxQueryRunes {
		return invalid("query_long")
	}
	var q Query
	for rest := marks.Fold(text); rest != ""; {
		var t queryTerm
		if t, rest = nextTerm(rest); t.text != "" {
			q.terms = append(q.terms, t)
		}
	}
	slices.SortFunc(q.terms, compareTerms)
	q.terms = slices.Compact(q.terms)
	if len(q.terms) > MaxQueryTerms {
		return invalid("query_terms")
	}
	// The canonical form may need more quotes than were typed, and is read again.
	if utf8.RuneCountInString(q.String()) > MaxQueryRunes {
		return invalid("query_long")
	}
	return q, nil
}

// nextTerm cuts the first term off a folded text; without text if it says nothing.
func nextTerm(s string) (t queryTerm, rest string) {
	s = strings.TrimLeftFunc(s, unicode.IsSpace)
	if bare := strings.TrimLeft(s, "-"); bare != s {
		t.not, s = true, bare
	}
	if inside, quoted := strings.CutPrefix(s, `"`); quoted {
		t.text, rest, _ = strings.Cut(inside, `"`)
		t.text = plainWords(t.text)
		return t, rest
	}
	end := strings.IndexFunc(s, func(r rune) bool { return r == '"' || unicode.IsSpace(r) })
	if end < 0 {
		end = len(s)
	}
	word, rest := s[:end], s[end:]
	for prefix, kind := range spellings {
		if value, ok := strings.CutPrefix(word, prefix); ok {
			switch t.kind = kind; kind {
			case termTag:
				t.text = tagOf(value)
			case termIn: // as a link has it, too
				t.text = ofSelf(strings.TrimRight(strings.TrimLeft(value, "@/"), "/"))
			default:
				t.text = ofSelf(strings.TrimLeft(value, "@"))
			}
			return t, rest
		}
	}
	t.text = plainWords(word)
	return t, rest
}

// ofSelf is a name, or a name with a slug, with self for its other words.
func ofSelf(text string) string {
	name, slug, slashed := strings.Cut(text, "/")
	switch {
	case !slices.Contains(selves, name):
		return text
	case slashed:
		return self + "/" + slug
	}
	return self
}

// plainWords are words as a query keeps them, "" if nothing in them can be found.
func plainWords(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
		return ""
	}
	return strings.Join(strings.Fields(s), " ")
}

// tagOf is the term of the tag at the beginning of what stands after a #, "" if
// none does.
func tagOf(s string) string {
	end := strings.IndexFunc(s, func(r rune) bool {
		return !unicode.In(r, unicode.L, unicode.N, unicode.M) && r != '_'
	})
	if end >= 0 {
		s = s[:end]
	}
	term, _ := marks.Term(s)
	return term
}

func compareTerms(a, b queryTerm) int {
	switch {
	case a.not != b.not:
		if b.not {
			return -1
		}
		return 1
	case a.kind != b.kind:
		return int(a.kind - b.kind)
	}
	return strings.Compare(a.text, b.text)
}

// String is the query in its canonical form: two that ask for the same in other
// words' order, case or spacing have the same, and it means the same query.
func (q Query) String() string {
	var b strings.Builder
	for i, t := range q.terms {
		if i > 0 {
			b.WriteByte(' ')
		}
		if t.not {
			b.WriteByte('-')
		}
		if t.kind == termText && t.quoted() {
			b.WriteString(`"` + t.text + `"`)
		} else {
			b.WriteString(prefixes[t.kind] + t.text)
		}
	}
	return b.String()
}

// quoted reports whether a text would mean something else without quotes.
func (t queryTerm) quoted() bool {
	bare, rest := nextTerm(t.text)
	return bare != (queryTerm{text: t.text}) || rest != ""
}

// Empty reports whether the query asks for nothing at all.
func (q Query) Empty() bool { return len(q.terms) == 0 }

// Finds reports whether the query asks for something to be there. One that only
// says what must not be finds nothing.
func (q Query) Finds() bool {
	return slices.ContainsFunc(q.terms, func(t queryTerm) bool { return !t.not })
}

// Names are the names of accounts in the query, each once: those that must have
// written it, or where it must stand, and those that must not. The viewer's "me" is none.
func (q Query) Names() []string {
	var names []string
	for _, t := range q.terms {
		switch t.kind {
		case termFrom:
			names = append(names, t.text)
		case termIn:
			name, _, _ := strings.Cut(t.text, "/")
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == self })
}

// asksOfText reports whether anything is asked of the text or its author; else only
// of where the post stands.
func (q Query) asksOfText() bool {
	return slices.ContainsFunc(q.terms, func(t queryTerm) bool { return !t.not && t.kind != termIn })
}

// words is the query's words and phrases as websearch_to_tsquery reads them, all
// in quotes: outside of them "or" is an operator.
func (q Query) words() string {
	var b strings.Builder
	for _, t := range q.terms {
		if t.kind != termText {
			continue
		}
		if t.not {
			b.WriteByte('-')
		}
		b.WriteString(`"` + wordsApart(t.text) + `" `)
	}
	return b.String()
}

// barredWords is a search for any of the words and phrases that must not be there.
func (q Query) barredWords() string {
	var parts []string
	for _, t := range q.terms {
		if t.kind == termText && t.not {
			parts = append(parts, `"`+wordsApart(t.text)+`"`)
		}
	}
	return strings.Join(parts, " or ")
}

// number is a hyphen that PostgreSQL would read as a sign.
var number = regexp.MustCompile(`-([0-9])`)

// wordsApart takes a text apart where search_lexemes does, so that what looks like
// markup, a path, a host or a signed number is the phrase of its words.
func wordsApart(text string) string {
	text = strings.Map(func(r rune) rune {
		if strings.ContainsRune(`<>&/.+~@_`, r) {
			return ' '
		}
		return r
	}, text)
	return number.ReplaceAllString(text, " $1")
}
