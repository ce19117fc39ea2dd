package markup

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// grammar is goldmark with these blocks and inlines only. It is safe for concurrent use.
var grammar = parser.NewParser(
	parser.WithBlockParsers(
		util.Prioritized(listParser{parser.NewListParser()}, 300),
		util.Prioritized(parser.NewListItemParser(), 400),
		util.Prioritized(fenceParser{parser.NewFencedCodeBlockParser()}, 700),
		util.Prioritized(quoteParser{parser.NewBlockquoteParser()}, 800),
		util.Prioritized(paragraphParser{parser.NewParagraphParser()}, 1000),
	),
	parser.WithInlineParsers(
		util.Prioritized(parser.NewCodeSpanParser(), 100),
		util.Prioritized(linkParser{}, 200),
		util.Prioritized(addressParser{}, 300),
		util.Prioritized(emphasisParser{parser.NewEmphasisParser()}, 500),
		util.Prioritized(pairParser{}, 500),
	),
)

// maxNesting is how many quotes and lists may stand inside each other. The marks of deeper
// ones stay text.
const maxNesting = 6

// nestable reports whether a quote or a list may begin inside a block.
func nestable(parent ast.Node) bool {
	depth := 0
	for ; parent != nil; parent = parent.Parent() {
		switch parent.Kind() {
		case ast.KindBlockquote, ast.KindList:
			depth++
		}
	}
	return depth < maxNesting
}

// listParser begins lists with -, * and 1. only. A text may begin with any other number and
// mean it ("1984. Orwell"), with + for an advantage, and "* * *" stands between chapters.
type listParser struct{ parser.BlockParser }

func (p listParser) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	node, state := p.BlockParser.Open(parent, reader, pc)
	list, ok := node.(*ast.List)
	if !ok {
		return node, state
	}
	line, _ := reader.PeekLine()
	_, rest, _ := bytes.Cut(line, []byte{list.Marker})
	if list.Marker == '+' || list.IsOrdered() && list.Start != 1 || len(bytes.Trim(rest, "*- \t\n")) == 0 || !nestable(parent) {
		return nil, parser.NoChildren
	}
	return node, state
}

type quoteParser struct{ parser.BlockParser }

func (p quoteParser) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	if !nestable(parent) {
		return nil, parser.NoChildren
	}
	return p.BlockParser.Open(parent, reader, pc)
}

// fenceParser begins code with ``` only, as ~~~ stands between chapters too. One word, the
// name of the programming language, may follow; more would be text that nobody sees.
type fenceParser struct{ parser.BlockParser }

func (fenceParser) Trigger() []byte { return []byte{'`'} }

func (p fenceParser) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, _ := reader.PeekLine()
	if len(bytes.Fields(bytes.TrimLeft(line, " `"))) > 1 {
		return nil, parser.NoChildren
	}
	return p.BlockParser.Open(parent, reader, pc)
}

// paragraphParser takes indented lines, and ends the paragraph of a quote or of a list's
// item where the quote or the item ends. In CommonMark the next line goes on with it, so
// that an answer right below a quotation would be quoted.
type paragraphParser struct{ parser.BlockParser }

func (paragraphParser) CanAcceptIndentedLine() bool { return true }
func (paragraphParser) CanInterruptParagraph() bool { return true }

func (p paragraphParser) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	if last := pc.LastOpenedBlock().Node; last != nil && ast.IsParagraph(last) && last.Parent() == parent {
		return nil, parser.NoChildren // it goes on
	}
	return p.BlockParser.Open(parent, reader, pc)
}
