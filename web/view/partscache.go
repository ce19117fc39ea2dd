package view

import (
	"bytes"
	"strconv"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"riverrun/rivers"
	"riverrun/timelines/access"
)

// sharedKey is everything that shared parts depend on, except people's names (see
// sharedParts.named) and the time (see FillTimes).
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

// ownKey is everything that a viewer's own parts depend on. The sets are those of one moment: when the
// viewer's change, they are others. The tag is of the names, and of what was decided (Renderer.Tag).
type ownKey struct {
	viewer             int64
	sets               *access.Sets
	lang               string
	page               string // where its forms lead back to
	river              rivers.Name
	post, epoch        int64
	stamp              rivers.Stamp
	tag                uint64
	full, liked, faved bool
}

// ownParts are rendered bytes for one viewer, with their checksums. They are immutable.
type ownParts struct {
	why, acts, likes []byte
	sums             [PartCount]uint64
}

func (p ownParts) size() int { return len(p.why) + len(p.acts) + len(p.likes) + 512 }

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

// timeMark stands around an instant (microseconds) in rendered parts, in the
// place of its "5 min". It cannot come from people: the store takes no NUL.
const timeMark = 0

// FillTimes copies rendered parts with every marked instant written as the time
// that has passed since.
func FillTimes(rendered []byte, loc *Locale, now time.Time) []byte {
	filled := make([]byte, 0, len(rendered))
	for {
		before, rest, ok := bytes.Cut(rendered, []byte{timeMark})
		filled = append(filled, before...)
		if !ok {
			return filled
		}
		digits, after, _ := bytes.Cut(rest, []byte{timeMark})
		micros, err := strconv.ParseInt(string(digits), 10, 64)
		if err == nil {
			filled = append(filled, loc.ago(time.UnixMicro(micros), now)...)
		}
		rendered = after
	}
}

func markTime(micros int64) string {
	return string(rune(timeMark)) + strconv.FormatInt(micros, 10) + string(rune(timeMark))
}
