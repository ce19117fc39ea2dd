package live

import (
	"context"
	"hash/maphash"
	"maps"
	"slices"
	"sync"
	"time"

	"riverrun/rivers"
	"riverrun/tiers"
	"riverrun/timelines/access"
)

// A shard follows a share of the topics of this node. One goroutine reads for all of them.
// Posts that come in during a flush wait together for the next one: the busier the bus is, the
// more one statement does.
type shard struct {
	hub  *Hub
	wake chan struct{}

	// mu guards the fields below and the sockets of each topic. A socket's own lock may be
	// taken while it is held, never the other way round.
	mu       sync.Mutex
	topics   map[rivers.Watch]*topic
	posts    map[int64]time.Time // touched since the last flush, with the time of the change's commit
	clockDue bool                // the clock of access is to be read even without posts
	slots    map[int]struct{}    // the topics of these are to be compared
	due      map[*topic]struct{} // topics to be compared besides
	slot     int                 // of the next topic
}

// A topic is one river as one session sees it. It is read and decided once for all its sockets.
type topic struct {
	watch   rivers.Watch
	slot    int
	sockets map[*socket]struct{}
	// unread is how many notifications its viewer has not read, as counted is what that was
	// decided by. Only the shard's goroutine uses them.
	unread  int
	counted counted
	// first is what the last comparison read, and readMarks the field of that name of the last
	// Fingerprint. Only the shard's goroutine uses them.
	first     *firstPage
	readMarks uint64
}

// counted is what a number of unread notifications was decided by: as long as it is the same,
// so is the number.
type counted struct {
	ask           rivers.UnreadAsk
	common, count int64
}

// maxPosts is how many posts a shard keeps for its next flush, and flushPosts how many one
// statement asks for. If there are more than maxPosts, all pages are visited again, which costs
// less.
const (
	maxPosts   = 4096
	flushPosts = 256
)

func newShard(h *Hub) *shard {
	return &shard{
		hub: h, wake: make(chan struct{}, 1),
		topics: make(map[rivers.Watch]*topic),
		posts:  make(map[int64]time.Time),
		slots:  make(map[int]struct{}), due: make(map[*topic]struct{}),
	}
}

var hashSeed = maphash.MakeSeed()

// shardOf returns the shard of a river. All sessions that show the same page are in one shard,
// so that they share what is rendered.
func (h *Hub) shardOf(n rivers.Name) *shard {
	if n.Kind.IsSearch() {
		return h.searches
	}
	n.UserID = 0
	return h.shards[maphash.Comparable(hashSeed, n)%uint64(len(h.shards))]
}

// join adds a socket to the topic of w. From here on it is offered what flushes find.
func (sh *shard) join(w rivers.Watch, s *socket) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	r := sh.topics[w]
	if r == nil {
		r = &topic{watch: w, slot: sh.slot % sh.hub.cfg.CompareEvery, sockets: make(map[*socket]struct{})}
		sh.slot++
		sh.topics[w] = r
	}
	r.sockets[s] = struct{}{}
}

// leave undoes join.
func (sh *shard) leave(w rivers.Watch, s *socket) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	r := sh.topics[w]
	if r == nil {
		return
	}
	delete(r.sockets, s)
	if len(r.sockets) == 0 {
		delete(sh.topics, w)
	}
}

// Count returns how many sockets of this process show a river, and how many show the same page to
// somebody who is not signed in.
func (h *Hub) Count(n rivers.Name) (its, anonymous int) {
	page := n
	page.UserID = 0
	for _, sh := range h.allShards() {
		sh.mu.Lock()
		for w, r := range sh.topics {
			if w.Name == n {
				its += len(r.sockets)
			}
			if w.Name == page {
				anonymous += len(r.sockets)
			}
		}
		sh.mu.Unlock()
	}
	return its, anonymous
}

// receive takes a message of the bus.
func (sh *shard) receive(m tiers.Message, now time.Time) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if len(sh.topics) == 0 {
		return
	}
	if m.All {
		sh.resyncAll()
	}
	sh.resync(m.Swapped)
	if m.At != 0 {
		now = time.UnixMicro(m.At)
	}
	sh.want(m.Posts, now)
	if m.Clock != 0 {
		sh.clockDue = true
	}
	nudge(sh.wake)
}

// reread has posts read again, for a socket that was too slow to be sent what was read before.
func (sh *shard) reread(posts []int64) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.want(posts, sh.hub.cfg.Now())
	nudge(sh.wake)
}

// want notes posts for the next flush. It is called with mu held, as resync and resyncAll are.
func (sh *shard) want(posts []int64, heard time.Time) {
	for _, id := range posts {
		if _, known := sh.posts[id]; !known {
			sh.posts[id] = heard
		}
	}
	if len(sh.posts) > maxPosts {
		clear(sh.posts)
		sh.resyncAll()
	}
}

// resync has the pages of the rivers of these names visited again.
func (sh *shard) resync(names []rivers.Name) {
	if len(names) == 0 {
		return
	}
	set := make(map[rivers.Name]struct{}, len(names))
	for _, n := range names {
		set[n] = struct{}{}
	}
	for _, r := range sh.topics {
		if _, ok := set[r.watch.Name]; ok {
			r.each((*socket).resync)
		}
	}
}

func (sh *shard) resyncAll() {
	for _, r := range sh.topics {
		r.each((*socket).resync)
	}
}

func (r *topic) each(f func(*socket)) {
	for s := range r.sockets {
		f(s)
	}
}

// noSlot is the slot of no topic.
const noSlot = -1

// beat has the clock of access read, and the topics of a slot compared.
func (sh *shard) beat(slot int) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if len(sh.topics) == 0 {
		return
	}
	sh.clockDue = true
	sh.slots[slot] = struct{}{}
	nudge(sh.wake)
}

func (sh *shard) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-sh.wake:
		}
		sh.flush(ctx)
		sh.compare(ctx)
	}
}

// flush reads the posts that are wanted, for all topics at once, and offers what it finds to
// their sockets. If the stores do not answer, the posts are read again at the next beat.
func (sh *shard) flush(ctx context.Context) {
	sh.mu.Lock()
	posts, beaten := sh.posts, sh.clockDue
	if len(posts) == 0 && !beaten {
		sh.mu.Unlock()
		return
	}
	sh.posts, sh.clockDue = make(map[int64]time.Time), false
	topics := slices.Collect(maps.Values(sh.topics))
	sh.mu.Unlock()
	if len(topics) == 0 {
		return
	}
	watches := make([]rivers.Watch, len(topics))
	for i, r := range topics {
		watches[i] = r.watch
	}
	ids := slices.Sorted(maps.Keys(posts))
	for first := true; first || len(ids) > 0; first = false {
		n := min(len(ids), flushPosts)
		some := ids[:n]
		ids = ids[n:]
		began := sh.hub.cfg.Now()
		seen, err := sh.hub.cfg.Rivers.Flush(ctx, watches, some)
		if err != nil {
			if ctx.Err() == nil {
				sh.hub.cfg.Log.WarnContext(ctx, "flushing open rivers", "rivers", len(topics), "posts", len(some), "error", err)
			}
			sh.mu.Lock()
			for _, id := range append(some, ids...) {
				if _, known := sh.posts[id]; !known {
					sh.posts[id] = posts[id]
				}
			}
			sh.mu.Unlock()
			return
		}
		sh.hub.metric.flush.Observe(sh.hub.cfg.Now().Sub(began).Seconds())
		b := newBatch(sh.hub.cfg.Pages, earliest(seen))
		sh.checkFingerprints(ctx, topics, seen)
		sh.countUnread(ctx, topics, seen)
		for i, r := range topics {
			sh.offer(r, &seen[i], b, posts)
		}
	}
}

// earliest is the time at which the first of these decisions began.
func earliest(seen []rivers.Seen) time.Time {
	return slices.MinFunc(seen, func(a, b rivers.Seen) int { return a.Began.Compare(b.Began) }).Began
}

// checkFingerprints tells the sockets of the topics what their pages are decided with now. The
// people whom a viewer sees can change while no post does: then the whole page is decided
// again. If levels or names changed, or what the viewer may read, or whom the viewer follows,
// the topic is compared next.
func (sh *shard) checkFingerprints(ctx context.Context, topics []*topic, seen []rivers.Seen) {
	var served []*topic // those that have not ended
	var names []rivers.Name
	var sets []*access.Sets
	for i, r := range topics {
		if seen[i].Sets != nil {
			served, names, sets = append(served, r), append(names, r.watch.Name), append(sets, seen[i].Sets)
		}
	}
	fingerprints, err := sh.hub.cfg.Pages.Fingerprints(ctx, names, sets)
	if err != nil && ctx.Err() == nil {
		sh.hub.cfg.Log.WarnContext(ctx, "what open pages are decided with", "rivers", len(served), "error", err)
	}
	common := sh.hub.cfg.Pages.LastCommonChange()
	sh.mu.Lock()
	defer sh.mu.Unlock()
	for i, r := range served {
		if err == nil {
			r.readMarks = fingerprints[i].readMarks
		}
		r.each(func(s *socket) {
			if err != nil {
				s.resync() // the visit finds out
			} else if s.checkFingerprint(fingerprints[i], common) {
				sh.due[r] = struct{}{}
			}
		})
	}
}

// countUnread tells the sockets of the topics how many notifications their viewers have not
// read. It is decided with what the flush returned, anew only where that changed. If the stores
// do not answer, the next flush counts again.
func (sh *shard) countUnread(ctx context.Context, topics []*topic, seen []rivers.Seen) {
	common, count := sh.hub.cfg.Pages.LastCommonChange(), sh.hub.cfg.Pages.LastCount()
	var served, due []*topic
	var began []time.Time // of those served
	var asks []rivers.UnreadAsk
	for i, r := range topics {
		if seen[i].Sets == nil || r.watch.Viewer.Anonymous() {
			continue
		}
		served, began = append(served, r), append(began, seen[i].Began)
		now := counted{rivers.UnreadAsk{Sets: seen[i].Sets, Label: seen[i].Label}, common, count}
		if r.counted != now {
			due, asks = append(due, r), append(asks, now.ask)
		}
	}
	if len(due) > 0 {
		counts, err := sh.hub.cfg.Rivers.Unread(ctx, asks)
		if err != nil {
			if ctx.Err() == nil {
				sh.hub.cfg.Log.WarnContext(ctx, "counting unread notifications", "viewers", len(asks), "error", err)
			}
			return
		}
		for i, r := range due {
			r.unread, r.counted = counts[i], counted{asks[i], common, count}
		}
	}
	sh.mu.Lock()
	defer sh.mu.Unlock()
	for i, r := range served {
		for s := range r.sockets {
			s.offerUnread(r.unread, began[i])
		}
	}
}

// offer hands what a flush found in a topic to its sockets.
func (sh *shard) offer(r *topic, seen *rivers.Seen, b *batch, heard map[int64]time.Time) {
	quiet := !seen.SignedOut && !seen.Closed && !seen.Swapped && len(seen.Items) == 0 && len(seen.Gone) == 0
	updates := make([]*update, 0, len(seen.Items)+len(seen.Gone))
	for i := range seen.Items {
		it := &seen.Items[i]
		updates = append(updates, &update{batch: b, watch: r.watch, post: it.PostID, item: it, sets: seen.Sets, changedAt: heard[it.PostID]})
	}
	for i := range seen.Gone {
		g := &seen.Gone[i]
		updates = append(updates, &update{batch: b, watch: r.watch, post: g.PostID, gone: g, changedAt: heard[g.PostID]})
	}
	sh.mu.Lock()
	defer sh.mu.Unlock()
	for s := range r.sockets {
		if s.beyond.Load() && len(heard) > 0 {
			s.touch(heard)
		}
		switch {
		case quiet:
		case seen.SignedOut:
			s.end(CloseSignedOut, "signed out")
		case seen.Closed:
			s.end(CloseNoPage, "no such page")
		case seen.Swapped:
			s.resync()
		default:
			s.offer(updates)
		}
	}
}

// compare reads the first pages of the topics whose turn it is, so that their sockets find what
// they were not told. A socket that shows more than a first page reads on by itself.
func (sh *shard) compare(ctx context.Context) {
	sh.mu.Lock()
	var topics []*topic
	due := sh.due
	if len(sh.slots) > 0 || len(due) > 0 {
		for _, r := range sh.topics {
			_, turn := sh.slots[r.slot]
			if _, due := due[r]; (due || turn) && !r.watch.Still {
				topics = append(topics, r)
			}
		}
		clear(sh.slots)
		sh.due = make(map[*topic]struct{})
	}
	sh.mu.Unlock()
	if len(topics) == 0 {
		return
	}
	watches := make([]rivers.Watch, len(topics))
	for i, r := range topics {
		watches[i] = r.watch
	}
	common := sh.hub.cfg.Pages.LastCommonChange() // or an earlier one than the pages are decided by
	pages, err := sh.hub.cfg.Rivers.FirstPages(ctx, watches)
	if err != nil {
		// The next turn compares again.
		if ctx.Err() == nil {
			sh.hub.cfg.Log.WarnContext(ctx, "comparing open rivers", "rivers", len(topics), "error", err)
		}
		return
	}
	began := sh.hub.cfg.Now()
	for _, p := range pages {
		if p != nil && p.Began.Before(began) {
			began = p.Began
		}
	}
	b := newBatch(sh.hub.cfg.Pages, began)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	for i, r := range topics {
		if pages[i] == nil || pages[i].River != r.watch.River {
			r.each((*socket).resync)
			continue
		}
		state := stateOf(pages[i], common)
		state.readMarks = r.readMarks
		if r.first == nil || *r.first != state {
			r.first = &state
		}
		_, changed := due[r]
		f := &stretch{page: pages[i], batch: b, state: r.first}
		for s := range r.sockets {
			if !changed && state.isWhole() && s.same.Load() == r.first {
				sh.hub.metric.same.Inc()
			} else {
				s.offerFirstPage(f)
			}
		}
	}
}
