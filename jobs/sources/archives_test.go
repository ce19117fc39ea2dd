package sources_test

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/unicode/norm"

	"riverrun/timelines/friendfeed"
	"riverrun/timelines/sources"
)

var escape = regexp.MustCompile(`\\([[:punct:]])`)

// Archives of FriendFeed hold what people really wrote. They are loaded as full lists and as feeds;
// those of RIVERRUN_ARCHIVES if that is set. Each entry is one post with its own text and date. The
// same entries once more change nothing.
func TestArchivesAsSources(t *testing.T) {
	t.Parallel()
	dir := filepath.Join("..", "..", "timelines", "friendfeed", "testdata")
	if given := os.Getenv("RIVERRUN_ARCHIVES"); given != "" {
		dir = given
	}
	archives, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives in %s (%v)", dir, err)
	}
	for form, write := range map[string]func(*testing.T, []*friendfeed.Entry) string{"list": asNDJSON, "feed": asRSS} {
		t.Run(form, func(t *testing.T) {
			w := newWorld(t, sources.Sync)
			_, err := w.pool.Exec(t.Context(), `UPDATE sources SET settings = '{"most_gone": 100, "rules": {"text": "whole"}}'`)
			w.must(err)
			had := map[string]bool{} // by the archive before, which may have the same entries
			for _, archive := range archives {
				entries := readArchive(t, archive)
				file := write(t, entries)
				l := w.load(w.upload(file))
				w.must(w.run.Run(t.Context(), w.source))
				l = w.load(l.No)
				both, has := int64(0), map[string]bool{}
				for _, e := range entries {
					if has[e.ID] = true; had[e.ID] {
						both++
					}
				}
				added, removed := int64(len(has))-both, int64(len(had))-both
				if l.State != sources.Done || l.Added != added || l.Removed != removed || l.Errors != 0 {
					t.Errorf("%s: %s, %+v, want %d added and %d removed", archive, l.State, l.Counts, added, removed)
				}
				had = has
				for _, e := range entries {
					var body string
					var withMarkup bool
					var at time.Time
					w.must(w.pool.QueryRow(t.Context(), `
						SELECT p.body, p.markup, p.created_at FROM source_items i JOIN posts p ON p.id = i.post_id WHERE i.source_id = $1 AND i.external_id = $2`,
						w.source, e.ID).Scan(&body, &withMarkup, &at))
					// Lines, and the spaces at their ends, may differ; the words are the same. Words that
					// look like @names and #tags are escaped.
					if withMarkup {
						body = escape.ReplaceAllString(body, "$1")
					}
					if got, want := strings.Fields(body), strings.Fields(norm.NFC.String(e.Body)); !startsWith(got, want) {
						t.Errorf("%s: %s says %q, want %q", archive, e.ID, got, want)
					}
					if !at.Equal(e.Date) {
						t.Errorf("%s: %s is of %v, want %v", archive, e.ID, at, e.Date)
					}
				}
				again := w.load(w.upload(file + "\n"))
				w.must(w.run.Run(t.Context(), w.source))
				if again = w.load(again.No); again.Same != int64(len(entries)) || again.Changed+again.Added+again.Removed != 0 {
					t.Errorf("%s once more: %+v, want all the same", archive, again.Counts)
				}
			}
		})
	}
}

func startsWith(words, first []string) bool {
	return len(words) >= len(first) && strings.Join(words[:len(first)], " ") == strings.Join(first, " ")
}

// readArchive reads the entries that have a text, and an id that no earlier entry has.
func readArchive(t *testing.T, name string) (entries []*friendfeed.Entry) {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	seen := map[string]bool{}
	for in := friendfeed.NewReader(file, name); ; {
		e, err := in.Next()
		var unusable *friendfeed.Error
		switch {
		case errors.Is(err, io.EOF):
			return entries
		case errors.As(err, &unusable):
		case err != nil:
			t.Fatal(err)
		case strings.TrimSpace(e.Body) != "" && !seen[e.ID]:
			seen[e.ID] = true
			entries = append(entries, e)
		}
	}
}

func asNDJSON(t *testing.T, entries []*friendfeed.Entry) string {
	t.Helper()
	var b strings.Builder
	out := json.NewEncoder(&b)
	for _, e := range entries {
		err := out.Encode(map[string]string{"id": e.ID, "text": e.Body, "url": e.URL, "date": e.Date.Format(time.RFC3339), "author": e.From.Title})
		if err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

func asRSS(t *testing.T, entries []*friendfeed.Entry) string {
	t.Helper()
	type guid struct {
		Permanent bool   `xml:"isPermaLink,attr"`
		ID        string `xml:",chardata"`
	}
	type item struct {
		GUID guid   `xml:"guid"`
		HTML string `xml:"description"`
		URL  string `xml:"link"`
		Date string `xml:"pubDate"`
	}
	type channel struct {
		Title string `xml:"title"`
		Items []item `xml:"item"`
	}
	type feed struct {
		XMLName xml.Name `xml:"rss"`
		Version string   `xml:"version,attr"`
		Channel channel  `xml:"channel"`
	}
	f := feed{Version: "2.0", Channel: channel{Title: "An archive"}}
	for _, e := range entries {
		text := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "\n", "<br>").Replace(e.Body)
		f.Channel.Items = append(f.Channel.Items, item{guid{ID: e.ID}, text, e.URL, e.Date.Format(time.RFC1123Z)})
	}
	b, err := xml.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
