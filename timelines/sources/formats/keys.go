package formats

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strings"
)

// LinkKey begins the id of an item that is known by its address and its title, because another item
// has the same address.
const LinkKey = "link:"

// contentKey begins the id of an item that has neither an id nor an address.
const contentKey = "content:"

// setContentID gives an item of a feed without ids an id made from its contents: its address, or else
// its title and text as they stand in the file. If items share the address (Options.Shared) the id is
// made from address and title, so that an item keeps its id when the others are gone from the feed.
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
		if _, found := slices.BinarySearch(d.reader.shared, HashAddress(d.URL)); !found {
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

// HashAddress returns the hash by which an address is looked up.
func HashAddress(address string) int64 {
	sum := sha256.Sum256([]byte(address))
	return int64(binary.BigEndian.Uint64(sum[:8]))
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
	d.ID, r.sharing = d.shared, append(r.sharing, HashAddress(d.URL))
	return false
}
