package load

import (
	"fmt"
	"regexp"
)

// Page is what a served page says of itself (web/live/PROTOCOL.md).
type Page struct {
	Address string // data-page
	River   string
	// Posts are the codes of the posts, from the top; Versions are theirs.
	Posts    []string
	Versions map[string]string
}

var (
	pageForm  = regexp.MustCompile(`data-river="(\d+)" data-page="([^"]+)"`)
	entryForm = regexp.MustCompile(`data-post="(\w+)" data-version="([^"]+)"`)
)

// ReadPage reads a page's HTML.
func ReadPage(html string) (Page, error) {
	found := pageForm.FindStringSubmatch(html)
	if found == nil {
		return Page{}, fmt.Errorf("no river in the page %.200q", html)
	}
	p := Page{River: found[1], Address: found[2], Versions: map[string]string{}}
	for _, m := range entryForm.FindAllStringSubmatch(html, -1) {
		p.Posts = append(p.Posts, m[1])
		p.Versions[m[1]] = m[2]
	}
	return p, nil
}
