package view

import (
	"riverrun/rivers"
	"riverrun/timelines/access"
	"riverrun/web/view/pieces"
)

// sharedKey is everything that shared parts depend on, except people's names (see
// sharedParts.named).
type sharedKey struct {
	post    int64
	version int64 // the fold's
	epoch   int64 // the fold's: versions compare within it
	full    bool
	lang    string
	rights  rights
	to      string // the destinations the viewer may know of
	here    int64  // see Entry.here
	hidden  string // hidden people who wrote or like comments
	// comments unfolded because they mention somebody
	mentions string
}

// sharedParts are rendered bytes, the same for all viewers of one key. They are
// immutable.
type sharedParts struct {
	body, comments       []byte
	named                []namedAs
	bodySum, commentsSum uint64
}

// namedAs is the name, title and picture of an account when a part was rendered.
type namedAs struct{ name, title, picture string }

func (s sharedParts) Size() int {
	n := len(s.body) + len(s.comments) + 256
	for _, a := range s.named {
		n += len(a.name) + len(a.title) + len(a.picture) + 48
	}
	return n
}

// ownKey is everything that a viewer's own parts and the frame around all parts depend on. The sets are those of one moment: when the
// viewer's change, they are others. The tag is of the names, and of what was decided (Renderer.Tag).
type ownKey struct {
	viewer             int64
	me                 namedAs // the viewer
	sets               *access.Sets
	lang               string
	page               string // where its forms lead back to
	river              rivers.Name
	over               bool
	post, epoch, place int64
	stamp              rivers.Stamp
	tag                uint64
	full, liked, faved bool
}

// ownParts are rendered bytes for one viewer, with their checksums. They are immutable.
type ownParts struct {
	why, acts, likes []byte
	sums             [PartCount]uint64
	frame            frame
}

func (p ownParts) Size() int {
	n := len(p.why) + len(p.acts) + len(p.likes) + 768
	for _, piece := range p.frame {
		n += len(piece)
	}
	return n
}

// articlesKey is everything that the articles of a page depend on. The clock of access belongs to the
// decision, and with it people's names.
type articlesKey struct {
	decision uint64
	lang     string
	page     string // where their forms lead back to
	marks    uint64 // what the viewer has read
}

// KeptArticles are the entries of a page, rendered. They are immutable.
type KeptArticles struct {
	articles []pieces.Kept
	rows     []gathered
	shown    uint64
}

// Size implements [bytecache.Value].
func (a *KeptArticles) Size() int {
	n := 512
	for _, article := range a.articles {
		n += article.Size()
	}
	return n
}

// partsBytes bounds each cache of rendered parts and articles, in bytes. A part counts in each.
const partsBytes = 64 << 20
