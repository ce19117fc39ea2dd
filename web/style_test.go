package web_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestContrast computes what the style sheet promises: 4.5 to 1 for text, 3 to 1
// for the edges of controls and for the focus (WCAG 2.2 AA), light and dark.
func TestContrast(t *testing.T) {
	css, err := os.ReadFile("static/site.css")
	if err != nil {
		t.Fatal(err)
	}
	colours := map[string]map[string]float64{"light": {}, "dark": {}}
	for _, m := range regexp.MustCompile(`--([a-z0-9-]+): light-dark\(#([0-9a-f]{6}), #([0-9a-f]{6})\);`).FindAllStringSubmatch(string(css), -1) {
		colours["light"][m[1]] = luminance(t, m[2])
		colours["dark"][m[1]] = luminance(t, m[3])
	}
	for name, colours := range colours {
		for _, pair := range []struct {
			front, back string
			least       float64
		}{
			{"text", "bg", 4.5},
			{"text", "surface", 4.5},
			{"text", "soft", 4.5},
			{"text", "accent-soft", 4.5},
			{"text-2", "bg", 4.5},
			{"text-2", "surface", 4.5},
			{"text-2", "soft", 4.5},
			{"text-3", "bg", 4.5},
			{"text-3", "surface", 4.5},
			{"text-3", "softer", 4.5},
			{"text-3", "accent-soft", 4.5},
			{"text", "accent-tint", 4.5},
			{"text-2", "accent-tint", 4.5},
			{"text-3", "accent-tint", 4.5},
			{"accent", "accent-tint", 4.5},
			{"like", "accent-tint", 4.5},
			{"accent", "bg", 4.5},
			{"accent", "surface", 4.5},
			{"accent", "soft", 4.5},
			{"accent", "accent-soft", 4.5},
			{"on-accent", "accent", 4.5},
			{"like", "surface", 4.5},
			{"like", "like-soft", 4.5},
			{"mark", "surface", 4.5},
			{"ctl", "bg", 3},
			{"ctl", "surface", 3},
		} {
			front, ok1 := colours[pair.front]
			back, ok2 := colours[pair.back]
			if !ok1 || !ok2 {
				t.Errorf("%s: no colour %q or %q", name, pair.front, pair.back)
				continue
			}
			got := (math.Max(front, back) + 0.05) / (math.Min(front, back) + 0.05)
			if got < pair.least {
				t.Errorf("%s: %s on %s has a contrast of %.2f, want %.1f", name, pair.front, pair.back, got, pair.least)
			}
		}
	}
}

// TestInitialsContrast: white initials on each colour of the palette.
func TestInitialsContrast(t *testing.T) {
	css, err := os.ReadFile("static/site.css")
	if err != nil {
		t.Fatal(err)
	}
	colours := regexp.MustCompile(`\.c\d+ \{ background: #([0-9a-f]{6}); \}`).FindAllStringSubmatch(string(css), -1)
	if len(colours) != 12 {
		t.Errorf("the palette has %d colours, want 12", len(colours))
	}
	for _, m := range colours {
		if got := 1.05 / (luminance(t, m[1]) + 0.05); got < 4.5 {
			t.Errorf("white on #%s has a contrast of %.2f, want 4.5", m[1], got)
		}
	}
}

// luminance is WCAG's relative luminance of an sRGB colour.
func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	channel := func(i int) float64 {
		n, err := strconv.ParseUint(hex[i:i+2], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		c := float64(n) / 255
		if c <= 0.04045 {
			return c / 12.92
		}
		return math.Pow((c+0.055)/1.055, 2.4)
	}
	return 0.2126*channel(0) + 0.7152*channel(2) + 0.0722*channel(4)
}

// TestPagesLoadNothingFromOtherSites: components neither take addresses of things
// to load from people nor carry styles or scripts of their own. A picture's address is made by
// one of five functions, which name this site's own files or hold the picture. A button of its own
// address leads to an entry or a comment, or to an address that stands there in full.
func TestPagesLoadNothingFromOtherSites(t *testing.T) {
	files, err := os.ReadDir("view")
	if err != nil {
		t.Fatal(err)
	}
	banned := regexp.MustCompile(`<iframe|<video|<audio|<object|<embed|<style|style=|\son[a-z]+=|^css |^script `)
	ours := regexp.MustCompile(`\sformaction=(\{ (templ\.SafeURL\((e\.path\(\)|place) \+|CommentURL\(|templ\.SafeURL\(scheduledURL\()|"/[a-z/]+")`)
	seen := 0
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".templ") {
			continue
		}
		seen++
		b, err := os.ReadFile(filepath.Join("view", f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(b), "\n") {
			if found := banned.FindString(line); found != "" {
				t.Errorf("%s:%d: %s", f.Name(), i+1, found)
			}
			if src := regexp.MustCompile(`\ssrc=\{ *(\w+)`).FindStringSubmatch(line); src != nil && !slices.Contains([]string{"faceURL", "cardURL", "nearest", "src", "script", "MarkURL"}, src[1]) {
				t.Errorf("%s:%d: who made %s?", f.Name(), i+1, src[0])
			}
			if strings.Contains(line, "formaction") && !ours.MatchString(line) {
				t.Errorf("%s:%d: where does this button lead?", f.Name(), i+1)
			}
		}
	}
	if seen < 10 {
		t.Errorf("looked at %d components' files", seen)
	}
	css, err := os.ReadFile("static/site.css")
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range regexp.MustCompile(`url\(.*?\)|@import`).FindAllString(string(css), -1) {
		if found != "url(icons.svg)" {
			t.Errorf("site.css has %s", found)
		}
	}
}

// TestIcons compares the columns of icons.svg with those that the style sheet names, and asks
// that every icon of a page has one.
func TestIcons(t *testing.T) {
	drawn, err := os.ReadFile("static/icons.svg")
	if err != nil {
		t.Fatal(err)
	}
	css, err := os.ReadFile("static/site.css")
	if err != nil {
		t.Fatal(err)
	}
	columns := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^\.i-([a-z-]+)\b.* \{ --i: (\d+); \}$`).FindAllStringSubmatch(string(css), -1) {
		columns[m[1]] = m[2]
	}
	icons := regexp.MustCompile(`<g id="([a-z-]+)" transform="translate\((\d+)\)"`).FindAllStringSubmatch(string(drawn), -1)
	for i, m := range icons {
		if m[2] != strconv.Itoa(24*i) || columns[m[1]] != strconv.Itoa(i) {
			t.Errorf("icon %s is %d., stands at %s, and site.css has it in column %s", m[1], i, m[2], columns[m[1]])
		}
	}
	if len(icons) != len(columns) {
		t.Errorf("icons.svg has %d icons, site.css %d", len(icons), len(columns))
	}
	if last := fmt.Sprintf("var(--i) / %d * 100%%", len(icons)-1); !strings.Contains(string(css), last) {
		t.Errorf("site.css does not divide by the icons: %s", last)
	}
	pages, err := filepath.Glob("view/testdata/golden/*.html")
	if err != nil || len(pages) == 0 {
		t.Fatal(pages, err)
	}
	for _, page := range pages {
		html, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`class="i i-([a-z-]+)"`).FindAllStringSubmatch(string(html), -1) {
			if columns[m[1]] == "" {
				t.Errorf("%s: no icon %s", page, m[1])
			}
		}
	}
}
