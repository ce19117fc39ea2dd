package bytecache_test

import (
	"sync"
	"testing"

	"riverrun/rivers/bytecache"
)

type page []byte

func (p page) Size() int { return len(p) }

func TestBounded(t *testing.T) {
	const budget = 100_000
	c := bytecache.New[int, page](budget)
	for i := range 1000 {
		c.Put(i, make(page, 1000))
		if used := c.Use().Bytes; used > budget {
			t.Fatalf("after %d values: %d bytes, want at most %d", i+1, used, budget)
		}
	}
	if _, ok := c.Get(999, nil); !ok {
		t.Error("the newest is gone")
	}
	if _, ok := c.Get(0, nil); ok {
		t.Error("the oldest is still there")
	}
	if _, ok := c.Get(999, func(page) bool { return false }); ok {
		t.Error("a value that does not hold was returned")
	}
	c.Put(2000, make(page, budget))
	if _, ok := c.Get(999, nil); !ok {
		t.Error("a giant pushed the others out")
	}
	// The same key again counts once.
	before := c.Use().Bytes
	c.Put(999, make(page, 1000))
	if used := c.Use().Bytes; used != before {
		t.Errorf("put again: %d bytes, want %d", used, before)
	}
	if use := c.Use(); use.Hits != 2 || use.Misses != 2 {
		t.Errorf("%d hits and %d misses, want 2 and 2", use.Hits, use.Misses)
	}
}

func TestConcurrently(t *testing.T) {
	c := bytecache.New[int, page](50_000)
	var g sync.WaitGroup
	for range 8 {
		g.Go(func() {
			for i := range 500 {
				key := i % 60
				if found, ok := c.Get(key, nil); ok && len(found) != key+1 {
					t.Errorf("value %d: %d bytes", key, len(found))
				}
				c.Put(key, make(page, key+1))
			}
		})
	}
	g.Wait()
}
