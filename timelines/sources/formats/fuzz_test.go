package formats

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

// seeds adds the small files of the tables.
func seeds(add func(string)) {
	for _, f := range goodFeeds {
		add(f.text)
	}
	for _, h := range hostiles() {
		if len(h.text) < 4000 {
			add(h.text + strings.Repeat(h.then, 3))
		}
	}
	for _, files := range []map[string]string{validFiles, invalidFiles} {
		for _, text := range files {
			if len(text) < 4000 {
				add(text)
			}
		}
	}
	add(string(Example(CSV)))
	add(string(Example(NDJSON)))
}

// Any file gives valid items and then an end or a typed error. Its lines are the same when they are
// written and read again.
func FuzzRead(f *testing.F) {
	seeds(func(s string) { f.Add([]byte(s), uint8(0)) })
	formats := append([]Format{""}, Formats...)
	f.Fuzz(func(t *testing.T, data []byte, format uint8) {
		o := Options{
			Format: formats[int(format)%len(formats)], Base: "https://base.example/feed", Now: now,
			Limits: Limits{Bytes: 1 << 20, ItemBytes: 2000, Items: 1000},
		}
		checkLines(t, data, o)
	})
}

// checkLines reads a file twice, in pieces of different lengths, and compares the lines. It also
// checks that reading the lines back gives the same.
func checkLines(t *testing.T, data []byte, o Options) {
	t.Helper()
	var one, other bytes.Buffer
	summary, err := Canonical(&one, bytes.NewReader(data), o)
	_, err2 := Canonical(&other, oneByOne{bytes.NewReader(data)}, o)
	if err != nil {
		var f *Fatal
		if !errors.As(err, &f) || levels[f.Code] != LevelFatal {
			t.Fatalf("%v is no error of this package", err)
		}
		if !errors.Is(err2, f) {
			t.Fatalf("at once: %v, byte by byte: %v", err, err2)
		}
		return
	}
	if err2 != nil {
		t.Fatalf("byte by byte: %v", err2)
	}
	if !bytes.Equal(one.Bytes(), other.Bytes()) {
		t.Fatalf("got\n%s\nand byte by byte\n%s", &one, &other)
	}
	lines, err := ReadCanonical(bytes.NewReader(one.Bytes()), 0)
	if err != nil {
		t.Fatal(err)
	}
	var again []byte
	n := 0
	for {
		l, err := lines.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		i, err := l.Item()
		if err != nil {
			t.Fatal(err)
		}
		if n++; l.No != n || l.ID != i.ID || l.Bad != i.Bad || l.Hash != i.Hash() {
			t.Fatalf("the line %+v is not of the item %+v", l, i)
		}
		checkItem(t, "", i)
		again = AppendLine(again, i)
	}
	if n != summary.Lines {
		t.Fatalf("%d lines, want %d", n, summary.Lines)
	}
	if !bytes.Equal(again, one.Bytes()) {
		t.Fatalf("got\n%s\nwant\n%s", again, &one)
	}
}

func FuzzDiscover(f *testing.F) {
	seeds(func(s string) { f.Add([]byte(s), "") })
	f.Add([]byte(`<base href="//b.example/"><link rel="alternate" type="application/rss+xml" href="x" title="a">`), "text/html; charset=koi8-r")
	f.Fuzz(func(t *testing.T, data []byte, contentType string) {
		feeds, err := Discover(bytes.NewReader(data), "https://base.example/", contentType)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range feeds {
			if !hasWebScheme(d.URL) || strings.ContainsAny(d.Title, "\n\x00") {
				t.Fatalf("%+v", d)
			}
		}
	})
}

func FuzzParseOPML(f *testing.F) {
	seeds(func(s string) { f.Add([]byte(s)) })
	f.Add([]byte(`<opml><body><outline text="a"><outline xmlUrl="https://a.example/" title="b"/></outline></body></opml>`))
	f.Fuzz(func(t *testing.T, data []byte) {
		feeds, err := ParseOPML(bytes.NewReader(data))
		var fatal *Fatal
		if err != nil && !errors.As(err, &fatal) {
			t.Fatal(err)
		}
		for _, o := range feeds {
			if !o.Invalid && !hasWebScheme(o.URL) || len(o.Folders) > 100 {
				t.Fatalf("%+v", o)
			}
		}
	})
}

func FuzzHTMLText(f *testing.F) {
	for _, s := range []string{"<p>a<br>b</p>", `<a href="/x">b</a>`, "<ul><li>a<ol><li>b", "<pre> a\n  b</pre>", "<script>x</script>", "<img src=x alt=y>", "<svg><svg></svg>", "a &lt; b &nbsp; c"} {
		f.Add(s)
	}
	seeds(func(s string) { f.Add(s) })
	base := mustURL("https://base.example/")
	f.Fuzz(func(t *testing.T, s string) {
		text, found := htmlText(s, base)
		if strings.ContainsAny(text, "\r\x00\t\x1b") || strings.Contains(text, "\n\n\n") || strings.Contains(text, " \n") || strings.TrimSpace(text) != text {
			t.Fatalf("%q is not clean", text)
		}
		if len(found.pictures) > maxFound || len(found.files) > maxFound {
			t.Fatalf("%d pictures, %d files", len(found.pictures), len(found.files))
		}
		// A text without tags comes out unchanged.
		if title := oneLine(htmlTitle(s)); strings.ContainsAny(title, "\n\r\x00") {
			t.Fatalf("the title %q", title)
		}
	})
}
