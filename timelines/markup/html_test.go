package markup

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// shorter leaves out the attributes that every element of its kind has, which
// TestAttributes is about, and writes <spoiler> for a spoiler.
var shorter = strings.NewReplacer(` dir="auto"`, "", ` dir="ltr"`, "", ` rel="nofollow noopener ugc"`, "", spoilerBegin, "<spoiler>", "</span></span>", "</spoiler>")

const spoilerBegin = `<span class="spoiler"><input type="checkbox" aria-labelledby="spoiler-label" aria-label="Spoiler"><span hidden>`

type example struct{ in, want string }

func TestHTML(t *testing.T) {
	t.Parallel()
	for _, of := range examples {
		t.Run(of.what, func(t *testing.T) {
			t.Parallel()
			for _, ex := range of.examples {
				if diff := cmp.Diff(ex.want, shorter.Replace(HTML(ex.in))); diff != "" {
					t.Errorf("HTML(%q) (-want +got):\n%s", ex.in, diff)
				}
				check(t, ex.in)
			}
		})
	}
}

func TestAttributes(t *testing.T) {
	t.Parallel()
	for _, ex := range []example{
		{"a", `<p dir="auto">a</p>`},
		{"> a", `<blockquote><p dir="auto">a</p></blockquote>`},
		// A list has one direction, or its bullets would stand on both sides.
		{"- a\n\n  > b\n  - c", `<ul dir="auto"><li><p>a</p><blockquote><p>b</p></blockquote><ul><li>c</li></ul></li></ul>`},
		{"- a\n\nb", `<ul dir="auto"><li>a</li></ul><p dir="auto">b</p>`},
		{"1. a", `<ol dir="auto"><li>a</li></ol>`},
		{"`a`", `<p dir="auto"><code dir="ltr">a</code></p>`},
		{"```\na\n```", `<pre dir="ltr"><code>a</code></pre>`},
		{"https://a.example/", `<p dir="auto"><a href="https://a.example/" rel="nofollow noopener ugc"><bdi dir="ltr">a.example</bdi></a></p>`},
		{"[b.example](https://a.example/)", `<p dir="auto"><a href="https://a.example/" rel="nofollow noopener ugc">b.example <bdi dir="ltr">(a.example)</bdi></a></p>`},
		{"@anna #tag", `<p dir="auto"><a href="/anna">@anna</a> <a href="/tag/tag">#tag</a></p>`},
		{"||a||", `<p dir="auto">` + spoilerBegin + `a</span></span></p>`},
	} {
		if diff := cmp.Diff(ex.want, HTML(ex.in)); diff != "" {
			t.Errorf("HTML(%q) (-want +got):\n%s", ex.in, diff)
		}
	}
}

// examples are sources and their HTML, as shorter leaves it.
var examples = []struct {
	what     string
	examples []example
}{
	{"text", []example{
		{`Hello.`, `<p>Hello.</p>`},
		{``, ``},
		{" \n\n ", ``},
		{"One.\n\nTwo\nlines.\n \n\nThree.", `<p>One.</p><p>Two<br>lines.</p><p>Three.</p>`},
		{"    indented\n\tand more", `<p>indented<br>and more</p>`},
		{`<b>&amp; "x"</b> <!-- c -->`, `<p>&lt;b&gt;&amp;amp; &#34;x&#34;&lt;/b&gt; &lt;!-- c --&gt;</p>`},
		{"# no heading\n#tag at the start", `<p># no heading<br><a href="/tag/tag">#tag</a> at the start</p>`},
		{"Title\n=====\nText\n---", `<p>Title<br>=====<br>Text<br>---</p>`},
		{"---\n\n* * *\n\n___", `<p>---</p><p>* * *</p><p>___</p>`},
		{"| a | b |\n|---|---|\n| 1 | 2 |", `<p>| a | b |<br>|---|---|<br>| 1 | 2 |</p>`},
		{"[ref]: https://a.example\n\n[ref] [text][ref]", `<p>[ref]: <a href="https://a.example"><bdi>a.example</bdi></a></p><p>[ref] [text][ref]</p>`},
		{"note[^1]\n\n[^1]: text", `<p>note[^1]</p><p>[^1]: text</p>`},
		{"a  \nb\\\nc", `<p>a<br>b<br>c</p>`},
		{`\*a\* \#tag \\ \a ¯\_(ツ)_/¯`, `<p>*a* #tag \ \a ¯_(ツ)_/¯</p>`},
		{`&lt;b&gt; &copy; &#35;`, `<p>&amp;lt;b&amp;gt; &amp;copy; &amp;#35;</p>`},
	}},
	{"emphasis", []example{
		{`*a* **b** _c_ __d__`, `<p><em>a</em> <strong>b</strong> <em>c</em> <strong>d</strong></p>`},
		{`***a*** **_a_**`, `<p><em><strong>a</strong></em> <strong><em>a</em></strong></p>`},
		{`snake_case_name 2*3*4 2 * 3 * 4`, `<p>snake_case_name 2<em>3</em>4 2 * 3 * 4</p>`},
		{`*a **b** c*`, `<p><em>a <strong>b</strong> c</em></p>`},
		{`*a *b* c*`, `<p><em>a b c</em></p>`},
		{`**a`, `<p>**a</p>`},
		{`*a **b* c**`, `<p><em>a b c</em></p>`},
		{`****a****`, `<p>****a****</p>`},
		{"**a\nb**", `<p><strong>a<br>b</strong></p>`},
		{"**a\n\nb**", `<p>**a</p><p>b**</p>`},
		{`*привет*, мир`, `<p><em>привет</em>, мир</p>`},
		{`~~a~~ ~a~ ~~~a~~~`, `<p><del>a</del> ~a~ ~~~a~~~</p>`},
		{`~~a **b** c~~`, `<p><del>a <strong>b</strong> c</del></p>`},
		{`5 ~~ 6 ~~ 7`, `<p>5 ~~ 6 ~~ 7</p>`},
		{`~~ a ~~`, `<p>~~ a ~~</p>`},
	}},
	{"spoilers", []example{
		{`||hidden||`, `<p><spoiler>hidden</spoiler></p>`},
		{`a || b || c`, `<p>a || b || c</p>`},
		{`a||b||c`, `<p>a<spoiler>b</spoiler>c</p>`},
		{"||a **b** `c`||", `<p><spoiler>a <strong>b</strong> <code>c</code></spoiler></p>`},
		{"||a\nb||", `<p><spoiler>a<br>b</spoiler></p>`},
		{"||a\n\nb||", `<p>||a</p><p>b||</p>`},
		{`||||`, `<p>||||</p>`},
		{`|||a|||`, `<p>|||a|||</p>`},
		{`||a ||b|| c||`, `<p><spoiler>a b c</spoiler></p>`},
		{`*a ||b* c||`, `<p><em>a ||b</em> c||</p>`},
		{`||(a)||`, `<p><spoiler>(a)</spoiler></p>`},
		{`||@anna #tag https://a.example/||`, `<p><spoiler><a href="/anna">@anna</a> <a href="/tag/tag">#tag</a> <a href="https://a.example/"><bdi>a.example</bdi></a></spoiler></p>`},
		{`[a ||b||](https://a.example/)`, `<p><spoiler><a href="https://a.example/">a b</a></spoiler></p>`},
		{`||[a ||b||](https://a.example/)||`, `<p><spoiler><a href="https://a.example/">a b</a></spoiler></p>`},
	}},
	{"code", []example{
		{"`a *b* <c>`", `<p><code>a *b* &lt;c&gt;</code></p>`},
		{"``a ` b``", "<p><code>a ` b</code></p>"},
		{"` a ` `  `", `<p><code>a</code> <code>  </code></p>`},
		{"`a\nb`", `<p><code>a b</code></p>`},
		{"`a", "<p>`a</p>"},
		{"`@anna #tag https://a.example/`", `<p><code>@anna #tag https://a.example/</code></p>`},
		{"```\na *b*\n\n  <c>\n```\nd", "<pre><code>a *b*\n\n  &lt;c&gt;</code></pre><p>d</p>"},
		{"```go\nx := 1\n```", `<pre><code>x := 1</code></pre>`},
		{"```a b\nc```", `<p><code>a b c</code></p>`},
		{"``` \na", `<pre><code>a</code></pre>`},
		{"~~~\na\n~~~", `<p>~~~<br>a<br>~~~</p>`},
		{"> ```\n> a\n> ```", `<blockquote><pre><code>a</code></pre></blockquote>`},
		{"- a\n  ```\n  b\n  ```", `<ul><li>a<pre><code>b</code></pre></li></ul>`},
		{"a\n```\nb\n```\nc", `<p>a</p><pre><code>b</code></pre><p>c</p>`},
		{"`a\u202eb`", `<p><code>ab</code></p>`},
	}},
	{"quotes", []example{
		{"> a\n> b\nanswer", `<blockquote><p>a<br>b</p></blockquote><p>answer</p>`},
		{`>a`, `<blockquote><p>a</p></blockquote>`},
		{"> a\n\n> b", `<blockquote><p>a</p></blockquote><blockquote><p>b</p></blockquote>`},
		{"> a\n>\n> b", `<blockquote><p>a</p><p>b</p></blockquote>`},
		{"> a\n> > b", `<blockquote><p>a</p><blockquote><p>b</p></blockquote></blockquote>`},
		{"a\n> b", `<p>a</p><blockquote><p>b</p></blockquote>`},
		{`    > a`, `<p>&gt; a</p>`},
		{">>>>>>>> a\n>>>>>>>> b", `<blockquote><blockquote><blockquote><blockquote><blockquote><blockquote><p>&gt;&gt; a<br>&gt;&gt; b</p></blockquote></blockquote></blockquote></blockquote></blockquote></blockquote>`},
		{"> - a\n> - b", `<blockquote><ul><li>a</li><li>b</li></ul></blockquote>`},
		{"> **a\n> b**", `<blockquote><p><strong>a<br>b</strong></p></blockquote>`},
	}},
	{"lists", []example{
		{"- a\n- b", `<ul><li>a</li><li>b</li></ul>`},
		{"* a\n* b", `<ul><li>a</li><li>b</li></ul>`},
		{"1. a\n2. b\n3. c", `<ol><li>a</li><li>b</li><li>c</li></ol>`},
		{`1) a`, `<ol><li>a</li></ol>`},
		{"+ a\n+ b", `<p>+ a<br>+ b</p>`},
		{`1984. Orwell`, `<p>1984. Orwell</p>`},
		{"2. b\n3. c", `<p>2. b<br>3. c</p>`},
		{"Buy:\n- a\n- b\nThat is all.", `<p>Buy:</p><ul><li>a</li><li>b</li></ul><p>That is all.</p>`},
		{"- a\n  - b\n    - c\n- d", `<ul><li>a<ul><li>b<ul><li>c</li></ul></li></ul></li><li>d</li></ul>`},
		{"- a\n\n- b", `<ul><li><p>a</p></li><li><p>b</p></li></ul>`},
		{"- a\n\n  b", `<ul><li><p>a</p><p>b</p></li></ul>`},
		{"- a\n  b", `<ul><li>a<br>b</li></ul>`},
		{"- a\n1. b", `<ul><li>a</li></ul><ol><li>b</li></ol>`},
		{"-\n- a", `<p>-</p><ul><li>a</li></ul>`},
		{`- - a`, `<ul><li><ul><li>a</li></ul></li></ul>`},
		{"- - -\n- a\n- - -", `<p>- - -</p><ul><li>a</li></ul><p>- - -</p>`},
		{"1. a\n   - b", `<ol><li>a<ul><li>b</li></ul></li></ol>`},
		{`- - - - - - - - a`, `<ul><li><ul><li><ul><li><ul><li><ul><li><ul><li>- - a</li></ul></li></ul></li></ul></li></ul></li></ul></li></ul>`},
		{"-a\n-1 degree", `<p>-a<br>-1 degree</p>`},
		{`- #tag and @anna`, `<ul><li><a href="/tag/tag">#tag</a> and <a href="/anna">@anna</a></li></ul>`},
	}},
	{"links", []example{
		{`[a](https://a.example/x?y=1&z=2#f)`, `<p><a href="https://a.example/x?y=1&amp;z=2#f">a</a></p>`},
		{"[a **b** `c`](https://a.example/)", `<p><a href="https://a.example/">a <strong>b</strong> <code>c</code></a></p>`},
		{`[a](HTTPS://A.Example)`, `<p><a href="https://a.example">a</a></p>`},
		{`[a](//a.example/) [a](/b) [a](a.example) [a]()`, `<p>[a](//a.example/) [a](/b) [a](a.example) [a]()</p>`},
		{`[a](https://a.example "title")`, `<p>[a](<a href="https://a.example"><bdi>a.example</bdi></a> &#34;title&#34;)</p>`},
		{`[a](<https://a.example>)`, `<p>[a](&lt;<a href="https://a.example"><bdi>a.example</bdi></a>&gt;)</p>`},
		{`[a](https://a.example/b c)`, `<p>[a](<a href="https://a.example/b"><bdi>a.example/b</bdi></a> c)</p>`},
		{`[a](https://a.example/<b>)`, `<p>[a](<a href="https://a.example/"><bdi>a.example</bdi></a>&lt;b&gt;)</p>`},
		{"[a]\n(https://a.example)", `<p>[a]<br>(<a href="https://a.example"><bdi>a.example</bdi></a>)</p>`},
		{"[a\nb](https://a.example/)", `<p><a href="https://a.example/">a<br>b</a></p>`},
		{`[a](https://a.example/b_(c))`, `<p><a href="https://a.example/b_(c)">a</a></p>`},
		{`[a [b](https://b.example/) c](https://c.example/)`, `<p>[a <a href="https://b.example/">b</a> c](<a href="https://c.example/"><bdi>c.example</bdi></a>)</p>`},
		{`[a [b] c](https://c.example/)`, `<p><a href="https://c.example/">a [b] c</a></p>`},
		{`![a](https://a.example/i.png)`, `<p>!<a href="https://a.example/i.png">a</a></p>`},
		{`[a\]](https://a.example/) \[a](https://a.example/)`, `<p><a href="https://a.example/">a]</a> [a](<a href="https://a.example/"><bdi>a.example</bdi></a>)</p>`},
		{`**[a](https://a.example/)** [**a](https://a.example/)**`, `<p><strong><a href="https://a.example/">a</a></strong> <a href="https://a.example/">**a</a>**</p>`},
		{`[](https://a.example/) [ ](https://a.example/)`, `<p><a href="https://a.example/"> <bdi>(a.example)</bdi></a> <a href="https://a.example/">  <bdi>(a.example)</bdi></a></p>`},
		{`[@anna #tag](https://a.example/)`, `<p><a href="https://a.example/">@anna #tag</a></p>`},
		{`[a](https://x@a.example/)`, `<p><a href="https://a.example/">a</a></p>`},
		{`[a](https://пример.рф/)`, `<p><a href="https://xn--e1afmkfd.xn--p1ai/">a</a></p>`},
	}},
	{"imitated addresses", []example{
		{`[https://bank.example](https://evil.example)`, `<p><a href="https://evil.example">https://bank.example <bdi>(evil.example)</bdi></a></p>`},
		{`[bank.example](https://evil.example/bank.example)`, `<p><a href="https://evil.example/bank.example">bank.example <bdi>(evil.example)</bdi></a></p>`},
		{`[see www.bank.example/a now](https://evil.example)`, `<p><a href="https://evil.example">see www.bank.example/a now <bdi>(evil.example)</bdi></a></p>`},
		{`[bank.**example**](https://evil.example)`, `<p><a href="https://evil.example">bank.<strong>example</strong> <bdi>(evil.example)</bdi></a></p>`},
		{"[bank\u200b.example](https://evil.example)", "<p><a href=\"https://evil.example\">bank\u200b.example <bdi>(evil.example)</bdi></a></p>"},
		{`[bank。example](https://evil.example)`, `<p><a href="https://evil.example">bank。example <bdi>(evil.example)</bdi></a></p>`},
		{`[ｂａｎｋ．ｅｘａｍｐｌｅ](https://evil.example)`, `<p><a href="https://evil.example">ｂａｎｋ．ｅｘａｍｐｌｅ <bdi>(evil.example)</bdi></a></p>`},
		{`[a.example](https://a.example/)`, `<p><a href="https://a.example/">a.example</a></p>`},
		{`[https://A.example/b](https://www.a.example/b)`, `<p><a href="https://www.a.example/b">https://A.example/b</a></p>`},
		{`[a.example@evil.example](https://evil.example)`, `<p><a href="https://evil.example">a.example@evil.example <bdi>(evil.example)</bdi></a></p>`},
		{`[https://a.example:8080/](https://a.example:8080/)`, `<p><a href="https://a.example:8080/">https://a.example:8080/</a></p>`},
		{"[elpmaxe.knab\u202e](https://evil.example)", "<p><a href=\"https://evil.example\">elpmaxe.knab\u202e\u202c <bdi>(evil.example)</bdi></a></p>"},
		{"[`bank.example`](https://evil.example)", `<p><a href="https://evil.example"><code>bank.example</code> <bdi>(evil.example)</bdi></a></p>`},
		{`[e.g. this, v1.5](https://a.example/)`, `<p><a href="https://a.example/">e.g. this, v1.5</a></p>`},
	}},
	{"addresses", []example{
		{`See https://a.example/b?c=d&e=f#g.`, `<p>See <a href="https://a.example/b?c=d&amp;e=f#g"><bdi>a.example/b?c=d&amp;e=f#g</bdi></a>.</p>`},
		{`(http://a.example/)`, `<p>(<a href="http://a.example/"><bdi>a.example</bdi></a>)</p>`},
		{`https://a.example/a_b_c*d*e`, `<p><a href="https://a.example/a_b_c*d*e"><bdi>a.example/a_b_c*d*e</bdi></a></p>`},
		{`*https://a.example/b* **https://a.example**`, `<p><em><a href="https://a.example/b"><bdi>a.example/b</bdi></a></em> <strong><a href="https://a.example"><bdi>a.example</bdi></a></strong></p>`},
		{`_https://a.example/a_b_ ~~https://a.example/~~`, `<p><em><a href="https://a.example/a_b"><bdi>a.example/a_b</bdi></a></em> <del><a href="https://a.example/"><bdi>a.example</bdi></a></del></p>`},
		{`||https://a.example/||`, `<p><spoiler><a href="https://a.example/"><bdi>a.example</bdi></a></spoiler></p>`},
		{`<https://a.example/b>`, `<p>&lt;<a href="https://a.example/b"><bdi>a.example/b</bdi></a>&gt;</p>`},
		{`https://a.example/"onclick="x`, `<p><a href="https://a.example/"><bdi>a.example</bdi></a>&#34;onclick=&#34;x</p>`},
		{`ftp://a.example mailto:a@a.example javascript:alert(1)`, `<p>ftp://a.example mailto:a@a.example javascript:alert(1)</p>`},
		{`https://xn--.example:99999/ https://-/`, `<p><a href="https://xn--.example:99999/"><bdi>xn--.example:99999</bdi></a> https://-/</p>`},
		{`https://a.example/@anna/#tag`, `<p><a href="https://a.example/@anna/#tag"><bdi>a.example/@anna/#tag</bdi></a></p>`},
		{"https://a.example/\u202emoc.doog", `<p><a href="https://a.example/%E2%80%AEmoc.doog"><bdi>a.example/moc.doog</bdi></a></p>`},
		{`https://a.example/` + strings.Repeat("x", 60), `<p><a href="https://a.example/` + strings.Repeat("x", 60) + `"><bdi>a.example/` + strings.Repeat("x", 37) + `…</bdi></a></p>`},
	}},
	{"names and tags", []example{
		{`@anna and (@bob-b), #Весна.`, `<p><a href="/anna">@anna</a> and (<a href="/bob-b">@bob-b</a>), <a href="/tag/%D0%B2%D0%B5%D1%81%D0%BD%D0%B0">#Весна</a>.</p>`},
		{`**@anna** *#tag* _@bob_ ~~#c~~`, `<p><strong><a href="/anna">@anna</a></strong> <em><a href="/tag/tag">#tag</a></em> <em><a href="/bob">@bob</a></em> <del><a href="/tag/c">#c</a></del></p>`},
		{"> @anna\n- #tag", `<blockquote><p><a href="/anna">@anna</a></p></blockquote><ul><li><a href="/tag/tag">#tag</a></li></ul>`},
		{"a@b.example `@anna` \\@anna \\#tag", `<p>a@b.example <code>@anna</code> @anna #tag</p>`},
		{`#a_b_c @anna_b`, `<p><a href="/tag/a_b_c">#a_b_c</a> @anna_b</p>`},
		{`#a_b_ _c_`, `<p><a href="/tag/a_b_">#a_b_</a> <em>c</em></p>`},
		{"@anna`b` @anna**b**", `<p><a href="/anna">@anna</a><code>b</code> <a href="/anna">@anna</a><strong>b</strong></p>`},
	}},
	{"directions", []example{
		{"a\u202eb\n\nc", "<p>a\u202eb\u202c</p><p>c</p>"},
		{"a\u2069\u202eb", "<p>a\u202eb\u202c</p>"},
		{"**a\u2067b**\nc\u2069", "<p><strong>a\u2067b</strong><br>c\u2069</p>"},
		{"> a\u202eb\n\nc", "<blockquote><p>a\u202eb\u202c</p></blockquote><p>c</p>"},
		{"- a\u202eb\n- c", "<ul><li>a\u202eb\u202c</li><li>c</li></ul>"},
		{"[a\u202eb](https://a.example/) c\u202c", "<p><a href=\"https://a.example/\">a\u202eb\u202c</a> c</p>"},
		{"\u202ea [b\u202c](https://a.example/)", "<p>\u202ea <a href=\"https://a.example/\">b</a>\u202c</p>"},
		{"||a\u202eb||\u202c", "<p><spoiler>a\u202eb</spoiler>\u202c</p>"},
	}},
}
