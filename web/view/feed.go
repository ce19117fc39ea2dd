package view

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"strings"
	"time"

	"github.com/a-h/templ"

	"riverrun/rivers"
	"riverrun/timelines/files"
	"riverrun/timelines/listings"
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
	enclosures         []enclosure
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
	return e.itemBy(base, FeedItem{
		Title: headline(e.Locale, PlainText(t.Body, t.Markup), e.Item.Fold.Attached), Page: e.path(),
		HTML: html + feedListing(e.Locale, t.Listing) + feedFiles(e.Item.Fold.Attached), enclosures: enclosures(base, e.Item.Fold.Attached),
	}, t.Author, t.CreatedAt, t.EditedAt)
}

// feedListing is what a listing offers, as the page says it; "" for other posts.
func feedListing(loc *Locale, l *rivers.Listing) string {
	if l == nil {
		return ""
	}
	var said []string
	for _, part := range []string{priceOf(loc, l), listingBadge(loc, l), loc.T("listings.condition." + l.Condition), l.Place} {
		if part != "" {
			said = append(said, `<bdi>`+templ.EscapeString(Unturned(part))+`</bdi>`)
		}
	}
	if l.State == string(listings.Active) {
		said = append(said, loc.T("listings.until", "day", loc.lastDay(l.Until)))
	}
	return `<p>` + strings.Join(said, " · ") + `</p>`
}

// feedFiles are attachments in the HTML of an item: pictures, and links to files.
func feedFiles(list []rivers.Attachment) string {
	var pics, links strings.Builder
	for _, file := range list {
		title := `<bdi>` + templ.EscapeString(fileTitle(file)) + `</bdi>`
		href, elsewhere := webAddress(file.URL)
		switch {
		case file.State == string(files.Picture):
			fmt.Fprintf(&pics, `<p><img src="%s" alt="%s"></p>`,
				nearest(file.Code, file.Width, file.Height, mediumSide), templ.EscapeString(file.Alt))
		case file.State == string(files.Download):
			fmt.Fprintf(&links, `<li><a href="%s">%s</a></li>`, fileURL(file.Code, ""), title)
		case elsewhere:
			links.WriteString(`<li>`)
			markup.WriteLink(&links, href, title)
			links.WriteString(`</li>`)
		}
	}
	if links.Len() > 0 {
		return pics.String() + "<ul>" + links.String() + "</ul>"
	}
	return pics.String()
}

// enclosure is a file of an item, for programs that fetch it.
type enclosure struct {
	address, mime, title string
	bytes                int64
}

func enclosures(base string, list []rivers.Attachment) []enclosure {
	var all []enclosure
	for _, file := range list {
		if file.State == string(files.Picture) || file.State == string(files.Download) {
			all = append(all, enclosure{base + fileURL(file.Code, ""), file.Type, fileTitle(file), file.Bytes})
		}
	}
	return all
}

func (e *Entry) CommentItem(base string, c *rivers.Comment) FeedItem {
	return e.itemBy(base, FeedItem{
		Title: headline(e.Locale, PlainText(c.Body, c.Markup), c.Attached), Page: e.path() + "#" + CommentID(c.ID),
		HTML: writtenHTML(c.Body, c.Markup) + feedFiles(c.Attached), enclosures: enclosures(base, c.Attached),
	}, c.Author, c.CreatedAt, c.EditedAt)
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
	it.HTML = strings.NewReplacer(` href="/`, ` href="`+base+`/`, ` src="/`, ` src="`+base+`/`).Replace(it.HTML)
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
	// Title and Length are of enclosures.
	Title  string `xml:"title,attr,omitempty"`
	Length int64  `xml:"length,attr,omitempty"`
}

type atomEntry struct {
	ID        string      `xml:"id"`
	Title     string      `xml:"title"`
	Updated   string      `xml:"updated"`
	Published string      `xml:"published"`
	Links     []atomLink  `xml:"link"`
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
		Links: []atomLink{{Rel: "alternate", Type: "text/html", Href: f.Page}, {Rel: "self", Type: "application/atom+xml", Href: f.Address}},
	}
	for _, it := range f.Items {
		links := []atomLink{{Rel: "alternate", Type: "text/html", Href: it.Page}}
		for _, file := range it.enclosures {
			links = append(links, atomLink{Rel: "enclosure", Type: file.mime, Href: file.address, Title: file.title, Length: file.bytes})
		}
		doc.Entries = append(doc.Entries, atomEntry{
			ID: it.Page, Title: it.Title, Updated: it.updated.Format(time.RFC3339), Published: it.published.Format(time.RFC3339),
			Links:  links,
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
	Files     []jsonFeedFile   `json:"attachments,omitempty"`
}

type jsonFeedFile struct {
	URL   string `json:"url"`
	MIME  string `json:"mime_type"`
	Title string `json:"title,omitempty"`
	Bytes int64  `json:"size_in_bytes"`
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
		var list []jsonFeedFile
		for _, file := range it.enclosures {
			list = append(list, jsonFeedFile{file.address, file.mime, file.title, file.bytes})
		}
		doc.Items = append(doc.Items, jsonFeedItem{
			Files: list,
			ID:    it.Page, URL: it.Page, Title: it.Title, HTML: it.HTML, Published: it.published, Modified: it.updated,
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
