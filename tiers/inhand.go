package tiers

import (
	"context"
	"slices"
	"sync"
	"time"

	"riverrun/timelines"
)

// inHand are the changes that this node brings into rivers right now, and those whose Tier 1 it has done. The queue wakes the workers as soon as a change is committed. A job that did not wait for
// its own node would do the same work at the same time, and the request would wait for both.
type inHand struct {
	mu    sync.Mutex
	posts map[int64][]chan struct{} // each is closed when a change of that post is done with
	// did are the last changes whose Tier 1 is done, by name, and next is where names has the oldest.
	did   map[uint64]finished
	names [remembered]uint64
	next  int
}

// finished is a change whose Tier 1 is done: the rivers that are open show it. left: some of the others do not.
type finished struct {
	touched timelines.Touched
	left    bool
}

// remembered is how many changes are remembered: a job comes soon, or looks for itself.
const remembered = 4096

// patience bounds how long a job waits for its node: it must not need it.
const patience = 200 * time.Millisecond

// begin says that this node has a change of a post in hand, until end is called.
func (h *inHand) begin(post int64) (end func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	done := make(chan struct{})
	if h.posts == nil {
		h.posts = map[int64][]chan struct{}{}
	}
	h.posts[post] = append(h.posts[post], done)
	return sync.OnceFunc(func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		left := slices.DeleteFunc(h.posts[post], func(c chan struct{}) bool { return c == done })
		if h.posts[post] = left; len(left) == 0 {
			delete(h.posts, post)
		}
		close(done)
	})
}

// finished says that Tier 1 of a change is done, and that the hubs were told. left: closed rivers miss it. A change
// without a name has no job that asks.
func (h *inHand) finished(change uint64, touched timelines.Touched, left bool) {
	if change == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.did == nil {
		h.did = make(map[uint64]finished, remembered)
	}
	delete(h.did, h.names[h.next])
	h.did[change] = finished{touched, left}
	h.names[h.next] = change
	h.next = (h.next + 1) % remembered
}

// isFinished reports whether Tier 1 of that change is done, which was about this post and these timelines, and whether
// closed rivers miss it.
func (h *inHand) isFinished(change uint64, touched timelines.Touched) (is, left bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	did, ok := h.did[change]
	is = ok && change != 0 && did.touched.PostID == touched.PostID && slices.Equal(did.touched.Timelines, touched.Timelines)
	return is, is && did.left
}

// wait returns when the changes of these posts that are in hand now are done with, or it has no more
// patience.
func (h *inHand) wait(ctx context.Context, posts []int64) {
	h.mu.Lock()
	var all []chan struct{}
	for _, post := range posts {
		all = append(all, h.posts[post]...)
	}
	h.mu.Unlock()
	if len(all) == 0 {
		return
	}
	most := time.NewTimer(patience)
	defer most.Stop()
	for _, done := range all {
		select {
		case <-done:
		case <-most.C:
			return
		case <-ctx.Done():
			return
		}
	}
}
