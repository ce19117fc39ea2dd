package markup

import (
	"bytes"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"riverrun/timelines/marks"
)

// parsing is the state of one parsing.
type parsing struct {
	links      []marks.Mark // bare addresses of the source, in their order
	brackets   []*bracket   // open ones of the current block
	delimiters int          // of the current block

	spoilers []*parser.Delimiter // those || of the current block that may begin a spoiler
	block    ast.Node            // the last one that was read, and
	open     []int               // where in the source those of its spoilers stand that have no end
}

var parsingKey = parser.NewContextKey()

func state(pc parser.Context) *parsing { return pc.Get(parsingKey).(*parsing) }

// parse returns the tree of a source.
func parse(source []byte) ast.Node {
	root, _ := parseWith(source)
	return root
}

func parseWith(source []byte) (ast.Node, *parsing) {
	p := &parsing{}
	for _, m := range marks.In(string(source)) {
		if m.Kind == marks.Link {
			p.links = append(p.links, m)
		}
	}
	pc := parser.NewContext()
	pc.Set(parsingKey, p)
	return grammar.Parse(text.NewReader(source), parser.WithContext(pc)), p
}

// plain returns the next n bytes of a block as text.
func plain(block text.Reader, n int) ast.Node {
	_, at := block.PeekLine()
	block.Advance(n)
	return ast.NewTextSegment(at.WithStop(at.Start + n))
}

// runOf returns how often its first character stands at the beginning of a line.
func runOf(line []byte) int { return len(line) - len(bytes.TrimLeft(line, string(line[:1]))) }

// addressParser keeps bare addresses whole: *, _ and the like are no marks inside of them.
// At their end they are, as in ~~https://example.org~~. Whether the text is a link is
// decided afterwards, as for all marks.
type addressParser struct{}

func (addressParser) Trigger() []byte { return []byte{':'} }

func (addressParser) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	p := state(pc)
	line, at := block.PeekLine()
	for len(p.links) > 0 && p.links[0].To <= at.Start {
		p.links = p.links[1:]
	}
	if len(p.links) == 0 || p.links[0].From > at.Start {
		return nil
	}
	n := min(p.links[0].To-at.Start, len(line))
	return plain(block, max(len(bytes.TrimRight(line[:n], "*_~|")), 1))
}

// maxDelimiters is how many *, _, ~~ and || of a block can be marks. goldmark compares each
// with all those before it.
const maxDelimiters = 1000

// emphasisParser reads runs of one to three * or _ as CommonMark does. Longer ones stay
// text.
type emphasisParser struct{ parser.InlineParser }

func (p emphasisParser) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, _ := block.PeekLine()
	n := runOf(line)
	if n > 3 || state(pc).delimiters == maxDelimiters {
		return plain(block, n)
	}
	state(pc).delimiters++
	return p.InlineParser.Parse(parent, block, pc)
}

// A pair is a text between two ~~ or two ||.
type pair struct {
	ast.BaseInline
	char byte
}

var kindPair = ast.NewNodeKind("Pair")

func (*pair) Kind() ast.NodeKind        { return kindPair }
func (p *pair) Dump(src []byte, at int) { ast.DumpHelper(p, src, at, nil, nil) }

// pairParser reads ~~ and ||. Unlike *, they may stand beside anything but a space inside.
type pairParser struct{}

func (pairParser) Trigger() []byte { return []byte{'~', '|'} }

func (pairParser) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, at := block.PeekLine()
	n := runOf(line)
	if n != 2 || state(pc).delimiters == maxDelimiters {
		return plain(block, n)
	}
	state(pc).delimiters++
	next, _ := utf8.DecodeRune(line[n:])
	opens, closes := n < len(line) && !util.IsSpaceRune(next), !util.IsSpaceRune(block.PrecendingCharacter())
	d := parser.NewDelimiter(opens, closes, n, line[0], pairOf(line[0]))
	d.Segment = at.WithStop(at.Start + n)
	block.Advance(n)
	pc.PushDelimiter(d)
	if opens && d.Char == '|' {
		state(pc).spoilers = append(state(pc).spoilers, d)
	}
	return d
}

// pairOf makes the pairs of its character.
type pairOf byte

func (p pairOf) IsDelimiter(c byte) bool { return c == byte(p) }
func (p pairOf) CanOpenCloser(opener, closer *parser.Delimiter) bool {
	return opener.Char == closer.Char
}
func (p pairOf) OnMatch(int) ast.Node { return &pair{char: byte(p)} }

// A bracket is a [ that may begin a link.
type bracket struct {
	ast.BaseInline
	segment text.Segment
	bottom  ast.Node // the last delimiter before it, or nil
}

var kindBracket = ast.NewNodeKind("Bracket")

func (*bracket) Kind() ast.NodeKind        { return kindBracket }
func (b *bracket) Dump(src []byte, at int) { ast.DumpHelper(b, src, at, nil, nil) }

// asText makes it text.
func (b *bracket) asText() { ast.MergeOrReplaceTextSegment(b.Parent(), b, b.segment) }

// linkParser reads [text](https://example.org). goldmark's own also knows images, titles and
// references, takes any address, and needs quadratic time for some sources.
type linkParser struct{}

func (linkParser) Trigger() []byte { return []byte{'[', ']'} }

func (linkParser) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	p := state(pc)
	line, at := block.PeekLine()
	if line[0] == '[' {
		begin := &bracket{segment: at.WithStop(at.Start + 1)}
		if last := pc.LastDelimiter(); last != nil {
			begin.bottom = last
		}
		p.brackets = append(p.brackets, begin)
		block.Advance(1)
		return begin
	}
	if len(p.brackets) == 0 {
		return nil
	}
	begin := p.brackets[len(p.brackets)-1]
	p.brackets = p.brackets[:len(p.brackets)-1]
	href, n := destination(line[1:])
	if n == 0 {
		begin.asText()
		return nil
	}
	block.Advance(1 + n)
	parser.ProcessDelimiters(begin.bottom, pc)
	link := ast.NewLink()
	link.Destination = []byte(href)
	for c := begin.NextSibling(); c != nil; c = begin.NextSibling() {
		link.AppendChild(link, c)
	}
	parent.RemoveChild(parent, begin)
	p.closeBrackets() // no link stands inside another
	return link
}

func (linkParser) CloseBlock(parent ast.Node, _ text.Reader, pc parser.Context) {
	p := state(pc)
	p.closeBrackets()
	p.delimiters = 0
	if parent.Lines().Len() == 0 { // a block of blocks, which comes after them
		return
	}
	p.block, p.open = parent, nil
	for _, d := range p.spoilers {
		if d.Length > 0 { // nothing took it
			p.open = append(p.open, d.Segment.Start)
		}
	}
	p.spoilers = nil
}

func (p *parsing) closeBrackets() {
	for _, b := range p.brackets {
		b.asText()
	}
	p.brackets = nil
}

// maxDestination is the length of a link's longest address, in bytes.
const maxDestination = 2048

// destination reads the (https://example.org) of a link. It returns the address as browsers
// get it and the length of what was read, 0 if this is no link.
func destination(line []byte) (href string, n int) {
	if len(line) == 0 || line[0] != '(' {
		return "", 0
	}
	depth := 0
	for i, c := range line[1:min(len(line), maxDestination)] {
		switch {
		case c <= ' ' || c == 0x7f || c == '<' || c == '>':
			return "", 0
		case c == '(':
			depth++
		case c == ')' && depth > 0:
			depth--
		case c == ')':
			href, ok := WebAddress(string(line[1 : 1+i]))
			if !ok {
				return "", 0
			}
			return href, i + 2
		}
	}
	return "", 0
}
