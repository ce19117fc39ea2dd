package markup

import (
	"html"
	"regexp"
	"strings"
	"testing"

	"riverrun/timelines/marks"
)

var tags = regexp.MustCompile(`<[^>]*>`)

// checkEscape: an escaped text is shown as it was, is no markup, and names nobody.
func checkEscape(t *testing.T, text string) {
	t.Helper()
	source := Escape(text)
	prose := Prose(source)
	if names, tags := marks.Names(prose), marks.Tags(prose); len(names)+len(tags) > 0 {
		t.Errorf("%q as %q names %q %q", text, source, names, tags)
	}
	made := HTML(source)
	for _, tag := range tags.FindAllString(made, -1) {
		name := strings.Trim(strings.Fields(tag)[0], "</>")
		if name != "p" && name != "br" && name != "bdi" && (name != "a" || strings.Contains(tag, `href="/`)) {
			t.Errorf("%q as %q makes %s", text, source, tag)
		}
	}
	bare := func(s string) string { return strings.Join(strings.Fields(s), "") }
	if !strings.Contains(text, "://") { // addresses are shown shortened
		shown := bare(html.UnescapeString(tags.ReplaceAllString(made, "")))
		if shown != bare(Unturned(text)) && shown != bare(text) {
			t.Errorf("%q as %q shows %q", text, source, shown)
		}
	}
}

func TestEscape(t *testing.T) {
	t.Parallel()
	for _, ex := range []example{
		{"Issue #77 by @anna, C# and a@b.example", `Issue \#77 by \@anna, C# and a@b.example`},
		{"snake_case _so_ *a* ~~b~~ ||c|| `d` ~e |f", "snake_case \\_so\\_ \\*a\\* \\~\\~b\\~\\~ \\|\\|c\\|\\| \\`d\\` ~e |f"},
		{"- a\n1. b\n2. c\n> d\n  - e\n-f", "\\- a\n1\\. b\n2. c\n\\> d\n  \\- e\n-f"},
		{"[a](https://a.example/b_c_d#e) https://b.example/@f/*", `\[a](https://a.example/b_c_d#e) https://b.example/@f/\*`},
		{`a\b \#c`, `a\\b \\\#c`},
		{"Wholly plain - as 1 text.", "Wholly plain - as 1 text."},
	} {
		if got := Escape(ex.in); got != ex.want {
			t.Errorf("Escape(%q) is %q, want %q", ex.in, got, ex.want)
		}
		checkEscape(t, ex.in)
	}
	if got := EscapeMarkup("#a *b* @c"); got != `#a \*b\* @c` {
		t.Errorf("EscapeMarkup keeps marks: got %q", got)
	}
}

func FuzzEscape(f *testing.F) {
	for _, seed := range []string{"", "#77 @x", "**a**", "> - 1. a", "```\n#a", "\\", "||a||", "[a](https://b.example)", "https://a.example/_ https://b.example/*", "_#a_", "（#a", "01. x", "a\n\n- b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ToValidUTF8(strings.NewReplacer("\x00", "", "\r", "").Replace(text), "")
		checkEscape(t, text)
	})
}
