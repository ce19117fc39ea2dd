package live

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"riverrun/rivers"
	"riverrun/timelines/access"
	"riverrun/web/view"
)

// A shownPage is what the page of one socket shows. Only the socket's writer uses it.
//
// Its invariant: when the page has read what was written to it, it shows exactly the entries in
// shown, each at a stamp at least as new as the one there. If the river holds an entry within
// the page's range that is not shown, something about it comes into the inbox.
type shownPage struct {
	socket *socket

	// subscribed says that the fields below are set.
	subscribed    bool
	frame         *subscribeFrame // the last one, without its entries
	epoch         int64           // of rivers, in which the ids below mean something
	name          rivers.Name
	before        rivers.Cursor
	renderContext view.Context
	river         int64
	fingerprint   Fingerprint // what the page was last decided with
	token         *string     // the client's, for what stands around; nil once a visit has checked it
	shown         map[int64]*shown
	// still: the page has no river. It is told how many notifications are unread, what stands
	// around its entries, and that it is closed; never of its entries.
	still bool
	// claimed: only the client says so far what the page shows. A client that names a post
	// that is not on the page learns nothing about it: not whether the post is closed to the
	// viewer, was deleted, or never was.
	claimed bool
	// owed: the client is to be sent an ok, as it subscribed or as something differed when the
	// page was compared. more is what the last ok said: there are entries below what the page
	// shows. If there are none, any position is within the page's range.
	owed, more bool
	// floor is the lowest position down to which the page shows all that its viewer may see,
	// while there is more below; it is the top while that position is not known. Below the
	// floor are only entries that the client kept when it dropped those above them, such as
	// one with a comment half typed.
	floor rivers.Cursor
	// visited is when the page was last visited or some of its posts were inquired. A
	// decision that began earlier may not know why an entry is shown, so it takes none off.
	// decidedAt is that time too, or when an entry was taken off if that was later. A decision
	// that began before decidedAt may not know why an entry is not shown, so it adds none, and
	// the page is not compared with it.
	visited, decidedAt time.Time
	// same is what the page was compared with while its inbox is being worked through, if nothing
	// differed. beyondFirst: the last comparison or visit read more than the first page.
	same        *firstPage
	beyondFirst bool

	shard  *shard
	watch  rivers.Watch
	joined bool
	leased int64 // the river whose lease was acquired, 0 for none
}

// maxSwaps is how many generations in a row may be replaced during a visit. After that the page
// is sent what was read, and is visited again.
const maxSwaps = 3

// work does what the inbox asks for. In another epoch of rivers the page's ids may be those of
// others, so the page subscribes anew.
func (v *shownPage) work(ctx context.Context, n inbox) error {
	v.same = nil
	v.socket.same.Store(nil)
	err := v.workIn(rivers.WithEpoch(ctx, v.epoch), n)
	if err == nil && n.subscribe == nil && !n.resync && len(n.drop)+len(n.pending)+len(n.touched) == 0 {
		v.socket.same.Store(v.same)
	}
	if errors.Is(err, rivers.ErrMoved) && v.subscribed {
		return v.subscribe(ctx, v.asSubscribed())
	}
	return err
}

// asSubscribed returns what the client would say now if it subscribed: what it shows, without
// the versions, which mean nothing any more.
func (v *shownPage) asSubscribed() *subscribeFrame {
	f := *v.frame
	f.river, f.token, f.unread = v.river, "", v.socket.unread.Load()
	f.lowestPosition, f.lowestCode = v.floor.Place, ""
	f.entries = make(map[string]view.Version, len(v.shown))
	for id, e := range v.shown {
		f.entries[e.code] = view.Version{}
		if id == v.floor.PostID {
			f.lowestCode = e.code
		}
	}
	return &f
}

// workIn does what the inbox asks for, the oldest knowledge first: a page was read before the
// updates that came with it. After a subscribe no other visit or comparison is needed. An
// update that is older than what is shown has no effect.
func (v *shownPage) workIn(ctx context.Context, n inbox) error {
	if n.seen && v.subscribed {
		v.seen() // what was sent so far
	}
	switch {
	case n.subscribe != nil:
		if err := v.subscribe(ctx, n.subscribe); err != nil {
			return err
		}
	case !v.subscribed:
		return nil
	}
	if v.still {
		return v.workStill(ctx, n)
	}
	for _, f := range n.drop {
		if err := v.drop(ctx, f); err != nil {
			return err
		}
	}
	switch {
	case n.subscribe != nil:
	case n.resync:
		if v.name.Kind.IsSearch() {
			// To decide what the page shows takes less time than to bring the search up to
			// date or to run it again.
			_, err := v.inquire(ctx, slices.Collect(maps.Keys(v.shown)))
			if err != nil && !errors.Is(err, errReplaced) { // the visit finds that out too
				return err
			}
		}
		if err := v.sync(ctx); err != nil {
			return err
		}
	case n.firstPage != nil:
		if err := v.compare(ctx, n.firstPage); err != nil {
			return err
		}
	}
	if err := v.apply(ctx, n.pending); err != nil {
		return err
	}
	if err := v.sendUnread(ctx, n.unread); err != nil {
		return err
	}
	return v.applyBeyond(ctx, n.touched)
}

// seen notes that the reader of a post's own page has seen the comments that were sent last, or
// that the reader of the home page looks at it. The notifications that a post's own page, or
// the page of notifications, shows are then read. Those that the page was served with were
// noted then.
func (v *shownPage) seen() {
	hub, viewer := v.socket.hub, v.socket.viewer
	if v.name.Kind == rivers.Post || v.name.Kind == rivers.Notifications {
		hub.cfg.Rivers.MarkRead(viewer.AccountID, slices.Collect(maps.Keys(v.shown)))
	}
	switch v.name.Kind {
	case rivers.Post:
		if e := v.shown[v.name.TheirID]; e != nil && e.item != nil {
			hub.cfg.Pages.Seen(viewer, e.item)
		}
	case rivers.Home:
		hub.cfg.Pages.SeenHome(viewer)
	}
}

// applyBeyond reads the touched posts that the page shows, as the page shows some that flushes
// do not find.
func (v *shownPage) applyBeyond(ctx context.Context, touched map[int64]struct{}) error {
	var posts []int64
	for id := range touched {
		if v.shown[id] != nil {
			posts = append(posts, id)
		}
	}
	if len(posts) == 0 {
		return nil
	}
	_, err := v.inquire(ctx, posts)
	if errors.Is(err, errReplaced) {
		v.socket.resync()
		return nil
	}
	return err
}

// subscribe begins to follow a page that shows what the client says.
func (v *shownPage) subscribe(ctx context.Context, f *subscribeFrame) error {
	h := v.socket.hub
	viewer := v.socket.viewer
	epoch := h.cfg.Pages.Epoch()
	ctx = rivers.WithEpoch(ctx, epoch)
	if f.viewer != nil {
		name, err := h.cfg.Pages.ViewerName(ctx, viewer)
		if err != nil {
			return err
		}
		if name != *f.viewer {
			return errAnothersPage
		}
	}
	name, err := h.cfg.PageOf(ctx, viewer, f.path, f.query)
	if err != nil {
		return err
	}
	if name.Kind.IsSearch() {
		if may := h.cfg.MaySearch; may != nil && !may(viewer, v.socket.address) {
			return errSearches
		}
	}
	var before rivers.Cursor
	if text := f.query.Get("before"); text != "" {
		if before, err = h.cfg.Rivers.Cursor(ctx, viewer, text); err != nil {
			return err
		}
	}
	page := f.path
	if len(f.query) > 0 {
		page += "?" + f.query.Encode()
	}
	ids, err := h.cfg.Pages.PostIDs(ctx, slices.Collect(maps.Keys(f.entries)))
	if err != nil {
		return err
	}
	v.leave()
	v.socket.beyond.Store(false)
	v.socket.unread.Store(f.unread)
	v.subscribed, v.frame, v.epoch = true, f, epoch
	v.name, v.before, v.river, v.token = name, before, f.river, &f.token
	v.claimed, v.owed, v.more = true, true, true
	v.floor = rivers.Cursor{Place: f.lowestPosition, PostID: ids[f.lowestCode]}
	v.renderContext = view.Context{Viewer: viewer, Lang: view.LocaleOf(f.lang).Lang, Page: page}
	v.still = h.cfg.Still != nil && h.cfg.Still(name)
	v.shown = make(map[int64]*shown, len(f.entries))
	none := int64(0)
	for code, at := range f.entries {
		id, ok := ids[code]
		if !ok {
			// No post has a number below zero. This one turns out to be gone together with the
			// posts that the viewer may not know of, and exactly as they do.
			none--
			id = none
		}
		v.shown[id] = &shown{code: code, stamp: at.Stamp, tag: at.Tag}
	}
	f.entries = nil // asSubscribed names those that are shown by then
	if v.still {
		return v.watchStill(ctx)
	}
	return v.sync(ctx)
}

// sync is step 9 of the protocol of rivers: the lease is committed, the socket registered, the
// river brought up to date if the tiers have a backlog, the page visited, and the difference
// sent. If the visit finds another generation than the leased one, all of this is done again
// with the new one: with a lease taken after the visit, a change between the two would be
// missed. If one generation follows another, the page is sent one of them and visited again.
//
// If nothing differs, nothing is sent, not even an ok. A page may be visited because of what
// others do in secret, such as a ban of its viewer, and the viewer must not learn when.
func (v *shownPage) sync(ctx context.Context) error {
	h := v.socket.hub
	visited, err := v.visit(ctx, v.river)
	if err != nil {
		return err
	}
	page := visited.page
	v.visited = h.cfg.Now()
	v.decidedAt = v.visited
	if page.River != v.river {
		v.river = page.River
		if err := v.socket.send(ctx, "river", frameRiver(v.river)); err != nil {
			return err
		}
		v.owed = true
		v.anew()
	}
	now, err := h.cfg.Pages.Fingerprint(ctx, v.name, page.Sets)
	if err != nil {
		return err
	}
	now.clock = page.At.Clock()
	if err := v.updateFingerprint(ctx, now); err != nil {
		return err
	}
	_, err = v.follow(ctx, visited)
	return err
}

// sendUnread sends the number of unread notifications. One that was decided too long ago is left
// to the next flush, which decides it again.
func (v *shownPage) sendUnread(ctx context.Context, now *unreadNow) error {
	if now == nil || v.socket.unread.Load() == int64(now.count) {
		return nil
	}
	err := v.socket.sendDecided(ctx, "unread", frameUnread(now.count), now.began)
	if errors.Is(err, errStale) {
		return nil
	}
	if err == nil {
		v.socket.unread.Store(int64(now.count))
	}
	return err
}

func (v *shownPage) sendOK(ctx context.Context) error {
	return v.socket.send(ctx, "ok", frameOK(v.river, v.more, v.socket.hub.cfg.Pages.Token(v.fingerprint)))
}

// updateFingerprint has the page fetch what stands around its entries, if that differs from the
// client's token or from what it was last. For the entries recheck does that.
func (v *shownPage) updateFingerprint(ctx context.Context, now Fingerprint) error {
	tabs := now.surroundings != v.fingerprint.surroundings
	if v.token != nil {
		tabs = hasSurroundings(v.name) && !v.socket.hub.cfg.Pages.TokenFits(*v.token, now)
		v.token = nil
	}
	v.fingerprint = now
	v.socket.readMarks.Store(now.readMarks)
	v.socket.fingerprint.Store(&now)
	if tabs {
		v.owed = true
		return v.socket.send(ctx, "tabs", frameTabs(v.river))
	}
	return nil
}

// anew has every entry sent again, whatever its stamp, as the page belongs to another
// generation now.
func (v *shownPage) anew() {
	for _, e := range v.shown {
		e.forget()
	}
}

// recheck has an entry sent whole if it is decided otherwise now than it is shown, or names
// people otherwise, even if its post did not change. The item must have been decided after the
// entry was sent.
func (v *shownPage) recheck(it *rivers.Item, tag uint64) {
	e := v.shown[it.PostID]
	if e == nil || newer(e.stamp, it.Stamp) || e.tag == tag {
		return
	}
	e.forget()
}

// visit reads the page with its river leased and the socket registered. river is the generation
// that the page shows, 0 for none.
func (v *shownPage) visit(ctx context.Context, river int64) (*stretch, error) {
	h := v.socket.hub
	backlog, err := h.hasBacklog(ctx)
	if err != nil {
		return nil, err
	}
	for swaps := 0; ; swaps++ {
		if river != 0 {
			if err := v.enter(ctx, river); err != nil {
				return nil, err
			}
			if backlog {
				if err := h.cfg.Rivers.Freshen(ctx, v.name); err != nil {
					return nil, err
				}
			}
		}
		key := visitKey{v.renderContext.Viewer, v.name, v.before, v.epoch}
		visited, err := h.visits.do(ctx, key, func() (*stretch, error) {
			page, err := h.cfg.Rivers.Visit(ctx, key.viewer, key.name, key.before)
			if err != nil {
				return nil, err
			}
			return &stretch{page: page, batch: newBatch(h.cfg.Pages, page.Began)}, nil
		})
		if err != nil {
			return nil, err
		}
		page := visited.page
		// The socket was told of all posts before the page was read.
		if page.River == river && (!page.Beyond || v.socket.beyond.Load()) {
			return visited, nil
		}
		river = page.River
		v.socket.beyond.Store(page.Beyond)
		if swaps == maxSwaps {
			// The page may have missed what came between this visit and the registration. The
			// next visit reads that; until then the page is a moment old, but not empty.
			v.socket.resync()
			return visited, v.enter(ctx, river)
		}
	}
}

// enter acquires the river's lease and joins its topic, and leaves the topic before. A client may
// have made the id up: then the lease is of no river, and is given up as soon as the visit says
// so.
func (v *shownPage) enter(ctx context.Context, river int64) error {
	w := rivers.Watch{Viewer: v.renderContext.Viewer, Name: v.name, River: river}
	if v.joined && v.watch == w {
		return nil
	}
	v.leave()
	if err := v.lease(ctx, river); err != nil {
		return err
	}
	v.shard, v.watch, v.joined = v.socket.hub.shardOf(v.name), w, true
	v.shard.join(w, v.socket)
	return nil
}

func (v *shownPage) lease(ctx context.Context, river int64) error {
	if err := v.socket.hub.leases.acquire(ctx, river); err != nil {
		return err
	}
	v.leased = river
	return nil
}

func (v *shownPage) leave() {
	if v.joined {
		v.shard.leave(v.watch, v.socket)
		v.joined = false
	}
	if v.leased != 0 {
		v.socket.hub.leases.release(v.leased)
		v.leased = 0
	}
}

// apply sends what flushes found. Some updates are asked for again instead: those decided too
// long ago, as this reader is slow, and those that were overtaken, as they might bring back what
// was taken off the page since, or take off what came back since.
func (v *shownPage) apply(ctx context.Context, pending map[int64]*update) error {
	var again []int64
	for id, u := range pending {
		if u.watch != v.watch {
			continue // it is of a generation that this page has left
		}
		shown := v.shown[id] != nil
		overtaken := u.item != nil && !shown && u.batch.began.Before(v.decidedAt) ||
			u.gone != nil && shown && u.batch.began.Before(v.visited)
		if v.stale(u.batch) || overtaken {
			again = append(again, id)
			continue
		}
		sent := false
		var err error
		if u.gone != nil {
			if e := v.shown[id]; e != nil && !newer(e.stamp, u.gone.Stamp) {
				sent, err = true, v.gone(ctx, id, u.gone.Stamp)
			}
		} else {
			sent, err = v.entry(ctx, u.batch, u.sets, u.item, v.within(u.item))
		}
		if errors.Is(err, errStale) {
			again = append(again, id)
			continue
		}
		if err != nil {
			return err
		}
		if sent && !u.changedAt.IsZero() {
			v.socket.hub.metric.pushed.Observe(v.socket.hub.cfg.Now().Sub(u.changedAt).Seconds())
		}
	}
	if len(again) > 0 {
		v.shard.reread(again)
	}
	// A first page that lost entries is filled up from below, as a reload would do.
	if v.before.Top() && v.more && len(v.shown) < rivers.PageSize {
		return v.sync(ctx)
	}
	return nil
}

// errStale says that a decision is too old to be sent and is to be made again.
var errStale = errors.New("decided too long ago")

func (v *shownPage) stale(b *batch) bool { return v.socket.hub.stale(b.began) }

// entry sends one entry if the page is concerned: only the parts that changed if its position is
// the same, else the whole entry. An entry that is not shown is sent only if it is within the
// page's range. If the error is errStale, nothing was sent.
func (v *shownPage) entry(ctx context.Context, b *batch, sets *access.Sets, it *rivers.Item, within bool) (sent bool, err error) {
	e := v.shown[it.PostID]
	switch {
	case e == nil && !within:
		return false, nil
	case e != nil && !newer(it.Stamp, e.stamp):
		if e.stamp == it.Stamp {
			e.position = it.Place // the client has not said where it shows the entry
		}
		return false, nil
	}
	r, err := b.render(ctx, v.renderContext, v.name, sets, it)
	if err != nil {
		return false, fmt.Errorf("rendering entry %s: %w", it.Fold.Text.Code, err)
	}
	at := view.Version{Stamp: it.Stamp, Tag: r.tag}
	if e != nil && e.tag != at.Tag && e.otherPeople(it) {
		e.forget() // parts that are equal here may differ on a page that unfolded them
	}
	code := it.Fold.Text.Code
	stamp := it.Stamp
	var frame []byte
	if e == nil || e.position != it.Place || e.stamp == (rivers.Stamp{}) {
		if e != nil {
			stamp = later(stamp, e.stamp)
		}
		frame = frameWhole(v.river, code, at, it.Place, r.html)
	} else {
		stamp = later(stamp, e.stamp)
		frame = frameParts(v.river, code, at, it.Place, e.changed(it, r))
	}
	if err := v.socket.sendDecided(ctx, "entry", frame, b.began); err != nil {
		return false, err
	}
	now := &shown{code: code, stamp: stamp, position: it.Place, item: it, sum: r.sum, tag: at.Tag}
	if stamp != it.Stamp {
		now.item = nil // the client keeps the half that was newer
	}
	if stamp.Entry > it.Stamp.Entry {
		now.position = e.position
	}
	v.shown[it.PostID] = now
	return true, nil
}

// within reports whether an entry that the page does not show is in the page's range. To a page
// of older entries only a comparison with its river adds any.
func (v *shownPage) within(it *rivers.Item) bool {
	return v.before.Top() && (!v.more || !v.floor.Above(positionOf(it)))
}

// gone takes an entry off the page. The error is rivers.ErrNotFound if the page is that post's
// own.
func (v *shownPage) gone(ctx context.Context, post int64, stamp rivers.Stamp) error {
	e := v.shown[post]
	if e == nil {
		return nil
	}
	if v.claimed {
		stamp = rivers.Stamp{}
	}
	if err := v.socket.send(ctx, "gone", frameGone(v.river, e.code, later(stamp, e.stamp))); err != nil {
		return err
	}
	delete(v.shown, post)
	v.decidedAt = v.socket.hub.cfg.Now()
	if v.name.Kind == rivers.Post && post == v.name.TheirID {
		return rivers.ErrNotFound // the page was of it alone
	}
	return nil
}
