package view

import (
	"encoding/json"
	"encoding/xml"
	"strings"
	"time"

	"github.com/a-h/templ"

	"riverrun/rivers"
	"riverrun/timelines/markup"
)

// FeedFormats are the formats by the last part of a file's name.
var FeedFormats = map[string]FeedFormat{
	".atom": {"application/atom+xml; charset=utf-8", FeedFile.atom},
	".json": {"application/feed+json; charset=utf-8", FeedFile.json},
}

// A FeedFormat is a way of writing a feed down.
type FeedFormat struct {
	MIME   string
	Encode func(FeedFile) ([]byte, error)
}

// FeedFile is a feed before it is written down. Addresses are whole.
type FeedFile struct {
	Title, Lang   string
	Page, Address string // the page's and the file's own
	Items         []FeedItem
}

type FeedItem struct {
	Title, Page, HTML  string
	Author, authorPage string
	published, updated time.Time
}

// MaxFeedComments is how many of a post's comments its feed has.
const MaxFeedComments = 200

// feedTitle is how many characters of a text stand for its title.
const feedTitle = 80

func (e *Entry) FeedItem(base string) FeedItem {
	t := &e.Item.Fold.Text
	html := writtenHTML(t.Body, t.Markup)
	if t.Cut {
		html += `<p><a href="` + e.path() + `">` + e.Locale.T("entry.more") + `</a></p>`
	}
	var b strings.Builder
	for _, file := range e.Item.Fold.Attached {
		if href, ok := webAddress(file.URL); ok {
			b.WriteString(`<li>`)
			markup.WriteLink(&b, href, `<bdi>`+templ.EscapeString(fileTitle(file))+`</bdi>`)
			b.WriteString(`</li>`)
		}
	}
	if b.Len() > 0 {
		html += "<ul>" + b.String() + "</ul>"
	}
	return e.itemBy(base, FeedItem{Title: PlainText(t.Body, t.Markup), Page: e.path(), HTML: html}, t.Author, t.CreatedAt, t.EditedAt)
}

func (e *Entry) CommentItem(base string, c *rivers.Comment) FeedItem {
	return e.itemBy(base, FeedItem{Title: PlainText(c.Body, c.Markup), Page: e.path() + "#" + CommentID(c.ID), HTML: writtenHTML(c.Body, c.Markup)},
		c.Author, c.CreatedAt, c.EditedAt)
}

// itemBy fills in who wrote an item and when, and makes its addresses whole.
func (e *Entry) itemBy(base string, it FeedItem, author, created, edited int64) FeedItem {
	a := e.Account(author)
	line, _, _ := strings.Cut(it.Title, "\n")
	it.Title = a.Title + ": " + ShortText(line, feedTitle)
	it.Author = a.Title
	if a.Name != "" {
		it.authorPage = base + "/" + a.Name
	}
	it.Page = base + it.Page
	// People's text is escaped, so every such attribute is ours.
	it.HTML = strings.ReplaceAll(it.HTML, ` href="/`, ` href="`+base+`/`)
	it.published = time.UnixMicro(created).UTC()
	it.updated = time.UnixMicro(max(created, edited)).UTC()
	return it
}

// updated is when anything in the file last changed.
func (f FeedFile) updated() time.Time {
	var latest time.Time
	for _, it := range f.Items {
		if it.updated.After(latest) {
			latest = it.updated
		}
	}
	if latest.IsZero() {
		latest = time.Unix(0, 0).UTC() // an empty page has no date, and Atom must have one
	}
	return latest
}

type AtomFeed struct {
	XMLName xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
	Lang    string      `xml:"xml:lang,attr"`
	ID      string      `xml:"id"`
	Title   string      `xml:"title"`
	Updated string      `xml:"updated"`
	Links   []atomLink  `xml:"link"`
	Entries []atomEntry `xml:"entry"`
}

type atomLink struct {
	Rel  string `xml:"rel,attr"`
	Type string `xml:"type,attr"`
	Href string `xml:"href,attr"`
}

type atomEntry struct {
	ID        string      `xml:"id"`
	Title     string      `xml:"title"`
	Updated   string      `xml:"updated"`
	Published string      `xml:"published"`
	Link      atomLink    `xml:"link"`
	Author    atomPerson  `xml:"author"`
	Content   atomContent `xml:"content"`
}

type atomPerson struct {
	Name string `xml:"name"`
	URI  string `xml:"uri,omitempty"`
}

type atomContent struct {
	Type string `xml:"type,attr"`
	Text string `xml:",chardata"`
}

func (f FeedFile) atom() ([]byte, error) {
	doc := AtomFeed{
		Lang: f.Lang, ID: f.Page, Title: f.Title, Updated: f.updated().Format(time.RFC3339),
		Links: []atomLink{{"alternate", "text/html", f.Page}, {"self", "application/atom+xml", f.Address}},
	}
	for _, it := range f.Items {
		doc.Entries = append(doc.Entries, atomEntry{
			ID: it.Page, Title: it.Title, Updated: it.updated.Format(time.RFC3339), Published: it.published.Format(time.RFC3339),
			Link:   atomLink{"alternate", "text/html", it.Page},
			Author: atomPerson{it.Author, it.authorPage}, Content: atomContent{"html", it.HTML},
		})
	}
	body, err := xml.MarshalIndent(doc, "", " ")
	return append([]byte(xml.Header), body...), err
}

type JsonFeed struct {
	Version  string         `json:"version"`
	Title    string         `json:"title"`
	Language string         `json:"language"`
	HomePage string         `json:"home_page_url"`
	FeedURL  string         `json:"feed_url"`
	Items    []jsonFeedItem `json:"items"`
}

type jsonFeedItem struct {
	ID        string           `json:"id"`
	URL       string           `json:"url"`
	Title     string           `json:"title"`
	HTML      string           `json:"content_html"`
	Published time.Time        `json:"date_published"`
	Modified  time.Time        `json:"date_modified"`
	Authors   []jsonFeedAuthor `json:"authors"`
}

type jsonFeedAuthor struct {
	Name string `json:"name"`
	URL  string `json:"url,omitempty"`
}

func (f FeedFile) json() ([]byte, error) {
	doc := JsonFeed{
		Version: "https://jsonfeed.org/version/1.1", Title: f.Title, Language: f.Lang,
		HomePage: f.Page, FeedURL: f.Address, Items: []jsonFeedItem{},
	}
	for _, it := range f.Items {
		doc.Items = append(doc.Items, jsonFeedItem{
			ID: it.Page, URL: it.Page, Title: it.Title, HTML: it.HTML, Published: it.published, Modified: it.updated,
			Authors: []jsonFeedAuthor{{it.Author, it.authorPage}},
		})
	}
	return json.MarshalIndent(doc, "", " ")
}

// FeedFile is the address of the page's feed file of a format: the format follows
// the path, the language of an aggregate stays behind it.
func (p *Base) FeedFile(format string) string {
	path, query, asks := strings.Cut(p.FeedAddress, "?")
	if !asks {
		return path + format
	}
	return path + format + "?" + query
}
