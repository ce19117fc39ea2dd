package timelines

import (
	"errors"
	"strings"
	"testing"
)

func TestClean(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		clean func(string) (string, error)
		in    string
		want  string
		code  string
	}{
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
