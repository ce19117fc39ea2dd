// Package language says which languages posts are told apart by, and finds out
// which of them a text is in.
//
// Detect answers only where it is sure: a post in no language's list is missed by few,
// one in the wrong list annoys everybody there. Of short texts it seldom is. Fits says
// which languages such a text can be in, by its letters, for somebody who knows what
// else its author writes.
//
// Letters decide where they can. A mostly Cyrillic text is Russian if it has ы, э
// or ё, which Bulgarian, Serbian and Ukrainian lack, and no letter that Russian
// lacks, as nearly every text has in Belarusian, Kazakh and the others. English is
// told from its neighbours, which share its letters, by the frequency of groups of
// three (whatlanggo). That library was chosen for its size: lingua-go, more often
// right and better kept, adds 130 MB to the binary, 260 MB to the heap and six
// seconds to the start. For Russian whatlanggo is of no use: asked for nothing else
// but Russian or Bulgarian, it takes nearly a third of the demo's lines for
// Bulgarian, many with full confidence.
package language

import (
	"slices"
	"strings"
	"unicode"

	"github.com/abadojack/whatlanggo"

	"riverrun/timelines/marks"
)

// Known are the languages posts are told apart by, as ISO 639-1 codes, in the
// order in which pages offer them. Another one is a line here, a way to tell it in
// Detect and Fits, its name in the pages' catalogues, and a migration that makes the
// timelines of that term.
var Known = []string{"en", "ru"}

// IsKnown reports whether posts can be told to be in this language.
func IsKnown(code string) bool { return slices.Contains(Known, code) }

const (
	// enough is how many letters a text needs to be in any language at all, and most
	// how much of a long one is looked at.
	enough = 8
	most   = 1000
	// sure is the least confidence of whatlanggo that counts.
	sure = 0.8
	// telling is how many letters a text needs for whatlanggo to be believed that it is
	// in another language than English. It takes titles for Danish or French, surely,
	// for the names in them.
	telling = 100
	// accented is of how many letters one may have an accent in an English text: names
	// have some.
	accented = 20
)

// latin are the languages English is told from. Confidence is the distance to the
// second best, so that all eighty would make it unsure of everything.
var latin = whatlanggo.Options{Whitelist: map[whatlanggo.Lang]bool{
	whatlanggo.Eng: true, whatlanggo.Deu: true, whatlanggo.Fra: true, whatlanggo.Spa: true, whatlanggo.Por: true,
	whatlanggo.Ita: true, whatlanggo.Nld: true, whatlanggo.Pol: true, whatlanggo.Ces: true, whatlanggo.Swe: true,
	whatlanggo.Dan: true, whatlanggo.Fin: true, whatlanggo.Tur: true, whatlanggo.Ron: true,
}}

// Detect returns the known language a text is in, or "" if it is in another, too
// short, or not surely in one. Addresses, @names and #tags say nothing.
func Detect(text string) string {
	text = words(text)
	l := lettersOf(text)
	switch {
	case l.all < enough:
		return ""
	case l.isCyrillic():
		if l.russian && l.unrussian == 0 {
			return "ru"
		}
	case l.isLatin():
		if found := whatlanggo.DetectWithOptions(text, latin); found.Lang == whatlanggo.Eng && found.Confidence >= sure {
			return "en"
		}
	}
	return ""
}

// Fits returns those of the known languages that a text can be in of which Detect says
// nothing: all if it has no letters, as a bare link; none if its letters are another
// language's, or it is long and surely in another.
func Fits(text string) []string {
	text = words(text)
	l := lettersOf(text)
	switch {
	case l.all == 0:
		return Known
	case l.isCyrillic() && l.unrussian == 0:
		return []string{"ru"}
	case l.isLatin() && l.accented*accented <= l.all:
		if l.all < telling {
			return []string{"en"}
		}
		if found := whatlanggo.DetectWithOptions(text, latin); found.Lang == whatlanggo.Eng || found.Confidence < sure {
			return []string{"en"}
		}
	}
	return nil
}

// letters counts those of a text.
type letters struct {
	all, cyrillic, latin int
	// russian: it has some that Russian has and most others with its alphabet lack.
	// unrussian are those that Russian lacks, accented those that English lacks.
	russian             bool
	unrussian, accented int
}

func (l letters) isCyrillic() bool { return l.cyrillic > l.all/2 }
func (l letters) isLatin() bool    { return l.latin > l.all/2 }

func lettersOf(text string) letters {
	var l letters
	for _, r := range text {
		switch {
		case !unicode.IsLetter(r):
			continue
		case unicode.Is(unicode.Cyrillic, r):
			l.cyrillic++
			switch r := unicode.ToLower(r); {
			case strings.ContainsRune("ыэё", r):
				l.russian = true
			case (r < 'а' || r > 'я'):
				l.unrussian++
			}
		case unicode.Is(unicode.Latin, r):
			l.latin++
			if r > unicode.MaxASCII {
				l.accented++
			}
		}
		l.all++
	}
	return l
}

// words is the beginning of a text without its marks.
func words(text string) string {
	runes := 0
	for i := range text {
		if runes++; runes > most {
			text = text[:i]
			break
		}
	}
	found := marks.In(text)
	if len(found) == 0 {
		return text
	}
	var b strings.Builder
	from := 0
	for _, m := range found {
		b.WriteString(text[from:m.From])
		from = m.To
	}
	b.WriteString(text[from:])
	return b.String()
}
