package live

import (
	"context"
	"maps"
	"slices"
	"sync"

	"riverrun/rivers"
)

// A finder brings the searches up that are open on this node, so that they find what is
// new. That costs more than to read a river: it does so once a second at most however many
// changes come, and only if there were any, or if pages are about to be compared with
// their rivers. It has a goroutine of its own, so that nothing else waits for it: what
// changes or goes of what open searches show is for their shard, at once, as on all pages.
type finder struct {
	shard *shard
	wake  chan struct{}

	// mu guards the fields below. No other lock is taken under it.
	mu    sync.Mutex
	posts map[int64]struct{} // touched and not looked at yet
	slots map[int]struct{}   // of those rooms that are to be compared
}

func newFinder(sh *shard) *finder {
	return &finder{shard: sh, wake: make(chan struct{}, 1), posts: map[int64]struct{}{}, slots: map[int]struct{}{}}
}

// note takes which posts were touched. If nobody has a search open they are forgotten at
// the next beat.
func (f *finder) add(posts []int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, id := range posts {
		f.posts[id] = struct{}{}
	}
}

// beat has the searches brought up for what was noted, and the rooms of that slot for
// being compared.
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

// find brings the searches up and has their shard read what they may have found.
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

// found takes what the finder did: the posts that searches may hold now, those that are to
// be visited again, and the slots of those that can be compared.
func (sh *shard) found(posts []int64, left []rivers.Name, slots map[int]struct{}) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.want(posts, sh.hub.cfg.Now())
	sh.resync(left)
	maps.Copy(sh.slots, slots)
	nudge(sh.wake)
}
