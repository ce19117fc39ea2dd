package web

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"riverrun/rivers"
)

// TestAPageBeyondTheDepth: what is older than a home feed is kept is a page like
// any other, to its end, and moves by itself while somebody looks.
func TestAPageBeyondTheDepth(t *testing.T) {
	const depth, more = 150, 40 // the least depth, which a first build fills
	opts := rivers.DefaultOptions()
	opts.Depth = depth
	s := newLiveSiteOver(t, opts, func(c *hubConfig) { c.compareEvery = 1 << 20 }) // nothing is healed
	anna, bob := s.person("anna"), s.person("bob")
	v := anna.visitor()
	v.post("/bob/follow")
	var codes []string
	for i := range depth + more {
		codes = append(codes, bob.post("Post number "+strconv.Itoa(i)+".").Code)
	}
	older := regexp.MustCompile(`class="older"[^>]*href="([^"]*)"`)
	address, seen := "/", 0
	var last string
	for address != "" {
		page := v.get(address).wants(200)
		seen += strings.Count(page.body, "<article")
		last, address = address, ""
		if m := older.FindStringSubmatch(page.body); m != nil {
			address = html.UnescapeString(m[1])
		}
	}
	if seen != depth+more {
		t.Errorf("%d entries down to the end, want %d", seen, depth+more)
	}
	page := s.open(anna, last)
	bob.like(codes[2])
	page.untilEntry(codes[2])
	bob.edit(codes[1], "Edited in the depth")
	if f := page.untilEntry(codes[1]); !strings.Contains(f.Parts["body"]+f.HTML, "Edited in the depth") {
		t.Errorf("an edit beyond the depth: got %+v", f)
	}
	bob.remove(codes[0])
	page.untilGone(codes[0])
}
