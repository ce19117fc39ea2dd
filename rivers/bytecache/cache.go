// Package bytecache keeps what is dear to make, up to a number of bytes.
package bytecache

import (
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// A Value says how much memory it takes, in bytes.
type Value interface{ Size() int }

// Cache keeps values up to a number of bytes; the least recently used go first. It is safe for
// concurrent use.
type Cache[K comparable, V Value] struct {
	budget int

	mu           sync.Mutex // guards what follows
	used         int
	lru          *simplelru.LRU[K, V]
	hits, misses int64
}

// New returns a cache of at most budget bytes.
func New[K comparable, V Value](budget int) *Cache[K, V] {
	c := &Cache[K, V]{budget: budget}
	// Entries are bounded by their bytes; the count only has to be no smaller.
	lru, err := simplelru.NewLRU(max(budget/256, 1), func(_ K, gone V) { c.used -= gone.Size() })
	if err != nil {
		panic(err) // only a size below one is refused
	}
	c.lru = lru
	return c
}

// Get returns the value of a key, if there is one that holds accepts; a holds of nil accepts all.
func (c *Cache[K, V]) Get(key K, holds func(V) bool) (found V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if found, ok = c.lru.Get(key); ok && (holds == nil || holds(found)) {
		c.hits++
		return found, true
	}
	c.misses++
	var none V
	return none, false
}

// Put keeps a value. One that takes more than a quarter of the budget is not kept, because it would push
// out all others.
func (c *Cache[K, V]) Put(key K, made V) {
	size := made.Size()
	if size > c.budget/4 {
		return
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

// Use is how a cache is used.
type Use struct {
	Bytes        int
	Hits, Misses int64
}

// Use returns how the cache was used up to now.
func (c *Cache[K, V]) Use() Use {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Use{c.used, c.hits, c.misses}
}
