package access

import (
	"context"
	"maps"
	"slices"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// table is one kind of thing the cache holds, by its key.
type table[K comparable, V any] struct {
	cache *Cache
	kept  *simplelru.LRU[K, V] // guarded by the cache's mu
	is    property
	load  func(ctx context.Context, missing []K) (map[K]V, error)
	slots chan struct{} // one is taken by each load under way
	next  *load[K, V]   // the load that has not begun yet, or nil; guarded by the cache's mu
}

type property int

const (
	// counted: the table decides what is shown or says how something is called, so its
	// loads count (see Label).
	counted property = 1 << iota
	// immutable: what is loaded never changes within an epoch, and is stored whatever was
	// dropped in it.
	immutable
)

func newTable[K comparable, V any](c *Cache, size int, is property, load func(context.Context, []K) (map[K]V, error)) table[K, V] {
	kept, err := simplelru.NewLRU[K, V](size, nil)
	if err != nil {
		panic(err) // only a size below one is refused
	}
	return table[K, V]{cache: c, kept: kept, is: is, load: load, slots: make(chan struct{}, maxLoads)}
}

// maxLoads is how many loads of one table may be under way at once. Those who come meanwhile share the
// next one, so that thousands of viewers who come back together after a restart cost some
// statements, and not one each. A load that is shared has at most maxKeys keys, so that the first
// viewers need not wait for the last.
const (
	maxLoads = 4
	maxKeys  = 100
)

// A load is one statement for all who ask before it begins. found and err are set before done is
// closed.
type load[K comparable, V any] struct {
	keys  map[K]struct{} // guarded by the cache's mu until it begins
	done  chan struct{}
	found map[K]V
	err   error
	given bool // set if nobody has loaded: the request that was to has ended
}

func (l *load[K, V]) hasRoom(keys []K) bool {
	n := len(l.keys)
	for _, key := range keys {
		if _, ok := l.keys[key]; !ok {
			n++
		}
	}
	return n <= maxKeys || n == len(l.keys)
}

// one is all for one key; ok is false if nothing stands under it.
func (t *table[K, V]) one(ctx context.Context, key K) (v V, ok bool, err error) {
	t.cache.mu.Lock()
	v, ok = t.kept.Get(key)
	t.cache.mu.Unlock()
	if ok {
		return v, true, nil
	}
	found, err := t.all(ctx, []K{key})
	v, ok = found[key]
	return v, ok, err
}

// all returns what stands under these keys; a zero key, and one that nothing stands
// under, is left out. It makes no statement when all are kept, else one that begins after the call.
func (t *table[K, V]) all(ctx context.Context, keys []K) (map[K]V, error) {
	found := make(map[K]V, len(keys))
	for {
		missing, one, first := t.find(keys, found)
		if len(missing) == 0 {
			return found, nil
		}
		if first {
			t.make(ctx, one)
		} else {
			select {
			case <-one.done:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		if one.given && !first {
			continue
		}
		if one.err != nil {
			return nil, one.err
		}
		for _, key := range missing {
			if v, ok := one.found[key]; ok {
				found[key] = v
			}
		}
		return found, nil
	}
}

// find puts what is kept into found, and returns the keys that are missing and the load that will have
// them. If it is the first to want that load, it has to make it.
func (t *table[K, V]) find(keys []K, found map[K]V) (missing []K, one *load[K, V], first bool) {
	var zero K
	t.cache.mu.Lock()
	defer t.cache.mu.Unlock()
	for _, key := range keys {
		if v, ok := t.kept.Get(key); ok {
			found[key] = v
		} else if key != zero {
			missing = append(missing, key)
		}
	}
	if len(missing) == 0 {
		return nil, nil, false
	}
	if one = t.next; one == nil || !one.hasRoom(missing) {
		one, first = &load[K, V]{keys: make(map[K]struct{}, len(missing)), done: make(chan struct{})}, true
		if len(missing) < maxKeys {
			t.next = one
		}
	}
	for _, key := range missing {
		one.keys[key] = struct{}{}
	}
	return missing, one, first
}

// make loads when there is a slot, and stores what it found.
func (t *table[K, V]) make(ctx context.Context, one *load[K, V]) {
	one.given = true // stays if it panics
	defer close(one.done)
	select {
	case t.slots <- struct{}{}:
		defer func() { <-t.slots }()
	case <-ctx.Done():
	}
	c := t.cache
	c.mu.Lock()
	if t.next == one {
		t.next = nil
	}
	began := c.state()
	c.mu.Unlock()
	if one.err = ctx.Err(); one.err != nil {
		return
	}
	one.found, one.err = t.load(ctx, slices.Collect(maps.Keys(one.keys)))
	if one.err != nil {
		one.given = ctx.Err() != nil // then the error is this request's alone
		return
	}
	one.given = false
	c.mu.Lock()
	defer c.mu.Unlock()
	if t.is&counted != 0 {
		c.loads++
	}
	t.keep(one.found, began)
}

// state is what a load must find unchanged at its end for its result to be stored.
type state struct {
	drops uint64
	epoch int64
}

// state returns the present state. mu must be held.
func (c *Cache) state() state { return state{c.drops, c.label.Epoch} }

// keep stores what was loaded, unless something was dropped since the load began. mu must be
// held.
func (t *table[K, V]) keep(loaded map[K]V, began state) {
	if t.cache.label.Epoch != began.epoch || t.is&immutable == 0 && t.cache.drops != began.drops {
		return
	}
	for key, v := range loaded {
		t.kept.Add(key, v)
	}
}
