package view

import (
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"riverrun/rivers"
	"riverrun/timelines/access"
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

func (s sharedParts) size() int {
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

func (p ownParts) size() int {
	n := len(p.why) + len(p.acts) + len(p.likes) + 768
	for _, piece := range p.frame {
		n += len(piece)
	}
	return n
}

// partsBytes bounds each cache of rendered parts, in bytes.
const partsBytes = 64 << 20

// partsCache keeps rendered parts, the least recently used go first, up
// to a number of bytes. It is safe for concurrent use.
type partsCache[K comparable, V interface{ size() int }] struct {
	budget int

	mu           sync.Mutex // guards what follows
	used         int
	lru          *simplelru.LRU[K, V]
	hits, misses int64
}

// newPartsCache returns a cache of at most budget bytes.
func newPartsCache[K comparable, V interface{ size() int }](budget int) *partsCache[K, V] {
	c := &partsCache[K, V]{budget: budget}
	// Entries are bounded by their bytes; the count only has to be no smaller.
	lru, err := simplelru.NewLRU(max(budget/256, 1), func(_ K, gone V) { c.used -= gone.size() })
	if err != nil {
		panic(err) // only a size below one is refused
	}
	c.lru = lru
	return c
}

// get returns the parts of a key, if there are any that holds accepts.
func (c *partsCache[K, V]) get(key K, holds func(V) bool) (found V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if found, ok = c.lru.Get(key); ok && holds(found) {
		c.hits++
		return found, true
	}
	c.misses++
	var none V
	return none, false
}

func (c *partsCache[K, V]) put(key K, made V) {
	size := made.size()
	if size > c.budget/4 {
		return // one giant would push out all others
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lru.Remove(key)
	for c.used+size > c.budget {
		c.lru.RemoveOldest()
	}
	c.used += size
	c.lru.Add(key, made)
}

// CacheUse is how a cache of rendered parts is used.
type CacheUse struct {
	Bytes        int
	Hits, Misses int64
}

func (c *partsCache[K, V]) use() CacheUse {
	c.mu.Lock()
	defer c.mu.Unlock()
	return CacheUse{c.used, c.hits, c.misses}
}
