package markup

import (
	"bytes"
	"html"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"

	"riverrun/timelines/marks"
)

// writer writes a tree as HTML, or as text alone.
type writer struct {
	strings.Builder
	source []byte
	marks  []marks.Mark // those not written yet, in their order
	turned Balance      // of the current block
	lists  int          // how many are open

	textAlone bool
	uncovered bool // spoilers are written out

	// Open elements. One inside of its like would change nothing, and the depth is bounded.
	em, strong, del, spoiler bool
}

// tag writes HTML that is no text.
func (w *writer) tag(html string) {
	if !w.textAlone {
		w.WriteString(html)
	}
}

// text writes a text of the person's.
func (w *writer) text(s string) {
	s = w.turned.Pass(s)
	if !w.textAlone {
		s = html.EscapeString(s)
	}
	w.WriteString(s)
}

func (w *writer) children(n ast.Node) {
	var last ast.Node
	for c := n.FirstChild(); c != nil; c = last.NextSibling() {
		last = c
		switch c := c.(type) {
		case *ast.Blockquote:
			w.within("<blockquote>", c, "</blockquote>")
		case *ast.List:
			w.list(c)
		case *ast.ListItem:
			w.within("<li>", c, "</li>")
		case *ast.Paragraph:
			w.tag("<p" + w.dir() + ">")
			w.block(c)
			w.tag("</p>")
		case *ast.TextBlock:
			w.block(c)
		case *ast.FencedCodeBlock:
			w.codeBlock(c)
		case *ast.Text:
			last = w.run(c)
		default:
			w.inline(c)
		}
	}
}

func (w *writer) within(begin string, n ast.Node, end string) {
	w.tag(begin)
	w.children(n)
	w.tag(end)
}

// dir is the attribute of a block that finds its direction. A list has one as a whole, or
// its bullets would stand on both sides.
func (w *writer) dir() string {
	if w.lists > 0 {
		return ""
	}
	return ` dir="auto"`
}

func (w *writer) list(n *ast.List) {
	name := "ul"
	if n.IsOrdered() {
		name = "ol"
	}
	w.tag("<" + name + w.dir() + ">")
	w.lists++
	w.children(n)
	w.lists--
	w.tag("</" + name + ">")
}

// block writes the text of a block.
func (w *writer) block(n ast.Node) {
	w.newLine()
	w.children(n)
	w.WriteString(w.turned.End())
}

// newLine begins a block's first line, if the blocks are written as text.
func (w *writer) newLine() {
	if w.textAlone && w.Len() > 0 {
		w.WriteByte('\n')
	}
}

func (w *writer) codeBlock(n *ast.FencedCodeBlock) {
	w.newLine()
	w.tag(`<pre dir="ltr"><code>`)
	var code strings.Builder
	for _, line := range n.Lines().Sliced(0, n.Lines().Len()) {
		code.Write(line.Value(w.source))
	}
	w.code(strings.TrimSuffix(code.String(), "\n"))
	w.tag("</code></pre>")
}

// code writes code. It has no direction but its own, and must read as it runs.
func (w *writer) code(s string) { w.text(Unturned(s)) }

// run writes a text with its marks, and those after it without a gap, as goldmark cuts texts
// where something might have begun. It returns the last one.
func (w *writer) run(t *ast.Text) *ast.Text {
	from, last := t.Segment.Start, t
	for !last.SoftLineBreak() && !last.HardLineBreak() {
		next, ok := last.NextSibling().(*ast.Text)
		if !ok || next.Segment.Start != last.Segment.Stop {
			break
		}
		last = next
	}
	to := last.Segment.Stop
	for len(w.marks) > 0 && w.marks[0].From < from { // in a spoiler that is not written
		w.marks = w.marks[1:]
	}
	for ; len(w.marks) > 0 && w.marks[0].From < to; w.marks = w.marks[1:] {
		m := w.marks[0]
		w.text(unescaped(w.source[from:m.From]))
		w.mark(m)
		from = m.To
	}
	w.text(unescaped(w.source[from:to]))
	if last.SoftLineBreak() || last.HardLineBreak() {
		w.lineBreak()
	}
	return last
}

func (w *writer) lineBreak() {
	if w.textAlone {
		w.WriteByte('\n')
	} else {
		w.WriteString("<br>")
	}
}

// unescaped returns a text without the backslashes that keep a sign from being a mark.
func unescaped(text []byte) string {
	if bytes.IndexByte(text, '\\') < 0 {
		return string(text)
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && util.IsPunct(text[i+1]) {
			i++
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

func (w *writer) mark(m marks.Mark) {
	written := string(w.source[m.From:m.To])
	if !w.textAlone {
		WriteMark(&w.Builder, m, written, &w.turned)
	} else if _, ok := WebAddress(written); ok && m.Kind == marks.Link {
		w.text(ShownAddress(written))
	} else {
		w.text(written)
	}
}

func (w *writer) inline(n ast.Node) {
	switch n := n.(type) {
	case *ast.CodeSpan:
		w.tag(`<code dir="ltr">`)
		var code strings.Builder
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			code.Write(c.(*ast.Text).Segment.Value(w.source))
		}
		w.code(strings.ReplaceAll(code.String(), "\n", " "))
		w.tag("</code>")
	case *ast.Emphasis:
		if n.Level == 1 {
			w.once(&w.em, "<em>", n, "</em>")
		} else {
			w.once(&w.strong, "<strong>", n, "</strong>")
		}
	case *ast.Link:
		if !w.spoiler && hasSpoiler(n) {
			w.cover(func() { w.writeLink(n) })
		} else {
			w.writeLink(n)
		}
	case *pair:
		if n.char == '~' {
			w.once(&w.del, "<del>", n, "</del>")
		} else {
			w.cover(func() { w.children(n) })
		}
	}
}

// once writes an element unless one of its like is open.
func (w *writer) once(open *bool, begin string, n ast.Node, end string) {
	if *open {
		w.children(n)
		return
	}
	*open = true
	w.within(begin, n, end)
	*open = false
}

// spoilerMask stands for a spoiler in texts.
const spoilerMask = "[…]"

// cover writes a spoiler.
func (w *writer) cover(content func()) {
	switch {
	case w.spoiler || w.uncovered:
		content()
		return
	case w.textAlone:
		w.text(spoilerMask)
		return
	}
	w.spoiler = true
	w.tag(`<span class="spoiler"><input type="checkbox" aria-labelledby="` + SpoilerLabel + `" aria-label="Spoiler"><span hidden>`)
	content()
	w.tag("</span></span>")
	w.spoiler = false
}

// hasSpoiler reports whether a spoiler stands in a link. The whole link is covered then: no
// control may stand in a link.
func hasSpoiler(n ast.Node) bool {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if p, ok := c.(*pair); ok && p.char == '|' || hasSpoiler(c) {
			return true
		}
	}
	return false
}

// writeLink writes a link. Directions that turn in its text end with it.
func (w *writer) writeLink(n *ast.Link) {
	href := string(n.Destination)
	label := writer{source: w.source, textAlone: true, uncovered: true}
	label.children(n)
	around := w.turned
	w.turned = Balance{}
	w.tag(`<a href="` + html.EscapeString(href) + `"` + siteLink + `>`)
	w.children(n)
	w.WriteString(w.turned.End())
	if host := hostOf(href); needsHost(label.String(), host) {
		w.text(" ")
		w.tag(`<bdi dir="ltr">`)
		w.text("(" + host + ")")
		w.tag("</bdi>")
	}
	w.tag("</a>")
	w.turned = around
}
