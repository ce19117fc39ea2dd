package markup

import "testing"

func TestFirstLink(t *testing.T) {
	for source, want := range map[string]string{
		"":                             "",
		"no link":                      "",
		"see https://example.org/a, b": "https://example.org/a",
		"[one](https://one.example) https://two.example": "https://one.example",
		"https://two.example [one](https://one.example)": "https://two.example",
		"> quoted https://q.example":                     "https://q.example",
		"**[bold](https://b.example)**":                  "https://b.example",
		"`https://code.example`":                         "",
		"||spoiler|| https://s.example":                  "",
		"[||x||](https://s.example)":                     "",
		"[x](javascript:alert(1))":                       "",
		"@anna #tag":                                     "",
	} {
		if got, ok := FirstLink(source); got != want || ok != (want != "") {
			t.Errorf("%q: got %q, %v, want %q", source, got, ok, want)
		}
	}
}
