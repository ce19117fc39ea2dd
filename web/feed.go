package web

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/a-h/templ"

	"riverrun/rivers"
	"riverrun/timelines"
)

// Feed files: every page that is open to all, as Atom (RFC 4287) and as JSON Feed
// (version 1.1). They are the anonymous visitor's river, whoever asks: a feed
// reader has no session, and what it fetched it shows to anybody. So they obey the
// checks of the page, anew each time they are read; caches must ask again.
//
// The elements are our own, thirty lines of struct tags: the packages for it
// write neither an entry's date of publication nor the file's own address.

func (s *Server) routeFeedFiles(mux *http.ServeMux) {
	// Pages have one segment or two; {path...} would stand in the way of /{name}/{page}.
	mux.Handle("GET /feeds/{page}", s.page(s.feed))
	mux.Handle("GET /feeds/{page}/{file}", s.page(s.feed))
}

// feedFormats are the formats by the last part of a file's name.
var feedFormats = map[string]struct {
	mime   string
	encode func(feedFile) ([]byte, error)
}{
	".atom": {"application/atom+xml; charset=utf-8", feedFile.atom},
	".json": {"application/feed+json; charset=utf-8", feedFile.json},
}

// feedFile is a feed before it is written down. Addresses are whole.
type feedFile struct {
	title, lang   string
	page, address string // the page's and the file's own
	items         []feedItem
}

type feedItem struct {
	title, page, html  string
	author, authorPage string
	published, updated time.Time
}

// feed answers /feeds/PATH.atom and /feeds/PATH.json with the newest entries of the
// page /PATH, in order of creation: a reader of feeds looks for what is new, not
// for what is talked about. ?order=fresh gives the page's own order.
func (s *Server) feed(w http.ResponseWriter, r *request) error {
	name := strings.TrimPrefix(r.URL.Path, "/feeds/")
	dot := max(strings.LastIndexByte(name, '.'), 0)
	format, ok := feedFormats[name[dot:]]
	if !ok || dot == 0 {
		return errNoPage
	}
	path, query := "/"+name[:dot], r.URL.Query()
	if query.Get("order") != string(rivers.Fresh) {
		query.Set("order", string(rivers.Created))
	}
	ctx, nobody := r.Context(), timelines.Viewer{}
	at, n, err := s.riverAt(ctx, nobody, path, query)
	if at.unfed {
		return errNoPage
	}
	var f feedFile
	if err == nil {
		err = s.rivers.AtOneMoment(ctx, func() (rivers.Moment, error) {
			page, err := s.rivers.Visit(ctx, nobody, n, rivers.Cursor{})
			if err != nil {
				return rivers.Moment{}, err
			}
			f, err = s.feedFile(r, at, n, page, path)
			return page.At, err
		})
	}
	if errors.Is(err, rivers.ErrSignInNeeded) {
		return errNoPage // somebody's own page: a feed reader cannot sign in
	}
	if err != nil {
		return err
	}
	body, err := format.encode(f)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(body)
	// Weak: the same whatever the bytes are compressed to.
	tag := `W/"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
	h := w.Header()
	h.Set("Cache-Control", "no-cache")
	h.Add("Vary", "Accept-Language")
	h.Set("ETag", tag)
	if hasTag(r.Header.Get("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	h.Set("Content-Type", format.mime)
	_, _ = w.Write(body) // the reader has gone: nobody to tell
	return nil
}

// hasTag reports whether an If-None-Match names the entity tag, which it compares weakly
// (RFC 9110, 13.1.2).
func hasTag(header, tag string) bool {
	for had := range strings.SplitSeq(header, ",") {
		if strings.TrimPrefix(strings.TrimSpace(had), "W/") == strings.TrimPrefix(tag, "W/") {
			return true
		}
	}
	return false
}

func (s *Server) feedFile(r *request, at riverPage, n rivers.Name, page *rivers.Page, path string) (feedFile, error) {
	p, err := s.view.present(r.Context(), timelines.Viewer{}, localeFor(r.Request, ""), n, page.Sets, page.Items)
	if err != nil {
		return feedFile{}, err
	}
	base := strings.TrimSuffix(s.url.String(), "/")
	f := feedFile{
		title: p.titleOf(at), lang: p.loc.lang, page: base + at.address(path, r.URL.Query()), address: base + r.URL.RequestURI(),
		items: make([]feedItem, 0, len(page.Items)),
	}
	for i := range page.Items {
		e := &entryView{present: p, item: &page.Items[i]}
		f.items = append(f.items, e.feedItem(base))
		if n.Kind != rivers.Post {
			continue
		}
		// A post's page has one entry; what comes in is its comments.
		f.title = f.items[0].title
		for j := range e.item.Fold.Comments.Shown {
			f.items = append(f.items, e.commentItem(base, &e.item.Fold.Comments.Shown[j]))
		}
		slices.Reverse(f.items)
		f.items = f.items[:min(len(f.items), maxFeedComments)]
	}
	return f, nil
}

// maxFeedComments is how many of a post's comments its feed has.
const maxFeedComments = 200

// feedTitle is how many characters of a text stand for its title.
const feedTitle = 80

func (e *entryView) feedItem(base string) feedItem {
	t := &e.item.Fold.Text
	html := textHTML(t.Body)
	if t.Cut {
		html += `<p><a href="` + e.path() + `">` + e.loc.T("entry.more") + `</a></p>`
	}
	var b strings.Builder
	for _, file := range e.item.Fold.Attached {
		if href, ok := webAddress(file.URL); ok {
			b.WriteString(`<li>`)
			writeLink(&b, href, siteLink, `<bdi>`+templ.EscapeString(fileTitle(file))+`</bdi>`)
			b.WriteString(`</li>`)
		}
	}
	if b.Len() > 0 {
		html += "<ul>" + b.String() + "</ul>"
	}
	return e.itemBy(base, feedItem{title: t.Body, page: e.path(), html: html}, t.Author, t.CreatedAt, t.EditedAt)
}

func (e *entryView) commentItem(base string, c *rivers.Comment) feedItem {
	return e.itemBy(base, feedItem{title: c.Body, page: e.path() + "#" + commentID(c.ID), html: textHTML(c.Body)},
		c.Author, c.CreatedAt, c.EditedAt)
}

// itemBy fills in who wrote an item and when, and makes its addresses whole.
func (e *entryView) itemBy(base string, it feedItem, author, created, edited int64) feedItem {
	a := e.account(author)
	line, _, _ := strings.Cut(it.title, "\n")
	it.title = a.Title + ": " + shortText(line, feedTitle)
	it.author = a.Title
	if a.Name != "" {
		it.authorPage = base + "/" + a.Name
	}
	it.page = base + it.page
	// What people wrote is escaped: such an attribute is ours.
	it.html = strings.ReplaceAll(it.html, ` href="/`, ` href="`+base+`/`)
	it.published = time.UnixMicro(created).UTC()
	it.updated = time.UnixMicro(max(created, edited)).UTC()
	return it
}

// updated is when anything in the file last changed.
func (f feedFile) updated() time.Time {
	var latest time.Time
	for _, it := range f.items {
		if it.updated.After(latest) {
			latest = it.updated
		}
	}
	if latest.IsZero() {
		latest = time.Unix(0, 0).UTC() // an empty page has no date, and Atom must have one
	}
	return latest
}

type atomFeed struct {
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

func (f feedFile) atom() ([]byte, error) {
	doc := atomFeed{
		Lang: f.lang, ID: f.page, Title: f.title, Updated: f.updated().Format(time.RFC3339),
		Links: []atomLink{{"alternate", "text/html", f.page}, {"self", "application/atom+xml", f.address}},
	}
	for _, it := range f.items {
		doc.Entries = append(doc.Entries, atomEntry{
			ID: it.page, Title: it.title, Updated: it.updated.Format(time.RFC3339), Published: it.published.Format(time.RFC3339),
			Link:   atomLink{"alternate", "text/html", it.page},
			Author: atomPerson{it.author, it.authorPage}, Content: atomContent{"html", it.html},
		})
	}
	body, err := xml.MarshalIndent(doc, "", " ")
	return append([]byte(xml.Header), body...), err
}

type jsonFeed struct {
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

func (f feedFile) json() ([]byte, error) {
	doc := jsonFeed{
		Version: "https://jsonfeed.org/version/1.1", Title: f.title, Language: f.lang,
		HomePage: f.page, FeedURL: f.address, Items: []jsonFeedItem{},
	}
	for _, it := range f.items {
		doc.Items = append(doc.Items, jsonFeedItem{
			ID: it.page, URL: it.page, Title: it.title, HTML: it.html, Published: it.published, Modified: it.updated,
			Authors: []jsonFeedAuthor{{it.author, it.authorPage}},
		})
	}
	return json.MarshalIndent(doc, "", " ")
}

// feedFile is the address of the page's feed file of a format: the format follows
// the path, the language of an aggregate stays behind it.
func (p *present) feedFile(format string) string {
	path, query, asks := strings.Cut(p.feed, "?")
	if !asks {
		return path + format
	}
	return path + format + "?" + query
}

// feedOf returns the address of a page's feed file without the format, "" if the
// page has none or is not open to all.
func (s *Server) feedOf(ctx context.Context, at riverPage, n rivers.Name, page *rivers.Page, path string) (string, error) {
	if at.unfed {
		return "", nil
	}
	open, err := s.rivers.OpenToAll(ctx, n, page.Items)
	if err != nil || !open {
		return "", err
	}
	return "/feeds" + path, nil
}
