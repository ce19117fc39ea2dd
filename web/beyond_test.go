package web_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"riverrun/rivers"
	"riverrun/web/live"
	"riverrun/web/webtest"
)

// TestAPageBeyondTheDepth: what is older than a home feed is kept is a page like
// any other, to its end, and moves by itself while somebody looks.
func TestAPageBeyondTheDepth(t *testing.T) {
	const depth, more = 150, 40 // the least depth, which a first build fills
	opts := rivers.DefaultOptions()
	opts.Depth = depth
	s := webtest.NewOver(t, opts, func(c *live.Config) { c.CompareEvery = 1 << 20 }) // nothing is healed
	anna, bob := s.Person("anna"), s.Person("bob")
	v := anna.Visitor()
	v.Post("/bob/follow")
	var codes []string
	for i := range depth + more {
		codes = append(codes, bob.Post("Post number "+strconv.Itoa(i)+".").Code)
	}
	older := regexp.MustCompile(`class="older"[^>]*href="([^"]*)"`)
	address, seen := "/", 0
	var last string
	for address != "" {
		page := v.Get(address).Wants(200)
		seen += strings.Count(page.Body, "<article")
		last, address = address, ""
		if m := older.FindStringSubmatch(page.Body); m != nil {
			address = html.UnescapeString(m[1])
		}
	}
	if seen != depth+more {
		t.Errorf("%d entries down to the end, want %d", seen, depth+more)
	}
	page := s.Open(anna, last)
	bob.Like(codes[2])
	page.UntilEntry(codes[2])
	bob.Edit(codes[1], "Edited in the depth")
	if f := page.UntilEntry(codes[1]); !strings.Contains(f.Parts["body"]+f.HTML, "Edited in the depth") {
		t.Errorf("an edit beyond the depth: got %+v", f)
	}
	bob.Remove(codes[0])
	page.UntilGone(codes[0])
}
