package markup

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"riverrun/timelines/marks"
)

// allowed are the elements of HTML, with their attributes and the values these may have. An
// address is checked by checkAddress.
var allowed = map[string]map[string][]string{
	"p":  {"dir": {"auto"}},
	"ul": {"dir": {"auto"}}, "ol": {"dir": {"auto"}}, "li": {}, "blockquote": {}, "br": {},
	"em": {}, "strong": {}, "del": {},
	"pre": {"dir": {"ltr"}}, "code": {"dir": {"ltr"}}, "bdi": {"dir": {"ltr"}},
	"a":     {"href": nil, "rel": {"nofollow noopener ugc"}},
	"span":  {"class": {"spoiler"}, "hidden": {""}},
	"input": {"type": {"checkbox"}, "aria-label": {"Spoiler"}, "aria-labelledby": {SpoilerLabel}},
}

// maxDepth is how deep elements may be nested.
const maxDepth = 20

// reader reads HTML as a browser does, and checks it.
type reader struct {
	t      *testing.T
	source string
	out    string

	text  strings.Builder // as it is shown
	links []string        // to names and tags
}

// check checks whatever must hold for the HTML of any source.
func check(t *testing.T, source string) {
	t.Helper()
	r := reader{t: t, source: source, out: HTML(source)}
	r.checkTags()
	nodes, err := html.ParseFragment(strings.NewReader(r.out), &html.Node{Type: html.ElementNode, Data: "div", DataAtom: atom.Div})
	if err != nil {
		t.Fatalf("HTML(%q) = %q: %v", source, r.out, err)
	}
	for _, n := range nodes {
		r.read(n, nil)
	}
	if storable(source) {
		r.checkText()
	}
}

// checkTags checks that the elements are written as they will be read: each closed, none
// moved by the browser's repairs. It also checks that no block turns the direction of others.
func (r *reader) checkTags() {
	r.t.Helper()
	var open []string
	var turned Balance
	ends := func() {
		if end := turned.End(); end != "" {
			r.t.Errorf("HTML(%q) = %q does not end a direction in a block", r.source, r.out)
		}
	}
	z := html.NewTokenizer(strings.NewReader(r.out))
	for {
		switch z.Next() {
		case html.ErrorToken:
			if len(open) > 0 {
				r.t.Errorf("HTML(%q) = %q leaves %q open", r.source, r.out, open)
			}
			return
		case html.StartTagToken:
			token := z.Token()
			if !slices.Contains(inlines, token.Data) {
				ends()
			}
			if r.checkElement(token); token.Data != "br" && token.Data != "input" {
				open = append(open, token.Data)
			}
			if len(open) > maxDepth {
				r.t.Fatalf("HTML(%q) has elements in a depth of %d", r.source, len(open))
			}
		case html.EndTagToken:
			name := z.Token().Data
			if len(open) == 0 || open[len(open)-1] != name {
				r.t.Fatalf("HTML(%q) = %q closes <%s>, and %q are open", r.source, r.out, name, open)
			}
			if open = open[:len(open)-1]; !slices.Contains(inlines, name) {
				ends()
			}
		case html.TextToken:
			if text := string([]rune(z.Token().Data)); turned.Pass(text) != text {
				r.t.Errorf("HTML(%q) = %q: %q ends a direction that the block has not begun", r.source, r.out, text)
			}
		default:
			r.t.Errorf("HTML(%q) = %q has a %v", r.source, r.out, z.Token())
		}
	}
}

func (r *reader) checkElement(token html.Token) {
	r.t.Helper()
	attributes, ok := allowed[token.Data]
	if !ok {
		r.t.Errorf("HTML(%q) = %q has a <%s>", r.source, r.out, token.Data)
	}
	for _, a := range token.Attr {
		values, ok := attributes[a.Key]
		if a.Key == "href" && ok {
			r.checkAddress(a.Val)
		} else if !slices.Contains(values, a.Val) {
			r.t.Errorf("HTML(%q) = %q has a %s=%q at <%s>", r.source, r.out, a.Key, a.Val, token.Data)
		}
	}
}

func (r *reader) checkAddress(href string) {
	r.t.Helper()
	if strings.ContainsFunc(href, func(c rune) bool { return c <= ' ' }) {
		r.t.Errorf("HTML(%q) leads to %q, which has spaces", r.source, href)
	}
	if path, ok := strings.CutPrefix(href, "/"); ok {
		path = strings.TrimPrefix(path, "tag/")
		if path == "" || strings.ContainsAny(path, "/\\.:@?#") {
			r.t.Errorf("HTML(%q) leads to %q", r.source, href)
		}
		return
	}
	u, err := url.Parse(href)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || strings.ContainsFunc(u.Host, func(c rune) bool { return c >= utf8.RuneSelf }) {
		r.t.Errorf("HTML(%q) leads to %q, %v", r.source, href, err)
	}
}

// inlines are the elements that may stand in a paragraph.
var inlines = []string{"br", "em", "strong", "del", "code", "bdi", "a", "span", "input"}

// read reads a node inside of others.
func (r *reader) read(n *html.Node, above []*html.Node) {
	r.t.Helper()
	inside := func(name string) bool {
		return slices.ContainsFunc(above, func(n *html.Node) bool { return n.Data == name })
	}
	switch {
	case n.Type == html.TextNode:
		r.text.WriteString(n.Data)
		return
	case (n.Data == "a" || n.Data == "input") && inside("a"):
		r.t.Errorf("HTML(%q) = %q has an <%s> in a link", r.source, r.out, n.Data)
	case !slices.Contains(inlines, n.Data) && (inside("p") || inside("span")):
		r.t.Errorf("HTML(%q) = %q has a <%s> in a paragraph", r.source, r.out, n.Data)
	case (n.Data == "ul" || n.Data == "ol") && n.FirstChild == nil:
		r.t.Errorf("HTML(%q) = %q has an empty list", r.source, r.out)
	}
	switch n.Data {
	case "a":
		if href := n.Attr[0].Val; href[0] == '/' {
			r.links = append(r.links, href)
		}
	case "input":
		r.text.WriteString(spoilerMask)
	}
	if len(n.Attr) > 0 && n.Attr[0].Key == "hidden" {
		shown := r.text.String()
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			r.read(c, append(above, n))
		}
		r.text.Reset()
		r.text.WriteString(shown)
		return
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		r.read(c, append(above, n))
	}
}

// checkText checks that the text is that of Plain, and that the names and tags which count
// are the linked ones.
func (r *reader) checkText() {
	r.t.Helper()
	plain := Plain(r.source)
	if Unturned(plain) != plain {
		r.t.Errorf("Plain(%q) = %q turns", r.source, plain)
	}
	if got := squeezed(Unturned(r.text.String())); got != squeezed(plain) {
		r.t.Errorf("HTML(%q) = %q reads %q, and Plain %q", r.source, r.out, got, plain)
	}
	// Signs that hide, leave out or shorten letters are exempt: ||, links, the names of languages
	// behind ```, and addresses.
	if !slices.ContainsFunc([]string{"||", "](", "```", "://"}, func(sign string) bool { return strings.Contains(r.source, sign) }) {
		if got, want := letters(plain), letters(r.source); got != want {
			r.t.Errorf("Plain(%q) = %q has the letters %q, want %q", r.source, plain, got, want)
		}
	}
	prose := Prose(r.source)
	if len(prose) != len(r.source) || strings.Count(prose, "\n") != strings.Count(r.source, "\n") {
		r.t.Errorf("Prose(%q) = %q", r.source, prose)
	}
	var count []string
	for _, m := range marks.In(prose) {
		if r.source[m.From:m.To] != prose[m.From:m.To] {
			r.t.Errorf("Prose(%q) has %q, which does not stand there", r.source, prose[m.From:m.To])
		}
		switch m.Kind {
		case marks.Name:
			count = append(count, "/"+m.Term)
		case marks.Hashtag:
			count = append(count, TagPath(m.Term))
		}
	}
	if !slices.Equal(count, r.links) {
		r.t.Errorf("HTML(%q) links %q, and %q count", r.source, r.links, count)
	}
}

// storable reports whether the store keeps such a text.
func storable(s string) bool { return utf8.ValidString(s) && !strings.ContainsAny(s, "\x00\r") }

func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return r
		}
		return -1
	}, s)
}

// squeezed is a text without its white space, which blocks rearrange.
func squeezed(s string) string { return strings.Join(strings.Fields(s), "") }

// hostile are sources that try to get something else onto a page than their text.
var hostile = []string{
	// Addresses.
	"[a](javascript:alert(1))",
	"[a](JaVaScRiPt:alert(1))",
	"[a]( javascript:alert(1))",
	"[a](\x01javascript:alert(1))",
	"[a](java\tscript:alert(1))",
	"[a](java\nscript:alert(1))",
	"[a](javascript&colon;alert(1))",
	"[a](javascript&#58;alert(1))",
	"[a](&#x6A;avascript:alert(1))",
	"[a](&#106&#97&#118&#97script:alert(1))",
	"[a](java%0ascript:alert(1))",
	"[a](vbscript:msgbox(1))",
	"[a](data:text/html;base64,PHNjcmlwdD4=)",
	"[a](data:text/html,<script>alert(1)</script>)",
	"[a](file:///etc/passwd)",
	"[a](blob:https://a.example/1)",
	"[a](//evil.example/)",
	"[a](\\\\evil.example)",
	"[a](/login)",
	"[a](?x=1)",
	"[a](#top)",
	"[a](https:evil.example)",
	"[a](https:/evil.example)",
	"[a](https:///evil.example)",
	"[a](https://)",
	"[a](https://good.example\\@evil.example/)",
	"[a](https://%E2%80%AEevil.example/)",
	"[a](https://\u202eevil.example/)",
	"[a](https://a.example/\u202e\u2066)",
	"[a](https://user:pass@evil.example/)",
	"[a](http://[::1%25eth0]/)",
	"[a](https://a.example:javascript/)",
	"[a](https://a.example/%0d%0aSet-Cookie:x)",
	"<javascript:alert(1)>",
	"<https://a.example/\"onmouseover=\"alert(1)>",
	// Attributes.
	"[a](https://a.example/\"onclick=\"alert(1))",
	"[a](https://a.example/'onclick='alert(1))",
	"[a](https://a.example/`onclick=`alert(1))",
	"[a](https://a.example/&quot;onclick=&quot;x)",
	"[a](https://a.example \"x\" onclick=\"alert(1)\")",
	"[a](https://a.example \"><script>alert(1)</script>\")",
	"[a](https://a.example){onclick=alert(1)}",
	"**a**{.x onclick=alert(1)}",
	"```\"><script>\nalert(1)\n```",
	"```x\"onclick=alert(1)\na\n```",
	"https://a.example/?\"><script>alert(1)</script>",
	// HTML.
	"<script>alert(1)</script>",
	"<img src=x onerror=alert(1)>",
	"<svg/onload=alert(1)>",
	"<a href=\"javascript:alert(1)\">a</a>",
	"</p></div><script>alert(1)</script>",
	"<!--><script>alert(1)</script>-->",
	"<![CDATA[<script>alert(1)</script>]]>",
	"<?php echo 1 ?>",
	"<details open ontoggle=alert(1)>",
	"<math><mtext></form><style><!--</style>",
	"`</code><script>alert(1)</script>`",
	"```\n</code></pre><script>alert(1)</script>\n```",
	"||</span><script>alert(1)</script>||",
	"&lt;script&gt;alert(1)&lt;/script&gt;",
	"&#60;script&#62;",
	"<scr\x00ipt>alert(1)</script>",
	// One inside another.
	"[<script>](https://a.example/)",
	"[![a](javascript:alert(1))](https://a.example/)",
	"![a](javascript:alert(1))",
	"![<img src=x onerror=alert(1)>](https://a.example/)",
	"[a](https://a.example/[b](javascript:alert(1)))",
	"[[a](https://a.example/)](https://b.example/)",
	"[https://b.example/](https://a.example/)",
	"[@anna](https://a.example/)",
	"[||a||](https://a.example/)",
	"||[||a||](https://a.example/)||",
	"||*a||*",
	"*||a*||",
	"[*a](https://a.example/)*",
	"*[a*](https://a.example/)",
	"[`a](https://a.example/)`",
	"~~**_||~~**_||",
	"> [a\n> b](https://a.example/)",
	"- ||a\n- b||",
	"**<b**>",
	"`a`@anna`b`#tag",
	"[a]: javascript:alert(1)\n\n[a]",
	"[a][b]\n\n[b]: javascript:alert(1)",
	"@anna\"onclick=alert(1) #tag\"onclick=alert(1)",
	"#tag<script> @anna<script>",
	"@../../x #../x #%2e%2e",
	// Characters.
	"a\x00b",
	"\xff\xfe[a](https://a.example/\xff)",
	"a\rb\r\n> c\r- d",
	"\x1b[31mred \x7f \u0085 \u2028 \u2029 \ufeff",
	"\u202e*a\u2066*\u202c||b\u2069||",
	"`\u202e` \u2067`\u2069`",
	"- \u202ea\n\n  \u2067b",
}

func TestHostileSources(t *testing.T) {
	t.Parallel()
	for _, source := range hostile {
		for _, s := range []string{source, "> " + source, "- " + source, "**" + source + "**", "||" + source + "||", "[" + source + "](https://b.example/)"} {
			check(t, s)
		}
	}
}

// FuzzHTML: whatever people write, the page keeps its own elements only, every address is
// one a browser may be sent to, the text is that of Plain, and what links is what counts.
func FuzzHTML(f *testing.F) {
	for _, source := range hostile {
		f.Add(source)
	}
	for _, of := range examples {
		for _, ex := range of.examples {
			f.Add(ex.in)
		}
	}
	f.Fuzz(func(t *testing.T, source string) { check(t, source) })
}

// FuzzSigns is FuzzHTML for sources that consist of signs: each byte stands for one.
func FuzzSigns(f *testing.F) {
	signs := []string{
		"*", "**", "_", "~~", "||", "`", "```", "[", "](https://a.example/)", "](", ")", "!", "> ", ">", "- ", "1. ", "\n", "\n\n", " ", "    ", "\t",
		"a", "é", "@anna", "#tag", "https://a.example/x", "\\", "<b>", "&", "\u202e", "\u2067", "\u202c", "\u2069", "b.example",
	}
	f.Add([]byte{0, 21, 0, 16, 12, 4, 21, 4})
	f.Add([]byte{7, 4, 33, 29, 4, 8, 31})
	f.Fuzz(func(t *testing.T, chosen []byte) {
		var b strings.Builder
		for _, c := range chosen[:min(len(chosen), 200)] {
			b.WriteString(signs[int(c)%len(signs)])
		}
		check(t, b.String())
	})
}
