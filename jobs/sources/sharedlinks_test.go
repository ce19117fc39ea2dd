package sources_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"riverrun/timelines/sources"
)

// In a feed without ids, items share an address: each item becomes one post. An item that was there
// before the address was shared keeps its post as well, and each item stays its post when the others
// leave the feed.
func TestItemsThatShareALink(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sources.Append)
	feed := func(titles ...string) string {
		var b strings.Builder
		b.WriteString(`<rss version="2.0"><channel><title>T</title>`)
		for _, title := range titles {
			fmt.Fprintf(&b, "<item><title>%s</title><link>https://news.example/</link></item>", title)
		}
		return b.String() + `</channel></rss>`
	}
	for i, tt := range []struct {
		file  string
		added int64
		posts []string
	}{
		{feed("A"), 1, []string{"A"}},
		{feed("B", "A"), 1, []string{"A", "B"}},
		{feed("C", "B"), 1, []string{"A", "B", "C"}},
		{feed("C"), 0, []string{"A", "B", "C"}},
		{feed("D"), 1, []string{"A", "B", "C", "D"}},
	} {
		l := w.load(w.upload(tt.file))
		w.must(w.run.Run(t.Context(), w.source))
		if l = w.load(l.No); l.Added != tt.added || l.State != sources.Done || l.Errors != 0 {
			t.Errorf("load %d: %s, %+v, want %d added", i, l.State, l.Counts, tt.added)
		}
		got := w.list(`SELECT split_part(body, E'\n', 1) FROM posts WHERE deleted_at IS NULL ORDER BY 1`)
		if diff := cmp.Diff(tt.posts, got); diff != "" {
			t.Errorf("posts after load %d (-want +got):\n%s", i, diff)
		}
	}
}

// Only the items of the address that is shared get another id. All others stay what they were, in a
// feed that is longer than one batch as well.
func TestOneSharedLinkLeavesTheOthers(t *testing.T) {
	t.Parallel()
	const all = sources.MostItems + 100
	feed := func(first string) string {
		var b strings.Builder
		b.WriteString(`<rss version="2.0"><channel><title>T</title>` + first)
		for i := range all {
			fmt.Fprintf(&b, "<item><title>Item %d</title><link>https://news.example/%d</link></item>", i, i)
		}
		return b.String() + `</channel></rss>`
	}
	for _, mode := range []sources.Mode{sources.Append, sources.Sync} {
		t.Run(string(mode), func(t *testing.T) {
			w := newWorld(t, mode)
			load := func(what, file string, added, removed, posts int64) {
				t.Helper()
				l := w.load(w.upload(file))
				w.must(w.run.Run(t.Context(), w.source))
				if l = w.load(l.No); l.State != sources.Done || l.Added != added || l.Removed != removed || l.Changed != 0 || l.Errors != 0 {
					t.Errorf("%s: %s, %+v, want %d added and %d removed", what, l.State, l.Counts, added, removed)
				}
				if got := w.list(`SELECT count(*)::text FROM posts WHERE deleted_at IS NULL`)[0]; got != fmt.Sprint(posts) {
					t.Errorf("%s: %s posts, want %d", what, got, posts)
				}
			}
			const corrected = "<item><title>Item 7, corrected</title><link>https://news.example/7</link></item>"
			load("the first", feed(""), all, 0, all)
			load("a corrected title", feed(corrected), 1, 0, all+1)
			load("again", feed(corrected), 0, 0, all+1)
		})
	}
}
