package rivers

import (
	"bytes"
	"slices"
	"sync/atomic"
	"time"
	"unsafe"

	"riverrun/rivers/bytecache"
	"riverrun/timelines"
	"riverrun/timelines/access"
)

// decidedPages keep the pages that were decided last. A page whose rows, sets and clock of access are
// those of a kept one is that page: all else that a decision depends on, such as levels, titles and hides, changes
// with the clock, and posts change with the versions in the rows. So nobody decides twice between two
// changes. A page is not kept if something was read from a database while it was decided, because that may be
// newer than the clock says.
type decidedPages struct {
	pages *bytecache.Cache[decidedKey, *decidedPage]
	last  atomic.Uint64 // the number of the last decision
}

// decidedBytes bounds the memory of decided pages, in bytes. A fold counts in each page that has it, though
// they share it, because a page may be the last to have it.
const decidedBytes = 64 << 20

type decidedKey struct {
	name   Name
	before Cursor
}

// decidedPage is a page with the rows that it was decided from. It is immutable.
type decidedPage struct {
	raw  rawPage
	page *Page
}

// Size implements [bytecache.Value].
func (d *decidedPage) Size() int {
	size := 512
	for i := range d.raw.entries {
		size += int(unsafe.Sizeof(rawEntry{})) + cap(d.raw.entries[i].doc) + 8*cap(d.raw.entries[i].Overlay.Timelines)
	}
	for i := range d.page.Items {
		it := &d.page.Items[i]
		size += int(unsafe.Sizeof(Item{})) + (cap(it.Why)+cap(it.To))*int(unsafe.Sizeof(timelines.Timeline{})) + it.Fold.size()
	}
	return size
}

// size estimates what a fold takes, in bytes.
func (f *Fold) size() int {
	size := int(unsafe.Sizeof(Fold{})) + len(f.Text.Body) + 500*len(f.Attached) +
		8*(len(f.Decisive)+len(f.Likes.IDs)+len(f.Comments.IDs)+len(f.Comments.Likers)+len(f.Comments.Folded)) +
		16*(len(f.Comments.Recent)+len(f.Comments.Marks))
	for i := range f.Comments.Shown {
		c := &f.Comments.Shown[i]
		size += int(unsafe.Sizeof(Comment{})) + len(c.Body) + 500*len(c.Attached) + 8*(len(c.Likes.IDs)+len(c.Marks))
	}
	return size
}

func newDecidedPages() *decidedPages {
	return &decidedPages{pages: bytecache.New[decidedKey, *decidedPage](decidedBytes)}
}

// get returns the page that was decided from equal rows with these sets, as of a statement that began
// then, or nil.
func (d *decidedPages) get(key decidedKey, raw *rawPage, sets *access.Sets, began time.Time, loads uint64) *Page {
	found, ok := d.pages.Get(key, func(p *decidedPage) bool { return p.page.Sets == sets && p.raw.equal(raw) })
	if !ok {
		return nil
	}
	page := *found.page
	page.Began, page.At = began, Moment{raw.clock, loads}
	return &page
}

// put keeps a page that was decided from these rows alone, and names its decision.
func (d *decidedPages) put(key decidedKey, raw rawPage, page *Page) {
	page.Decision, page.Items = d.last.Add(1), slices.Clip(page.Items)
	kept := *page // the caller may change its own
	d.pages.Put(key, &decidedPage{raw, &kept})
}

// equal reports whether a statement returned the same twice.
func (p *rawPage) equal(other *rawPage) bool {
	return p.clock == other.clock && p.river == other.river && p.finished == other.finished && p.floor == other.floor &&
		p.notices == other.notices && slices.EqualFunc(p.entries, other.entries, func(a, b rawEntry) bool {
		return a.PostID == b.PostID && a.Version == b.Version && a.Place == b.Place && a.Deleted == b.Deleted &&
			a.Fold == b.Fold && bytes.Equal(a.doc, b.doc)
	})
}
