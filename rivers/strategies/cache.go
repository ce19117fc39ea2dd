package strategies

import (
	"context"
	"time"

	"riverrun/rivers"
	"riverrun/timelines"
)

// Cache is fan-out on write to a cache. 001: "Another approach is to store the persistent
// timeline of a user in a single cache document that is finite in size and only maintain this
// cache document for active users ... the cache document is only created on read and is
// initialized by falling back to a fanout-on-read approach. If a user scrolls back in their
// timeline beyond the limit of the cache, the system also falls back to fanout on read."
//
// Ours does the same: one bucket that keeps the newest posts, made by the first page, and
// [Read] below it. It differs in these points:
//
//   - 001 loses the posts that are pushed while the cache is built, because a push does
//     nothing where no cache is, and the build has read without them. Here the cache is
//     registered before its build reads, a push writes into a cache that is being built, and
//     stamps decide between the two.
//   - 001 never removes a cache. Here Expire drops those that nobody read for some time.
//   - 001 goes on with what was cached when somebody is followed or left. Here the cache is
//     dropped, and the next page makes another.
//   - Below the cache the pages go on by anchor without a hole. The cache knows its floor,
//     which rises when a push drops the oldest post.
type Cache struct{ stored *stored }

// CacheSize is how many posts a cache keeps if nothing else is said, and CacheIdle how long one
// is kept that nobody reads. The size is twice that of 001: four pages.
const (
	CacheSize = 100
	CacheIdle = 24 * time.Hour
)

// NewCache returns the strategy with caches of that many posts, which Expire drops after idle.
// 0 means CacheSize and CacheIdle. read serves what is below a cache. Changing the size drops
// each cache when it is next read.
func NewCache(s Stores, read *Read, size int, idle time.Duration) *Cache {
	if size <= 0 {
		size = CacheSize
	}
	if idle <= 0 {
		idle = CacheIdle
	}
	c := newStored(s, "cache", int64(size), &sizes{}, read)
	c.keep = size
	c.idle = idle
	return &Cache{c}
}

// Page implements Strategy.
func (c *Cache) Page(ctx context.Context, v timelines.Viewer, below rivers.Cursor, limit int) (Page, error) {
	return c.stored.Page(ctx, v, below, limit)
}

// Apply implements Strategy.
func (c *Cache) Apply(ctx context.Context, events ...timelines.Event) error {
	return c.stored.Apply(ctx, events...)
}

// ApplyStep implements Stepper.
func (c *Cache) ApplyStep(ctx context.Context, from Progress, event timelines.Event) (next Progress, more bool, err error) {
	return c.stored.ApplyStep(ctx, from, event)
}

// ApplyOwn implements Strategy.
func (c *Cache) ApplyOwn(ctx context.Context, actor int64, events ...timelines.Event) error {
	return c.stored.ApplyOwn(ctx, actor, events...)
}

// Expire implements Expirer. It also drops the caches of viewers who did not read for as long
// as a cache is kept.
func (c *Cache) Expire(ctx context.Context) error {
	return c.stored.Expire(ctx)
}
