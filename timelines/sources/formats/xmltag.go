package formats

import (
	"bytes"
	"strings"
)

func (x *xmlScanner) endTag() (done bool, err error) {
	x.src.advance(2)
	written, err := x.readName()
	if err != nil {
		return false, err
	}
	x.src.skipSpace()
	switch w := x.src.window(); {
	case len(w) == 0:
		return false, x.src.ended(x.truncated())
	case w[0] != '>':
		return false, x.src.fatal(Malformed, "</%s does not end with >", written)
	}
	n := len(x.open)
	if n > 0 && x.open[n-1].written == written {
		x.src.advance(1)
		x.pop()
		return true, nil
	}
	if !x.strict && x.floor > 0 {
		for i := n - 1; i >= x.floor; i-- {
			if x.open[i].written == written {
				x.src.advance(1)
				x.closing = n - i
				return false, nil
			}
		}
		for i := x.floor - 1; i >= 0; i-- {
			if x.open[i].written == written {
				if i == x.floor-1 { // the item itself
					x.src.advance(1)
					x.closing = n - i
					return false, nil
				}
				return false, x.src.fatal(Malformed, "</%s> stands inside of <%s>", written, x.open[n-1].written)
			}
		}
		x.src.advance(1)
		return false, nil
	}
	if n == 0 {
		return false, x.src.fatal(Malformed, "</%s> has no beginning", written)
	}
	return false, x.src.fatal(Malformed, "</%s> stands where </%s> is expected", written, x.open[n-1].written)
}

func (x *xmlScanner) startTag() error {
	line := x.src.line
	x.src.advance(1)
	written, err := x.readName()
	if err != nil {
		return err
	}
	if len(x.open) >= x.maxDepth {
		return x.src.fatal(TooDeep, "elements are nested deeper than %d", x.maxDepth)
	}
	x.attrs, x.values = x.attrs[:0], store{b: x.values.b[:0], limit: x.maxBytes}
	empty := false
	for done := false; !done; {
		if done, empty, err = x.attribution(); err != nil {
			return err
		}
	}
	prefix, local := splitName(written)
	x.open = append(x.open, openElement{written: written})
	if err := x.bind(); err != nil {
		return err
	}
	sp, err := x.spaceOf(prefix)
	if err != nil {
		return err
	}
	n := name{sp, local}
	x.open[len(x.open)-1].name = n
	x.seenRoot = true
	if empty {
		x.closing = 1
	}
	x.tok = token{kind: startTag, name: n, attrs: x.attrs, line: line, full: x.values.full}
	return nil
}

func splitName(written string) (prefix, local string) {
	if p, l, ok := strings.Cut(written, ":"); ok && p != "" && l != "" {
		return p, l
	}
	return "", written
}

// attribution reads the next attribute, or the end of the tag.
func (x *xmlScanner) attribution() (done, empty bool, err error) {
	before := x.src.offset()
	x.src.skipSpace()
	spaced := x.src.offset() > before
	w := x.src.window()
	switch {
	case len(w) == 0:
		return false, false, x.src.ended(x.truncated())
	case w[0] == '>':
		x.src.advance(1)
		return true, false, nil
	case w[0] == '/':
		x.src.advance(1)
		if w := x.src.window(); len(w) > 0 && w[0] == '>' {
			x.src.advance(1)
			return true, true, nil
		} else if len(w) > 0 && x.strict {
			return false, false, x.src.fatal(Malformed, "/ stands inside of a tag")
		}
		return false, false, nil
	case w[0] == '<', w[0] == '=', w[0] == '&', w[0] == '"', w[0] == '\'':
		if x.strict || w[0] == '<' || w[0] == '=' {
			return false, false, x.src.fatal(Malformed, "an attribute is expected here")
		}
		x.src.advance(1)
		return false, false, nil
	case x.strict && !spaced:
		return false, false, x.src.fatal(Malformed, "a space is expected between attributes")
	}
	written, err := x.readName()
	if err != nil {
		return false, false, err
	}
	if len(x.attrs) == maxAttrs {
		return false, false, x.src.fatal(TooLarge, "an element has more than %d attributes", maxAttrs)
	}
	prefix, local := splitName(written)
	a := attr{prefix: prefix, local: local, from: len(x.values.b)}
	x.src.skipSpace()
	if w = x.src.window(); len(w) > 0 && w[0] == '=' {
		x.src.advance(1)
		x.src.skipSpace()
		if err := x.readValue(); err != nil {
			return false, false, err
		}
	} else if x.strict && len(w) > 0 {
		return false, false, x.src.fatal(Malformed, "the attribute %s has no value", written)
	}
	a.to = len(x.values.b)
	if x.strict {
		for _, b := range x.attrs {
			if b.prefix == prefix && b.local == local {
				return false, false, x.src.fatal(Malformed, "the attribute %s is given twice", written)
			}
		}
	}
	x.attrs = append(x.attrs, a)
	return false, false, nil
}

// readValue reads the value of an attribute into values.
func (x *xmlScanner) readValue() error {
	w := x.src.window()
	if len(w) == 0 {
		return x.src.ended(x.truncated())
	}
	quote := w[0]
	ends := "&<\"\t\r\n"
	switch {
	case quote == '\'':
		ends = "&<'\t\r\n"
	case quote == '"':
	case x.strict:
		return x.src.fatal(Malformed, "the value of an attribute needs quotes")
	default:
		quote, ends = 0, "&< \t\r\n>"
	}
	if quote != 0 {
		x.src.advance(1)
	}
	for {
		w := x.src.window()
		if len(w) == 0 {
			return x.src.ended(x.truncated())
		}
		n := bytes.IndexAny(w, ends)
		if n < 0 {
			n = len(w)
		}
		x.values.add(w[:n])
		x.src.advance(n)
		if n == len(w) {
			continue
		}
		switch c := w[n]; {
		case c == '&':
			text, err := x.reference()
			if err != nil {
				return err
			}
			x.values.add(text)
		case c == '<' && x.strict:
			return x.src.fatal(Malformed, "< stands inside of an attribute")
		case c == quote:
			x.src.advance(1)
			return nil
		case quote == 0 && c != '<':
			return nil
		case c == '<':
			x.values.add([]byte("<"))
			x.src.advance(1)
		default: // a line break, or a tab
			x.values.add([]byte(" "))
			x.src.advance(1)
		}
	}
}

// bind takes the namespaces that the last element declares.
func (x *xmlScanner) bind() error {
	for _, a := range x.attrs {
		prefix := a.local
		switch {
		case a.prefix == "xmlns":
		case a.prefix == "" && a.local == "xmlns":
			prefix = ""
		default:
			continue
		}
		if len(x.bindings) == maxBindings {
			return x.src.fatal(TooLarge, "more than %d namespaces are declared", maxBindings)
		}
		sp := spaceOf(x.value(a), x.strict)
		// RSS has no namespace, whatever its root declares.
		if prefix == "" && !x.strict && (sp == otherSpace || len(x.open) == 1 && x.open[0].written == "rss") {
			sp = noSpace
		}
		x.bindings = append(x.bindings, binding{prefix, sp, len(x.open)})
	}
	for i := range x.attrs {
		if x.attrs[i].prefix != "" {
			sp, err := x.spaceOf(x.attrs[i].prefix)
			if err != nil {
				return err
			}
			x.attrs[i].space = sp
		}
	}
	return nil
}

// spaceOf returns the namespace of a prefix.
func (x *xmlScanner) spaceOf(prefix string) (space, error) {
	for i := len(x.bindings) - 1; i >= 0; i-- {
		if x.bindings[i].prefix == prefix {
			return x.bindings[i].space, nil
		}
	}
	switch {
	case prefix == "":
		return noSpace, nil
	case prefix == "xml", prefix == "xmlns":
		return xmlSpace, nil
	case x.strict:
		return noSpace, x.src.fatal(Malformed, "the prefix %s is not declared", prefix)
	}
	if sp, ok := usualPrefixes[prefix]; ok {
		return sp, nil // declared nowhere, but everybody knows what it means
	}
	return otherSpace, nil
}
