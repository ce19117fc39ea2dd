package web_test

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
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
	light, rest, ok := strings.Cut(string(css), "prefers-color-scheme: dark")
	if !ok {
		t.Fatal("no dark colours")
	}
	dark, _, _ := strings.Cut(rest, "*, *::before")
	for name, part := range map[string]string{"light": light, "dark": dark} {
		colours := map[string]float64{}
		for _, m := range regexp.MustCompile(`--([a-z-]+): #([0-9a-f]{6});`).FindAllStringSubmatch(part, -1) {
			colours[m[1]] = luminance(t, m[2])
		}
		for _, pair := range []struct {
			front, back string
			least       float64
		}{
			{"ink", "ground", 4.5},
			{"ink", "sheet", 4.5},
			{"ink", "shallow", 4.5},
			{"soft", "ground", 4.5},
			{"soft", "sheet", 4.5},
			{"soft", "shallow", 4.5},
			{"water", "ground", 4.5},
			{"water", "sheet", 4.5},
			{"water", "shallow", 4.5},
			{"on-water", "water", 4.5},
			{"wrong", "ground", 4.5},
			{"on-wrong", "wrong", 4.5},
			{"heart", "ground", 3},
			{"star", "ground", 3},
			{"edge", "ground", 3},
			{"edge", "sheet", 3},
			{"focus", "ground", 3},
			{"focus", "sheet", 3},
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
// to load from people nor carry styles or scripts of their own.
func TestPagesLoadNothingFromOtherSites(t *testing.T) {
	files, err := os.ReadDir("view")
	if err != nil {
		t.Fatal(err)
	}
	banned := regexp.MustCompile(`<img|<iframe|<video|<audio|<object|<embed|<style|style=|formaction|\son[a-z]+=|^css |^script `)
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
		}
	}
	if seen < 10 {
		t.Errorf("looked at %d components' files", seen)
	}
	css, err := os.ReadFile("static/site.css")
	if err != nil {
		t.Fatal(err)
	}
	if found := regexp.MustCompile(`url\(|@import`).Find(css); found != nil {
		t.Errorf("site.css has %s", found)
	}
}
