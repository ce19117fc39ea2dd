package markup

import (
	"strings"
	"testing"
)

// However a source is cut, nothing of a spoiler is shown: all that is hidden here is the letter Z.
func TestCutSpoilerStaysHidden(t *testing.T) {
	t.Parallel()
	for _, source := range []string{
		"a ||ZZ ZZ|| b",
		"||ZZ||",
		"a ||ZZ\nZZ ZZ|| b\n\nc ||ZZ|| d",
		"a||ZZ ||ZZ ZZ|| ZZ|| b",
		"> ||ZZ\n> ZZ||\n\n- ||ZZ *ZZ* ZZ||\n- b",
		"*a ||ZZ|| b* **c ||ZZ *ZZ*|| d**",
		"*a* ||*ZZ* **ZZ** ~~ZZ~~ `ZZ` [ZZ](https://Z.example/Z) https://Z.example/Z_Z|| b",
		"[a ||ZZ ZZ||](https://a.example/) b",
		`a ||ZZ\\ Z\|| Z\|Z|| b`,
		"a \\|| b ||ZZ|| c",
		"```\na ||b\n```\nc ||ZZ|| d",
		"ф ||ZфZ Zф Z|| ||ZZ|| ф",
		"||ZZ|| ||ZZ|| a||ZZ||b",
	} {
		if strings.Contains(Plain(source), "Z") {
			t.Fatalf("%q is no example: %q", source, Plain(source))
		}
		for n := range []rune(source) {
			cut := Cut(source, n)
			if shown := Plain(cut); strings.Contains(shown, "Z") {
				t.Errorf("Cut(%q, %d) = %q shows %q", source, n, cut, shown)
			}
			check(t, cut)
		}
	}
}

// Cut closes a spoiler, changes no other text, and leaves a short text whole.
func TestCut(t *testing.T) {
	t.Parallel()
	for _, ex := range []struct {
		source string
		n      int
		want   string
	}{
		{"", 3, ""},
		{"абв", 3, "абв"},
		{"абвг", 3, "абв"},
		{"a ||b", 5, "a ||b"}, // nothing more comes that could end it
		{"a || b || c", 6, "a || b"},
		{"a ||b|| c", 8, "a ||b||"},
		{"a ||bcd e|| f", 6, "a ||bc||"},
		{"a ||bcd e|| f", 8, "a ||bcd||"}, // as no space stands before the end
		{"a ||bcd e|| f", 10, "a ||bcd e||"},
		{"a ||b ||c|| d|| e", 9, "a ||…||"}, // one inside of another
		{"*a ||b* c|| d", 9, "*a ||b* c"},   // the emphasis is one, so the || are none
		{"```\na ||b\n```\nc", 9, "```\na ||b"},
		{"a ||b\n\nc d", 8, "a ||b\n\nc"},
		{"a ||b\n\n```\nc ||d\n```", 16, "a ||b\n\n```\nc ||d"},
	} {
		if got := Cut(ex.source, ex.n); got != ex.want {
			t.Errorf("Cut(%q, %d) = %q, want %q", ex.source, ex.n, got, ex.want)
		}
	}
}

func FuzzCloseSpoiler(f *testing.F) {
	for _, piece := range patterns {
		f.Add("a ||b " + piece)
	}
	f.Fuzz(func(t *testing.T, beginning string) {
		if !storable(beginning) {
			return
		}
		closed := CloseSpoiler(beginning)
		if again := CloseSpoiler(closed); again != closed {
			t.Errorf("CloseSpoiler(%q) = %q, and of that %q", beginning, closed, again)
		}
		if len(closed) > len(beginning)+len("||…||") {
			t.Errorf("CloseSpoiler(%q) = %q", beginning, closed)
		}
		check(t, closed)
	})
}
