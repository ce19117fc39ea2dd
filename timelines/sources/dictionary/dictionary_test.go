package dictionary_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"riverrun/timelines"
	"riverrun/timelines/sources/dictionary"
)

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

func TestParse(t *testing.T) {
	const text = "Boats: sail, Sailing  boat, boats\r\n\n#Открытая наука: open science, Open Science, наука\nsailing:\nboats: ship\nsailing\n"
	got, err := dictionary.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	want := []dictionary.Entry{
		{Tag: "boats", Words: []string{"sail", "Sailing boat", "ship"}}, {Tag: "открытая_наука", Words: []string{"open science", "наука"}}, {Tag: "sailing"},
	}
	same(t, "entries", got, want)
	again, err := dictionary.Parse(dictionary.Format(got))
	same(t, "what is shown, read again", again, want)
	if err != nil || dictionary.Format(got) != "#boats: sail, Sailing boat, ship\n#открытая_наука: open science, наука\n#sailing\n" {
		t.Errorf("shown as %q, %v", dictionary.Format(got), err)
	}
	if got, err := dictionary.Parse(" \n"); err != nil || len(got) != 0 {
		t.Errorf("nothing: %v, %v", got, err)
	}
	for text, want := range map[string][2]string{
		": sail":                                     {"words_tag", ""},
		"a: b\n!!: sail":                             {"words_tag", "!!"},
		"sail, boat":                                 {"words_tag", "sail, boat"},
		"sail; boat: x":                              {"words_tag", "sail; boat"},
		strings.Repeat("x", 51):                      {"words_tag", strings.Repeat("x", 50)},
		"a: " + strings.Repeat("ü", 51):              {"words_word", strings.Repeat("ü", 50)},
		"a: b\x00c":                                  {"words_word", "b\x00c"},
		"a: " + list(2000, "x%d"):                    {"words_many", ""},
		"a: " + list(1400, "x%d y z"):                {"words_many", ""},
		"a:\n" + list(2001, "t%d", "\n"):             {"words_many", ""},
		"a: " + strings.Repeat("+ ", 24) + "+\u0300": {"", ""},
	} {
		_, err := dictionary.Parse(text)
		var bad *timelines.InvalidError
		if want[0] == "" {
			if err != nil {
				t.Errorf("%.40q: %v", text, err)
			}
		} else if !errors.As(err, &bad) || bad.Field != "words" || bad.Code != want[0] || bad.Value != want[1] {
			t.Errorf("%.40q: got %v, want %v", text, err, want)
		}
	}
}

func list(n int, form string, between ...string) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(form, i))
	}
	return strings.Join(all, append(between, ", ")[0])
}

// F17: words are found whole, in any case and composition. Only spaces may stand between the words of
// a phrase.
func TestTags(t *testing.T) {
	entries, err := dictionary.Parse("boats: sail, sailing boat, C++ ship\nart\nopen_science: наука, café\nopen\nprogramming: C++, e-mail\nfood: café")
	if err != nil {
		t.Fatal(err)
	}
	m := dictionary.New(entries)
	for text, want := range map[string][]string{
		"":                      nil,
		"We sail.":              {"boats"},
		"a party, a sailor":     nil,
		"ART, art and (art)!":   {"art"},
		"A sailing\n  BOAT":     {"boats"},
		"sailing, boat":         nil,
		"Наука и жизнь":         {"open_science"},
		"cafe\u0301":            {"open_science", "food"},
		"open science":          {"open", "open_science"},
		"open. Science":         {"open"},
		"C is not C++":          {"programming"},
		"C++ ship":              {"programming", "boats"},
		"an E-Mail about sails": {"programming"},
		"ａｒｔ":                   {"art"},
		"art2 2art art_ _art":   {"art"},
		"boats before art":      {"boats", "art"},
		"#art":                  {"art"},
	} {
		same(t, fmt.Sprintf("%q", text), m.Tags(text), want)
	}
	same(t, "no phrase across texts", m.Tags("sailing", "boat"), []string(nil))
	same(t, "no dictionary", dictionary.New(nil).Tags("boats"), []string(nil))
	if (dictionary.New(nil).Mark != [32]byte{}) || m.Mark == dictionary.New(entries[1:]).Mark {
		t.Error("marks are not those of the dictionaries")
	}
}

// Every word is found, whatever other words there are: numbers of parts that overlap are not mixed
// up.
func TestManyTags(t *testing.T) {
	entries, err := dictionary.Parse("a: " + list(1999, "w%d x"))
	if err != nil {
		t.Fatal(err)
	}
	m := dictionary.New(entries)
	for i := range 1999 {
		same(t, "found", m.Tags(fmt.Sprintf("so w%d x", i)), []string{"a"})
		same(t, "not found", m.Tags(fmt.Sprintf("so w%d w%d", i, i+1), "x"), []string(nil))
	}
}
