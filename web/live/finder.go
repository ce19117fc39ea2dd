package live

import (
	"context"
	"maps"
	"slices"
	"sync"

	"riverrun/rivers"
)

// A finder brings the searches that are open on this node up to date, so that they find what is
// new. That costs more than to read a river, so the finder does it at most once a second
// however many changes come, and only if something changed or pages are about to be compared
// with their rivers. It has a goroutine of its own, so that nothing waits for it. Changes of
// what open searches already show are their shard's work, at once as on all pages.
type finder struct {
	shard *shard
	wake  chan struct{}

	// mu guards the fields below. No other lock is taken while it is held.
	mu    sync.Mutex
	posts map[int64]struct{} // touched since the finder last looked
	slots map[int]struct{}   // the topics of these are to be compared
}

func newFinder(sh *shard) *finder {
	return &finder{shard: sh, wake: make(chan struct{}, 1), posts: map[int64]struct{}{}, slots: map[int]struct{}{}}
}

// add notes which posts were touched. If nobody has a search open, the next beat forgets them.
func (f *finder) add(posts []int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, id := range posts {
		f.posts[id] = struct{}{}
	}
}

// beat has the searches brought up to date: all of them if posts were touched, and those of
// that slot to be compared.
func (f *finder) beat(slot int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.slots[slot] = struct{}{}
	nudge(f.wake)
}

func (f *finder) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.wake:
		}
		f.find(ctx)
	}
}

// find brings the searches up to date and has their shard read what they may have found.
func (f *finder) find(ctx context.Context) {
	f.mu.Lock()
	posts, slots := slices.Collect(maps.Keys(f.posts)), f.slots
	clear(f.posts)
	f.slots = map[int]struct{}{}
	f.mu.Unlock()
	var names []rivers.Name
	f.shard.mu.Lock()
	for _, r := range f.shard.topics {
		if _, due := slots[r.slot]; due || len(posts) > 0 {
			names = append(names, r.watch.Name)
		}
	}
	f.shard.mu.Unlock()
	if len(names) == 0 {
		return
	}
	cfg := &f.shard.hub.cfg
	left, err := cfg.Rivers.BringUp(ctx, names)
	if err != nil {
		if ctx.Err() == nil {
			cfg.Log.WarnContext(ctx, "bringing up open searches", "rivers", len(names), "posts", len(posts), "error", err)
		}
		f.add(posts) // the next beat tries again
		return
	}
	f.shard.found(posts, left, slots)
}

// found takes what the finder did: the posts that searches may hold now, the searches that are
// to be visited again, and the slots whose searches can be compared.
func (sh *shard) found(posts []int64, left []rivers.Name, slots map[int]struct{}) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.want(posts, sh.hub.cfg.Now())
	sh.resync(left)
	maps.Copy(sh.slots, slots)
	nudge(sh.wake)
}
