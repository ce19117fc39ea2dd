package formats

import (
	"html"
	"iter"
	"strings"
)

// tree is one element of a feed with its contents: an item, or a field of the head. Its memory is
// used again for the next one.
type tree struct {
	nodes  []node
	attrs  []treeAttr
	text   []byte
	open   []int32
	over   bool // more than the limit was read, and the rest was left out
	begins int64
	limit  int64
}

// node is an element, or a text between two. The name of a node is its place in tree.nodes. The first
// is the element itself, so 0 stands for none.
type node struct {
	name                name
	isText              bool
	cut                 bool // it was open when the limit was reached
	line                int32
	from, to            int32 // text, or attributes
	first, last, sister int32
}

type treeAttr struct {
	name     name
	from, to int32
}

// largeTree is how much memory is kept for the next element.
const largeTree = 256 << 10

// begin begins the tree with a start tag at an offset.
func (t *tree) begin(x *xmlScanner, tok *token, at int64, limit int) {
	if cap(t.text) > largeTree || cap(t.nodes) > largeTree/64 || cap(t.attrs) > largeTree/64 {
		*t = tree{}
	}
	*t = tree{
		nodes: t.nodes[:0], attrs: t.attrs[:0], text: t.text[:0], open: t.open[:0],
		begins: at, limit: int64(limit),
	}
	t.start(x, tok)
}

func (t *tree) start(x *xmlScanner, tok *token) {
	if t.over || tok.full {
		t.overflow()
		t.open = append(t.open, -1)
		return
	}
	n := t.add(node{name: tok.name, line: int32(tok.line), from: int32(len(t.attrs))})
	for _, a := range tok.attrs {
		from := int32(len(t.text))
		t.text = append(t.text, x.values.b[a.from:a.to]...)
		t.attrs = append(t.attrs, treeAttr{name{a.space, a.local}, from, int32(len(t.text))})
	}
	t.nodes[n].to = int32(len(t.attrs))
	t.open = append(t.open, n)
}

func (t *tree) add(n node) int32 {
	i := int32(len(t.nodes))
	t.nodes = append(t.nodes, n)
	if len(t.open) > 0 {
		parent := &t.nodes[t.open[len(t.open)-1]]
		if parent.first == 0 {
			parent.first = i
		} else {
			t.nodes[parent.last].sister = i
		}
		parent.last = i
	}
	return i
}

func (t *tree) addText(b []byte) {
	if t.over {
		return
	}
	from := int32(len(t.text))
	t.text = append(t.text, b...)
	to := int32(len(t.text))
	parent := t.nodes[t.open[len(t.open)-1]]
	if parent.first != 0 {
		if last := &t.nodes[parent.last]; last.isText && last.to == from {
			last.to = to
			return
		}
	}
	t.add(node{isText: true, from: from, to: to})
}

// take takes a token inside of the element, and reports whether the element ended.
func (t *tree) take(x *xmlScanner, tok *token) (done bool) {
	if x.src.offset()-t.begins > t.limit {
		t.overflow()
	}
	switch tok.kind {
	case startTag:
		t.start(x, tok)
	case textRun:
		t.addText(tok.text)
	case endTag:
		t.open = t.open[:len(t.open)-1]
	}
	return len(t.open) == 0
}

func (t *tree) overflow() {
	if t.over {
		return
	}
	t.over = true
	for i, n := range t.open {
		if i > 0 {
			t.nodes[n].cut = true
		}
	}
}

// elements returns the elements directly inside of one. It leaves out an element that is not whole.
func (t *tree) elements(n int32) iter.Seq2[int32, *node] {
	return func(yield func(int32, *node) bool) {
		if len(t.nodes) == 0 {
			return
		}
		for c := t.nodes[n].first; c != 0; c = t.nodes[c].sister {
			if e := &t.nodes[c]; !e.isText && !e.cut && !yield(c, e) {
				return
			}
		}
	}
}

// attr returns the value of an attribute.
func (t *tree) attr(n int32, sp space, local string) string {
	if len(t.nodes) == 0 {
		return ""
	}
	e := &t.nodes[n]
	for _, a := range t.attrs[e.from:e.to] {
		if a.name.space == sp && a.name.local == local {
			return string(t.text[a.from:a.to])
		}
	}
	return ""
}

// hasElements reports whether there are elements inside of one.
func (t *tree) hasElements(n int32) bool {
	for range t.elements(n) {
		return true
	}
	return false
}

// content returns the text of an element. If there are elements in it, which somebody forgot to
// escape, it returns its HTML.
func (t *tree) content(n int32) string {
	e := &t.nodes[n]
	switch {
	case e.first == 0:
		return ""
	case e.first == e.last && t.nodes[e.first].isText:
		c := &t.nodes[e.first]
		return string(t.text[c.from:c.to])
	}
	if t.hasElements(n) {
		return t.markup(n)
	}
	var b strings.Builder
	for c := e.first; c != 0; c = t.nodes[c].sister {
		if s := &t.nodes[c]; s.isText {
			b.Write(t.text[s.from:s.to])
		}
	}
	return b.String()
}

// markup returns the contents of an element as HTML.
func (t *tree) markup(n int32) string {
	var b strings.Builder
	t.writeMarkup(&b, n)
	return b.String()
}

// writeMarkup calls itself as deep as elements are nested, and that is bounded.
func (t *tree) writeMarkup(b *strings.Builder, n int32) {
	for c := t.nodes[n].first; c != 0; c = t.nodes[c].sister {
		e := &t.nodes[c]
		if e.isText {
			b.WriteString(html.EscapeString(string(t.text[e.from:e.to])))
			continue
		}
		b.WriteString("<" + e.name.local)
		for _, a := range t.attrs[e.from:e.to] {
			b.WriteString(" " + a.name.local + `="` + html.EscapeString(string(t.text[a.from:a.to])) + `"`)
		}
		b.WriteString(">")
		t.writeMarkup(b, c)
		if !voidElements[e.name.local] {
			b.WriteString("</" + e.name.local + ">")
		}
	}
}

var voidElements = map[string]bool{"br": true, "img": true, "hr": true, "wbr": true, "source": true, "input": true}
