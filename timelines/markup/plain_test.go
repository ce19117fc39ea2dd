package markup

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"riverrun/timelines/marks"
)

func TestPlain(t *testing.T) {
	t.Parallel()
	for _, ex := range []example{
		{"", ""},
		{"One *two*\n**three**\n\nFour.", "One two\nthree\nFour."},
		{"> quote\n\n- a\n- b\n\n```go\nc\n  d\n```\ne", "quote\na\nb\nc\n  d\ne"},
		{"1984. Orwell", "1984. Orwell"},
		{"The murderer is ||the **gardener**||.", "The murderer is […]."},
		{"[a ||b||](https://a.example/)", "[…]"},
		{"[a](https://a.example/) [b.example](https://a.example/)", "a b.example (a.example)"},
		{"https://A.example/b_c_d https://-/", "a.example/b_c_d https://-/"},
		{"<b> &amp; \\*a\\* `<c>`", "<b> &amp; *a* <c>"},
		{"a\u202eb\u2069", "ab"},
		{"@Anna #Tag", "@Anna #Tag"},
	} {
		if diff := cmp.Diff(ex.want, Plain(ex.in)); diff != "" {
			t.Errorf("Plain(%q) (-want +got):\n%s", ex.in, diff)
		}
	}
}

func TestProse(t *testing.T) {
	t.Parallel()
	for _, ex := range []example{
		{"", ""},
		{"Hello @anna.\n\n#tag", "Hello @anna.\n\n#tag"},
		{"**@anna** *b* ~~c~~ ||d||", "  @anna    b    c     d  "},
		{"`@é` a\n```\n@b\n```\n#c", "      a\n   \n  \n   \n#c"},
		{"```@b\n```\n#c", "     \n   \n#c"},
		{"[@a](https://a.example/#b) #c", strings.Repeat(" ", 27) + "#c"},
		{"[@a](/b #c)", "[@a](/b #c)"},
		{"https://a.example/#b #c", "https://a.example/#b #c"},
		{"> - #a\n\\#b \\*#c", "    #a\n\\#b \\*#c"},
		{"*a", "*a"},
	} {
		if diff := cmp.Diff(ex.want, Prose(ex.in)); diff != "" {
			t.Errorf("Prose(%q) (-want +got):\n%s", ex.in, diff)
		}
	}
}

// TestMarksThatCount: code and links name nobody, everything else does.
func TestMarksThatCount(t *testing.T) {
	t.Parallel()
	const source = "**@anna** `@bob` [@carol #a](https://x.example/@dee#b) ||@eve|| > @finn\n\n> #c\n\n- @gus *#d*\n\n```sh\n@hal #e\n```\n\\@ida _@joe_ https://x.example/@kay"
	prose := Prose(source)
	if diff := cmp.Diff([]string{"anna", "eve", "finn", "gus", "joe"}, marks.Names(prose)); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"c", "d"}, marks.Tags(prose)); diff != "" {
		t.Errorf("tags (-want +got):\n%s", diff)
	}
	check(t, source)
}
