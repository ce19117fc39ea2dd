package formats

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// LinkKey begins the id of an item that is known by its address and its title, because another item
// has the same address.
const LinkKey = "link:"

// contentKey begins the id of an item that has neither an id nor an address.
const contentKey = "content:"

// setContentID gives an item of a feed without ids an id made from its contents: its address, or else
// its title and text as they stand in the file. In a feed whose items share addresses the id is made
// from address and title (Options.ByContent), so that an item keeps its id when the others are gone
// from the feed.
func (d *draft) setContentID(title, text string) {
	if d.ID != "" || d.wrong {
		return
	}
	title, text = strings.Join(strings.Fields(title), " "), strings.Join(strings.Fields(text), " ")
	said := title
	if said == "" {
		said = text
	}
	switch {
	case d.URL != "":
		d.shared = keyOf(LinkKey, d.URL, said)
		if !d.reader.byContent {
			d.setID("link", d.URL)
			d.byLink = d.ID != ""
			return
		}
		d.ID = d.shared
	case title+text != "" && !d.large:
		d.ID = keyOf(contentKey, title, text)
	case len(d.Files) > 0:
		d.ID = keyOf(contentKey, d.Files[0].URL, "")
	case len(d.Pictures) > 0:
		d.ID = keyOf(contentKey, d.Pictures[0].URL, "")
	}
}

func keyOf(kind, a, b string) string {
	sum := sha256.Sum256([]byte(a + "\x00" + b))
	return kind + hex.EncodeToString(sum[:16])
}

// knows reports whether the id of an item came before. If two items are known by one address, and are
// not the same, the second one gets an id of its own.
func (r *Reader) knows(d *draft) bool {
	if !d.byLink {
		return !r.known.add(d.ID)
	}
	r.byLink++
	same := !r.known.add(d.shared)
	if r.known.add(d.ID) {
		return false
	}
	if same {
		return true
	}
	d.ID, r.sharing = d.shared, true
	return false
}
