package view

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/language"
)

// A Locale is one language of the site: its catalogue, its plural rule, its way
// of writing times. Locales are immutable and made once, in locales.
type Locale struct {
	Lang    string // as accounts.language holds it and <html lang> shows it
	name    string // the language's own name for itself
	Texts   map[string]string
	counted map[string]forms
	plural  func(n int) form
	months  [12]string // short, as they stand after a day
}

// forms are the plural forms of one counted text; a language leaves empty those
// its rule never asks for.
type forms struct{ one, few, many, other string }

// form is a plural category of CLDR.
type form int

const (
	formOther form = iota
	formOne
	formFew
	formMany
)

func (f forms) of(c form) string {
	switch c {
	case formOne:
		return f.one
	case formFew:
		return f.few
	case formMany:
		return f.many
	}
	return f.other
}

// Locales are the languages of the site; the first one answers where nothing
// matches.
var Locales = []*Locale{
	{
		Lang: "en", name: "English", Texts: textsIn(func(t text) string { return t.en }), counted: englishCounted, plural: englishPlural,
		months: [12]string{"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"},
	},
	{
		Lang: "ru", name: "Русский", Texts: textsIn(func(t text) string { return t.ru }), counted: russianCounted, plural: russianPlural,
		months: [12]string{"янв", "фев", "мар", "апр", "мая", "июн", "июл", "авг", "сен", "окт", "ноя", "дек"},
	},
}

var languages = language.NewMatcher([]language.Tag{language.English, language.Russian})

// LocaleOf returns the language of that tag, the first one for any other.
func LocaleOf(lang string) *Locale {
	for _, l := range Locales {
		if l.Lang == lang {
			return l
		}
	}
	return Locales[0]
}

// LocaleFor picks the language of a response: the account's setting, then what the browser asks
// for, if that is one of ours, then the site's language.
func LocaleFor(r *http.Request, setting, site string) *Locale {
	if setting != "" {
		return LocaleOf(setting)
	}
	asked, _, err := language.ParseAcceptLanguage(r.Header.Get("Accept-Language"))
	if err != nil {
		return LocaleOf(site) // it asks for nothing that can be read
	}
	_, i, sure := languages.Match(asked...)
	if sure == language.No {
		return LocaleOf(site)
	}
	return Locales[i]
}

func englishPlural(n int) form {
	if n == 1 {
		return formOne
	}
	return formOther
}

// russianPlural is CLDR's rule for whole numbers: 1, 21, 31 запись; 2–4, 22
// записи; 0, 5–20, 25 записей.
func russianPlural(n int) form {
	if n < 0 {
		n = -n
	}
	switch {
	case n%10 == 1 && n%100 != 11:
		return formOne
	case n%10 >= 2 && n%10 <= 4 && (n%100 < 12 || n%100 > 14):
		return formFew
	}
	return formMany
}

// T returns a text of the catalogue with its {placeholders} filled from pairs of
// name and value. A key that is not listed comes back as itself; a test keeps
// that from happening.
func (l *Locale) T(key string, pairs ...any) string {
	text, ok := l.Texts[key]
	if !ok {
		return key
	}
	return fill(text, pairs)
}

// N is T for a counted text: it picks the plural form and fills {n}.
func (l *Locale) N(key string, n int, pairs ...any) string {
	f, ok := l.counted[key]
	if !ok {
		return key
	}
	return fill(f.of(l.plural(n)), append(pairs, "n", l.Number(n)))
}

// fill puts the values of pairs in the place of the {names} of text. A name without a value stays.
// A page has hundreds of texts, so a text without any is returned as it is, and the others are
// filled in one pass: a strings.Replacer costs more to make than to use.
func fill(text string, pairs []any) string {
	if len(pairs) < 2 || !strings.Contains(text, "{") {
		return text
	}
	var b strings.Builder
	b.Grow(len(text) + 16)
	for {
		before, rest, open := strings.Cut(text, "{")
		b.WriteString(before)
		if !open {
			return b.String()
		}
		name, after, closed := strings.Cut(rest, "}")
		value, ok := valueOf(name, pairs)
		if closed && ok {
			b.WriteString(value)
			text = after
			continue
		}
		b.WriteByte('{')
		text = rest
	}
}

// valueOf returns what is called so in pairs of name and value.
func valueOf(name string, pairs []any) (value string, ok bool) {
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i] != name {
			continue
		}
		switch v := pairs[i+1].(type) {
		case string:
			return v, true
		case int:
			return strconv.Itoa(v), true
		default:
			return fmt.Sprint(v), true
		}
	}
	return "", false
}

// Number writes n with the language's thousands separator from 10,000 on.
func (l *Locale) Number(n int) string {
	s := strconv.Itoa(n)
	if n < 10000 {
		return s
	}
	separator := ","
	if l.Lang == "ru" {
		separator = "\u00a0"
	}
	var b strings.Builder
	for i, digit := range s {
		if i > 0 && (len(s)-i)%3 == 0 {
			b.WriteString(separator)
		}
		b.WriteRune(digit)
	}
	return b.String()
}

// ago says how long before now t was, in as few letters as can be read: "now",
// "5 min", "3 h", then the date.
func (l *Locale) ago(t, now time.Time) string {
	t, now = t.UTC(), now.UTC()
	switch d := now.Sub(t); {
	case d < time.Minute:
		return l.T("time.now")
	case d < time.Hour:
		return l.T("time.minutes", "n", int(d/time.Minute))
	case d < 24*time.Hour:
		return l.T("time.hours", "n", int(d/time.Hour))
	}
	day := strconv.Itoa(t.Day()) + "\u00a0" + l.months[t.Month()-1]
	if t.Year() == now.Year() {
		return day
	}
	return day + " " + strconv.Itoa(t.Year())
}

// date is the day of t. It is the text of a <time> for readers without scripts: parts of pages are kept
// rendered, so it must hold for good. river.js says how long ago that was, in the reader's time zone.
func (l *Locale) date(t time.Time) string {
	t = t.UTC()
	return strconv.Itoa(t.Day()) + "\u00a0" + l.months[t.Month()-1] + "\u00a0" + strconv.Itoa(t.Year())
}

// dates names the language in which a browser writes dates. Plain English would put the month first.
func (l *Locale) dates() string {
	if l.Lang == "en" {
		return "en-GB"
	}
	return l.Lang
}

// exact is the whole instant, for a <time>'s title.
func (l *Locale) exact(t time.Time) string {
	t = t.UTC()
	return fmt.Sprintf("%d %s %d, %02d:%02d UTC", t.Day(), l.months[t.Month()-1], t.Year(), t.Hour(), t.Minute())
}

// LanguageNames are the languages of posts (language.Known), each by its own
// name.
var LanguageNames = map[string]string{"en": "English", "ru": "Русский"}
