package tiers_test

import (
	"context"
	"errors"
	"slices"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/timelines/kinds"
)

// moving makes a change of a post's destinations, and notes where it stands when
// it is acknowledged, unless others change them at the same time.
func (a *actor) moving(what string, n *node, c *card, change func(context.Context) (timelines.Change, error)) bool {
	a.board.note(func(int64) {
		delete(a.board.moved, c.id)
		a.board.moving[c.id]++
	})
	_, ok := a.act(what, n, change)
	var decisive []int64
	err := a.db.Primary.QueryRow(a.ctx, `SELECT decisive FROM posts WHERE id = $1`, c.id).Scan(&decisive)
	if err != nil {
		a.fail("read destinations: %v", err)
	}
	a.board.note(func(when int64) {
		if a.board.moving[c.id]--; ok && a.board.moving[c.id] == 0 {
			a.board.moved[c.id] = move{decisive: decisive, when: when}
		}
	})
	return ok
}

// move puts a post of mine elsewhere.
func (a *actor) move(n *node) {
	c := a.board.pick(a.rng, a.mine)
	if c == nil || c == a.famous && a.rng.IntN(4) > 0 {
		return
	}
	to := a.destinations()
	ok := a.moving("move", n, c, func(ctx context.Context) (timelines.Change, error) {
		return n.store.Posts.Revise(ctx, a.id, c.code, timelines.Revision{To: to})
	})
	if !ok || !slices.Equal(to, []string{timelines.ToEyes}) {
		return
	}
	for i, n := range a.nodes {
		name := rivers.Name{Kind: rivers.Post, TheirID: c.id, Order: rivers.Fresh}
		if _, err := n.rivers.Visit(a.ctx, timelines.Viewer{}, name, rivers.Cursor{}); !errors.Is(err, rivers.ErrNotFound) {
			a.fail("R4: post %d, for my eyes only, on node %d: got %v, want %v", c.id, i, err, rivers.ErrNotFound)
		}
	}
}

// takeOut takes a post out of a group of mine.
func (a *actor) takeOut(n *node) {
	if len(a.groups) == 0 {
		return
	}
	c, group := a.board.pick(a.rng, anyCard), a.groups[a.rng.IntN(len(a.groups))]
	if c == nil {
		return
	}
	ok := a.moving("take out", n, c, func(ctx context.Context) (timelines.Change, error) {
		return n.store.Posts.RemoveFromGroup(ctx, a.id, c.code, group.Name)
	})
	if it := a.open(c); ok && it != nil && slices.ContainsFunc(it.Why, func(t timelines.Timeline) bool { return t.ID == group.FeedID }) {
		a.fail("R3: post %d at %+v still stands in group %s", c.id, it.Stamp, group.Name)
	}
}

// setReader changes who may read one of my feeds. A person who is removed from the private
// one, whose level never changes, stays barred until admitted again.
func (a *actor) setReader(n *node) {
	slug := []string{"", "photos", kinds.PrivateTerm, kinds.PrivateTerm}[a.rng.IntN(4)]
	whom := a.people[a.rng.IntN(len(a.people))]
	var private int64
	err := a.db.Primary.QueryRow(a.ctx, `SELECT id FROM timelines WHERE kind = 'subfeed' AND their_id = $1 AND term = 'private'`, a.id).
		Scan(&private)
	if err != nil {
		a.fail("find my private sub-feed: %v", err)
	}
	set := [](func(context.Context, int64, string, string) (timelines.Change, error)){
		n.store.Feeds.Admit, n.store.Feeds.Remove, n.store.Feeds.Exclude, n.store.Feeds.Unexclude,
	}
	k := a.rng.IntN(len(set))
	if k == 0 && slug == kinds.PrivateTerm {
		a.board.note(func(int64) { delete(a.board.barred, pair{private, whom.id}) })
	}
	_, ok := a.act("set reader", n, func(ctx context.Context) (timelines.Change, error) { return set[k](ctx, a.id, slug, whom.name) })
	if ok && k == 1 && slug == kinds.PrivateTerm {
		a.board.note(func(when int64) { a.board.barred[pair{private, whom.id}] = when })
	}
}

// setSubfeed changes the level of my sub-feed of pictures, or makes and deletes another
// sub-feed.
func (a *actor) setSubfeed(n *node) {
	switch a.rng.IntN(3) {
	case 0:
		level := timelines.Level(a.rng.IntN(3))
		a.act("set sub-feed access", n, func(ctx context.Context) (timelines.Change, error) {
			return n.store.Feeds.SetSubfeedAccess(ctx, a.id, "photos", level)
		})
	case 1:
		a.act("make sub-feed", n, func(ctx context.Context) (timelines.Change, error) {
			return n.store.Feeds.Create(ctx, a.id, "garden", "Garden", timelines.Level(a.rng.IntN(3)))
		})
	default:
		a.act("delete sub-feed", n, func(ctx context.Context) (timelines.Change, error) {
			return n.store.Feeds.Delete(ctx, a.id, "garden")
		})
	}
}
