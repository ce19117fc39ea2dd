package marks

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestTags(t *testing.T) {
	var many, first []string
	for i := range Most + 5 {
		many = append(many, fmt.Sprintf("#t%d", i))
		if i < Most {
			first = append(first, fmt.Sprintf("t%d", i))
		}
	}
	for _, tt := range []struct {
		name, in string
		want     []string
	}{
		{"none", "C# a#b # ## #-x, see no. 5", nil},
		{"plain", "#river and (#weir), «#лес»", []string{"river", "weir", "лес"}},
		{"case", "#River #RIVER #Весна #ВЕСНА", []string{"river", "весна"}},
		{"ends where a word ends", "#spring-time #весна. #a#b", []string{"spring", "весна", "a"}},
		{"digits and underscores", "#1 #year_2011 #_x #__", []string{"1", "year_2011", "_x"}},
		{"compatibility forms", "#ｒｉｖｅｒ #ﬁsh #x²", []string{"river", "fish", "x2"}},
		{"composed and not", "#\u0439ога #\u0438\u0306ога", []string{"\u0439ога"}},
		{"marks of other scripts", "#हिन्दी", []string{"हिन्दी"}},
		{"a phrase in one character", "#\ufdfa", nil},
		{"fifty letters", "#" + strings.Repeat("ж", 50), []string{strings.Repeat("ж", 50)}},
		{"fifty-one", "#" + strings.Repeat("ж", 51), nil},
		{"in addresses", "https://example.org/a#top http://x.org/#y #z", []string{"z"}},
		{"twenty count", strings.Join(many, " "), first},
		{"several lines", "one\n#two\n\n#three", []string{"two", "three"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, Tags(tt.in)); diff != "" {
				t.Errorf("Tags(%q) (-want +got):\n%s", tt.in, diff)
			}
		})
	}
}

func TestNames(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want []string
	}{
		{"@anna and (@bob-b), @cy.", []string{"anna", "bob-b"}},
		{"a@example.org @ann_lee @ann@example.org x@anna foo@Bar Foo@Bar.org @Ann_Lee @Ann@example.org", nil},
		{"@Anna @BOB-B @anna", []string{"anna", "bob-b"}},
		{"«@anna», @bob-b… @cyd’s — @dan—да @evé @flo№ @gus٣", []string{"anna", "bob-b", "cyd", "dan", "flo"}},
		// Nobody is named, rather than the person with the shorter name: a person who
		// came by import may be called zed-.
		{"@zed- @zed-, @ann--hello (@cy-) @-bob @bob-\n@bob-то @dan-@eve", []string{"ann--hello", "eve"}},
		{"@" + strings.Repeat("a", 35) + "-", nil},
		{"https://example.org/@anna http://x.org/?@bob @carol, @carol", []string{"carol"}},
		{"@" + strings.Repeat("a", 35) + " @" + strings.Repeat("b", 36), []string{strings.Repeat("a", 35)}},
	} {
		if diff := cmp.Diff(tt.want, Names(tt.in)); diff != "" {
			t.Errorf("Names(%q) (-want +got):\n%s", tt.in, diff)
		}
	}
}

// FuzzTerm: a term is a tag of its own and its own term, and what is found in a
// text stands there.
func FuzzTerm(f *testing.F) {
	for _, seed := range []string{"river", "Ｒ", "İstanbul", "ﬃ", "\u0345a", "ß", "Ǆ", "\u1e9e", "ϓ", "a\u0301\u0323", "http://a/#b #c @abc"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		if term, ok := Term(in); ok {
			if again, ok := Term(term); !ok || again != term {
				t.Errorf("Term(%q) = %q, whose own is %q, %v", in, term, again, ok)
			}
			if got := Tags("#" + term); len(got) != 1 || got[0] != term {
				t.Errorf("Term(%q) = %q, which as a tag is %q", in, term, got)
			}
		}
		at := 0
		for _, m := range In(in) {
			if m.From < at || m.To <= m.From || m.To > len(in) || !utf8.ValidString(in[m.From:m.To]) && utf8.ValidString(in) {
				t.Fatalf("In(%q): mark %+v after %d", in, m, at)
			}
			at = m.To
		}
	})
}
