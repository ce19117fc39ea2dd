package formats

import (
	"bytes"
	"html"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// xmlScanner cuts XML into tokens. It holds only the open elements, the attributes of one, and a
// stretch of text, so its memory does not grow with the file. It reads no DTD and knows no entities
// but those of XML and HTML.
//
// It is as lenient as feed readers are: an unknown entity and a bare & are text, attributes need no
// quotes, and an end tag inside of an item closes the elements that are open in it. A strict scanner
// is not lenient, and finds everything that XML calls not well-formed.
//
// Rejected: encoding/xml. It keeps a token in memory whatever its length, and takes several times as
// long.
type xmlScanner struct {
	src      *source
	strict   bool
	maxDepth int
	maxBytes int // of the attributes of one element

	open     []openElement
	bindings []binding
	floor    int // end tags that match nothing are forgiven inside of this many elements; 0 for never
	names    map[string]string

	closing  int  // how many elements end before the next byte is read
	cdata    bool // inside of a CDATA section
	seenRoot bool
	tok      token
	attrs    []attr
	values   store // of the attributes
}

type tokenKind int

const (
	startTag tokenKind = iota
	endTag
	textRun // a stretch: a text may come in several
	endOfFile
)

// token is valid until the next one is read.
type token struct {
	kind  tokenKind
	name  name
	text  []byte
	attrs []attr
	line  int
	full  bool // attributes were too long and are cut
}

// name is a name with its namespace.
type name struct {
	space space
	local string
}

type openElement struct {
	written string // with its prefix
	name    name
}

type binding struct {
	prefix string
	space  space
	depth  int
}

type attr struct {
	prefix, local string
	space         space
	from, to      int // in values
}

const (
	maxNameBytes = 256
	maxAttrs     = 256
	maxBindings  = 256
	maxNames     = 1000 // remembered
)

func newScanner(src *source, l Limits, strict bool) *xmlScanner {
	return &xmlScanner{
		src: src, strict: strict, maxDepth: l.Depth, maxBytes: l.ItemBytes,
		names: make(map[string]string),
	}
}

// value returns the value of an attribute of the present token.
func (x *xmlScanner) value(a attr) string { return string(x.values.b[a.from:a.to]) }

// attribute returns the value of an attribute without a prefix.
func (x *xmlScanner) attribute(local string) string {
	for _, a := range x.tok.attrs {
		if a.prefix == "" && a.local == local {
			return x.value(a)
		}
	}
	return ""
}

func (x *xmlScanner) depth() int { return len(x.open) }

// next reads the next token.
func (x *xmlScanner) next() (*token, error) {
	for {
		if x.closing > 0 {
			x.closing--
			return x.pop(), nil
		}
		w := x.src.window()
		x.tok = token{kind: textRun, line: x.src.line}
		if len(w) == 0 {
			return x.end()
		}
		if x.cdata {
			if x.tok.text = x.inCDATA(); len(x.tok.text) > 0 {
				return &x.tok, x.checkText(x.tok.text, true)
			}
			continue
		}
		if w[0] != '<' {
			if w[0] == '&' {
				var err error
				x.tok.text, err = x.reference()
				return &x.tok, err
			}
			n := bytes.IndexAny(w, "<&")
			if n < 0 {
				n = len(w)
			}
			x.tok.text = w[:n]
			err := x.checkText(w[:n], false)
			x.src.advance(n)
			return &x.tok, err
		}
		done, err := x.tag()
		if err != nil || done {
			return &x.tok, err
		}
	}
}

// end returns what the end of the file means.
func (x *xmlScanner) end() (*token, error) {
	x.tok.kind = endOfFile
	switch {
	case x.cdata || len(x.open) > 0:
		return &x.tok, x.src.ended(x.truncated())
	case !x.seenRoot:
		return &x.tok, x.src.ended(x.src.fatal(NotAFeed, "there is no element"))
	case x.src.err != io.EOF:
		return &x.tok, x.src.failed()
	}
	return &x.tok, nil
}

func (x *xmlScanner) truncated() *Fatal {
	if len(x.open) == 0 {
		return x.src.fatal(Truncated, "the file ends inside of a tag")
	}
	return x.src.fatal(Truncated, "the file ends inside of <%s>", x.open[len(x.open)-1].written)
}

func (x *xmlScanner) pop() *token {
	last := x.open[len(x.open)-1]
	x.open = x.open[:len(x.open)-1]
	n := len(x.bindings)
	for n > 0 && x.bindings[n-1].depth > len(x.open) {
		n--
	}
	x.bindings = x.bindings[:n]
	x.tok = token{kind: endTag, name: last.name, line: x.src.line}
	return &x.tok
}

// checkText finds characters that a text may not hold.
func (x *xmlScanner) checkText(text []byte, cdata bool) error {
	if !x.strict {
		return nil
	}
	for _, c := range text {
		if c < ' ' && !isSpace(c) {
			return x.src.fatal(Malformed, "a control character")
		}
	}
	if !cdata && bytes.Contains(text, []byte("]]>")) {
		return x.src.fatal(Malformed, "]]> stands outside of a CDATA section")
	}
	return nil
}

// inCDATA returns the next stretch of a CDATA section, empty at its end.
func (x *xmlScanner) inCDATA() []byte {
	if x.src.hasPrefix("]]>") {
		x.src.advance(3)
		x.cdata = false
		return nil
	}
	w := x.src.window()
	n := bytes.Index(w, []byte("]]>"))
	if n < 0 {
		if n = len(w); n > 2 {
			n -= 2 // they may be the beginning of the end
		} else {
			n = 1
		}
	}
	x.src.advance(n)
	return w[:n]
}

// reference reads a reference, which begins with &.
func (x *xmlScanner) reference() ([]byte, error) {
	b := x.src.peek(40)
	text, n := decodeReference(b, x.strict)
	if n == 0 {
		if x.strict && len(b) < 40 && bytes.IndexByte(b, ';') < 0 && bytes.IndexByte(b, '<') < 0 {
			return nil, x.src.ended(x.truncated())
		}
		if x.strict {
			return nil, x.src.fatal(Malformed, "& begins no entity that is known")
		}
		text, n = "&", 1
	}
	x.src.advance(n)
	return []byte(text), nil
}

// decodeReference reads an entity or a character reference at the beginning of b. It returns 0 if
// there is none, or if it does not know it.
func decodeReference(b []byte, strict bool) (text string, n int) {
	n = bytes.IndexByte(b, ';') + 1
	if n < 3 {
		return "", 0
	}
	ref := string(b[1 : n-1])
	switch ref {
	case "lt":
		return "<", n
	case "gt":
		return ">", n
	case "amp":
		return "&", n
	case "quot":
		return `"`, n
	case "apos":
		return "'", n
	}
	if digits, ok := strings.CutPrefix(ref, "#"); ok {
		base := 10
		if strings.HasPrefix(digits, "x") || strings.HasPrefix(digits, "X") && !strict {
			digits, base = digits[1:], 16
		}
		code, err := strconv.ParseUint(digits, base, 32)
		switch {
		case err != nil || code > utf8.MaxRune || 0xd800 <= code && code < 0xe000:
			return "", 0
		case code < ' ' && !isSpace(byte(code)):
			if strict {
				return "", 0
			}
			return "", n // a control character, as in text
		}
		return string(rune(code)), n
	}
	if strict {
		return "", 0
	}
	written := string(b[:n])
	if text = html.UnescapeString(written); text == written || strings.HasSuffix(text, ";") {
		return "", 0
	}
	return text, n
}

// tag reads the markup that begins with <. It returns false if that is no token.
func (x *xmlScanner) tag() (done bool, err error) {
	head := x.src.peek(9)
	switch {
	case len(head) < 9 && (strings.HasPrefix("<![CDATA[", string(head)) || strings.HasPrefix("<!--", string(head))):
		return false, x.src.ended(x.truncated())
	case bytes.HasPrefix(head, []byte("<!--")):
		return false, x.skip(4, "-->")
	case bytes.HasPrefix(head, []byte("<?")):
		return false, x.skip(2, "?>")
	case bytes.HasPrefix(head, []byte("<![CDATA[")):
		if len(x.open) == 0 && x.strict {
			return false, x.src.fatal(Malformed, "CDATA stands outside of the root")
		}
		x.src.advance(9)
		x.cdata = true
		return false, nil
	case bytes.HasPrefix(head, []byte("<!")):
		return false, x.directive()
	case bytes.HasPrefix(head, []byte("</")):
		return x.endTag()
	case len(head) > 1 && beginsName(head[1]):
		return true, x.startTag()
	case x.strict || len(x.open) == 0:
		return false, x.src.fatal(Malformed, "< begins no tag")
	}
	x.tok.text = []byte("<")
	x.src.advance(1)
	return true, nil
}

func beginsName(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c == ':' || c >= utf8.RuneSelf
}

// skip goes on to the byte behind a mark.
func (x *xmlScanner) skip(n int, mark string) error {
	x.src.advance(n)
	for {
		w := x.src.window()
		if len(w) == 0 {
			return x.src.ended(x.truncated())
		}
		i := bytes.IndexByte(w, mark[0])
		switch {
		case i < 0:
			x.src.advance(len(w))
		case i > 0:
			x.src.advance(i)
		case x.src.hasPrefix(mark):
			x.src.advance(len(mark))
			return nil
		case x.strict && mark == "-->" && x.src.hasPrefix("--"):
			return x.src.fatal(Malformed, "-- stands inside of a comment")
		default:
			x.src.advance(1)
		}
	}
}

// directive reads a DOCTYPE, and obeys nothing in it.
func (x *xmlScanner) directive() error {
	if x.seenRoot {
		if x.strict {
			return x.src.fatal(Malformed, "a declaration stands behind the beginning of the root")
		}
	}
	var quote byte
	depth, subset := 0, 0
	for {
		w := x.src.window()
		if len(w) == 0 {
			return x.src.ended(x.truncated())
		}
		c := w[0]
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"', c == '\'':
			quote = c
		case c == '[':
			subset++
		case c == ']':
			subset--
		case c == '<':
			if hasPrefixFold(x.src.peek(8), "<!ENTITY") {
				return x.src.fatal(Entity, "the file declares an entity")
			}
			if x.src.hasPrefix("<!--") {
				if err := x.skip(4, "-->"); err != nil {
					return err
				}
				continue
			}
			depth++
		case c == '>':
			if depth--; depth <= 0 && subset <= 0 {
				x.src.advance(1)
				return nil
			}
		}
		x.src.advance(1)
	}
}

func hasPrefixFold(b []byte, p string) bool {
	return len(b) >= len(p) && strings.EqualFold(string(b[:len(p)]), p)
}

// intern returns b as a string. It remembers the string, as a file uses few names.
func (x *xmlScanner) intern(b []byte) string {
	if s, ok := x.names[string(b)]; ok {
		return s
	}
	s := string(b)
	if len(x.names) < maxNames {
		x.names[s] = s
	}
	return s
}

// readName reads a name.
func (x *xmlScanner) readName() (string, error) {
	b := x.src.peek(maxNameBytes + 1)
	n := 0
	for n < len(b) && endsName[b[n]] == 0 {
		n++
	}
	switch {
	case n > maxNameBytes:
		return "", x.src.fatal(TooLarge, "a name has more than %d bytes", maxNameBytes)
	case n == len(b):
		return "", x.src.ended(x.truncated())
	case n == 0 || x.strict && !wellNamed(b[:n]):
		return "", x.src.fatal(Malformed, "a name is expected here")
	}
	s := x.intern(b[:n])
	x.src.advance(n)
	return s, nil
}

var endsName = func() (ends [256]byte) {
	for _, c := range []byte(" \t\r\n/>=<\"'&") {
		ends[c] = 1
	}
	return ends
}()

func wellNamed(b []byte) bool {
	if !beginsName(b[0]) {
		return false
	}
	for _, c := range b {
		if !beginsName(c) && c != '-' && c != '.' && (c < '0' || c > '9') {
			return false
		}
	}
	return bytes.Count(b, []byte{':'}) <= 1 && b[0] != ':' && b[len(b)-1] != ':'
}
