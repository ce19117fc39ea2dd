package formats

import (
	"net/url"
	"strconv"

	"riverrun/timelines/rules"
)

const iconSize = 64

// media takes an element of Media RSS. A group holds other elements.
func (f *xmlFeed) media(d *draft, e *entry, c int32, base *url.URL, depth int) {
	t := &f.tree
	d.at = int(t.nodes[c].line)
	switch t.nodes[c].name.local {
	case "group":
		if depth > 0 {
			return
		}
		f.inMedia(d, e, c, base, depth)
	case "content":
		address, kind, medium := t.attr(c, noSpace, "url"), t.attr(c, noSpace, "type"), t.attr(c, noSpace, "medium")
		text := ""
		for k, n := range t.elements(c) {
			if n.name.space == mediaSpace && (n.name.local == "description" || n.name.local == "title") && isPicture(address, kind, medium) {
				text = htmlTitle(t.content(k))
				break
			}
		}
		if kind != flash && address != "" {
			d.takeEnclosure("media:content", enclosed{
				address: address, mediaType: kind, medium: medium, title: text,
				length: t.attr(c, noSpace, "fileSize"), duration: t.attr(c, noSpace, "duration"),
			}, base)
		}
		if depth < 2 {
			f.inMedia(d, e, c, base, 1)
		}
	case "thumbnail":
		if w, err := strconv.Atoi(t.attr(c, noSpace, "width")); err == nil && w <= iconSize {
			return // the face of somebody
		}
		if a, ok := d.address(PictureInvalid, PictureInvalid, "media:thumbnail", t.attr(c, noSpace, "url"), base); ok && len(e.thumbs) < rules.ItemPictureMany.Most {
			e.thumbs = append(e.thumbs, Picture{URL: a})
		}
	case "title":
		if depth == 0 {
			first(&e.title, t.content(c))
		}
	case "description":
		if depth == 0 && e.summary == "" {
			e.summary, e.summaryOf = t.content(c), "media:description"
		}
	}
}

// inMedia takes the contents of a group or of a media:content. The title and the description of a
// group are the item's; those of a media:content are those of one picture. The files of a group are
// forms of one file: the default one is taken, or else the first.
func (f *xmlFeed) inMedia(d *draft, e *entry, c int32, base *url.URL, depth int) {
	file := f.fileOf(c)
	for k, n := range f.tree.elements(c) {
		if n.name.space != mediaSpace {
			continue
		}
		switch n.name.local {
		case "title", "description":
			if depth == 0 {
				f.media(d, e, k, base, 0)
			}
		case "content":
			if depth == 0 && (k == file || !f.isFile(k)) {
				f.media(d, e, k, base, 2)
			}
		case "thumbnail":
			f.media(d, e, k, base, 2)
		}
	}
}

// fileOf returns the default file of a group, or else the first.
func (f *xmlFeed) fileOf(group int32) int32 {
	var file int32
	for k, n := range f.tree.elements(group) {
		if n.name != (name{mediaSpace, "content"}) || !f.isFile(k) {
			continue
		}
		if file == 0 || f.tree.attr(k, noSpace, "isDefault") == "true" && f.tree.attr(file, noSpace, "isDefault") != "true" {
			file = k
		}
	}
	return file
}

// isFile reports whether a media:content is taken as a file.
func (f *xmlFeed) isFile(c int32) bool {
	address, kind := f.tree.attr(c, noSpace, "url"), f.tree.attr(c, noSpace, "type")
	return address != "" && kind != flash && !isPicture(address, kind, f.tree.attr(c, noSpace, "medium"))
}

// flash is a type that no browser plays any more.
const flash = "application/x-shockwave-flash"
