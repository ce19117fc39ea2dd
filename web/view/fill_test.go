package view

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A text is filled as a replacer of the standard library fills it.
func TestFill(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.SampledFrom([]string{"a", "{n}", "{who}", "{what}", "{", "}", "{}", "é", "{n"})
		text := strings.Join(rapid.SliceOfN(piece, 0, 8).Draw(t, "text"), "")
		var pairs []any
		var oldnew []string
		for _, name := range rapid.SliceOfDistinct(rapid.SampledFrom([]string{"n", "who", "", "other"}), rapid.ID).Draw(t, "names") {
			value := rapid.SampledFrom([]string{"", "5", "{n}", "{who}", "Анна"}).Draw(t, "value")
			pairs = append(pairs, name, value)
			oldnew = append(oldnew, "{"+name+"}", value)
		}
		want := strings.NewReplacer(oldnew...).Replace(text)
		if got := fill(text, pairs); got != want {
			t.Fatalf("fill(%q, %q) = %q, want %q", text, pairs, got, want)
		}
	})
	if got := fill("{n} of {all}, {n}", []any{"n", 3, "all", int64(12)}); got != "3 of 12, 3" {
		t.Errorf("numbers: got %q", got)
	}
}

// BenchmarkLabel fills a label as a page does many times.
func BenchmarkLabel(b *testing.B) {
	l := LocaleOf("ru")
	for name, label := range map[string]func() string{
		"plain":   func() string { return l.T("account.follow") },
		"unused":  func() string { return l.T("time.now", "n", 5) },
		"filled":  func() string { return l.T("time.minutes", "n", 5) },
		"counted": func() string { return l.N("account.friends.others", 5) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				label()
			}
		})
	}
}
