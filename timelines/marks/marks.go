// Package marks finds what a text says beside its words: web addresses, @names
// and #tags. What stands in a tag's or a person's timeline and what a page shows
// as a link come from here, so that they agree.
//
// A tag is # and 1 to 50 letters, digits or underscores of any script, not
// underscores alone. Its term, under which texts that mean the same are found
// together, is its lower case in Unicode's compatibility composition (NFKC):
// #River, #RIVER and #ｒｉｖｅｒ are "river", #Весна is "весна". A name is @ and an
// account's name, in capitals or not: its term is in lower case, as names are. Both
// begin a word: nothing that may stand in an address or in a mail address precedes
// them, and nothing inside a web address counts.
//
// A name begins and ends with a letter or a digit, as new accounts' do. With a hyphen
// after it, it is nobody's: "@zed-" may mean zed, with a dash, or an account of before
// that is called zed-, and no mention is to reach somebody who was not meant.
package marks

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"mvdan.cc/xurls/v2"
)

// Kind is what a mark is.
type Kind int

const (
	// Link is a web address with its scheme, http or https, written out.
	Link Kind = iota
	// Name is an @name. That anybody is called so is not said.
	Name
	// Hashtag is a #tag.
	Hashtag
)

// Mark is one mark of a text.
type Mark struct {
	// From and To are where it stands, in bytes.
	From, To int
	Kind     Kind
	// Term is the name without @, in lower case, or the tag's term; of a link nothing.
	Term string
}

// Most is how many tags of one text count, and how many names: those that come
// first.
const Most = 20

// maxTagRunes is the length of the longest tag, as written and as a term.
const maxTagRunes = 50

var (
	// Addresses have the scheme written out; anything vaguer would turn "end.Then"
	// into a link.
	links = mustScheme(`https?://`)
	words = regexp.MustCompile(`(^|[\s(\[{"'«“‘„,;:!?/—–-])(@[A-Za-z0-9][A-Za-z0-9-]{1,33}[A-Za-z0-9]|#[\p{L}\p{N}_][\p{L}\p{N}\p{M}_]*)`)
)

func mustScheme(scheme string) *regexp.Regexp {
	re, err := xurls.StrictMatchingScheme(scheme)
	if err != nil {
		panic(err)
	}
	return re
}

// In returns the marks of a text in their order.
func In(text string) []Mark {
	if !strings.Contains(text, "://") { // most texts, and they need no search
		return appendWords(nil, text, 0)
	}
	var found []Mark
	from := 0
	for _, at := range links.FindAllStringIndex(text, -1) {
		found = appendWords(found, text[from:at[0]], from)
		found = append(found, Mark{From: at[0], To: at[1], Kind: Link})
		from = at[1]
	}
	return appendWords(found, text[from:], from)
}

// appendWords appends the names and tags of a stretch of text that begins at
// offset.
func appendWords(found []Mark, text string, offset int) []Mark {
	if !strings.ContainsAny(text, "@#") {
		return found
	}
	for _, at := range words.FindAllStringSubmatchIndex(text, -1) {
		from, to := at[4], at[5]
		m := Mark{From: offset + from, To: offset + to}
		if text[from] == '#' {
			m.Kind = Hashtag
			var ok bool
			if m.Term, ok = Term(text[from+1 : to]); !ok {
				continue
			}
		} else {
			m.Kind, m.Term = Name, strings.ToLower(text[from+1:to])
			if continues(text[to:]) {
				continue
			}
		}
		found = append(found, m)
	}
	return found
}

// continues reports whether a word goes on in rest, so that "@ann_lee", "@ann-" and
// "@anna@example.org" are no mention of anybody here.
func continues(rest string) bool {
	if rest == "" {
		return false
	}
	r, _ := utf8.DecodeRuneInString(rest)
	return r == '-' || r == '_' || r == '@' || unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) || r == utf8.RuneError
}

// Fold returns a text as terms are: in lower case and in Unicode's compatibility
// composition.
func Fold(text string) string {
	// Lower case may need composing again, and what was composed a lower case.
	return norm.NFKC.String(strings.ToLower(norm.NFKC.String(text)))
}

// Term returns the term of a tag written without its #; ok is false if that is
// no tag. The term of a term is itself.
func Term(tag string) (term string, ok bool) {
	// Longer than any tag could be, in bytes: not worth composing.
	if len(tag) > 64*maxTagRunes || !utf8.ValidString(tag) || utf8.RuneCountInString(tag) > maxTagRunes {
		return "", false
	}
	term = Fold(tag)
	// A single character may stand for a phrase (U+FDFA is four words).
	if term == "" || utf8.RuneCountInString(term) > maxTagRunes || strings.Trim(term, "_") == "" {
		return "", false
	}
	for i, r := range term {
		if !unicode.In(r, unicode.L, unicode.N) && r != '_' && (i == 0 || !unicode.Is(unicode.M, r)) {
			return "", false
		}
	}
	return term, true
}

// Tags returns the terms of a text's tags, each once, the first Most of them.
func Tags(text string) []string { return terms(text, Hashtag) }

// Names returns the names in a text, each once, the first Most of them.
func Names(text string) []string { return terms(text, Name) }

func terms(text string, kind Kind) []string {
	var found []string
	for _, m := range In(text) {
		if m.Kind != kind || slices.Contains(found, m.Term) {
			continue
		}
		if found = append(found, m.Term); len(found) == Most {
			break
		}
	}
	return found
}
