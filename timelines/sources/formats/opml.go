package formats

import (
	"fmt"
	"io"

	"riverrun/timelines/rules"
)

const (
	maxOutlines  = 1000
	maxOPMLBytes = 16 << 20
)

// Outline is a feed that an OPML file names.
type Outline struct {
	URL     string // a web address, unless Invalid
	Invalid bool
	Title   string
	Site    string   // address of its page; may be empty
	Folders []string // names of the outlines around it, the outermost first
	Line    int
}

// ParseOPML reads the feeds of an OPML file, in their order. A feed whose address is not of the web
// has its address as it stands there, cut, and is Invalid: the caller tells the user. The error is a
// *Fatal, or that of the reader. With TooMany, the first 1,000 feeds are returned as well.
func ParseOPML(r io.Reader) ([]Outline, error) {
	text, err := open(r, maxOPMLBytes, "", func() {})
	if err != nil {
		return nil, err
	}
	src := newSource(text)
	l := Limits{}.filled()
	scan := newScanner(src, l, false)
	var feeds []Outline
	var folders []string // by depth below the root; "" for an element that is no outline
	for {
		tok, err := scan.next()
		if err != nil {
			return nil, err
		}
		switch tok.kind {
		case endOfFile:
			return feeds, nil
		case endTag:
			folders = folders[:max(len(folders)-1, 0)]
			continue
		case textRun:
			continue
		}
		if len(folders) == 0 && tok.name.local != "opml" {
			return nil, notAFeed(src, tok.name)
		}
		if tok.name.local != "outline" {
			folders = append(folders, "")
			continue
		}
		title := scan.attribute("title")
		if title == "" {
			title = scan.attribute("text")
		}
		title, _ = cutRunes(oneLine(title), rules.ItemTitle.Most)
		given := oneLine(scan.attribute("xmlUrl"))
		address, ok := webAddress(Address(given), nil)
		if ok = ok && len(address) <= rules.ItemURLLong.Most; !ok {
			address, _ = cutRunes(given, MaxValueRunes)
		}
		if given != "" {
			if len(feeds) == maxOutlines {
				return feeds, src.fatal(TooMany, "%s", fmt.Sprintf("the list has more than %d feeds", maxOutlines))
			}
			f := Outline{URL: address, Invalid: !ok, Title: title, Line: tok.line}
			if site, ok := webAddress(scan.attribute("htmlUrl"), nil); ok && len(site) <= rules.ItemURLLong.Most {
				f.Site = site
			}
			for _, name := range folders {
				if name != "" {
					f.Folders = append(f.Folders, name)
				}
			}
			feeds = append(feeds, f)
		}
		folders = append(folders, title)
	}
}
