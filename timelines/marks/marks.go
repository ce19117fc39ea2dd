// Package marks finds the marks of a text: web addresses, @names and #tags. Both the
// timelines of tags and mentions and the links on pages use it, so that they agree.
//
// A tag is # and 1 to 50 letters, digits or underscores of any script, not
// underscores alone. Its term is the same for all spellings: it is in lower case and in
// Unicode's compatibility composition (NFKC), so that #River, #RIVER and #ｒｉｖｅｒ are
// "river", and #Весна is "весна". A name is @ and a username, in capitals or not. Its term
// is in lower case, as usernames are. Both begin a word: no character that may be part of a
// web or mail address precedes them, and nothing inside a web address counts.
//
// A name begins and ends with a letter or a digit, as new usernames do. With a hyphen after
// it, it mentions nobody: "@zed-" may mean zed, with a dash, or an older account that is
// called zed-, and a mention must not reach somebody who was not meant.
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

// Kind is the kind of a mark.
type Kind int

const (
	// Link is a web address with its scheme, http or https, written out.
	Link Kind = iota
	// Name is an @name. There may be no account of that name.
	Name
	// Hashtag is a #tag.
	Hashtag
)

// Mark is one mark of a text.
type Mark struct {
	// From and To are its position in the text, in bytes.
	From, To int
	Kind     Kind
	// Term is the name without @, in lower case, or the tag's term. It is empty for a link.
	Term string
}

// Most is how many tags and how many names of one text count: the first ones.
const Most = 20

// maxTagRunes is the length of the longest tag, as written and as a term.
const maxTagRunes = 50

var (
	// Addresses need a scheme. Otherwise "end.Then" would be a link.
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

// continues reports whether the word goes on in rest. "@ann_lee", "@ann-" and
// "@anna@example.org" mention nobody here.
func continues(rest string) bool {
	if rest == "" {
		return false
	}
	r, _ := utf8.DecodeRuneInString(rest)
	return r == '-' || r == '_' || r == '@' || unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) || r == utf8.RuneError
}

// Fold returns a text in the form of terms: in lower case and in Unicode's compatibility
// composition.
func Fold(text string) string {
	// Lower case may need composing again, and a composed text lower case.
	return norm.NFKC.String(strings.ToLower(norm.NFKC.String(text)))
}

// Term returns the term of a tag, which is given without its #. ok is false if it is not a
// tag. The term of a term is the term itself.
func Term(tag string) (term string, ok bool) {
	// It is longer than any tag can be, in bytes, and not worth composing.
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

// Tags returns the terms of the first Most different tags of a text.
func Tags(text string) []string { return terms(text, Hashtag) }

// Names returns the first Most different names in a text.
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
