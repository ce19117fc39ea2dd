package timelines

import (
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Texts have the lexemes that they had before migration 0016, so that those stored before are found
// as those stored after.
func TestLexemesAreAsTheyWere(t *testing.T) {
	w := newTown(t)
	was, err := os.ReadFile("../migrations/primary/0016_lexemes.down.sql")
	w.must(err)
	_, former, ok := strings.Cut(string(was), "FUNCTION search_lexemes")
	if !ok {
		t.Fatal("the migration back has no such function")
	}
	w.exec("CREATE FUNCTION former_lexemes" + former)
	same := func(text string) bool {
		return value[bool](w, `SELECT search_lexemes(7, $1) = former_lexemes(7, $1)`, text)
	}
	for _, text := range []string{
		"", "Covid-19 at 5-7", "cats/dogs cats.Dogs <!-- x --> a_b@c.d", strings.Repeat("x", 1000), strings.Repeat("ﷺ", 5000) + " end",
		strings.Repeat("<!--", 5000), "e\u0301 ﬁ ½ ／ ＜ ＠ ＿ ． ＆", strings.Repeat("e\u0301", 300), strings.Repeat("a-", 3000) + "1", "é й ё ё",
	} {
		if !same(text) {
			t.Errorf("%.80q has other lexemes", text)
		}
	}
	signs := []rune("ab яё1 -<>&/.+~@_／＜．＠\u0301ﬁ½①Ⅷ\n'\"\\:*()|!é日")
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.StringOf(rapid.OneOf(rapid.SampledFrom(signs), rapid.Rune().Filter(func(r rune) bool { return r != 0 }))).Draw(rt, "text")
		times := rapid.IntRange(1, 200).Draw(rt, "times")
		if text = strings.Repeat(text, times); !same(strings.ToValidUTF8(text, "")) {
			rt.Errorf("%q has other lexemes", text)
		}
	})
}
