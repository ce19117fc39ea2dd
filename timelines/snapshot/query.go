package snapshot

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"riverrun/timelines/marks"
)

// Query is a parsed search. Its zero value finds nothing.
//
// The language has words, which must all be there, whatever their endings; "phrases",
// whose words stand side by side; #tags; from:name for the author of the text, any of
// several; in:name for the group or the person's feeds where the post stands, and
// in:name/slug for the sub-feed alone, any of several; is:active, is:expired and is:closed
// for listings in that state, any of several; price:10..50eur for listings at a price in that
// currency within these bounds (one may be left out), and price:10eur for that price; listings in
// other currencies are left out (see NamesCurrencies). A - before any
// of these excludes it. от:, в:, это: (активно, истекло, закрыто) and цена: mean the same in
// Russian, and the name me, in Russian я or меня, is the viewer. No query is wrong: an open
// quote ends with the query, empty terms (a lone -, from: without a name) are ignored, and
// is: or price: with anything else are words.
//
// One text finds a post: its own, or one of its comments. This text must have all that is
// asked for and nothing that is excluded, and the post's own text must have nothing that
// is excluded either. So the search cats -dogs does not find a post about dogs by a
// comment about cats. Other comments do not matter: a comment that the reader may not see
// must not decide what is found.
type Query struct{ terms []queryTerm }

// queryTerm is one condition of a query. Text is in lower case: words with single spaces
// between them, a tag without its #, a name, or a name with a slash and a sub-feed's slug.
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
	termIs
	termPrice
)

// prefixes are those of terms in the canonical form.
var prefixes = map[termKind]string{termTag: "#", termFrom: "from:", termIn: "in:", termIs: "is:", termPrice: "price:"}

// spellings are all prefixes that can be typed.
var spellings = map[string]termKind{
	"#": termTag, "from:": termFrom, "от:": termFrom, "in:": termIn, "в:": termIn,
	"is:": termIs, "это:": termIs, "price:": termPrice, "цена:": termPrice,
}

// listed are the states of listings as they can be typed, by the state.
var listed = map[string]string{
	"active": "active", "expired": "expired", "closed": "closed",
	"активно": "active", "истекло": "expired", "закрыто": "closed",
}

// self is the name that stands for the viewer, in the canonical form. It is too short for an
// account. selves are other words for it.
const self = "me"

var selves = []string{"я", "меня"}

// Bounds of a query, in characters as typed and in terms.
const (
	MaxQueryRunes = 200
	MaxQueryTerms = 16
)

// ParseQuery parses a query. If it cannot be parsed, problem says why, by a code of
// timelines.InvalidError: "query_long" or "query_terms", if it is longer than the bounds;
// "text_invalid", if it has NUL or is not UTF-8.
func ParseQuery(text string) (q Query, problem string) {
	if !utf8.ValidString(text) || strings.IndexByte(text, 0) >= 0 {
		return Query{}, "text_invalid"
	}
	text = strings.TrimSpace(text)
	if utf8.RuneCountInString(text) > MaxQueryRunes {
		return Query{}, "query_long"
	}
	for rest := marks.Fold(text); rest != ""; {
		var t queryTerm
		if t, rest = nextTerm(rest); t.text != "" {
			q.terms = append(q.terms, t)
		}
	}
	slices.SortFunc(q.terms, compareTerms)
	q.terms = slices.Compact(q.terms)
	if len(q.terms) > MaxQueryTerms {
		return Query{}, "query_terms"
	}
	// The canonical form, which is parsed later, may need more quotes than were typed.
	if utf8.RuneCountInString(q.String()) > MaxQueryRunes {
		return Query{}, "query_long"
	}
	return q, ""
}

// nextTerm cuts the first term off a folded text. The term's text is empty if it means
// nothing.
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
			case termIs:
				t.text = listed[value]
			case termPrice:
				t.text = priceTerm(value)
			case termIn: // as a link has it, too
				t.text = ofSelf(strings.TrimRight(strings.TrimLeft(value, "@/"), "/"))
			default:
				t.text = ofSelf(strings.TrimLeft(value, "@"))
			}
			if t.text == "" && (kind == termIs || kind == termPrice) {
				break // words with a colon, as in "is:it"
			}
			return t, rest
		}
	}
	t.kind, t.text = termText, plainWords(word)
	return t, rest
}

// ofSelf returns a name, or a name with a slug, with self in the place of its other words.
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

// plainWords returns words as a query keeps them, "" if nothing in them can be found.
func plainWords(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
		return ""
	}
	return strings.Join(strings.Fields(s), " ")
}

// tagOf returns the term of the tag at the beginning of s, which followed a #; "" if there
// is none.
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

// String returns the query in its canonical form, which means the same query. Queries that
// differ only in order, case or spacing have the same form.
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

// Finds reports whether the query asks for something to be there. A query that only
// excludes finds nothing.
func (q Query) Finds() bool {
	return slices.ContainsFunc(q.terms, func(t queryTerm) bool { return !t.not })
}

// Names returns the names of accounts in the query, each once: authors and places, asked
// for or excluded. The viewer's "me" is not among them.
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

// Texts returns the query's words and phrases, nil if it asks for anything else.
func (q Query) Texts() []string {
	var texts []string
	for _, t := range q.terms {
		if t.kind != termText || t.not {
			return nil
		}
		texts = append(texts, strings.Trim(t.text, "@"))
	}
	return texts
}

// AccountWords returns the words of a query as account_lexemes has them, each once.
func (q Query) AccountWords() []string {
	var words []string
	for _, text := range q.Texts() {
		words = append(words, strings.FieldsFunc(strings.ReplaceAll(text, "ё", "е"), func(r rune) bool {
			return !unicode.In(r, unicode.L, unicode.N, unicode.M)
		})...)
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// asksOfText reports whether the query asks for anything in the text or for its author, and
// not only for the post's place, or for what it offers.
func (q Query) asksOfText() bool {
	return slices.ContainsFunc(q.terms, func(t queryTerm) bool { return !t.not && t.kind < termIn })
}

// words returns the query's words and phrases as websearch_to_tsquery reads them, all in
// quotes: outside of quotes "or" is an operator.
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

// barredWords returns a search for any of the excluded words and phrases.
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

// wordsApart splits a text where search_lexemes does, so that markup, a path, a host or a
// signed number becomes the phrase of its words.
func wordsApart(text string) string {
	text = strings.Map(func(r rune) rune {
		if strings.ContainsRune(`<>&/.+~@_`, r) {
			return ' '
		}
		return r
	}, text)
	return number.ReplaceAllString(text, " $1")
}
