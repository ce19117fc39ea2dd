package timelines

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestClean(t *testing.T) {
	t.Parallel()
	body := func(max int) func(string) (string, error) {
		return func(s string) (string, error) { return cleanBody(s, max) }
	}
	for _, tc := range []struct {
		name  string
		clean func(string) (string, error)
		in    string
		want  string
		code  string
	}{
		{"kept", body(100), "  one\n\n two ", "  one\n\n two", ""},
		{"line ends", body(100), "one\r\ntwo\rthree\r\n\r\n", "one\ntwo\nthree", ""},
		{"never HTML", body(100), "<b>&amp;", "<b>&amp;", ""},
		{"empty", body(100), "", "", "body_empty"},
		{"blank", body(100), " \r\n\t\u00a0\u2003", "", "body_empty"},
		{"as long as may be", body(5), "12345\n", "12345", ""},
		{"too long", body(5), "123456", "", "body_long"},
		{"measured in characters", body(5), "яяя€\U0001f600", "яяя€\U0001f600", ""},
		{"too many characters", body(5), "яяяяяя", "", "body_long"},
		{"NUL", body(100), "a\x00b", "", "text_invalid"},
		{"not UTF-8", body(100), "a\xffb", "", "text_invalid"},
		{"title", cleanTitle, "  Bob \n the\tBuilder\u0007 ", "Bob the Builder", ""},
		{"no title", cleanTitle, " \n", "", "title_empty"},
		{"invisible title", cleanTitle, "\u200b\ufeff\u3164", "", "title_empty"},
		{"title that turns what follows around", cleanTitle, "Bob\u202e", "", "title_direction"},
		{"title that ends an isolate", cleanTitle, "\u2069Bob", "", "title_direction"},
		{"imported title that turns what follows around", importedTitle, "Bob\u202e\u2066", "Bob", ""},
		{"imported title that shows nothing", importedTitle, "\u202e", "", "title_empty"},
		{"title with a joined emoji", cleanTitle, "\U0001F469\u200d\U0001F680 Ann", "\U0001F469\u200d\U0001F680 Ann", ""},
		{"Hebrew title", cleanTitle, "\u200fדנה", "\u200fדנה", ""},
		{"title as long as may be", cleanTitle, strings.Repeat("я", 100), strings.Repeat("я", 100), ""},
		{"title too long", cleanTitle, strings.Repeat("я", 101), "", "title_long"},
		{"title not UTF-8", cleanTitle, "\xff", "", "text_invalid"},
		{"no description", cleanAbout, " ", "", ""},
		{"description too long", cleanAbout, strings.Repeat("я", 5001), "", "body_long"},
	} {
		got, err := tc.clean(tc.in)
		code := ""
		if bad := (*InvalidError)(nil); errors.As(err, &bad) {
			code = bad.Code
		}
		if got != tc.want || code != tc.code {
			t.Errorf("%s: clean(%.40q): got %.40q, %q; want %.40q, %q", tc.name, tc.in, got, code, tc.want, tc.code)
		}
	}
}

// FuzzCleanBody: what is accepted can be stored, and cleaning it again changes
// nothing, so that an edit form sent back unread is no edit.
func FuzzCleanBody(f *testing.F) {
	for _, s := range []string{"", "a", "a\r\n", "\r\r\n\n", "a\x00", "\xff", " \u2028 ", strings.Repeat("я", 60)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got, err := cleanBody(in, 100)
		if err != nil {
			return
		}
		if !utf8.ValidString(got) || strings.ContainsAny(got, "\x00\r") || got == "" || utf8.RuneCountInString(got) > 100 {
			t.Errorf("cleanBody(%q): got %q, want text that can be stored", in, got)
		}
		if again, err := cleanBody(got, 100); err != nil || again != got {
			t.Errorf("cleanBody(%q): got %q, %v; want it unchanged", got, again, err)
		}
	})
}
