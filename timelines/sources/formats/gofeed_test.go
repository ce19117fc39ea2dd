package formats

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mmcdole/gofeed"
)

// readByGofeed names the feeds of the table that gofeed reads the same way, as far as it reads them
// at all.
var readByGofeed = []string{
	"wordpress", "blogger", "youtube", "podcast", "mastodon", "reddit", "github", "rdf", "rss 0.91", "json feed 1.1",
	"json feed 1.0", "flickr", "windows-1251", "koi8-r", "atom 0.3", "complete", "two in one field", "markup not escaped",
}

// gofeed, which people trust, finds the same ids, titles, addresses, dates, authors and categories.
func TestGofeedReadsTheSame(t *testing.T) {
	for _, name := range readByGofeed {
		items, feed, err := readFeed(goodFeeds[name].text, Options{})
		if err != nil {
			t.Fatal(err)
		}
		want, err := gofeed.NewParser().ParseString(goodFeeds[name].text)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		same := func(what, got, want string) {
			if got != want && want != "" {
				t.Errorf("%s: %s is %q, want %q", name, what, got, want)
			}
		}
		same("the title of the feed", feed.Title, strings.TrimSpace(want.Title))
		same("its page", feed.Site, want.Link)
		if len(items) != len(want.Items) {
			t.Errorf("%s: %d items, want %d", name, len(items), len(want.Items))
			continue
		}
		for k, i := range items {
			w := want.Items[k]
			same("an id", i.ID, w.GUID)
			same("a title", i.Title, oneLine(htmlTitle(strings.ReplaceAll(w.Title, "<T>", "&lt;T&gt;"))))
			same("an address", i.URL, w.Link)
			if w.PublishedParsed != nil && !i.At.Equal(*w.PublishedParsed) {
				t.Errorf("%s: published %v, want %v", name, i.At, w.PublishedParsed)
			}
			if w.UpdatedParsed != nil && !i.Updated.IsZero() && !i.Updated.Equal(*w.UpdatedParsed) {
				t.Errorf("%s: updated %v, want %v", name, i.Updated, w.UpdatedParsed)
			}
			var authors []string
			for _, a := range w.Authors {
				if a.Name != "" && !slices.Contains(authors, a.Name) {
					authors = append(authors, a.Name)
				}
			}
			if i.Author != "" && len(w.Authors) > 0 {
				same("the author", i.Author, strings.Join(authors, ", "))
			}
			for _, c := range w.Categories {
				if !slices.Contains(i.Categories, unescape(c)) && name != "reddit" { // it has a label
					t.Errorf("%s: the category %q is missing in %q", name, c, i.Categories)
				}
			}
			for _, e := range w.Enclosures {
				if !slices.ContainsFunc(i.Files, func(f File) bool { return f.URL == e.URL }) && !slices.ContainsFunc(i.Pictures, func(p Picture) bool { return p.URL == e.URL }) {
					t.Errorf("%s: the enclosure %s is missing", name, e.URL)
				}
			}
		}
	}
}

// gofeed reads the same dates. It ignores p.m. and the zone -700.
func TestGofeedReadsTheSameDates(t *testing.T) {
	at := time.Date(2026, 9, 4, 17, 5, 7, 0, time.FixedZone("", -7*3600))
	for _, layout := range []string{
		time.RFC822, time.RFC822Z, time.RFC850, time.RFC1123, time.RFC1123Z, time.RFC3339, time.RFC3339Nano, time.ANSIC, time.UnixDate, time.RubyDate,
		"Mon, January 2 2006 15:04:05 -0700", "Mon Jan 2 15:04 2006", "Mon Jan 02, 2006 3:04 pm", "Monday, January 2, 2006 03:04 PM",
		"Mon, 2 January 2006, 15:04 -0700", "Mon, 2 Jan 2006 3:04:05 PM -0700", "Mon, 2, Jan 2006 15:4", "Mon, 2 Jan 2006 15:04:05-07:00", "Mon,2 Jan 2006", "Mon, 2 Jan 06 15:04:05 -0700",
		"Mon, 2006-01-02 15:04", "Mon, 02 Jan 2006 15:04:05 GMT-0700", "Mon, 02 Jan 2006 15:04:05 --0700", "Jan 02 2006 03:04:05PM",
		"2 Jan 2006 15:04:05 Z", "2.1.2006 15:04:05", "2/1/2006", "2-1-2006", "2006 January 02", "2006-1-2T15:04:05Z", "2006-1-2 15:04:05", "2006-01-02T15:04Z", "2006-01-02T15:04-07:00",
		"2006-01-02T15:04:05:-0700", "2006-01-02T15:04:05-0700", "2006-01-02T15:04:05 -0700", "2006-01-02 at 15:04:05", "2006-01-02 15:04:05Z", "2006/01/02", "15:04 02.01.2006 -0700", "1/2/2006 3:04:05 PM",
		"02 Jan 2006 15:04:05 UT", "02/01/2006 - 15:04", "01/02/2006 3:04 PM", "Mon, 2 Jan 2006 15:04:05MST", "Mon , 02 Jan 2006 15:04:05 MST", "2006-01-02 15:04:05 MST", "02-01-2006 15:04:05 MST",
	} {
		s := at.Format(layout)
		if strings.Contains(layout, "MST") {
			s = strings.ReplaceAll(s, "-07", "PDT")
		}
		feed, err := gofeed.NewParser().ParseString(fmt.Sprintf("<rss version='2.0'><channel><item><pubDate>%s</pubDate></item></channel></rss>", s))
		if err != nil {
			t.Fatal(err)
		}
		want := feed.Items[0].PublishedParsed
		if want == nil {
			continue
		}
		if got, ok := parseDate(s); !ok || !got.Equal(*want) {
			t.Errorf("%q: %v, %v, want %v", s, got.UTC(), ok, want.UTC())
		}
	}
}
