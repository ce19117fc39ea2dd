package view

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"riverrun/timelines/hooks"
	"riverrun/timelines/sources"
	"riverrun/timelines/sources/formats"
	"riverrun/timelines/sources/photos"
)

// TestCodesHaveTexts: F28. Each code that somebody may meet says what it means and what to do.
func TestCodesHaveTexts(t *testing.T) {
	t.Parallel()
	known := map[string]struct{}{}
	for _, c := range slices.Concat(formats.Codes, photos.Codes) {
		known[string(c.Code)] = struct{}{}
		what, todo := ProblemText(LocaleOf("en"), string(c.Code))
		means := strings.Replace(c.Means, "{most}", LocaleOf("en").Number(mostOfItems[string(c.Code)]), 1)
		if c.Code != formats.Page && (what != means || todo != c.Do) {
			t.Errorf("%s says\n%s %s\nwant, as its table,\n%s %s", c.Code, what, todo, means, c.Do)
		}
	}
	for _, p := range sources.Problems {
		known[string(p)] = struct{}{}
	}
	for code := range known {
		for _, l := range Locales {
			what, todo := ProblemText(l, code)
			for _, text := range []string{what, todo} {
				if text == "" || text == code || strings.Contains(text, "{") || !strings.HasSuffix(text, ".") {
					t.Errorf("%s in %s: %q is no sentence", code, l.Lang, text)
				}
				if cyrillic := strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Cyrillic, r) }); cyrillic != (l.Lang == "ru") {
					t.Errorf("%s in %s: %q is of the other language", code, l.Lang, text)
				}
			}
		}
	}
	for code := range codeTexts {
		if _, ok := known[code]; !ok {
			t.Errorf("%s has texts, and nobody meets it", code)
		}
	}
	if what, todo := ProblemText(LocaleOf("ru"), "of_tomorrow"); what != "of_tomorrow" || todo != "" {
		t.Errorf("an unknown code says %q, %q", what, todo)
	}
}

// TestHookCodesHaveTexts: each way in which a delivery fails has words.
func TestHookCodesHaveTexts(t *testing.T) {
	t.Parallel()
	for _, l := range Locales {
		for _, code := range hooks.Codes {
			if text := l.T("hooks.code."+code, "status", 500); !strings.HasSuffix(text, ".") || strings.Contains(text, "{") {
				t.Errorf("%s in %s: %q is no sentence", code, l.Lang, text)
			}
		}
	}
}

// TestFieldsHaveTexts: the page says of each field what its table says.
func TestFieldsHaveTexts(t *testing.T) {
	t.Parallel()
	for _, f := range formats.Fields {
		if got := fieldTexts[f.Name]; got.en != f.Doc || got.ru == "" {
			t.Errorf("%s says\n%q in English, %q in Russian, want\n%q and its translation", f.Name, got.en, got.ru, f.Doc)
		}
	}
	if len(fieldTexts) != len(formats.Fields) {
		t.Errorf("%d fields have texts, there are %d", len(fieldTexts), len(formats.Fields))
	}
}
