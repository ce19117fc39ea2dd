package web

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
)

func TestText(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"plain", "Hello.", "<p>Hello.</p>"},
		{"nothing", " \n\n ", ""},
		{"paragraphs", "One.\n\nTwo\nlines.\n \n\nThree.", "<p>One.</p><p>Two<br>lines.</p><p>Three.</p>"},
		{"markup is text", `<b>&amp; "x" <script>alert(1)</script>`, `<p>&lt;b&gt;&amp;amp; &#34;x&#34; &lt;script&gt;alert(1)&lt;/script&gt;</p>`},
		{
			"link", "See https://example.org/a?b=c&d=e#f.",
			`<p>See <a href="https://example.org/a?b=c&amp;d=e#f" rel="nofollow noopener ugc">example.org/a?b=c&amp;d=e#f</a>.</p>`,
		},
		{"link in brackets", "(http://example.org/)", `<p>(<a href="http://example.org/" rel="nofollow noopener ugc">example.org</a>)</p>`},
		{
			"long link", "https://example.org/" + strings.Repeat("x", 60),
			`<p><a href="https://example.org/` + strings.Repeat("x", 60) + `" rel="nofollow noopener ugc">example.org/` + strings.Repeat("x", 35) + `…</a></p>`,
		},
		{"quote in link", `http://example.org/"onclick="x`, `<p><a href="http://example.org/" rel="nofollow noopener ugc">example.org</a>&#34;onclick=&#34;x</p>`},
		{"no other schemes", "javascript:alert(1) data:text/html,x ftp://example.org mailto:a@example.org", "<p>javascript:alert(1) data:text/html,x ftp://example.org mailto:a@example.org</p>"},
		{"bare domains are text", "end.Then example.org", "<p>end.Then example.org</p>"},
		{"mention", "@anna and (@bob-b), @cy.", `<p><a href="/anna">@anna</a> and (<a href="/bob-b">@bob-b</a>), @cy.</p>`},
		{"mentions side by side", "@anna @bob", `<p><a href="/anna">@anna</a> <a href="/bob">@bob</a></p>`},
		{"mention in capitals", "@Anna, @BOB-B", `<p><a href="/anna">@Anna</a>, <a href="/bob-b">@BOB-B</a></p>`},
		{"no mention before a hyphen", "@anna- hello, @anna-", "<p>@anna- hello, @anna-</p>"},
		{"no mention", "a@example.org @ann_lee @ann@example.org x@anna foo@Bar", "<p>a@example.org @ann_lee @ann@example.org x@anna foo@Bar</p>"},
		{"marks in a link", "https://example.org/@anna/#tag", `<p><a href="https://example.org/@anna/#tag" rel="nofollow noopener ugc">example.org/@anna/#tag</a></p>`},
		{"hashtag", "#spring, #Весна-2 #1 C# a#b", `<p><a href="/tag/spring">#spring</a>, <a href="/tag/%D0%B2%D0%B5%D1%81%D0%BD%D0%B0">#Весна</a>-2 <a href="/tag/1">#1</a> C# a#b</p>`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, textHTML(tt.in)); diff != "" {
				t.Errorf("textHTML(%q) (-want +got):\n%s", tt.in, diff)
			}
		})
	}
}

// FuzzText: whatever people write, the page keeps its own elements only, every
// address is one a browser may be sent to, and the text read is the text
// written.
func FuzzText(f *testing.F) {
	for _, seed := range []string{
		"", "Hello.\n\nYou.", "<img src=x onerror=alert(1)>", "http://example.org/<b>", "@anna#tag@bob",
		"https://пример.рф/путь?а=б", "javascript:alert(1)//http://x.org", "http://a.org/\"'><script>", "#a#b @a-b--c",
		"http://[::1]/", "https://user:pass@example.org:99999/", "http://a.org/%zz", "\u202egnp.exe http://a.org/\u202e",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		if !utf8.ValidString(in) || strings.ContainsAny(in, "\x00\r") {
			return // the store takes none of these
		}
		checkText(t, in, textHTML(in))
	})
}

func checkText(t *testing.T, in, out string) {
	t.Helper()
	var read strings.Builder
	var shortened bool
	open := ""
	z := html.NewTokenizer(strings.NewReader(out))
	for {
		switch z.Next() {
		case html.ErrorToken:
			if !shortened {
				if got, want := squeezed(read.String()), squeezed(in); got != want {
					t.Errorf("textHTML(%q) = %q reads %q, want %q", in, out, got, want)
				}
			}
			return
		case html.TextToken:
			read.WriteString(z.Token().Data)
		case html.StartTagToken:
			token := z.Token()
			switch token.Data {
			case "p", "br":
				read.WriteString(" ")
			case "a":
				shortened = checkLink(t, in, token) || shortened
			default:
				t.Errorf("textHTML(%q) = %q has a <%s>", in, out, token.Data)
			}
			if open == "a" && token.Data == "a" {
				t.Errorf("textHTML(%q) = %q has a link in a link", in, out)
			}
			if token.Data == "a" {
				open = "a"
			}
		case html.EndTagToken:
			if z.Token().Data == "a" {
				open = ""
			}
		default:
			t.Errorf("textHTML(%q) = %q has a %v", in, out, z.Token())
		}
	}
}

// checkLink returns whether the link's text may differ from what was written.
func checkLink(t *testing.T, in string, token html.Token) bool {
	t.Helper()
	for _, a := range token.Attr {
		switch {
		case a.Key == "rel":
		case a.Key == "href" && strings.HasPrefix(a.Val, "/tag/") && len(a.Val) > 5 && !strings.ContainsAny(a.Val[5:], "/\\.:@?#"):
		case a.Key == "href" && strings.HasPrefix(a.Val, "/") && len(a.Val) >= 4 && !strings.ContainsAny(a.Val[1:], "/\\.:@?#"):
			return false
		case a.Key == "href" && (strings.HasPrefix(a.Val, "http://") || strings.HasPrefix(a.Val, "https://")):
		default:
			t.Errorf("textHTML(%q) has an attribute %s=%q", in, a.Key, a.Val)
		}
	}
	return true
}

// squeezed is a text without its white space, which paragraphs rearrange.
func squeezed(s string) string { return strings.Join(strings.Fields(s), "") }
