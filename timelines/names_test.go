package timelines

import (
	"errors"
	"strings"
	"testing"
)

func TestCheckName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"bob":                    "",
		"b-0":                    "",
		"0-b":                    "",
		"---":                    "name_format",
		"-abc":                   "name_format",
		"zed-":                   "name_format",
		strings.Repeat("a", 35):  "",
		strings.Repeat("a", 36):  "name_format",
		"ab":                     "name_format",
		"":                       "name_format",
		"Bob":                    "name_format",
		"bob\n":                  "name_format",
		"b_b":                    "name_format",
		"боб":                    "name_format",
		"everything":             "name_reserved",
		"most-faved":             "name_reserved",
		"p":                      "name_reserved",
		"everythings":            "",
		"a b":                    "name_format",
		"bob\x00":                "name_format",
		strings.Repeat("a", 1e6): "name_format",
	} {
		got := ""
		var bad *InvalidError
		if err := checkName(name); errors.As(err, &bad) {
			got = bad.Code
		} else if err != nil {
			t.Errorf("checkName(%.40q): got %v, want an InvalidError", name, err)
		}
		if got != want {
			t.Errorf("checkName(%.40q): got %q, want %q", name, got, want)
		}
	}
	for _, name := range ReservedNames {
		if checkName(name) == nil {
			t.Errorf("checkName(%q): got nil, want it reserved", name)
		}
	}
}
