package rivers

import (
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// foldCache keeps decoded folds in memory, the newest version seen of each post. A fold is
// asked for at a version that a statement of the same request returned, so a fold from here
// is never older than the rest of the page. It may be newer; then the decision checks
// whether access changed meanwhile (see consistent).
//
// Versions compare within one epoch: in another history of the primary store another post
// may have the id. Folds of former epochs are not asked for any more, and go as the oldest.
type foldCache struct {
	// mu guards both.
	mu     sync.Mutex
	folded *simplelru.LRU[foldKey, *Fold]
	full   *simplelru.LRU[foldKey, *Fold]
}

type foldKey struct{ epoch, post int64 }

func newFoldCache(size int) *foldCache {
	lru := func(n int) *simplelru.LRU[foldKey, *Fold] {
		l, err := simplelru.NewLRU[foldKey, *Fold](max(n, 1), nil)
		if err != nil {
			panic(err) // only a size below one is refused
		}
		return l
	}
	return &foldCache{folded: lru(size), full: lru(size / 20)}
}

func (c *foldCache) of(full bool) *simplelru.LRU[foldKey, *Fold] {
	if full {
		return c.full
	}
	return c.folded
}

// get returns the fold of a post if it is of that epoch and at least at that version, or nil.
func (c *foldCache) get(epoch, post, version int64, full bool) *Fold {
	c.mu.Lock()
	defer c.mu.Unlock()
	f, ok := c.of(full).Get(foldKey{epoch, post})
	if !ok || f.Version < version {
		return nil
	}
	return f
}

// put keeps a fold, whose epoch is set, unless a newer one is there.
func (c *foldCache) put(f *Fold, full bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l, key := c.of(full), foldKey{f.Epoch, f.PostID}
	if old, ok := l.Peek(key); ok && old.Version >= f.Version {
		return
	}
	l.Add(key, f)
}

// purge drops all folds.
func (c *foldCache) purge() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.folded.Purge()
	c.full.Purge()
}
