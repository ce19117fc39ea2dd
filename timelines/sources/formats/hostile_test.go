package formats

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"riverrun/timelines/rules"
)

func isFatal(err error, c Code) bool {
	var f *Fatal
	return errors.As(err, &f) && f.Code == c
}

func mustURL(s string) *url.URL {
	u, err := url.Parse(s)
	if err != nil {
		panic(err)
	}
	return u
}

func compressed(s string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(s)); err != nil {
		panic(err)
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return b.String()
}

// hostile is a file made to do harm, or by a broken program.
type hostile struct {
	name string
	text string
	// then follows the text again and again, without an end.
	then    string
	options Options

	fatal    Code   // "" for none
	items    int    // read before the error; anyItems for any number
	problems string // codes in the order of the items, each once in a row
}

const anyItems = -1

func rss(items string) string { return fmt.Sprintf(rss2, items) }

func rssItem(fields string) string {
	return rss("<item><guid>1</guid><title>a</title>" + fields + "</item>")
}

func hostiles() []hostile {
	const open = `<rss version="2.0"><channel><title>T</title>`
	const item = `<item><guid>1</guid><title>a</title>`
	const atom = `<feed xmlns="http://www.w3.org/2005/Atom">`
	const json = `{"version":"https://jsonfeed.org/version/1.1","items":[`
	return []hostile{
		// Files without anything, or of another kind.
		{name: "empty", text: "", fatal: Empty},
		{name: "white space", text: " \r\n\t\n", fatal: Empty},
		{name: "BOM alone", text: "\xef\xbb\xbf", fatal: Empty},
		{name: "endless white space", then: " \n", fatal: Empty},
		{name: "page", text: "<!doctype html><title>Not found</title>", fatal: Page},
		{name: "page as RSS", text: "<!doctype html><title>Not found</title>", options: Options{Format: RSS}, fatal: NotAFeed},
		{name: "JSON array", text: "[1,2]", fatal: NotAFeed},
		{name: "other JSON", text: `{}`, fatal: NotAFeed},
		{name: "OPML", text: `<opml version="2.0"><body/></opml>`, fatal: NotAFeed},
		{name: "SVG", text: `<svg xmlns="http://www.w3.org/2000/svg"/>`, fatal: NotAFeed},
		{name: "picture", text: "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", fatal: NotAFeed},
		{name: "NULs", then: "\x00", fatal: NotAFeed},
		{name: "items of another namespace", text: "<items><item/></items>", fatal: NotAFeed},
		{name: "XML declaration alone", text: `<?xml version="1.0"?>`, fatal: NotAFeed},
		{name: "table without id", text: "name,title\n1,a\n", options: Options{Format: CSV}, fatal: NotAFeed},

		// Bombs.
		{name: "billion laughs", text: `<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY lol "lol"><!ENTITY lol2 "&lol;&lol;&lol;&lol;">]><rss><channel><item><title>&lol2;</title></item></channel></rss>`, fatal: Entity},
		{name: "entity in small letters", text: `<!DOCTYPE a [<!entity b "c">]>` + rss(""), fatal: Entity},
		{name: "external entity", text: `<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>` + rssItem("<description>&x;</description>"), fatal: Entity},
		{name: "parameter entity", text: `<!DOCTYPE a [ <!ENTITY % x SYSTEM "http://127.0.0.1/"> %x; ]>` + rss(""), fatal: Entity},
		{name: "entity behind the items", text: rssItem("") + `<!DOCTYPE a [<!ENTITY b "c">]>`, fatal: Entity, items: 1},
		{name: "entity in a commented subset", text: `<!DOCTYPE a [<!-- ' --><!ENTITY b "c">]>` + rss(""), fatal: Entity},
		{name: "external DTD", text: `<!DOCTYPE rss SYSTEM "http://127.0.0.1/rss.dtd">` + rssItem(""), items: 1},
		{name: "endless DTD", text: "<!DOCTYPE a [", then: "<!ELEMENT a ANY>", options: Options{Format: RSS}, fatal: TooLarge},
		{name: "deep", text: open + item, then: "<a>", fatal: TooDeep},
		{name: "deep in the head", text: open, then: "<a>", fatal: TooDeep},
		{name: "deep channels", text: "<rss>", then: "<channel>", fatal: TooDeep},
		{name: "deep HTML", text: rssItem("<description>" + strings.Repeat("&lt;div>", 50_000) + "x</description>"), items: 1},
		{name: "deep lists", text: rssItem("<description>" + strings.Repeat("&lt;ul>&lt;li>", 50_000) + "x</description>"), items: 1},
		{name: "many attributes", text: open + "<item ", then: "a='b' ", fatal: TooLarge},
		{name: "many namespaces", text: open + "<item ", then: "xmlns:a='b' ", fatal: TooLarge},
		{name: "namespaces at each depth", text: open + strings.Repeat("<a "+many("xmlns:n%d='x' ", 50)+">", 50), fatal: TooLarge},
		{name: "endless attribute", text: open + "<item a='", then: "bbbbbbbb", fatal: TooLarge},
		{name: "endless name", text: open + "<", then: "bbbbbbbb", fatal: TooLarge},
		{name: "endless text", text: open + item + "<description>", then: "bbbb &amp; ", fatal: TooLarge},
		{name: "endless CDATA", text: open + item + "<description><![CDATA[", then: "bbbb ]] ", fatal: TooLarge},
		{name: "endless comment", text: open + "<!--", then: "bbbb -- ", fatal: TooLarge},
		{name: "endless instruction", text: "<?", then: "bbbb ? ", options: Options{Format: Atom}, fatal: TooLarge},
		{name: "endless title of the feed", text: "<rss><channel><title>", then: "bbbb ", fatal: TooLarge},
		{name: "endless elements in an item", text: open + item, then: "<a b='c'>d</a>", fatal: TooLarge},
		{name: "endless categories", text: open + item, then: "<category>c</category>", fatal: TooLarge},
		{name: "endless items", text: open, then: "<item><title>a</title><link>https://a.example/</link></item>", options: Options{Limits: Limits{Items: 1000}}, fatal: TooMany, items: 1000, problems: "id_repeated"},
		{name: "endless ids", text: open + "<item>", then: "<guid>1</guid>", fatal: TooLarge},
		{name: "endless entries", text: atom, then: "<entry><id>1</id><title>a</title></entry>", options: Options{Limits: Limits{Items: 100}}, fatal: TooMany, items: 100, problems: "id_repeated"},
		{name: "endless own item", text: `<items xmlns="` + Namespace + `"><item><id>1</id><text>`, then: "bbbbbbbb ", fatal: TooLarge},
		{name: "gzip of much", text: compressed(open + strings.Repeat(" ", 8<<20)), options: Options{Limits: Limits{Bytes: 1 << 20}}, fatal: TooLarge},
		{name: "gzip in gzip", text: compressed(compressed(rss(""))), fatal: Encoding},
		{name: "gzip cut off", text: compressed(wordpress)[:700], fatal: Truncated},
		{name: "gzip broken", text: compressed(wordpress)[:10] + strings.Repeat("\xff", 100), fatal: Malformed},
		{name: "gzip header alone", text: "\x1f\x8b", fatal: Truncated},
		{name: "JSON, deep", text: json, then: `{"a":[`, fatal: TooDeep},
		{name: "JSON, deep arrays", text: json, then: "[", fatal: TooDeep},
		{name: "JSON, endless string", text: json + `{"id":"1","title":"`, then: "bbbbbbbb", fatal: TooLarge},
		{name: "JSON, endless head", text: `{"version":"https://jsonfeed.org/version/1","title":"`, then: `b\"bbbb`, fatal: TooLarge},
		{name: "JSON, endless number", text: json + `{"id":`, then: "1", fatal: TooLarge},
		{name: "JSON, endless items", text: json + `{"id":"1"}`, then: `,{"id":"2","title":"a"}`, options: Options{Limits: Limits{Items: 5}}, fatal: TooMany, items: 5, problems: "title_and_text_missing id_repeated"},
		{name: "JSON, large number", text: json + `{"id":1e999999,"title":"a","date_published":` + strings.Repeat("9", 5000) + `}]}`, items: 1, problems: "date_invalid"},
		{name: "NDJSON, endless line", text: `{"id":"1","title":"a"}` + "\n" + `{"id":"`, then: "bbbbbbbb", fatal: TooLarge, items: 1},
		{name: "NDJSON, deep", text: `{"id":"1","title":"a"}` + "\n" + `{"id":"2","title":` + strings.Repeat("[", 500) + strings.Repeat("]", 500) + "}\n", items: 2, problems: "item_invalid id_missing"},
		{name: "NDJSON, too deep for JSON", text: `{"id":"1","title":"a"}` + "\n" + `{"id":` + strings.Repeat("[", 20_000) + "\n", items: 2, problems: "item_invalid id_missing"},
		{name: "CSV, 10,000 columns", text: "id," + strings.Repeat("x,", 10_000) + "\n", fatal: TooLarge},
		{name: "CSV, endless row", text: "id,title\n", then: "x,", fatal: TooLarge},
		{name: "CSV, quote never closed", text: "id,title\n1,\"a", then: "b\n", fatal: TooLarge},
		{name: "CSV, endless header", text: "id", then: ",x", fatal: TooLarge},

		{name: "tags without end", text: rssItem("<description><![CDATA[" + strings.Repeat("<p ", 300_000) + "]]></description>"), items: 1, problems: "text_long"},
		{name: "links without end", text: rssItem("<description><![CDATA[" + strings.Repeat("<a href='https://a.example/'>", 30_000) + "]]></description>"), items: 1},
		{name: "videos without end", text: rssItem("<description><![CDATA[" + strings.Repeat("<video>", 100_000) + "]]></description>"), items: 1},
		{name: "sounds without end", text: rssItem("<description><![CDATA[" + strings.Repeat("<audio>", 100_000) + "]]></description>"), items: 1},
		{name: "references without end", text: rssItem("<description>" + strings.Repeat("&amp;lt", 100_000) + "</description>"), items: 1, problems: "text_long"},
		{name: "end tags without beginning", text: rssItem(strings.Repeat("<a>", 90) + strings.Repeat("</b>", 200_000)), items: 1},

		// Encodings.
		{name: "says UTF-8, is windows-1251", text: encodedAs1251(), fatal: Encoding, items: anyItems},
		{name: "says nothing, is windows-1251", text: strings.Replace(encodedAs1251(), ` encoding="utf-8"`, "", 1), items: 1, problems: "date_invalid encoding_guessed"},
		{name: "says an encoding nobody knows", text: `<?xml version="1.0" encoding="klingon"?>` + rssItem("<description>ё</description>"), items: 1},
		{name: "says UTF-16, is UTF-8", text: `<?xml version="1.0" encoding="utf-16"?>` + rssItem("<description>ё</description>"), items: 1},
		{name: "says UTF-7", text: `<?xml version="1.0" encoding="utf-7"?>` + rssItem("<description>+ADw-script+AD4-</description>"), items: 1},
		{name: "half a character", text: rssItem("<description>ё caf\xc3</description>"), items: 1, problems: "text_broken"},
		{name: "overlong UTF-8", text: rssItem("<description>ё \xc0\xbcscript\xc0\xbe</description>"), items: 1, problems: "text_broken"},
		{name: "surrogates in UTF-8", text: rssItem("<description>ё \xed\xa0\xbd\xed\xb8\x80</description>"), items: 1, problems: "text_broken"},
		{name: "UTF-16 of half a character", text: encodedUTF16(rssItem("")) + "\xd8", items: 1, problems: "text_around"},
		{name: "NULs between", text: rssItem("<description>a\x00b\x00</description>"), items: 1},
		{name: "CSV in windows-1251", text: "id;title\n1;\xcf\xf0\xe8\xf7\xe0\xeb \xee\xf2\xea\xf0\xfb\xf2\n", items: 1, problems: "encoding_guessed"},
		{name: "JSON, lone surrogate", text: json + `{"id":"1","title":"a\ud800b"}]}`, items: 1, problems: "text_broken"},

		// Not well-formed.
		{name: "cut off", text: open + item, fatal: Truncated},
		{name: "cut off behind an item", text: open + item + "</item>", fatal: Truncated, items: 1},
		{name: "item in an item", text: open + item + item + "</item></item></channel></rss>", fatal: Malformed},
		{name: "item that does not end", text: open + item + "</channel></rss>", fatal: Malformed},
		{name: "two roots", text: rssItem("") + rssItem(""), fatal: Malformed, items: 1},
		{name: "Atom behind RSS", text: rssItem("") + atom + "</feed>", fatal: Malformed, items: 1},
		{name: "an item behind the root", text: rssItem("") + "<item><guid>2</guid><title>b</title></item>", fatal: Malformed, items: 1},
		{name: "an item behind words behind the root", text: rssItem("") + "Warning<item><guid>2</guid></item>", fatal: Malformed, items: 1, problems: "text_around"},
		{name: "an entry behind the root", text: atom + "<id>1</id></feed><entry><id>2</id><title>b</title></entry>", fatal: Malformed},
		{name: "words behind the root", text: rssItem("") + "<!-- cached --> Warning: mysql_close()", items: 1, problems: "text_around"},
		{name: "a warning before the root", text: "Warning: mysql_connect()\n" + rssItem(""), items: 1, problems: "text_around"},
		{name: "words before the root", text: "Welcome!\n" + rssItem(""), fatal: NotAFeed},
		{name: "a script behind the root", text: rssItem("") + "<script>if (a < b && c) {}</script>", items: 1, problems: "text_around"},
		{name: "crossed tags behind the root", text: rssItem("") + "</div></p> <b", items: 1, problems: "text_around"},
		{name: "bytes of no encoding", text: rssItem("<description>" + strings.Repeat("\xc3\x28", 20) + "\x01</description>"), fatal: Encoding, items: anyItems},
		{name: "tags crossed", text: rssItem("<description><b><i>x</b></i></description>"), items: 1},
		{name: "end tags of nothing", text: rssItem("<description>a</p></div></description></span>"), items: 1},
		{name: "end tag of the channel in an item", text: open + item + "<description>x</channel>", fatal: Malformed},
		{name: "end tag of nothing in the head", text: "<rss><channel></title></channel></rss>", fatal: Malformed},
		{name: "CDATA in CDATA", text: rssItem("<description><![CDATA[a <![CDATA[b]]> c ]]></description>"), items: 1},
		{name: "CDATA never closed", text: open + item + "<description><![CDATA[a</description></item></channel></rss>", fatal: Truncated},
		{name: "CDATA of brackets", text: rssItem("<description><![CDATA[]]]]]]></description>"), items: 1},
		{name: "comment never closed", text: open + "<!-- " + item + "</item></channel></rss>", fatal: Truncated},
		{name: "comment with tags", text: rss("<!-- <item><guid>1</guid></item> -->"), items: 0},
		{name: "bare ampersands", text: rssItem("<description>a & b &; &# &#x; &nosuch; &#99999999999; &#xd800;</description>"), items: 1, problems: "text_broken"},
		{name: "controls by reference", text: rssItem("<description>a&#0;b&#1;c&#x1f;d</description>"), items: 1},
		{name: "unquoted attributes", text: rssItem("<enclosure url=https://a.example/1.mp3 type=audio/mpeg length=1 x/>"), items: 1},
		{name: "quote in an attribute never closed", text: open + `<item a="` + item + "</item></channel></rss>", fatal: Truncated},
		{name: "less-than in a tag", text: open + "<item <b>", fatal: Malformed},
		{name: "JSON, cut off", text: json + `{"id":"1","title":"a"}`, fatal: Truncated},
		{name: "JSON, comma missing", text: json + `{"id":"1","title":"a"} {"id":"2"}]}`, fatal: Malformed},
		{name: "JSON, item broken", text: json + `{"id":"1","title":"a"},{"id" "2"}]}`, fatal: Malformed, items: 1},
		{name: "JSON, comma behind the last", text: json + `{"id":"1","title":"a"},]}`, fatal: Malformed, items: 1},
		{name: "JSON, two feeds", text: json + `]}{}`, fatal: Malformed},
		{name: "JSON, items are no array", text: `{"version":"https://jsonfeed.org/version/1.1","items":{}}`, fatal: NotAFeed},
		{name: "JSON, items of all kinds", text: json + `1,null,"a",[],true,{}]}`, items: 6, problems: "item_invalid id_missing item_invalid id_missing item_invalid id_missing item_invalid id_missing item_invalid id_missing id_missing title_and_text_missing"},
		{name: "NDJSON, a line is broken", text: `{"id":"1","title":"a"}` + "\n{{{\n" + `{"id":"2","title":"b"}`, items: 3, problems: "item_invalid id_missing"},
		{name: "NDJSON, cut off", text: `{"id":"1","title":"a"}` + "\n" + `{"id":"2","ti`, fatal: Truncated, items: 1},
		{name: "NDJSON, other values", text: `{"id":"1","title":"a"}` + "\n[1]\nnull\n", items: 3, problems: "item_invalid id_missing item_invalid id_missing"},
		{name: "CSV, quote inside", text: "id,title\n1,a\"b\n", fatal: Malformed},
		{name: "CSV, words behind a quote", text: "id,title\n1,\"a\"b\n2,c\n", fatal: Malformed},
		{name: "CSV, quote open at the end", text: "id,title\n1,\"a\n", fatal: Truncated},
		{name: "CSV, too many and too few", text: "id,title\n1,a,b\n2\n3,c\n", items: 3, problems: "number_of_fields number_of_fields"},
		{name: "CSV, last row cut off", text: "id,title\n1,a\n2", fatal: Truncated, items: 1},
		{name: "CSV, columns twice and unknown", text: "id,title,TITLE,colour\n1,a,b,c\n2,d,e,f\n", items: 2, problems: "field_twice field_unknown"},

		// Items.
		{name: "no id", text: rss("<item><title>a</title></item>"), items: 1},
		{name: "nothing that tells an item", text: rss("<item><category>a</category></item>"), items: 1, problems: "id_missing title_and_text_missing"},
		{name: "long id", text: rss("<item><guid>" + strings.Repeat("x", 1025) + "</guid><title>a</title></item>"), items: 1, problems: "id_long"},
		{name: "id of a megabyte", text: rss("<item><guid>" + strings.Repeat("x", 1<<20) + "</guid><title>a</title></item>"), items: 1, problems: "id_missing item_large"},
		{name: "control in an id", text: rss("<item><guid>a\x01b</guid><title>a</title></item>"), items: 1, problems: "id_control"},
		{name: "line break in an id", text: rss("<item><guid>a\nb</guid><title>a</title></item>"), items: 1, problems: "id_control"},
		{name: "one id in two spellings", text: rss("<item><guid>caf\u00e9</guid><title>a</title></item><item><guid>cafe\u0301</guid><title>b</title></item>"), items: 2, problems: "id_repeated"},
		{name: "nothing in it", text: rss("<item/><item></item>"), items: 2, problems: "id_missing title_and_text_missing id_missing title_and_text_missing"},
		{name: "nothing to see", text: rss("<item><guid isPermaLink='false'>1</guid><title>\u200b \u00ad\x00</title></item>"), items: 1, problems: "title_and_text_missing"},
		{name: "large item among others", text: rss("<item><guid>1</guid><title>a</title></item><item><guid>2</guid><description>" + strings.Repeat("x ", 1<<20) + "</description></item><item><guid>3</guid><title>c</title></item>"), items: 3, problems: "item_large"},
		{name: "large attribute", text: rss("<item a='" + strings.Repeat("x", 2<<20) + "'><guid>1</guid></item>"), items: 1, problems: "id_missing item_large"},
		{name: "JSON, large item", text: json + `{"id":"1","content_text":"` + strings.Repeat("x ", 1<<20) + `"},{"id":"2","title":"b"}]}`, items: 2, problems: "item_large"},
		{name: "NDJSON, large line", text: `{"id":"1","text":"` + strings.Repeat("x ", 1<<20) + "\"}\n" + `{"id":"2","title":"b"}`, items: 2, problems: "item_large"},
		{name: "dates", text: rss(dated1("Mon, 01 Jan 0000 00:00:00 GMT") + dated1("99999-01-01T00:00:00Z") + dated1("0000-00-00 00:00:00") + dated1("2099-01-01") + dated1("-1") + dated1("1969-12-31T23:59:59Z") + dated1(strings.Repeat("1", 10_000))), items: 7, problems: "date_old date_invalid date_invalid date_future date_invalid date_old date_invalid"},
		{name: "script in a title", text: rss(`<item><guid>1</guid><title>&lt;script>alert(1)&lt;/script>&lt;b>x&lt;/b></title></item>`), items: 1},
		{name: "addresses that are none", text: rss("<item><guid>1</guid><title>a</title><link>javascript:alert(1)</link><enclosure url='data:text/html,x'/><enclosure url='file:///etc/passwd' type='image/png'/></item>"), items: 1, problems: "file_invalid picture_invalid url_invalid"},
		{name: "relative address without base", text: rss("<item><guid>1</guid><title>a</title><link>/x</link></item>"), items: 1, problems: "url_invalid"},
		{name: "long address", text: rss("<item><guid>1</guid><title>a</title><link>https://a.example/" + strings.Repeat("x", 3000) + "</link></item>"), items: 1, problems: "url_long"},
		{name: "address with a line break", text: rss("<item><guid>1</guid><title>a</title><link>https://a.example/\nx</link></item>"), items: 1, problems: "url_invalid"},
		{name: "long title and text", text: rss("<item><guid>1</guid><title>" + strings.Repeat("é", 501) + "</title><description>" + strings.Repeat("ж", 30_001) + "</description></item>"), items: 1, problems: "title_long text_long"},
		{name: "many of each", text: rss("<item><guid>1</guid><title>a</title>" + many("<category>%d</category>", 60) + many("<enclosure url='https://a.example/%d.jpg' type='image/jpeg'/>", 30) + many("<enclosure url='https://a.example/%d.mp3' type='audio/mpeg'/>", 30) + "</item>"), items: 1, problems: "category_many picture_many file_many"},
		{name: "pictures in a text", text: rssItem("<description>" + many("&lt;img src='https://a.example/%d.jpg'>", 1000) + "</description>"), items: 1, problems: "picture_many"},
		{name: "many problems", text: rss("<item><guid>1</guid><title>a</title>" + many("<enclosure url='x:%d' type='image/jpeg'/>", 1000) + "</item>"), items: 1, problems: "picture_invalid problem_many"},
		{name: "places", text: rssItem("<georss:point>91 0</georss:point><georss:point>1</georss:point><geo:lat>NaN</geo:lat><geo:long>1e2</geo:long>"), items: 1, problems: "place_invalid place_invalid place_invalid"},
		{name: "language", text: rssItem("<dc:language>" + strings.Repeat("x-", 1000) + "</dc:language>"), items: 1, problems: "language_unknown"},
		{name: "JSON, keys twice", text: json + `{"id":"1","id":"2","title":"a","title":"b"}]}`, items: 1, problems: "field_twice field_twice"},
		{name: "JSON, objects for texts", text: json + `{"id":{},"title":["a"],"content_text":true}]}`, items: 1, problems: "field_invalid field_invalid field_invalid id_missing title_and_text_missing"},
		{name: "NDJSON, keys", text: `{"id":"1","title":"a","title":"b","colour":"red","categories":{"a":1}}`, items: 1, problems: "field_twice field_unknown field_invalid"},
		{name: "equal ids", text: rss(strings.Repeat("<item><guid>1</guid><title>a</title></item>", 100_000)), items: 100_000, problems: "id_repeated"},
		{name: "other ids", text: rss(many("<item><guid>%d</guid><title>a</title></item>", 100_000)), items: 100_000},
	}
}

func dated1(s string) string {
	return fmt.Sprintf("<item><guid>%.40s</guid><title>a</title><pubDate>%[1]s</pubDate></item>", s)
}

func encodedAs1251() string {
	return strings.Replace(goodFeeds["windows-1251"].text, "windows-1251", "utf-8", 1)
}

// endless repeats a text until left bytes were read. It looks at the memory now and then.
type endless struct {
	then string
	at   int
	left int64
	look func()
	next int64
}

func (e *endless) Read(p []byte) (int, error) {
	if e.left <= 0 {
		return 0, errors.New("nobody stopped reading")
	}
	n := 0
	for n < len(p) {
		k := copy(p[n:], e.then[e.at:])
		n += k
		e.at = (e.at + k) % len(e.then)
	}
	e.left -= int64(n)
	if e.next -= int64(n); e.next < 0 && e.look != nil {
		e.look()
		e.next = 16 << 20
	}
	return n, nil
}

// endlessBytes returns how much of an endless file is read.
func endlessBytes() int64 {
	if os.Getenv("RIVERRUN_SOAK") != "" {
		return 1 << 30
	}
	return 8 << 20
}

// problemRuns lists codes. A run of items with the same codes counts once.
func problemRuns(runs []string, i *Item) []string {
	var codes []string
	for _, p := range i.Problems {
		if n := len(codes); n == 0 || codes[n-1] != string(p.Code) || p.Code == PlaceInvalid || p.Code == FieldTwice || p.Code == FieldInvalid {
			codes = append(codes, string(p.Code))
		}
	}
	s := strings.Join(codes, " ")
	if n := len(runs); s == "" || s == string(IDRepeated) && n > 0 && runs[n-1] == s {
		return runs
	}
	return append(runs, s)
}

// mostTime is far above what a file of that many bytes takes on a busy machine, and far below what one
// takes that is read in quadratic time: a file that is 128 times as long would take 16,384 times as long.
func mostTime(bytes int64) time.Duration {
	return max(20*time.Second, time.Duration(bytes>>20)*200*time.Millisecond)
}

// Each hostile file has its error or its problems, and takes little memory and time.
func TestHostileFeeds(t *testing.T) {
	all := hostiles()
	if len(all) < 60 {
		t.Errorf("only %d files", len(all))
	}
	most := endlessBytes()
	names := map[string]bool{}
	for _, h := range all {
		if names[h.name] {
			t.Errorf("%s stands there twice", h.name)
		}
		names[h.name] = true
		m := newMemory()
		var in io.Reader = strings.NewReader(h.text)
		o := h.options
		o.Now = now
		if h.then != "" {
			in = io.MultiReader(in, &endless{then: h.then, left: most + 10<<20, look: m.look})
			if o.Limits.Bytes == 0 {
				o.Limits.Bytes = most
			}
		}
		got, items, began := h, 0, time.Now()
		r, err := NewReader(in, o)
		var runs []string
		for err == nil {
			var i *Item
			if i, err = r.Next(); err == nil {
				items++
				runs = problemRuns(runs, i)
				checkItem(t, h.name, i)
			}
		}
		m.look()
		runtime.KeepAlive(r)
		got.fatal, got.problems = "", strings.Join(runs, " ")
		var f *Fatal
		if errors.As(err, &f) {
			got.fatal = f.Code
		} else if !errors.Is(err, io.EOF) {
			t.Errorf("%s: %v", h.name, err)
		}
		if h.items != anyItems {
			got.items = items
		}
		if got.fatal != h.fatal || got.items != h.items || got.problems != h.problems {
			t.Errorf("%s:\n got %q, %d items, %q (%v)\nwant %q, %d items, %q", h.name, got.fatal, got.items, got.problems, err, h.fatal, h.items, h.problems)
		}
		limit := mostTime(0)
		if h.then != "" {
			limit = mostTime(most)
		}
		if took := time.Since(began); took > limit {
			t.Errorf("%s: took %v, want at most %v", h.name, took, limit)
		}
		if m.most > 64<<20 {
			t.Errorf("%s: the heap grew by %d bytes, want at most 64 MiB", h.name, m.most)
		}
	}
	t.Logf("%d files, endless ones of %d MiB", len(all), most>>20)
}

// checkItem finds mistakes that no item may have, whatever it was read from.
func checkItem(t *testing.T, name string, i *Item) {
	t.Helper()
	if len(i.ID) > rules.ItemIDLong.Most || len([]rune(i.Title)) > rules.ItemTitle.Most || len([]rune(i.Text)) > rules.ItemText.Most || len(i.URL) > rules.ItemURLLong.Most ||
		len(i.Categories) > rules.ItemCategoryMany.Most || len(i.Pictures) > rules.ItemPictureMany.Most || len(i.Files) > rules.ItemFileMany.Most || len(i.Problems) > MaxProblems+11 {
		t.Errorf("%s: more than may be: %+v", name, i)
	}
	if strings.ContainsAny(i.ID, "\n\r\x00") || strings.ContainsAny(i.Title+i.Author, "\n\r\x00\u202e") || strings.ContainsAny(i.Text, "\r\x00\t\x1b") || strings.Contains(i.Text, "\n\n\n") || strings.Contains(i.Text, " \n") {
		t.Errorf("%s: a text that is not clean: %q %q %q", name, i.ID, i.Title, i.Text)
	}
	if (i.ID == "") != (i.Has(IDMissing) || i.Has(IDLong) || i.Has(IDControl)) && !(i.ID != "" && (i.Has(IDLong) || i.Has(IDControl))) {
		t.Errorf("%s: id %q with %v", name, i.ID, i.Problems)
	}
	bad := false
	for _, p := range i.Problems {
		if p.Level != levels[p.Code] || p.Level == "" || len([]rune(p.Value)) > MaxValueRunes {
			t.Errorf("%s: %+v", name, p)
		}
		bad = bad || p.Level == LevelError
	}
	if bad != i.Bad {
		t.Errorf("%s: bad is %v with %v", name, i.Bad, i.Problems)
	}
	addresses := []string{i.URL}
	for _, p := range i.Pictures {
		addresses = append(addresses, p.URL)
	}
	for _, f := range i.Files {
		addresses = append(addresses, f.URL)
	}
	for _, a := range addresses {
		if a != "" && !hasWebScheme(a) {
			t.Errorf("%s: the address %q", name, a)
		}
	}
	if l := i.At; !l.IsZero() && (l.Year() < 1970 || l.After(now.AddDate(0, 0, 2))) {
		t.Errorf("%s: the date %v", name, l)
	}
}

// memory measures how much the live heap grows.
type memory struct{ before, most int64 }

func newMemory() *memory {
	m := &memory{}
	m.before = live()
	return m
}

func (m *memory) look() { m.most = max(m.most, live()-m.before) }

func live() int64 {
	runtime.GC()
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64())
}

// A good file that is cut off anywhere gives the same first items, and then an error that says so.
func TestCutOff(t *testing.T) {
	files := map[string]string{
		"rss": wordpress, "atom": goodFeeds["reddit"].text, "json feed": jsonFeed11, "rdf": goodFeeds["rdf"].text,
		"xml": string(Example(XML)), "ndjson": string(Example(NDJSON)), "compressed": goodFeeds["compressed"].text,
		"several": rss(many("<item><guid>%d</guid><title>a</title></item>", 30)),
	}
	for name, text := range files {
		whole, err := readAll(text, Options{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		text = strings.TrimRight(text, " \n")
		format := Format("")
		step := max(len(text)/200, 1)
		for n := 1; n < len(text); n += step {
			if n > headBytes || strings.HasPrefix(name, "several") {
				format = ""
			}
			items, err := readAll(text[:n], Options{Format: format})
			var f *Fatal
			lineEnds := name == "ndjson" && (text[n] == '\n' || text[n-1] == '\n')
			switch {
			case err == nil && lineEnds:
			case !errors.As(err, &f):
				t.Fatalf("%s cut off at %d: %v with %d items", name, n, err, len(items))
			case f.Code == Truncated, f.Code == Malformed:
			case len(items) == 0 && (f.Code == NotAFeed || f.Code == Empty || f.Code == Page):
			default:
				t.Fatalf("%s cut off at %d: %v", name, n, err)
			}
			if len(items) > len(whole) {
				t.Fatalf("%s cut off at %d: %d items", name, n, len(items))
			}
			for k, i := range items {
				if i.Hash() != whole[k].Hash() {
					t.Fatalf("%s cut off at %d: item %d is another", name, n, k)
				}
			}
		}
	}
}

// The place of an error is the place of the mistake in the file.
func TestPlaces(t *testing.T) {
	_, err := readAll("<rss><channel>\n<title>T</title>\n  <oops </channel></rss>", Options{})
	var f *Fatal
	if !errors.As(err, &f) || f.Line != 3 || f.Column != 9 || !strings.Contains(f.Excerpt, "<oops </channel>") {
		t.Errorf("got %+v", f)
	}
	_, err = readAll("{\"version\":\"https://jsonfeed.org/version/1\",\n\"items\":[\n  {\"id\":\n   oops}]}", Options{})
	if !errors.As(err, &f) || f.Line != 4 || f.Column != 4 {
		t.Errorf("got %+v", f)
	}
	items, err := readAll(rss("\n<item>\n<guid>1</guid><title>a</title>\n<pubDate>oops</pubDate></item>"), Options{})
	if err != nil || items[0].Line != 2 || items[0].Problems[0].Line != 4 || items[0].Problems[0].Value != "oops" || items[0].Problems[0].Field != "pubDate" {
		t.Errorf("got %v, %+v", err, items[0])
	}
}
