package previews

import (
	"bytes"
	"io"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"
)

// maxImageURL is the length of the longest address of a picture, in bytes.
const maxImageURL = 2048

// The names of what is looked for, best first. They are of <meta>, and title is the element
// and image_src the relation of <link> as well.
var (
	titles       = []string{"og:title", "twitter:title", "title"}
	descriptions = []string{"og:description", "twitter:description", "description"}
	siteNames    = []string{"og:site_name"}
	images       = []string{"og:image:secure_url", "og:image", "og:image:url", "twitter:image", "twitter:image:src", "image_src"}
)

// parse reads the preview of a page, or of its beginning. contentType is the header's.
func parse(page []byte, contentType string, at *url.URL) Preview {
	said := wordsOf(utf8Reader(page, contentType))
	base := at
	if own := absolute(at, said["base"]); own != nil {
		base = own
	}
	p := Preview{
		Title:       best(said, titles, 200),
		Description: best(said, descriptions, 300),
		SiteName:    best(said, siteNames, 100),
	}
	for _, name := range images {
		if u := absolute(base, said[name]); u != nil {
			p.ImageURL = u.String()
			break
		}
	}
	return p
}

// utf8Reader returns a reader of the page in UTF-8, by the header's charset, or that of
// <meta>, or by the looks of it.
func utf8Reader(page []byte, contentType string) io.Reader {
	encoding, name, _ := charset.DetermineEncoding(page, contentType)
	// It looks at the first kilobyte alone, which often is in ASCII, and some servers call all
	// their pages Latin. Such text is hardly ever valid UTF-8 by chance.
	if name == "windows-1252" && utf8.Valid(page[:wholeRunes(page)]) {
		return bytes.NewReader(page)
	}
	return encoding.NewDecoder().Reader(bytes.NewReader(page))
}

// wholeRunes returns the length of a text without the character that it was cut in, if any.
func wholeRunes(text []byte) int {
	for n := len(text) - 1; n >= 0 && n >= len(text)-utf8.UTFMax; n-- {
		if utf8.RuneStart(text[n]) {
			if !utf8.FullRune(text[n:]) {
				return n
			}
			break
		}
	}
	return len(text)
}

// wordsOf returns what a page says under each of the names, the first time that it says
// something. It reads the head, and the body only if the head says nothing.
func wordsOf(page io.Reader) map[string]string {
	said := map[string]string{}
	say := func(name, text string) {
		if said[name] == "" && strings.TrimSpace(text) != "" {
			said[name] = text
		}
	}
	z := html.NewTokenizer(page)
	for {
		switch z.Next() {
		case html.ErrorToken: // the end, or no text in its charset
			return said
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := z.TagName()
			switch atom.Lookup(name) {
			case atom.Body:
				if says(said) {
					return said
				}
			case atom.Title:
				if z.Next() == html.TextToken {
					say("title", string(z.Text()))
				}
			case atom.Base:
				say("base", attributes(z, more).href)
			case atom.Link:
				if t := attributes(z, more); strings.EqualFold(t.rel, "image_src") {
					say("image_src", t.href)
				}
			case atom.Meta:
				t := attributes(z, more)
				for _, name := range []string{strings.ToLower(t.property), strings.ToLower(t.name)} {
					if looked(name) {
						say(name, t.content)
					}
				}
			}
		}
	}
}

// looked reports whether something is looked for under the name of a <meta>.
func looked(name string) bool {
	return slices.Contains(titles, name) || slices.Contains(descriptions, name) ||
		slices.Contains(siteNames, name) || slices.Contains(images, name)
}

// says reports whether a preview can be made of what was found.
func says(said map[string]string) bool {
	for _, name := range slices.Concat(titles, descriptions, images) {
		if said[name] != "" {
			return true
		}
	}
	return false
}

// tag are those attributes of a tag that are of use.
type tag struct{ content, href, name, property, rel string }

func attributes(z *html.Tokenizer, more bool) (t tag) {
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		switch string(key) {
		case "content":
			t.content = string(value)
		case "href":
			t.href = string(value)
		case "name":
			t.name = string(value)
		case "property":
			t.property = string(value)
		case "rel":
			t.rel = string(value)
		}
	}
	return t
}

// best returns the best text that is said, cut to at most runes characters.
func best(said map[string]string, names []string, runes int) string {
	for _, name := range names {
		if text := line(said[name], runes); text != "" {
			return text
		}
	}
	return ""
}

// absolute returns the address that reference means on a page at base, or nil if it is not one
// that could be fetched.
func absolute(base *url.URL, reference string) *url.URL {
	if reference = strings.TrimSpace(reference); reference == "" {
		return nil
	}
	u, err := base.Parse(reference)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return nil
	}
	u.Fragment, u.RawFragment = "", ""
	if len(u.String()) > maxImageURL {
		return nil
	}
	return u
}
