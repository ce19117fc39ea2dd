package view

import (
	"bytes"
	"sync"
	"testing"
)

func TestPartsCacheIsBounded(t *testing.T) {
	const budget = 100_000
	c := newPartsCache(budget)
	for post := range int64(1000) {
		c.put(sharedKey{post: post}, sharedParts{body: make([]byte, 1000)})
		if c.used > budget {
			t.Fatalf("after %d posts: %d bytes, want at most %d", post+1, c.used, budget)
		}
	}
	if _, ok := c.get(sharedKey{post: 999}, nil); !ok {
		t.Error("the newest is gone")
	}
	if _, ok := c.get(sharedKey{post: 0}, nil); ok {
		t.Error("the oldest is still there")
	}
	c.put(sharedKey{post: 2000}, sharedParts{body: make([]byte, budget)})
	if _, ok := c.get(sharedKey{post: 999}, nil); !ok {
		t.Error("a giant pushed the others out")
	}
	// The same key again counts once.
	before := c.used
	c.put(sharedKey{post: 999}, sharedParts{body: make([]byte, 1000)})
	if c.used != before {
		t.Errorf("put again: %d bytes, want %d", c.used, before)
	}
}

func TestPartsCacheConcurrently(t *testing.T) {
	c := newPartsCache(50_000)
	var g sync.WaitGroup
	for range 8 {
		g.Go(func() {
			for i := range int64(500) {
				key := sharedKey{post: i % 60}
				if found, ok := c.get(key, nil); ok && len(found.body) != int(i%60)+1 {
					t.Errorf("post %d: %d bytes", i%60, len(found.body))
				}
				c.put(key, sharedParts{body: make([]byte, i%60+1)})
			}
		})
	}
	g.Wait()
}

func TestFillTimes(t *testing.T) {
	loc := LocaleOf("en")
	rendered := []byte("a " + markTime(minutesAgo(5)) + " b " + markTime(minutesAgo(120)))
	if got, want := string(FillTimes(rendered, loc, testNow)), "a 5\u00a0min b 2\u00a0h"; got != want {
		t.Errorf("fillTimes(%q) = %q, want %q", rendered, got, want)
	}
	// Malformed marks cannot come from us, and must not loop or panic.
	for _, odd := range []string{"\x00", "\x00x", "\x00x\x00y", "\x00\x00"} {
		if got := FillTimes([]byte(odd), loc, testNow); bytes.ContainsRune(got, 0) {
			t.Errorf("fillTimes(%q) = %q", odd, got)
		}
	}
}
