package friendfeed

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestText(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain", "just words", "just words"},
		{"empty", "", ""},
		{"entities", "&quot;a&quot; &lt;b&gt; &amp;amp; &#39;c&#39; &eacute;&nbsp;d", `"a" <b> &amp; 'c' é d`},
		{"angle", "1 < 2 and 3 > 2", "1 < 2 and 3 > 2"},
		{"bold", "a <b>bold</b> and <i>slanted</i> <em>word</em>", "a bold and slanted word"},
		{"break", "one<br>two<br/>three<br />four", "one\ntwo\nthree\nfour"},
		{"break and newline", "one<br>\r\ntwo<br><br>three<br><br><br>four", "one\ntwo\n\nthree\n\nfour"},
		{"paragraphs", "<p>one</p><p>two</p>\n<p>three", "one\n\ntwo\n\nthree"},
		{"list", "see:<ul><li>one</li><li>two</li></ul>end", "see:\n\none\ntwo\n\nend"},
		{"newlines kept", "one\r\ntwo\n\n\n\nthree  \nfour", "one\ntwo\n\nthree\nfour"},
		{"link", `read <a href="http://example.org/a">the paper</a>, please`, "read the paper (http://example.org/a), please"},
		{"bare link", `<a rel="nofollow" href="http://example.org/a?b=1&amp;c=2">http://example.org/a?b=1&amp;c=2</a>`, "http://example.org/a?b=1&c=2"},
		{"shortened", `x - <a rel="nofollow" href="http://example.org/beds/north_side" title="http://example.org/beds/north_side">http://example.org/beds...</a>`, "x - http://example.org/beds/north_side"},
		{"shortened with an ellipsis", `<a href="https://www.example.org/long/way">example.org/lo…</a>`, "https://www.example.org/long/way"},
		{"without scheme", `<a href="http://example.org/">www.example.org</a>`, "http://example.org/"},
		{"no shortening of something else", `<a href="http://example.org/a">and so on...</a>`, "and so on... (http://example.org/a)"},
		{"shortener", `<a href="http://sh.example/1" title="http://example.org/a/very/long/way">http://example.org/a/v...</a>`, "http://example.org/a/very/long/way (http://sh.example/1)"},
		{"hashtag", `live <a href="http://friendfeed.com/search?q=%23gardens">#gardens</a> now`, "live #gardens now"},
		{"hashtag elsewhere", `<a href="http://example.org/t">#tag</a>`, "#tag (http://example.org/t)"},
		{"relative", `<a href="/ann">Ann</a>`, "Ann (http://friendfeed.com/ann)"},
		{"mail", `<a href="mailto:ann@example.org">ann@example.org</a>`, "ann@example.org"},
		{"named mail", `<a href="mailto:ann@example.org?subject=x">Ann</a>`, "Ann (ann@example.org)"},
		{"script link", `<a href="javascript:alert(1)">press</a>`, "press"},
		{"link without address", `<a name="x">here</a>`, "here"},
		{"empty link", `<a href="http://example.org/a"></a>`, "http://example.org/a"},
		{"space in a link's text", `a<a href="http://example.org/a"> b </a>c`, "a b (http://example.org/a) c"},
		{"space in an address", `<a href="http://example.org/a b+c">d</a>`, "d (http://example.org/a%20b+c)"},
		{"unclosed link", `see <a href="http://example.org/a">this`, "see this (http://example.org/a)"},
		{"link in link", `<a href="http://example.org/a">a<a href="http://example.org/b">b</a>`, "a (http://example.org/a)b (http://example.org/b)"},
		{"bold link", `<a href="http://example.org/a"><b>strong</b> word</a>`, "strong word (http://example.org/a)"},
		{"picture", `<img src="http://example.org/p.png">`, "http://example.org/p.png"},
		{"named picture", `see <img src="http://example.org/p.png" alt="a plot">`, "see a plot (http://example.org/p.png)"},
		{"linked picture", `<a href="http://example.org/a"><img src="http://example.org/p.png"></a>`, "http://example.org/a"},
		{"data picture", `x<img src="data:image/png;base64,AAAA" alt="dot">`, "xdot"},
		{"script", `a<script>if (1 < 2) { alert("<b>") }</script>b<style>p{}</style>c`, "abc"},
		{"raw text", `<textarea><b>a</b></textarea><title>b</title><xmp><i>c</i></xmp>`, "abc"},
		{"object", `v <object width="425"><param name="movie" value="http://example.org/v"></object>`, "v"},
		{"comment", `a<!-- hidden -->b<!DOCTYPE x>`, "ab"},
		{"controls", "a\x00b\x01c&#2;d\u200b\te", "abcd\u200b e"},
		{"bytes", "a\xffb", "a\uFFFDb"},
		{"handwritten tag", "&lt;img src=x&gt;", "<img src=x>"},
		{"Russian", `Доклад <a href="http://example.org/%D0%B0">о&nbsp;реках</a>`, "Доклад о реках (http://example.org/%D0%B0)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, Text(c.in)); diff != "" {
				t.Errorf("Text(%q): -want +got\n%s", c.in, diff)
			}
		})
	}
}

func FuzzText(f *testing.F) {
	for _, s := range []string{
		"", "a<br>b", `<a href="http://example.org/a">http://example...</a>`, `<a href=x><a href="//y">z`,
		"<p>\x01\x02\x03&#1;&#2;&#3;</p>", "<script><b>", "<plaintext><b>", `<img src="http://a/ b" alt="<b>">`, "&amp;lt;b&amp;gt;",
		"<a href='http://a'> \n <br> </a>x", "a \n \n \n b", "<p><p><li>x</p></p>",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got := Text(in)
		if !utf8.ValidString(got) {
			t.Errorf("Text(%q) = %q: not UTF-8", in, got)
		}
		for _, r := range got {
			if r != '\n' && unicode.IsControl(r) {
				t.Errorf("Text(%q) = %q: holds the control character %U", in, got, r)
			}
		}
		for _, bad := range []string{"\n\n\n", " \n"} {
			if strings.Contains(got, bad) {
				t.Errorf("Text(%q) = %q: holds %q", in, got, bad)
			}
		}
		if got != "" && (got[0] == '\n' || got[len(got)-1] == '\n' || got[0] == ' ' || got[len(got)-1] == ' ') {
			t.Errorf("Text(%q) = %q: space at an end", in, got)
		}
		// Plain text stays unchanged.
		if !strings.ContainsAny(got, "<&") {
			if again := Text(got); again != got {
				t.Errorf("Text(%q) = %q, and again = %q", in, got, again)
			}
		}
	})
}

// A text without markup is read in the same way as one with it.
func TestTextWithoutMarkup(t *testing.T) {
	for _, s := range []string{
		"", " ", "plain", "  two  spaces  inside  ", "tab\tand\u00a0space", "one\ntwo", "one \n\n\n two \n", "\r\nthree\r", "a\x00b\x01c\ufeff",
		"a > b", "\xff bytes", "ещё слово ", "\u2028line",
	} {
		if got, want := Text(s), Text(s+"<b></b>"); got != want {
			t.Errorf("%q: got %q, with markup %q", s, got, want)
		}
	}
}
