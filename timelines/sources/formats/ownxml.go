package formats

import (
	"io"
	"strings"

	"riverrun/timelines/rules"
)

// ownXML reads our own XML. All that the schema refuses is a problem here too. If the XML is not
// well-formed, or another element stands in the place of an item, the file is refused.
type ownXML struct {
	r    *Reader
	scan *xmlScanner
	tree tree

	inRoot, ended bool
}

func newOwnXML(r *Reader) *ownXML {
	return &ownXML{r: r, scan: newScanner(r.src, r.limits, true)}
}

func (o *ownXML) next(d *draft) error {
	for {
		at := o.r.src.offset()
		tok, err := o.scan.next()
		if err != nil {
			return err
		}
		switch tok.kind {
		case endOfFile:
			return io.EOF
		case textRun:
			if len(strings.Trim(string(tok.text), " \t\r\n")) > 0 {
				return o.r.src.fatal(Malformed, "text stands between items")
			}
			continue
		case endTag:
			o.inRoot, o.ended = false, true
			continue
		}
		isOurs := tok.name.space == ownSpace
		switch {
		case o.ended:
			return o.r.src.fatal(Malformed, "a second root <%s>", tok.name.local)
		case !o.inRoot:
			if !isOurs || tok.name.local != "items" {
				return o.r.src.fatal(NotAFeed, "the root is <%s>, and not <items> of %s", tok.name.local, Namespace)
			}
			o.inRoot = true
			if err := o.root(); err != nil {
				return err
			}
			continue
		case !isOurs || tok.name.local != "item":
			return o.r.src.fatal(Malformed, "<%s> stands where only <item> may", tok.name.local)
		}
		d.Line = tok.line
		if err := o.take(tok, at); err != nil {
			return err
		}
		o.item(d)
		return nil
	}
}

// root takes what the root says about the feed.
func (o *ownXML) root() error {
	for _, a := range o.scan.tok.attrs {
		value := o.scan.value(a)
		switch {
		case a.space == xmlSpace, a.prefix == "" && a.local == "xmlns":
		case a.prefix != "":
			return o.r.src.fatal(Malformed, "the attribute %s:%s is not known", a.prefix, a.local)
		case a.local == "title":
			o.r.feed.Title, _ = cutRunes(oneLine(value), rules.ItemTitle.Most)
		case a.local == "site":
			o.r.feed.Site, _ = webAddress(value, nil)
		case a.local == "language":
			o.r.feed.Language = o.r.language(value)
		default:
			return o.r.src.fatal(Malformed, "the attribute %s is not known", a.local)
		}
	}
	return nil
}

func (o *ownXML) take(tok *token, at int64) error {
	o.tree.begin(o.scan, tok, at, o.r.limits.ItemBytes)
	for {
		tok, err := o.scan.next()
		if err != nil {
			return err
		}
		if o.tree.take(o.scan, tok) {
			return nil
		}
	}
}

func (o *ownXML) item(d *draft) {
	t := &o.tree
	d.large = t.over
	if len(t.nodes) == 0 {
		return
	}
	o.noAttributes(d, 0)
	o.noText(d, 0, "item")
	r := record{d: d, date: parseOwnDate}
	for c, n := range t.elements(0) {
		d.at = int(n.line)
		i, ok := fieldNamed[n.name.local]
		if !ok || n.name.space != ownSpace {
			d.problem(FieldUnknown, n.name.local, "")
			continue
		}
		o.noAttributes(d, c)
		if !r.begin(i) {
			continue
		}
		f := &Fields[i]
		if f.Each == "" {
			r.take(i, o.value(d, c, f))
			continue
		}
		o.noText(d, c, f.Name)
		for k, e := range t.elements(c) {
			d.at = int(e.line)
			if e.name != (name{ownSpace, f.Each}) {
				d.problem(FieldUnknown, e.name.local, "")
				continue
			}
			o.noAttributes(d, k)
			r.take(i, o.value(d, k, f))
		}
	}
	r.end()
}

// value returns the text of a field. Elements in it are taken as HTML that somebody did not escape,
// as in other feeds; the schema does not allow them.
func (o *ownXML) value(d *draft, c int32, f *Field) string {
	t := &o.tree
	if t.hasElements(c) {
		d.problem(FieldInvalid, f.Name, "")
		if f.Kind != KindHTML {
			return htmlTitle(t.markup(c))
		}
	}
	return t.content(c)
}

func (o *ownXML) noAttributes(d *draft, c int32) {
	e := &o.tree.nodes[c]
	for _, a := range o.tree.attrs[e.from:e.to] {
		if a.name.space != xmlSpace && a.name.local != "xmlns" {
			d.problem(FieldUnknown, a.name.local, "")
		}
	}
}

// noText notes text between elements.
func (o *ownXML) noText(d *draft, c int32, field string) {
	t := &o.tree
	for k := t.nodes[c].first; k != 0; k = t.nodes[k].sister {
		if e := &t.nodes[k]; e.isText && len(strings.TrimSpace(string(t.text[e.from:e.to]))) > 0 {
			d.problem(FieldInvalid, field, string(t.text[e.from:e.to]))
			return
		}
	}
}
