package view

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
)

func TestText(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"plain", "Hello.", `<p>Hello.</p>`},
		{"nothing", " \n\n ", ""},
		{"paragraphs", "One.\n\nTwo\nlines.\n \n\nThree.", "<p>One.</p><p>Two<br>lines.</p><p>Three.</p>"},
		{"markup is text", `<b>&amp; "x" <script>alert(1)</script>`, `<p>&lt;b&gt;&amp;amp; &#34;x&#34; &lt;script&gt;alert(1)&lt;/script&gt;</p>`},
		{
			"link", "See https://example.org/a?b=c&d=e#f.",
			`<p>See <a href="https://example.org/a?b=c&amp;d=e#f" rel="nofollow noopener ugc"><bdi dir="ltr">example.org/a?b=c&amp;d=e#f</bdi></a>.</p>`,
		},
		{"link in brackets", "(http://example.org/)", `<p>(<a href="http://example.org/" rel="nofollow noopener ugc"><bdi dir="ltr">example.org</bdi></a>)</p>`},
		{
			"long link", "https://example.org/" + strings.Repeat("x", 60),
			`<p><a href="https://example.org/` + strings.Repeat("x", 60) + `" rel="nofollow noopener ugc"><bdi dir="ltr">example.org/` + strings.Repeat("x", 35) + `…</bdi></a></p>`,
		},
		{"quote in link", `http://example.org/"onclick="x`, `<p><a href="http://example.org/" rel="nofollow noopener ugc"><bdi dir="ltr">example.org</bdi></a>&#34;onclick=&#34;x</p>`},
		{"no other schemes", "javascript:alert(1) data:text/html,x ftp://example.org mailto:a@example.org", "<p>javascript:alert(1) data:text/html,x ftp://example.org mailto:a@example.org</p>"},
		{"bare domains are text", "end.Then example.org", "<p>end.Then example.org</p>"},
		{"mention", "@anna and (@bob-b), @cy.", `<p><a href="/anna">@anna</a> and (<a href="/bob-b">@bob-b</a>), @cy.</p>`},
		{"mentions side by side", "@anna @bob", `<p><a href="/anna">@anna</a> <a href="/bob">@bob</a></p>`},
		{"mention in capitals", "@Anna, @BOB-B", `<p><a href="/anna">@Anna</a>, <a href="/bob-b">@BOB-B</a></p>`},
		{"no mention before a hyphen", "@anna- hello, @anna-", "<p>@anna- hello, @anna-</p>"},
		{"no mention", "a@example.org @ann_lee @ann@example.org x@anna foo@Bar", "<p>a@example.org @ann_lee @ann@example.org x@anna foo@Bar</p>"},
		{"marks in a link", "https://example.org/@anna/#tag", `<p><a href="https://example.org/@anna/#tag" rel="nofollow noopener ugc"><bdi dir="ltr">example.org/@anna/#tag</bdi></a></p>`},
		{"hashtag", "#spring, #Весна-2 #1 C# a#b", `<p><a href="/tag/spring">#spring</a>, <a href="/tag/%D0%B2%D0%B5%D1%81%D0%BD%D0%B0">#Весна</a>-2 <a href="/tag/1">#1</a> C# a#b</p>`},
		{"what turns the direction ends with its paragraph", "a\u202eb\n\nc", "<p>a\u202eb\u202c</p><p>c</p>"},
		{"what ends nothing is left out", "a\u2069\u202eb", "<p>a\u202eb\u202c</p>"},
		{"on over a line", "a\u2067b\nc\u2069", "<p>a\u2067b<br>c\u2069</p>"},
		{"over a link", "\u202ehttps://example.org/ \u202c", "<p>\u202e<a href=\"https://example.org/\" rel=\"nofollow noopener ugc\"><bdi dir=\"ltr\">example.org</bdi></a> \u202c</p>"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want := strings.ReplaceAll(tt.want, "<p>", `<p dir="auto">`)
			if diff := cmp.Diff(want, textHTML(tt.in)); diff != "" {
				t.Errorf("textHTML(%q) (-want +got):\n%s", tt.in, diff)
			}
		})
	}
}

// TestShownAddress: a link's text begins with the host it leads to, whatever was written
// to pass for another.
func TestShownAddress(t *testing.T) {
	for _, tt := range []struct{ in, shown, href string }{
		{"https://example.org/a?b#c", "example.org/a?b#c", "https://example.org/a?b#c"},
		{"https://example.org/", "example.org", "https://example.org/"},
		{"HTTPS://Example.ORG", "example.org", "https://example.org"},
		{"https://good.example@evil.example/", "evil.example", "https://evil.example/"},
		{"https://good.example:pass@evil.example/x", "evil.example/x", "https://evil.example/x"},
		{"https://good.example%2Fpath@evil.example/x", "evil.example/x", "https://evil.example/x"},
		{"https://g\u043e\u043ed.example/", "xn--gd-fmca.example", "https://xn--gd-fmca.example/"},
		{"https://\u043f\u0440\u0438\u043c\u0435\u0440.\u0440\u0444/\u043f\u0443\u0442\u044c", "xn--e1afmkfd.xn--p1ai/\u043f\u0443\u0442\u044c", "https://xn--e1afmkfd.xn--p1ai/%D0%BF%D1%83%D1%82%D1%8C"},
		{"https://\uff45\uff56\uff49\uff4c.example/", "evil.example", "https://evil.example/"},
		{"https://example.org:8080/", "example.org:8080", "https://example.org:8080/"},
		{"http://[2001:DB8::1]:80/x", "[2001:db8::1]:80/x", "http://[2001:db8::1]:80/x"},
		{"https://evil.example/\u202emoc.doog", "evil.example/moc.doog", "https://evil.example/%E2%80%AEmoc.doog"},
		{"https://my_host.example/", "my_host.example", "https://my_host.example/"},
		{"https://evil.example/#@good.example", "evil.example/#@good.example", "https://evil.example/#@good.example"},
		{"https://evil.example?@good.example", "evil.example?@good.example", "https://evil.example?@good.example"},
		// The host is never cut, at whose end it stands to whom it belongs.
		{
			"https://good.example." + strings.Repeat("a.", 40) + "evil.example/" + strings.Repeat("x", 20),
			"good.example." + strings.Repeat("a.", 40) + "evil.example/\u2026", "https://good.example." + strings.Repeat("a.", 40) + "evil.example/" + strings.Repeat("x", 20),
		},
	} {
		href, ok := webAddress(tt.in)
		if got := shownAddress(tt.in); !ok || got != tt.shown || href != tt.href {
			t.Errorf("%q: shown %q, leads to %q (%v); want %q and %q", tt.in, got, href, ok, tt.shown, tt.href)
		}
	}
	for _, in := range []string{
		"https://", "javascript:alert(1)", "https://good.example\\@evil.example/", "https://%E2%80%AEevil.example/", "https://a b/", "https://\u202eevil.example/",
		"https://exa<mple.org/", "https://@/", "//example.org/", "https://.../",
	} {
		if href, ok := webAddress(in); ok {
			t.Errorf("%q is taken for an address that leads to %q", in, href)
		}
	}
}

func TestBalance(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"", ""},
		{"plain", "plain"},
		{"\u202a\u202b\u202d\u202e", "\u202a\u202b\u202d\u202e\u202c\u202c\u202c\u202c"},
		{"\u2066\u2067\u2068", "\u2066\u2067\u2068\u2069\u2069\u2069"},
		{"\u202c\u2069a", "a"},
		{"\u2067\u202ea\u2069b\u202c", "\u2067\u202ea\u2069b"},           // the isolate's end is the override's too
		{"\u202e\u2067\u202ca\u2069\u202c", "\u202e\u2067a\u2069\u202c"}, // nothing inside an isolate ends what is around it
		{"\u2067a\u2069\u2069b", "\u2067a\u2069b"},
	} {
		var b Balance
		got := ""
		for _, r := range tt.in { // in stretches
			got += b.Pass(string(r))
		}
		if got += b.End(); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.in, got, tt.want)
		}
		if Unturned(got) != Unturned(tt.in) || strings.ContainsFunc(Unturned(got), Turns) {
			t.Errorf("%q: unturned %q", tt.in, Unturned(got))
		}
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
	for paragraph := range strings.SplitSeq(out, "</p>") {
		if (&Balance{}).Pass(paragraph) != paragraph || strings.Count(paragraph, "\u202c")+strings.Count(paragraph, "\u2069") > strings.Count(in, "") {
			t.Errorf("textHTML(%q): %q ends what it has not begun", in, paragraph)
		}
	}
	var read strings.Builder
	var shortened bool
	open := ""
	z := html.NewTokenizer(strings.NewReader(out))
	for {
		switch z.Next() {
		case html.ErrorToken:
			if !shortened {
				if got, want := Unturned(squeezed(read.String())), Unturned(squeezed(in)); got != want {
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
			case "bdi":
				if open != "a" {
					t.Errorf("textHTML(%q) = %q has a <bdi> outside of a link", in, out)
				}
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
			host, _, _ := strings.Cut(strings.SplitN(a.Val, "://", 2)[1], "/")
			if strings.ContainsFunc(host, func(r rune) bool { return r >= utf8.RuneSelf || r == '@' }) {
				t.Errorf("textHTML(%q) leads to %q, whose host is not plain", in, a.Val)
			}
		default:
			t.Errorf("textHTML(%q) has an attribute %s=%q", in, a.Key, a.Val)
		}
	}
	return true
}

// squeezed is a text without its white space, which paragraphs rearrange.
func squeezed(s string) string { return strings.Join(strings.Fields(s), "") }
