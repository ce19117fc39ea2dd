package formats

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
)

// manyItems is a file of n items of about 1 kB, made while it is read.
type manyItems struct {
	open, item, last, shut string
	n, at                  int
	rest                   string
	look                   func()
}

func (m *manyItems) Read(p []byte) (int, error) {
	for m.rest == "" {
		switch {
		case m.at == 0:
			m.rest = m.open
		case m.at < m.n:
			m.rest = strings.ReplaceAll(m.item, "%d", fmt.Sprint(m.at))
		case m.at == m.n:
			m.rest = strings.ReplaceAll(m.last, "%d", fmt.Sprint(m.at)) + m.shut
		default:
			return 0, io.EOF
		}
		if m.at++; m.look != nil && m.at%50_000 == 0 {
			m.look()
		}
	}
	n := copy(p, m.rest)
	m.rest = m.rest[n:]
	return n, nil
}

// ofOneKilobyte returns files with items of about 1 kB, by format.
func ofOneKilobyte(n int) map[Format]*manyItems {
	const words = "The harbour opens again on Monday, and boats may land here from nine. "
	text := strings.Repeat(words, 9)
	html := strings.Repeat("<p>The <b>harbour</b> opens again on Monday, see <a href=\"https://a.example/t\">tides</a>.</p>", 6)
	date := "Mon, 23 Nov 2025 18:30:05 +0000"
	ownXML := "<item><id>item-%d</id><title>The harbour opens, part %d</title><text>" + text + "</text><url>https://harbour.example/news/%d</url><date>2025-11-24T10:00:00Z</date><author>Ines</author><categories><category>news</category><category>boats</category></categories><pictures><picture>https://harbour.example/%d.jpg</picture></pictures></item>\n"
	row := "item-%d,\"The harbour opens, part %d\",\"" + text + text[:200] + "\",https://harbour.example/news/%d,2025-11-24T10:00:00Z,Ines,news|boats,https://harbour.example/%d.jpg\n"
	line := `{"id":"item-%d","title":"The harbour opens, part %d","text":"` + text + text[:100] + `","url":"https://harbour.example/news/%d","date":"2025-11-24T10:00:00Z","author":"Ines","categories":["news","boats"],"pictures":["https://harbour.example/%d.jpg"]}` + "\n"
	rssItem := "<item><title>The harbour opens, part %d</title><link>https://harbour.example/news/%d</link><guid isPermaLink=\"false\">item-%d</guid><pubDate>" + date + "</pubDate><dc:creator>Ines</dc:creator><category>news</category><description><![CDATA[" + html + "]]></description></item>\n"
	entry := `<entry><id>urn:item-%d</id><title>The harbour opens, part %d</title><link href="https://harbour.example/news/%d"/><updated>2025-11-24T10:00:00Z</updated><author><name>Ines</name></author><content type="html">` + escaped(html) + "</content></entry>\n"
	jsonItem := `{"id":"item-%d","title":"The harbour opens, part %d","url":"https://harbour.example/news/%d","date_published":"2025-11-24T10:00:00Z","content_html":"` + strings.ReplaceAll(html, `"`, `\"`) + `","tags":["news"]}`
	return map[Format]*manyItems{
		XML:      {open: `<items xmlns="` + Namespace + `">`, item: ownXML, last: ownXML, shut: "</items>", n: n},
		CSV:      {open: "id,title,text,url,date,author,categories,pictures\n", item: row, last: row, n: n},
		NDJSON:   {item: line, last: line, n: n},
		RSS:      {open: `<rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><title>T</title>`, item: rssItem, last: rssItem, shut: "</channel></rss>", n: n},
		Atom:     {open: `<feed xmlns="http://www.w3.org/2005/Atom"><title>T</title>`, item: entry, last: entry, shut: "</feed>", n: n},
		JSONFeed: {open: `{"version":"https://jsonfeed.org/version/1.1","items":[`, item: jsonItem + ",", last: jsonItem, shut: "]}", n: n},
	}
}

// Items of 1 kB, from bytes to canonical lines.
//
//	go test ./timelines/sources/formats -run '^$' -bench Canonical
func BenchmarkCanonical(b *testing.B) {
	const n = 2000
	for _, f := range Formats {
		text, err := io.ReadAll(ofOneKilobyte(n)[f])
		if err != nil {
			b.Fatal(err)
		}
		b.Run(string(f), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				s, err := Canonical(io.Discard, strings.NewReader(string(text)), Options{Format: f, Now: now})
				if err != nil || s.Lines != n || len(s.Codes) > 0 {
					b.Fatalf("%+v, %v", s, err)
				}
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "items/s")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// A comparison with the stored items reads the id and the hash of each line.
func BenchmarkReadCanonical(b *testing.B) {
	const n = 2000
	var file strings.Builder
	if _, err := Canonical(&file, ofOneKilobyte(n)[XML], Options{Now: now}); err != nil {
		b.Fatal(err)
	}
	for _, decode := range []bool{false, true} {
		b.Run(fmt.Sprintf("items=%v", decode), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				lines, err := ReadCanonical(strings.NewReader(file.String()), 0)
				for err == nil {
					var l *Line
					if l, err = lines.Next(); err == nil && decode {
						_, err = l.Item()
					}
				}
				if !errors.Is(err, io.EOF) {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "items/s")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// Many items take at most 24 bytes each, beside the memory for one. RIVERRUN_SOAK reads a million of
// each format.
func TestMemoryOfManyItems(t *testing.T) {
	n := 60_000
	formats := []Format{NDJSON}
	if os.Getenv("RIVERRUN_SOAK") != "" {
		n, formats = 1_000_000, Formats
	}
	for _, f := range formats {
		m := newMemory()
		in := ofOneKilobyte(n)[f]
		in.look = m.look
		r, err := NewReader(in, Options{Format: f, Now: now})
		items := 0
		for err == nil {
			if _, err = r.Next(); err == nil {
				items++
			}
		}
		if !errors.Is(err, io.EOF) || items != n {
			t.Fatalf("%s: %d items, %v", f, items, err)
		}
		m.look()
		runtime.KeepAlive(r)
		t.Logf("%s: %d items, the heap grew by %d bytes", f, n, m.most)
		if most := int64(n)*24 + 1<<20; m.most > most {
			t.Errorf("%s: the heap grew by %d bytes, want at most %d", f, m.most, most)
		}
	}
}

// Lines can be read from any line on.
func TestReadCanonicalFrom(t *testing.T) {
	var file strings.Builder
	if _, err := Canonical(&file, strings.NewReader(rss(many("<item><guid>g%d</guid><title>a</title></item>", 10)+"<item><guid>long</guid><description>"+strings.Repeat("word ", 20_000)+"</description></item>")), Options{Now: now}); err != nil {
		t.Fatal(err)
	}
	for after := range 12 {
		lines, err := ReadCanonical(strings.NewReader(file.String()), after)
		if err != nil {
			t.Fatal(err)
		}
		for n := after + 1; n <= 11; n++ {
			want := fmt.Sprintf("g%d", n-1)
			if n == 11 {
				want = "long"
			}
			if l, err := lines.Next(); err != nil || l.No != n || l.ID != want {
				t.Fatalf("after %d: %+v, %v, want line %d of %s", after, l, err, n, want)
			}
		}
		if _, err := lines.Next(); !errors.Is(err, io.EOF) {
			t.Fatalf("after %d: %v", after, err)
		}
	}
	if _, err := ReadCanonical(strings.NewReader(file.String()), 12); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("behind the end: %v", err)
	}
	cut := file.String()[:file.Len()-1]
	lines, err := ReadCanonical(strings.NewReader(cut), 10)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lines.Next(); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a line without end: %v", err)
	}
}
