package formats

import (
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"
)

// Feeds that are broken in ways that every reader copes with are read, and the problems say what was
// wrong.
func TestBrokenFeedsOfRealLife(t *testing.T) {
	const title = "Причал открыт для всех"
	const western = "Café à l’été, déjà vu: Zürich"
	feed := func(declaration, title string) string {
		return declaration + rss("<item><guid>1</guid><title>"+title+"</title></item>")
	}
	const xml1251, xmlUTF8 = `<?xml version="1.0" encoding="windows-1251"?>`, `<?xml version="1.0" encoding="UTF-8"?>`
	cyrillic := func(s string) string { return encodedAs(charmap.Windows1251, s) }
	latin := func(s string) string { return encodedAs(charmap.Windows1252, s) }
	const php = "<br />\n<b>Warning</b>:  Undefined variable $x in <b>/srv/feed.php</b> on line <b>3</b><br />\n"
	for _, tt := range []struct {
		name, text, charset, title, problems string
	}{
		{"the answer says ISO-8859-1, the file UTF-8", feed(xmlUTF8, title), "iso-8859-1", title, "encoding_guessed"},
		{"the answer says ISO-8859-1, the file nothing", feed("", title), "iso-8859-1", title, "encoding_guessed"},
		{"the answer says ISO-8859-1, the file windows-1251", cyrillic(feed(xml1251, title)), "iso-8859-1", title, "encoding_guessed"},
		{"the answer says UTF-8, the file windows-1251", cyrillic(feed(xml1251, title)), "utf-8", title, "encoding_guessed"},
		{"the answer says windows-1251, the file UTF-8", cyrillic(feed(xmlUTF8, title)), "windows-1251", title, ""},
		{"both say windows-1251", cyrillic(feed(xml1251, title)), "windows-1251", title, ""},
		{"the answer says KOI8-R, the file windows-1251", encodedAs(charmap.KOI8R, feed(xml1251, title)), "koi8-r", title, ""},
		{"a BOM against all", "\xef\xbb\xbf" + feed(xml1251, title), "koi8-r", title, ""},
		{"far behind the beginning", feed(xmlUTF8, strings.Repeat(" ", 200_000)+title), "iso-8859-1", title, "encoding_guessed"},
		{"windows-1251 without a word", cyrillic(feed("", title)), "", title, "encoding_guessed"},
		{"windows-1252 without a word", latin(feed("", strings.Repeat(western, 3))), "", strings.Repeat(western, 3), "encoding_guessed"},
		{"CSV of Excel", cyrillic("id;title\r\n1;" + title + "\r\n"), "", title, "encoding_guessed"},
		{"CSV of Excel in the west", latin("id;title\r\n1;" + strings.Repeat(western, 3) + "\r\n"), "", strings.Repeat(western, 3), "encoding_guessed"},
		{"CSV of Excel that the answer calls UTF-8", cyrillic("id;title\r\n1;" + title + "\r\n"), "utf-8", title, "encoding_guessed"},
		{"a warning of PHP", php + feed(xmlUTF8, title), "", title, "text_around"},
		{"two, and an encoding", cyrillic(php + php + feed(xml1251, title)), "", title, "text_around"},
		{"a notice as text", "PHP Notice:  Undefined index in /srv/a.php on line 1\n" + feed("", title), "", title, "text_around"},
		{"before Atom", "Deprecated: strftime() in /srv/a.php on line 1\n" + `<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>1</id><title>` + title + "</title></entry></feed>", "", title, "text_around"},
		{"before RDF", php + `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"><item rdf:about="1"><title>` + title + "</title></item></rdf:RDF>", "", title, "text_around"},
		{"an encoding with a space before it", cyrillic(feed("", title)), " windows-1251", title, ""},
		{"a script behind", feed(xmlUTF8, title) + "\n<script>if (1 < 2 && x) { track('</b>') }</script>", "", title, "text_around"},
		{"a comment behind", feed(xmlUTF8, title) + "\n<!-- made in 0.2 s -->\n", "", title, ""},
	} {
		items, _, err := readFeed(tt.text, Options{Charset: tt.charset})
		if err != nil || len(items) != 1 {
			t.Errorf("%s: %d items, %v", tt.name, len(items), err)
			continue
		}
		if items[0].Title != tt.title {
			t.Errorf("%s: title %q, want %q", tt.name, items[0].Title, tt.title)
		}
		if got := problemsOf(items); got != tt.problems {
			t.Errorf("%s: problems %q, want %q", tt.name, got, tt.problems)
		}
		if _, err := Detect([]byte(tt.text), "text/plain; charset="+tt.charset); err != nil {
			t.Errorf("%s: not detected: %v", tt.name, err)
		}
	}
	// The place of an error counts from the beginning of the file.
	_, _, err := readFeed(php+"<rss><channel>\n<item><guid>1</guid></rss>", Options{})
	if !isFatal(err, Malformed) || !strings.Contains(err.Error(), "line 4") {
		t.Errorf("got %v, want malformed at line 4", err)
	}
}

// A file with few letters outside of ASCII, all of another encoding that nothing names, is read in that
// encoding. A single letter is taken for one of windows-1252.
func TestFewLettersOfAnotherEncoding(t *testing.T) {
	for _, tt := range []struct {
		name     string
		encoding *charmap.Charmap
		title    string
		want     string
	}{
		{"1 of windows-1251", charmap.Windows1251, "Dock я", "Dock ÿ"},
		{"6 of windows-1251", charmap.Windows1251, "Причал", "Причал"},
		{"8 of windows-1251", charmap.Windows1251, "Пароходы", "Пароходы"},
		{"1 of windows-1252", charmap.Windows1252, "Café", "Café"},
		{"6 of windows-1252", charmap.Windows1252, "Déjà vu: où, été ç", "Déjà vu: où, été ç"},
		{"8 of windows-1252", charmap.Windows1252, "Déjà vu: où, été, Zürich ç ñ", "Déjà vu: où, été, Zürich ç ñ"},
	} {
		for form, text := range map[string]string{
			"CSV": "id;title\r\n1;" + tt.title + "\r\n",
			"RSS": rss("<item><guid>1</guid><title>" + tt.title + "</title></item>"),
		} {
			items, _, err := readFeed(encodedAs(tt.encoding, text), Options{})
			if err != nil || len(items) != 1 {
				t.Errorf("%s, %s: %d items, %v", tt.name, form, len(items), err)
				continue
			}
			if items[0].Title != tt.want || problemsOf(items) != "encoding_guessed" {
				t.Errorf("%s, %s: title %q with %q, want %q", tt.name, form, items[0].Title, problemsOf(items), tt.want)
			}
		}
	}
}
