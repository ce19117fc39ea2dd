package formats

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDiscover(t *testing.T) {
	for _, c := range []struct {
		name, page, contentType string
		want                    []Discovered
	}{
		{name: "nothing", page: "<html><body>x"},
		{name: "empty", page: ""},
		{
			name: "of each kind", page: `<head>
<link rel="alternate" type="application/rss+xml" title="Anna &raquo; Feed" href="https://anna.example/feed/" />
<link rel=alternate type='application/atom+xml; charset=utf-8' href=/atom.xml>
<LINK REL="Alternate" TYPE="application/feed+json" HREF="feed.json"/>
<link rel="alternate" type="application/json" href="https://anna.example/wp-json/wp/v2/posts/1" />
<link rel="alternate" type="application/json" href="https://anna.example/feed.json" />
<link rel="alternate" hreflang="de" href="https://anna.example/de" />
<link rel="alternate" type="application/rss+xml" href="https://anna.example/feed/" />
<link rel="stylesheet alternate" href="x.css"><link rel="feed" href="/other"></head>`,
			want: []Discovered{
				{"https://anna.example/feed/", "Anna » Feed", "application/rss+xml"},
				{"https://site.example/atom.xml", "", "application/atom+xml"},
				{"https://site.example/a/feed.json", "", "application/feed+json"},
				{"https://anna.example/feed.json", "", "application/json"},
				{"https://site.example/other", "", ""},
			},
		},
		{
			name: "base", page: `<base href="//b.example/c/"><link rel=alternate type=application/rss+xml href=x>`,
			want: []Discovered{{"https://b.example/c/x", "", "application/rss+xml"}},
		},
		{
			name: "not of the web", page: `<link rel=alternate type=application/rss+xml href="javascript:x"><link rel=alternate type=application/rss+xml href="data:,x"><link rel=alternate type=application/rss+xml href="">`,
			want: []Discovered{{"https://site.example/a/", "", "application/rss+xml"}},
		},
		{name: "in comments and scripts", page: `<!-- <link rel=alternate type=application/rss+xml href=x> --><script>"<link rel=alternate type=application/rss+xml href=x>"</script>`},
		{
			name: "encoding", page: `<link rel=alternate type=application/rss+xml href=x title="` + "\xcb\xe5\xed\xf2\xe0" + `">`, contentType: "text/html; charset=windows-1251",
			want: []Discovered{{"https://site.example/a/x", "Лента", "application/rss+xml"}},
		},
	} {
		got, err := Discover(strings.NewReader(c.page), "https://site.example/a/", c.contentType)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
	page := many("<link rel=alternate type=application/rss+xml href=%d>", 50)
	if got, err := Discover(strings.NewReader(page), "https://site.example/", ""); err != nil || len(got) != maxDiscovered {
		t.Errorf("%d of many, %v", len(got), err)
	}
	if _, err := Discover(io.MultiReader(strings.NewReader("<p>"), failing{}), "", ""); !errors.Is(err, errBroken) {
		t.Errorf("got %v, want the error of the reader", err)
	}
	m := newMemory()
	for _, then := range []string{"<p>", "a", "<a b='", "<!--", "<link rel=alternate href=javascript:x>"} {
		if got, err := Discover(&endless{then: then, left: 100 << 20, look: m.look}, "", ""); err != nil || len(got) > 0 {
			t.Errorf("endless %q: %v, %v", then, got, err)
		}
	}
	if m.look(); m.most > 32<<20 {
		t.Errorf("the heap grew by %d bytes", m.most)
	}
}

func TestOPML(t *testing.T) {
	const list = `<?xml version="1.0"?><opml version="1.0"><head><title>Mine</title></head><body>
<outline text="Sea"><outline text="Boats" title="Boats &amp; more" type="rss" xmlUrl="https://boats.example/feed" htmlUrl="https://boats.example/"/>
<outline text="Deep"><outline text="x" xmlUrl="https://deep.example/feed"/></outline></outline>
<outline text="bad" xmlUrl="javascript:x"/><outline xmlUrl="https://last.example/"/>
</body></opml>`
	want := []Outline{
		{"https://boats.example/feed", false, "Boats & more", "https://boats.example/", []string{"Sea"}, 2},
		{"https://deep.example/feed", false, "x", "", []string{"Sea", "Deep"}, 3},
		{"javascript:x", true, "bad", "", nil, 4},
		{"https://last.example/", false, "", "", nil, 4},
	}
	got, err := ParseOPML(strings.NewReader(list))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for text, code := range map[string]Code{
		"": NotAFeed, "words": NotAFeed, wordpress: NotAFeed, "<html>": Page, list[:300]: Truncated,
		`<!DOCTYPE a [<!ENTITY b "c">]>` + list: Entity, "<opml>" + strings.Repeat("<outline>", 200): TooDeep,
	} {
		if got, err := ParseOPML(strings.NewReader(text)); !isFatal(err, code) {
			t.Errorf("%.40q: %v, %v, want %s", text, got, err, code)
		}
	}
	long := "<opml><body>" + many("<outline xmlUrl='https://a.example/%d'/>", maxOutlines) + "%s</body></opml>"
	if got, err := ParseOPML(strings.NewReader(fmt.Sprintf(long, ""))); err != nil || len(got) != maxOutlines {
		t.Errorf("%d feeds, %v", len(got), err)
	}
	got, err = ParseOPML(strings.NewReader(fmt.Sprintf(long, "<outline xmlUrl='https://b.example/'/>")))
	if !isFatal(err, TooMany) || len(got) != maxOutlines {
		t.Errorf("%d feeds, %v, want %s", len(got), err, TooMany)
	}
}
