package live

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/timelines/mutants"
	"riverrun/web/view"
)

// A shownPage is what one socket's page shows. Only the socket's writer uses it.
//
// Its invariant: the page shows exactly the entries in shown, or will when it
// has read what was written, each at a stamp at least as new as the one there;
// and what the river holds within the page's range and is not shown has a note
// coming.
type shownPage struct {
	socket *socket

	// subscribed: the fields below are set.
	subscribed    bool
	name          rivers.Name
	before        rivers.Cursor
	renderContext view.Context
	river         int64
	fingerprint   Fingerprint // what the page shown was decided with
	token         *string     // the client's for what stands around; nil once a visit has said what it means
	shown         map[int64]*shown
	// claimed: the client's word is all there is for what the page shows. Whoever
	// names a post that stands nowhere on it learns nothing about it, be it closed to
	// them, deleted or none.
	claimed bool
	// owed: the client is to be sent an ok, as it subscribed, or as something differed when
	// the page was gone through. more is what the last one said: there is more below what
	// the page shows. If not, anything new is within its range.
	owed, more bool
	// floor is the lowest place down to which the page shows all that its viewer may see,
	// while there is more below; the top while that is not known. Below it are only
	// entries that the client kept when it dropped those above them, as one that is
	// written on.
	floor rivers.Cursor
	// visited is when the page was last visited, or posts of it inquired. What began to be
	// decided earlier may not know why an entry is shown, and takes none off. settled is
	// when that was, or an entry was taken off. What began to be decided earlier may not
	// know why one is not shown, and adds none; nor is the page compared with it.
	visited, decidedAt time.Time

	shard  *shard
	watch  rivers.Watch
	joined bool
	leased int64 // the river whose lease is held, 0 for none
}

// maxSwaps is how many generations in a row may be replaced under a visit before the page
// takes what it read, and visits again afterwards.
const maxSwaps = 3

// work does what the notes ask for, oldest knowledge first: a subscribe makes
// the rest superfluous, a page is older than updates, and whatever is older
// than what is shown already does nothing.
func (v *shownPage) work(ctx context.Context, n inbox) error {
	switch {
	case n.subscribe != nil:
		if err := v.subscribe(ctx, n.subscribe); err != nil {
			return err
		}
	case !v.subscribed:
		return nil
	}
	for _, f := range n.drop {
		if err := v.drop(ctx, f); err != nil {
			return err
		}
	}
	switch {
	case n.subscribe != nil:
	case n.resync:
		if v.name.Kind.Asked() {
			// What it shows is decided sooner than the search is brought up, or asked for
			// anew.
			_, err := v.inquire(ctx, slices.Collect(maps.Keys(v.shown)))
			if err != nil && !errors.Is(err, errReplaced) { // which the visit finds out itself
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
	return v.applyBeyond(ctx, n.touched)
}

// applyBeyond asks what has become of those posts that the page shows, where it
// shows some that flushes do not find.
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

// subscribe begins to follow a page, from what the client says it shows.
func (v *shownPage) subscribe(ctx context.Context, f *subscribeFrame) error {
	h := v.socket.hub
	viewer := v.socket.viewer
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
	if name.Kind.Asked() {
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
	v.subscribed = true
	v.name, v.before, v.river, v.token = name, before, f.river, &f.token
	v.claimed, v.owed, v.more = true, true, true
	v.floor = rivers.Cursor{Place: f.lowestPosition, PostID: ids[f.lowestCode]}
	v.renderContext = view.Context{Viewer: viewer, Lang: view.LocaleOf(f.lang).Lang, Page: page}
	v.shown = make(map[int64]*shown, len(f.entries))
	none := int64(0)
	for code, at := range f.entries {
		id, ok := ids[code]
		if !ok {
			// Below zero is no post: found out to be gone together with, and exactly as,
			// those this viewer may not know of.
			none--
			id = none
		}
		v.shown[id] = &shown{code: code, stamp: at.Stamp, tag: at.Tag}
	}
	return v.sync(ctx)
}

// sync is step 9 of the protocol of rivers: lease committed, socket registered,
// the river brought up if the tiers are behind, visit, difference. If the visit finds
// another generation than the one that is leased, the same again with that one: a
// lease taken after the visit would let a change between the two pass unseen. Where
// generation follows upon generation, the page is sent one of them and visits again.
//
// It says nothing where nothing differs, ok included: what makes a page be visited may
// be what others do unseen, as to ban its viewer, and when they did is not to be heard.
func (v *shownPage) sync(ctx context.Context) error {
	h := v.socket.hub
	page, err := v.visit(ctx, v.river)
	if err != nil {
		return err
	}
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
	_, err = v.follow(ctx, &stretch{page: page, batch: newBatch(h.cfg.Pages, page.Began)})
	return err
}

func (v *shownPage) sendOK(ctx context.Context) error {
	return v.socket.send(ctx, "ok", frameOK(v.river, v.more, v.socket.hub.cfg.Pages.Token(v.fingerprint)))
}

// see has the page fetch what stands around its entries, if that is otherwise now than
// the client's word says or it was last. Of the entries recheck finds out.
func (v *shownPage) updateFingerprint(ctx context.Context, now Fingerprint) error {
	tabs := now.surroundings != v.fingerprint.surroundings
	if v.token != nil {
		tabs = hasSurroundings(v.name) && !v.socket.hub.cfg.Pages.TokenFits(*v.token, now)
		v.token = nil
	}
	v.fingerprint = now
	v.socket.fingerprint.Store(&now)
	if tabs {
		v.owed = true
		return v.socket.send(ctx, "tabs", frameTabs(v.river))
	}
	return nil
}

// anew has every entry sent again, whatever its stamp: the page belongs to another
// generation, or shows nobody knows what.
func (v *shownPage) anew() {
	for _, e := range v.shown {
		e.forget()
	}
}

// recheck has an entry sent whole that is decided otherwise now than it is shown, or names
// people otherwise, be it that nothing of its post changed. It must have been decided after
// that was sent.
func (v *shownPage) recheck(it *rivers.Item, veil uint64) {
	e := v.shown[it.PostID]
	if e == nil || newer(e.stamp, it.Stamp) || e.tag == veil {
		return
	}
	e.forget()
}

func (v *shownPage) visit(ctx context.Context, river int64) (*rivers.Page, error) {
	h := v.socket.hub
	behind, err := h.hasBacklog(ctx)
	if err != nil {
		return nil, err
	}
	for swaps := 0; ; swaps++ {
		if river != 0 {
			if err := v.enter(ctx, river); err != nil {
				return nil, err
			}
			if behind && !mutants.On(mutants.LaggingUnopened) {
				if err := h.cfg.Rivers.Freshen(ctx, v.name); err != nil {
					return nil, err
				}
			}
		}
		page, err := h.cfg.Rivers.Visit(ctx, v.renderContext.Viewer, v.name, v.before)
		if err != nil {
			return nil, err
		}
		// Told of all posts before what is shown was read.
		if page.River == river && (!page.Beyond || v.socket.beyond.Load()) {
			return page, v.enterLate(ctx, river)
		}
		river = page.River
		v.socket.beyond.Store(page.Beyond)
		if swaps == maxSwaps {
			// It may have missed what came between this visit and its registration, which
			// the next one reads. Meanwhile the page is as it was a moment ago, not empty.
			v.socket.resync()
			return page, v.enter(ctx, river)
		}
	}
}

// enter holds the river's lease and joins its room, leaving the one before.
// The id may be one that a client made up: then the lease is nobody's, and given
// up as soon as the visit says so.
func (v *shownPage) enter(ctx context.Context, river int64) error {
	w := rivers.Watch{Viewer: v.renderContext.Viewer, Name: v.name, River: river}
	if v.joined && v.watch == w {
		return nil
	}
	v.leave()
	if !mutants.On(mutants.LeaseLast) {
		if err := v.lease(ctx, river); err != nil {
			return err
		}
	}
	v.shard, v.watch, v.joined = v.socket.hub.shardOf(v.name), w, true
	if !mutants.On(mutants.RegisterLast) {
		v.shard.join(w, v.socket)
	}
	return nil
}

// enterLate does after the visit what a mutant has not done before it.
func (v *shownPage) enterLate(ctx context.Context, river int64) error {
	if mutants.On(mutants.RegisterLast) {
		v.shard.join(v.watch, v.socket)
	}
	if mutants.On(mutants.LeaseLast) {
		return v.lease(ctx, river)
	}
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

// apply works off what flushes found. What was decided too long ago, because
// this reader is slow, or might bring back what the page was rid of since, or take
// off what came back since, is asked for again instead of sent.
func (v *shownPage) apply(ctx context.Context, pending map[int64]*update) error {
	var again []int64
	for id, u := range pending {
		if u.watch != v.watch {
			continue // of a generation this page has left
		}
		shown := v.shown[id] != nil
		overtaken := u.item != nil && !shown && u.batch.began.Before(v.decidedAt) ||
			u.gone != nil && shown && u.batch.began.Before(v.visited)
		if v.stale(u.batch) || overtaken && !mutants.On(mutants.SyncUndone) {
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
	// A first page that lost entries takes them from below, as a reload would.
	if v.before.Top() && v.more && len(v.shown) < rivers.PageSize {
		return v.sync(ctx)
	}
	return nil
}

// errStale: what was decided is too old to be sent by now, and is to be decided again.
var errStale = errors.New("decided too long ago")

func (v *shownPage) stale(b *batch) bool { return v.socket.hub.stale(b.began) }

// entry sends one entry if the page is concerned: the parts that changed if it
// stands where it stood, else the whole. An entry that is not shown is sent only
// if it is within the page's range. errStale: nothing was sent.
func (v *shownPage) entry(ctx context.Context, b *batch, sets *timelines.Sets, it *rivers.Item, within bool) (sent bool, err error) {
	e := v.shown[it.PostID]
	switch {
	case e == nil && !within:
		return false, nil
	case e != nil && !newer(it.Stamp, e.stamp):
		if e.stamp == it.Stamp {
			e.position = it.Place // where the client shows what it named
		}
		return false, nil
	}
	r, err := b.render(ctx, v.renderContext, v.name, sets, it)
	if err != nil {
		return false, fmt.Errorf("rendering entry %s: %w", it.Fold.Text.Code, err)
	}
	at := view.Version{Stamp: it.Stamp, Tag: r.tag}
	if e != nil && e.tag != at.Tag && e.otherPeople(it) {
		e.forget() // parts of it that look the same here may not to who unfolded them
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
	v.shown[it.PostID] = &shown{code: code, stamp: stamp, position: it.Place, item: it, sum: r.sum, tag: at.Tag}
	return true, nil
}

// within reports whether an entry that the page does not show stands in the page's
// range. An older page is added to only when it is compared with its river.
func (v *shownPage) within(it *rivers.Item) bool {
	return v.before.Top() && (!v.more || !v.floor.Above(positionOf(it)))
}

// gone takes an entry off the page. rivers.ErrNotFound: it was the post whose page
// this is.
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
