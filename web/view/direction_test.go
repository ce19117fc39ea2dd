package view

import (
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/bidi"
)

// TestOnward compares the characters that leave a text to run from left to right with Unicode.
func TestOnward(t *testing.T) {
	for r := range utf8.MaxRune {
		if !onward(r) {
			continue
		}
		switch p, _ := bidi.LookupRune(r); p.Class() {
		case bidi.R, bidi.AL, bidi.AN, bidi.LRE, bidi.LRO, bidi.LRI, bidi.RLE, bidi.RLO, bidi.RLI, bidi.FSI, bidi.PDF, bidi.PDI:
			t.Errorf("%U may turn a text", r)
		}
	}
}

func TestIsolated(t *testing.T) {
	for name, want := range map[string]bool{
		"Anna": false, "anna-b2": false, "Анна Бернини": false, "É. O’Neill": false,
		"": true, "2pac": true, "Anna!": true, "(Anna)": true, "Anna ": true, "דנה": true, "Anna דנה": true, "Anna\u202eb": true, "A\u200fb": true, "a\xffb": true,
	} {
		if got := isolated(name); got != want {
			t.Errorf("isolated(%q): got %v, want %v", name, got, want)
		}
	}
}

func TestShownHTML(t *testing.T) {
	for body, want := range map[string]string{
		"Hello — мир":          "<p>Hello — мир</p>",
		"Hello\n\nדנה":         `<p dir="auto">Hello</p><p dir="auto">דנה</p>`,
		`a dir="auto" b`:       "<p>a dir=&#34;auto&#34; b</p>",
		"a\u202eb":             "<p dir=\"auto\">a\u202eb\u202c</p>",
		"> quoted\n\n- a\n- b": "",
	} {
		if want != "" {
			if got := shownHTML(body, false); got != want {
				t.Errorf("shownHTML(%q): got %q, want %q", body, got, want)
			}
		}
		if got := shownHTML(body, true); strings.Contains(got, ` dir="auto"`) != strings.ContainsFunc(body, turning) {
			t.Errorf("shownHTML(%q) with markup: %q", body, got)
		}
	}
}
