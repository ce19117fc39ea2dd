package formats

import (
	"io"
	"slices"
	"strings"
	"testing"

	"riverrun/timelines/rules"
)

// Items without an id are known by their contents. Two items with one address and different titles
// are two, and each keeps its id when the other is gone, once it is known that addresses are shared.
func TestItemsWithoutIDs(t *testing.T) {
	const a, b = "<item><title>A</title><link>https://a.example/news</link></item>", "<item><title>B</title><link>https://a.example/news</link></item>"
	const alone = "<item><title>C</title><link>https://a.example/c</link></item>"
	ids := func(text string, shared ...int64) (all []string) {
		t.Helper()
		items, _, err := readFeed(text, Options{Shared: shared})
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range items {
			id := i.ID
			if i.Bad {
				id = strings.TrimSpace("bad " + string(i.Problems[len(i.Problems)-1].Code))
			}
			all = append(all, id)
		}
		return all
	}
	same := func(what string, got []string, want ...string) {
		t.Helper()
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	news := HashAddress("https://a.example/news")
	keyA, keyB := keyOf(LinkKey, "https://a.example/news", "A"), keyOf(LinkKey, "https://a.example/news", "B")
	same("one of an address", ids(rss(a+alone)), "https://a.example/news", "https://a.example/c")
	same("two of an address", ids(rss(a+b)), "https://a.example/news", keyB)
	same("two of an address, known", ids(rss(a+b), news), keyA, keyB)
	same("two of an address, and another", ids(rss(a+alone+b), news), keyA, "https://a.example/c", keyB)
	same("the first is gone", ids(rss(b), news), keyB)
	same("the same twice", ids(rss(a+a)), "https://a.example/news", "bad id_repeated")
	same("the same twice, known", ids(rss(a+a), news), keyA, "bad id_repeated")
	same("ids", ids(rss("<item><guid>1</guid>"+a[6:]+"<item><guid>1</guid>"+b[6:])), "1", "bad id_repeated")
	same("an id that is too long", ids(rss("<item><guid>"+strings.Repeat("1", rules.ItemIDLong.Most+1)+"</guid>"+a[6:])), "bad id_long")
	link := a[strings.Index(a, "<link>"):]
	same("texts of an address", ids(rss("<item><description>A</description>"+link+"<item><description> A\n</description>"+link+"<item><description>B</description>"+link)), "https://a.example/news", "bad id_repeated", keyB)
	same("a title and a text, a title of both", ids(rss("<item><title>A</title><description>B</description></item><item><title>AB</title></item>")), keyOf(contentKey, "A", "B"), keyOf(contentKey, "AB", ""))
	titles := ids(rss("<item><title>A</title></item><item><description>A</description></item><item><title> A\n</title></item><item><title>A</title><description>x</description></item>"))
	same("titles and texts", titles, keyOf(contentKey, "A", ""), keyOf(contentKey, "", "A"), "bad id_repeated", keyOf(contentKey, "A", "x"))
	same("files alone", ids(rss("<item><enclosure url='https://a.example/1.mp3' type='audio/mpeg'/></item>")), keyOf(contentKey, "https://a.example/1.mp3", ""))
	same("pictures alone", ids(rss("<item><enclosure url='https://a.example/1.png' type='image/png'/></item>")), keyOf(contentKey, "https://a.example/1.png", ""))
	same("nothing", ids(rss("<item/>")), "bad title_and_text_missing")
	same("JSON", ids(`{"version":"https://jsonfeed.org/version/1","items":[{"title":"A","url":"https://a.example/news"},{"title":"B","url":"https://a.example/news"},{"content_text":"c"}]}`), "https://a.example/news", keyB, keyOf(contentKey, "", "c"))
	same("JSON, in other fields", ids(`{"version":"https://jsonfeed.org/version/1","items":[{"summary":"a"},{"content_html":"b"}]}`), keyOf(contentKey, "", "a"), keyOf(contentKey, "", "b"))
	same("our own formats need ids", ids("id,title\n,a\n"), "bad id_missing")
	for text, want := range map[string]Summary{
		rss(a + alone):                      {ByLink: 2},
		rss(a + b):                          {ByLink: 2, Sharing: []int64{news}},
		rss("<item><guid>1</guid>" + a[6:]): {},
		rss(a + a):                          {ByLink: 2},
	} {
		if s, err := Canonical(io.Discard, strings.NewReader(text), Options{Now: now}); err != nil || s.ByLink != want.ByLink || !slices.Equal(s.Sharing, want.Sharing) {
			t.Errorf("%s: %+v, %v", text, s, err)
		}
	}
}
