package access_test

import (
	"strings"
	"testing"

	"riverrun/timelines/access"
	"riverrun/timelines/marks"
)

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		terms, text string
		want        bool
	}{
		{"", "anything", false},
		{"go", "we go home", true},
		{"go", "Go!", true},
		{"go", "good", false},
		{"go", "ergo", false},
		{"go", "#go is fine", true},
		{"#go", "go is fine", false},
		{"#go", "all about #Go, really", true},
		{"#go", "c#go", false},
		{"happy end", "a Happy  End.", true},
		{"happy end", "happy, end", true},
		{"happy end", "happy ending", false},
		{"happy end", "happy", false},
		{"футбол", "Опять ФУТБОЛ…", true},
		{"футбол", "футбольный", false},
		{"don", "don't", true},
		{"a,b", "nothing; b", true},
		{"x_y", "x_y z", true},
		{"été", "l'ÉTÉ", true},
		{"été", "l'e\u0301te\u0301", true},
		{"#river", "a #ｒｉｖｅｒ", true},
		{"#", "# alone", false},
		{"#", "##", false},
	} {
		var h access.Hides
		for _, term := range strings.Split(c.terms, ",") {
			if words := marks.Words(term); len(words) > 0 {
				h.Terms = append(h.Terms, words)
			}
		}
		if got := h.Match(c.text) != nil; got != c.want {
			t.Errorf("%q with %q hidden: got %v, want %v", c.text, c.terms, got, c.want)
		}
	}
}

func FuzzMatch(f *testing.F) {
	f.Add("go", "we #go home")
	f.Add("a b", "A\tb")
	f.Fuzz(func(t *testing.T, term, text string) {
		words := marks.Words(term)
		if len(words) == 0 {
			return
		}
		h := access.Hides{Terms: []access.Term{words}}
		h.Match(text) // must not panic
		if h.Match("before "+strings.Join(words, " ")+" after") == nil {
			t.Fatalf("%q is not found where it stands", words)
		}
	})
}
