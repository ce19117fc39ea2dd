package sources_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"riverrun/timelines/sources"
	"riverrun/timelines/sources/formats"
)

// weblog returns a feed as blog programs write it.
func weblog(guid func(i int) string, from, to int) string {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:atom="http://www.w3.org/2005/Atom"><channel>
<title>Harbour notes</title><link>https://harbour.example/</link><description>What happens at the quay</description>
<atom:link href="https://harbour.example/feed/" rel="self" type="application/rss+xml"/><lastBuildDate>Tue, 24 Nov 2026 10:00:00 +0000</lastBuildDate>
`)
	for i := to; i >= from; i-- {
		date := time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC).AddDate(0, 0, i).Format(time.RFC1123Z)
		fmt.Fprintf(&b, `<item><title>Day %d at the harbour</title><link>https://harbour.example/2026/11/day-%d/</link>
<dc:creator xmlns:dc="http://purl.org/dc/elements/1.1/"><![CDATA[Ines]]></dc:creator><pubDate>%s</pubDate><category><![CDATA[Boats]]></category>
<guid isPermaLink="false">%s</guid><description><![CDATA[<p>The %d. boat came in.</p>]]></description></item>
`, i, i, date, guid(i), i)
	}
	b.WriteString(`</channel></rss>`)
	return b.String()
}

// file reads a feed as the first pass does, and loads it.
func (w *world) file(source int64, text string) sources.Load {
	w.Helper()
	var canonical bytes.Buffer
	_, err := formats.Canonical(&canonical, strings.NewReader(text), formats.Options{})
	w.must(err)
	in, err := formats.ReadCanonical(&canonical, 0)
	w.must(err)
	var list []*formats.Item
	for {
		l, err := in.Next()
		if err != nil {
			break
		}
		it, err := l.Item()
		w.must(err)
		list = append(list, it)
	}
	return w.load(source, sources.MostItems, list...)
}

// A blog moves to another program: all guids change, the addresses and dates do not. Its posts and
// their comments stay, and nothing is posted twice.
func TestChangedGuids(t *testing.T) {
	w := newWorld(t)
	ann := w.person("ann")
	source, other := w.source(ann, "blog", sources.Append, `{}`), w.source(ann, "the same blog", sources.Append, `{}`)
	before := func(i int) string { return fmt.Sprintf("https://harbour.example/?p=%d", 100+i) }
	after := func(i int) string { return fmt.Sprintf("6f9619ff-8b86-d011-b42d-00c04fc9%04d", i) }
	w.same("first", w.file(source, weblog(before, 1, 10)).Counts, sources.Counts{Added: 10})
	w.file(other, weblog(before, 1, 10))
	posts := func() []string {
		return w.list(`SELECT p.id || ' ' || split_part(p.body, E'\n', 1) FROM source_items i JOIN posts p ON p.id = i.post_id WHERE i.source_id = $1 ORDER BY p.id`, source)
	}
	known := posts()
	// The window has moved on by two items, and one text has changed.
	l := w.file(source, strings.Replace(weblog(after, 3, 12), "The 5. boat", "The fifth boat", 1))
	w.same("with other guids", l.Counts, sources.Counts{Added: 2, Changed: 1, Skipped: 7})
	w.same("posts", posts()[:10], known)
	w.same("how many", len(posts()), 12)
	w.same("ids", w.list(`SELECT DISTINCT left(external_id, 10) FROM source_items WHERE source_id = $1 ORDER BY 1`, source), []string{"6f9619ff-8", "https://ha"})
	w.same("an edited text", value[int64](w, `SELECT count(*) FROM source_items i JOIN posts p ON p.id = i.post_id WHERE i.source_id = $1 AND body LIKE '%fifth%'`, source), int64(1))
	w.same("once more", w.file(source, strings.Replace(weblog(after, 3, 12), "The 5. boat", "The fifth boat", 1)).Counts, sources.Counts{Same: 10})
	w.same("and back", w.file(source, weblog(before, 3, 12)).Counts, sources.Counts{Changed: 1, Skipped: 9})
	w.same("the other source", w.file(other, weblog(before, 1, 10)).Counts, sources.Counts{Same: 10})
}

// Items that only look like stored ones are posted: items with the same address and another date, or
// several with one address in the file or in the source. In a full list ids alone count.
func TestGuidsThatAreOthers(t *testing.T) {
	at := time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)
	entry := func(id, title string, days int) *formats.Item {
		it := &formats.Item{ID: id, Title: title, URL: "https://harbour.example/today"}
		if days >= 0 {
			it.At = at.AddDate(0, 0, days)
		}
		return it
	}
	for _, tt := range []struct {
		what          string
		mode          sources.Mode
		before, after []*formats.Item
		added         int64
	}{
		{"the same", sources.Append, []*formats.Item{entry("a", "Today", 1)}, []*formats.Item{entry("b", "Today", 1)}, 0},
		{"no dates", sources.Append, []*formats.Item{entry("a", "Today", -1)}, []*formats.Item{entry("b", "Today", -1)}, 0},
		{"another day", sources.Append, []*formats.Item{entry("a", "Today", 1)}, []*formats.Item{entry("b", "Today", 2)}, 1},
		{"no dates, another title", sources.Append, []*formats.Item{entry("a", "One", -1)}, []*formats.Item{entry("b", "Two", -1)}, 1},
		{"two in the file", sources.Append, []*formats.Item{entry("a", "Today", 1)}, []*formats.Item{entry("b", "Today", 1), entry("c", "Today", 1)}, 2},
		{"two in the source", sources.Append, []*formats.Item{entry("a", "Today", 1), entry("b", "Today", 1)}, []*formats.Item{entry("c", "Today", 1)}, 1},
		{"the other is present", sources.Append, []*formats.Item{entry("a", "Today", 1)}, []*formats.Item{entry("a", "Today", 1), entry("b", "Today", 1)}, 1},
		{"a full list", sources.Sync, []*formats.Item{entry("a", "Today", 1)}, []*formats.Item{entry("b", "Today", 1)}, 1},
	} {
		t.Run(tt.what, func(t *testing.T) {
			w := newWorld(t)
			source := w.source(w.person("ann"), "blog", tt.mode, `{}`)
			w.load(source, 10, tt.before...)
			w.same("added", w.load(source, 10, tt.after...).Added, tt.added)
		})
	}
}

// A post that was deleted here is not posted again under another id.
func TestChangedGuidOfADeletedPost(t *testing.T) {
	w := newWorld(t)
	ann := w.person("ann")
	source := w.source(ann, "blog", sources.Append, `{}`)
	w.load(source, 10, item("1", "One", time.Hour))
	_, err := w.posts.Posts.Delete(t.Context(), ann.ID, value[string](w, `SELECT code FROM posts`))
	w.must(err)
	again := item("1", "One", time.Hour)
	again.ID = "other"
	w.same("counts", w.load(source, 10, again).Counts, sources.Counts{Skipped: 1})
	w.same("posts", len(w.shown()), 0)
}

// F27: if another source of the owner has an item with the same address, the load warns of it, and
// both are posted.
func TestItemsThatAreElsewhere(t *testing.T) {
	w := newWorld(t)
	ann, bob := w.person("ann"), w.person("bob")
	blog, bookmarks, bobs := w.source(ann, "Blog", sources.Append, `{}`), w.source(ann, "Bookmarks", sources.Sync, `{}`), w.source(bob, "Bob’s", sources.Append, `{}`)
	w.same("the first", w.load(blog, 10, items("entry", 3)...).Counts, sources.Counts{Added: 3})
	w.same("another owner", w.load(bobs, 10, items("entry", 3)...).Counts, sources.Counts{Added: 3})
	list := items("entry", 5)
	for i, it := range list {
		it.ID = fmt.Sprint("bookmark-", i)
	}
	l := w.load(bookmarks, 2, list...)
	w.same("the second", l.Counts, sources.Counts{Added: 5, Warnings: 3})
	troubles, err := w.sources.Troubles(t.Context(), l.ID, sources.Which{}, sources.FirstTrouble, 10)
	w.must(err)
	var got []string
	for _, p := range troubles {
		got = append(got, fmt.Sprint(p.Line, " ", p.Code, " ", p.Field, "=", p.Value, " ", p.ExternalID, " ", p.Error))
	}
	w.same("problems", got, []string{"0 elsewhere url=Blog bookmark-0 false", "1 elsewhere url=Blog bookmark-1 false", "2 elsewhere url=Blog bookmark-2 false"})
	w.same("once more", w.load(bookmarks, 2, list...).Counts, sources.Counts{Same: 5})
	w.same("posts of ann", value[int64](w, `SELECT count(*) FROM posts WHERE author_id = $1 AND deleted_at IS NULL`, ann.ID), int64(8))
}

// A preview of a feed with new guids counts its items once, and as changed only if their text
// changed.
func TestPreviewOfChangedGuids(t *testing.T) {
	w := newWorld(t)
	ann := w.person("ann")
	source := w.source(ann, "blog", sources.Append, `{}`)
	before := func(i int) string { return fmt.Sprintf("https://harbour.example/?p=%d", 100+i) }
	after := func(i int) string { return fmt.Sprintf("6f9619ff-8b86-d011-b42d-00c04fc9%04d", i) }
	w.file(source, weblog(before, 1, 10))
	in := strings.Replace(weblog(after, 3, 12), "The 5. boat", "The fifth boat", 1)
	w.dry = true
	w.same("preview", w.file(source, in).Counts, sources.Counts{Added: 2, Changed: 1, Skipped: 7})
	w.dry = false
	w.same("load", w.file(source, in).Counts, sources.Counts{Added: 2, Changed: 1, Skipped: 7})
}
