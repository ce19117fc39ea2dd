package timelines

import (
	"errors"
	"strings"
	"testing"

	"riverrun/timelines/kinds"
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
		"me":                     "name_reserved",
		"media":                  "name_reserved",
		"files":                  "name_reserved",
		"notifications":          "name_reserved",
		"riverrun":               "name_reserved",
		"root":                   "name_reserved",
		"moderator":              "name_reserved",
		"moderators":             "name_reserved",
		"support":                "name_reserved",
		"administrator":          "name_reserved",
		"supporter":              "",
		"riverrun-2":             "",
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

func TestReservedSlugs(t *testing.T) {
	t.Parallel()
	for _, slug := range []string{"sources", "notifications", "likes", kinds.PrivateTerm} {
		var bad *InvalidError
		if err := checkSlug(slug); !errors.As(err, &bad) || bad.Code != "slug_reserved" {
			t.Errorf("checkSlug(%q): got %v, want it reserved", slug, err)
		}
	}
	if err := checkSlug("source"); err != nil {
		t.Errorf("checkSlug(source): %v", err)
	}
}

// An import brings people in whose name is reserved here, under another.
func TestReservedNamesAreImportedUnderAnother(t *testing.T) {
	t.Parallel()
	b := newBatch(nil, "elsewhere", nil)
	for _, name := range []string{"riverrun", "support", "files", "everything"} {
		a := &importAccount{ImportedAccount: ImportedAccount{Name: name, ExternalID: name}}
		list := b.names(a)
		if importable(list[0]) {
			t.Errorf("an import may call somebody %q", list[0])
		}
		if list[1] != name+"-2" || !importable(list[1]) {
			t.Errorf("%s: the next name is %q, want %s-2, which is free to have", name, list[1], name)
		}
	}
}
