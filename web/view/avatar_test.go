package view

import (
	"testing"

	"riverrun/timelines"
)

func TestInitials(t *testing.T) {
	for _, c := range []struct{ title, name, two, one string }{
		{"Inês Moura", "ines", "IM", "I"},
		{"anna", "anna", "A", "A"},
		{"Лена Орлова", "lena", "ЛО", "Л"},
		{"Friends of the Old Bridge", "bridge", "FO", "F"},
		{"  «Кухня»  & co", "kitchen", "КC", "К"},
		{"42 is it", "answer", "4I", "4"},
		{"🙂 🙃", "smile-er", "S", "S"},
		{"", "nobody", "N", "N"},
		{"中文 名字", "zh", "中名", "中"},
	} {
		a := timelines.Account{Title: c.title, Name: c.name}
		if got := initials(a, 40); got != c.two {
			t.Errorf("initials of %q (%q) are %q, want %q", c.title, c.name, got, c.two)
		}
		if got := initials(a, 20); got != c.one {
			t.Errorf("initials of %q (%q) where there is room for one are %q, want %q", c.title, c.name, got, c.one)
		}
	}
}

func TestAvatarColour(t *testing.T) {
	for title, want := range map[string]int{"Inês Moura": 6, "Nell Farrow": 10, "Tom Okafor": 0, "Ann Lee": 7, "Лена Орлова": 8, "River Watch": 5} {
		if got := colour(title); got != want {
			t.Errorf("the colour of %q is %d, want %d", title, got, want)
		}
	}
}
