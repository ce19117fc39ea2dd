// Package language detects the language of a text, among those that riverrun has pages for.
//
// Detect answers only if it is sure, which it seldom is about a short text. A post that is
// in no language's list is missed by few people; one in the wrong list annoys everybody
// there. Fits returns the languages that a short text can be in, by its letters. The caller
// may know in which languages its author writes.
//
// Letters decide if they can. A mostly Cyrillic text is Russian if it has ы, э or ё, which
// Bulgarian, Serbian and Ukrainian lack, and no letter that Russian lacks, which nearly
// every text in Belarusian, Kazakh and the others has. English is told from other languages
// in Latin letters by the frequency of groups of three letters (whatlanggo). That library
// was chosen for its size: lingua-go, which is more often right and better maintained, adds
// 130 MB to the binary, 260 MB to the heap and six seconds to the start. whatlanggo cannot
// tell Russian: if it may answer only Russian or Bulgarian, it takes nearly a third of the
// demo's lines for Bulgarian, many with full confidence.
package language

import (
	"slices"
	"strings"
	"unicode"

	"github.com/abadojack/whatlanggo"

	"riverrun/timelines/marks"
)

// Known are the languages that can be detected, as ISO 639-1 codes, in the order in which
// pages offer them. A new one needs a line here, a way to tell it in Detect and Fits, its
// name in the catalogues, and a migration that creates its timelines.
var Known = []string{"en", "ru"}

// IsKnown reports whether this language can be detected.
func IsKnown(code string) bool { return slices.Contains(Known, code) }

const (
	// enough is how many letters a text needs to be in any language, and most how much of a
	// long one is read.
	enough = 8
	most   = 1000
	// sure is the least confidence at which whatlanggo is believed.
	sure = 0.8
	// telling is how many letters a text needs for whatlanggo to be believed that it is not
	// in English. It takes titles for Danish or French, with full confidence, because of the
	// names in them.
	telling = 100
	// accented: in an English text, one letter in this many may have an accent, since names
	// have some.
	accented = 20
)

// latin are the languages that English is told from. Confidence is the distance to the
// second best, so with all eighty languages it would never be sure.
var latin = whatlanggo.Options{Whitelist: map[whatlanggo.Lang]bool{
	whatlanggo.Eng: true, whatlanggo.Deu: true, whatlanggo.Fra: true, whatlanggo.Spa: true, whatlanggo.Por: true,
	whatlanggo.Ita: true, whatlanggo.Nld: true, whatlanggo.Pol: true, whatlanggo.Ces: true, whatlanggo.Swe: true,
	whatlanggo.Dan: true, whatlanggo.Fin: true, whatlanggo.Tur: true, whatlanggo.Ron: true,
}}

// Detect returns the known language that a text is in, or "" if it is in another one, too
// short, or in doubt. Addresses, @names and #tags do not count.
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

// Fits returns the known languages that a text can be in for which Detect returns "": all if
// it has no letters, as a bare link; none if it has letters of another language, or is long
// and surely in another.
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

// letters counts the letters of a text.
type letters struct {
	all, cyrillic, latin int
	// russian says that it has letters which most other languages in this alphabet lack.
	// unrussian counts letters that Russian lacks, accented those that English lacks.
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

// words returns the beginning of a text without its marks.
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
