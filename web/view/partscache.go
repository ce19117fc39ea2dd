package view

import (
	"bytes"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
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
	body, comments []byte
	named          []namedAs
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

// partsBytes bounds the cache of rendered parts, in bytes.
const partsBytes = 64 << 20

// partsCache keeps rendered shared parts, the least recently used go first, up
// to a number of bytes. It is safe for concurrent use.
type partsCache struct {
	budget int

	mu   sync.Mutex // guards what follows
	used int
	lru  *simplelru.LRU[sharedKey, sharedParts]
}

// newPartsCache returns a cache of at most budget bytes.
func newPartsCache(budget int) *partsCache {
	c := &partsCache{budget: budget}
	// Entries are bounded by their bytes; the count only has to be no smaller.
	lru, err := simplelru.NewLRU(max(budget/256, 1), func(_ sharedKey, gone sharedParts) { c.used -= gone.size() })
	if err != nil {
		panic(err) // only a size below one is refused
	}
	c.lru = lru
	return c
}

// get returns the parts if everybody in them still has the same name.
func (c *partsCache) get(key sharedKey, named []namedAs) (sharedParts, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, ok := c.lru.Get(key)
	if !ok || !slices.Equal(found.named, named) {
		return sharedParts{}, false
	}
	return found, true
}

func (c *partsCache) put(key sharedKey, made sharedParts) {
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
