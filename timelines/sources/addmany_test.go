package sources_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"riverrun/timelines"
	"riverrun/timelines/sources"
	"riverrun/timelines/sources/formats"
)

// F1: the feeds of an OPML file become sources. Each gets its own result, and they are fetched one
// after the other.
func TestAddMany(t *testing.T) {
	w := newWorld(t)
	ann, bob := w.person("ann"), w.person("bob")
	w.group(ann, "sailing")
	w.add(ann, sources.New{Owner: "ann", Way: sources.Link, URL: "https://example.org/feed"})
	w.add(bob, sources.New{Owner: "bob", Way: sources.Link, URL: "https://example.org/log"})
	feeds := []formats.Outline{
		{URL: "https://example.org/log", Title: "Log book", Site: "https://example.org/"},
		{URL: "https://example.org/feed", Title: "Mine"},
		{URL: "https://www.example.net/feed"},
		{URL: "https://example.org/log", Title: "Log book once more"},
		{URL: "ftp://example.org/"},
		{URL: "https://example.org/long", Title: strings.Repeat("ü", 500), Site: "javascript:alert(1)"},
	}
	as := func(list []sources.AddedMany) []string {
		var all []string
		for _, a := range list {
			all = append(all, fmt.Sprintf("%s %.8s %s", a.URL, a.Title, a.As))
		}
		return all
	}
	got, err := w.sources.AddMany(t.Context(), ann.ID, "ann", "", feeds)
	w.must(err)
	w.same("results", as(got), []string{
		"https://example.org/log Log book added", "https://example.org/feed Mine there", "https://www.example.net/feed example. added",
		"https://example.org/log Log book there", "ftp://example.org/ example. invalid", "https://example.org/long üüüüüüüü added",
	})
	w.same("sources", w.list(`
		SELECT format('%s %s %s %s %s', url, left(title, 8), titled, site_url, round(extract(epoch FROM next_at - created_at)))
		FROM sources WHERE owner_id = $1 ORDER BY id`, ann.ID), []string{
		"https://example.org/feed example. f  0", "https://example.org/log Log book t https://example.org/ 0",
		"https://www.example.net/feed example. f  0", "https://example.org/long üüüüüüüü t  0",
	})
	again, err := w.sources.AddMany(t.Context(), ann.ID, "ann", "", feeds[:1])
	w.must(err)
	w.same("again", as(again), []string{"https://example.org/log Log book there"})

	// A group has sources of its own.
	_, err = w.sources.AddMany(t.Context(), ann.ID, "sailing", "", feeds[:1])
	w.must(err)
	for name, want := range map[string]error{"ann": timelines.ErrForbidden, "sailing": timelines.ErrForbidden, "nobody": timelines.ErrNotFound} {
		if _, err := w.sources.AddMany(t.Context(), bob.ID, name, "", feeds); !errors.Is(err, want) {
			t.Errorf("bob adds some to %s: got %v, want %v", name, err, want)
		}
	}
	var bad *timelines.InvalidError
	if _, err := w.sources.AddMany(t.Context(), ann.ID, "ann", "photos", feeds); !errors.As(err, &bad) || bad.Code != "to_unknown" {
		t.Errorf("to an unknown sub-feed: got %v, want to_unknown", err)
	}
	if got, err := w.sources.AddMany(t.Context(), ann.ID, "ann", "", nil); err != nil || len(got) != 0 {
		t.Errorf("none: got %v, %v", got, err)
	}
}

// One owner may have only a number of sources, whichever way they are added.
func TestAddTooMany(t *testing.T) {
	w := newWorld(t)
	ann := w.person("ann")
	most := w.sources.Limits().Sources
	var feeds []formats.Outline
	for i := range most + 2 {
		feeds = append(feeds, formats.Outline{URL: fmt.Sprintf("https://example.org/%d", i)})
	}
	w.add(ann, sources.New{Owner: "ann", Way: sources.File})
	got, err := w.sources.AddMany(t.Context(), ann.ID, "ann", "", append(feeds, feeds[0]))
	w.must(err)
	count := map[sources.AddedAs]int{}
	for _, a := range got {
		count[a.As]++
	}
	w.same("results", count, map[sources.AddedAs]int{sources.Added: most - 1, sources.TooMany: 3, sources.There: 1})
	w.same("the last", got[len(got)-1].As, sources.There)
	w.same("sources", value[int64](w, `SELECT count(*) FROM sources`), int64(most))
}
