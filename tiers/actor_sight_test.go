package tiers_test

import (
	"context"
	"slices"

	"riverrun/rivers"
	"riverrun/timelines"
)

// ban bans somebody, or lifts that again; from the acknowledgement on neither sees
// the other on any node.
func (a *actor) ban(n *node) {
	other := a.people[a.rng.IntN(len(a.people))]
	if other == a {
		return
	}
	if a.rng.IntN(2) == 0 {
		a.board.note(func(int64) { delete(a.board.banned, pair{a.id, other.id}) })
		a.act("unban", n, func(ctx context.Context) (timelines.Change, error) { return n.store.Bans.Unban(ctx, a.id, other.name) })
		return
	}
	_, ok := a.act("ban", n, func(ctx context.Context) (timelines.Change, error) { return n.store.Bans.Ban(ctx, a.id, other.name) })
	if !ok {
		return
	}
	a.board.note(func(when int64) { a.board.banned[pair{a.id, other.id}] = when })
	for i, n := range a.nodes {
		for viewer, person := range map[int64]int64{a.id: other.id, other.id: a.id} {
			since := a.board.since()
			name := rivers.Name{UserID: viewer, Kind: rivers.Everything, Order: rivers.Created}
			page, err := n.rivers.Visit(a.ctx, timelines.Viewer{AccountID: viewer}, name, rivers.Cursor{})
			if err != nil {
				a.fail("everything after a ban: %v", err)
				continue
			}
			// Only this actor lifts this ban.
			for _, l := range a.board.leaks(timelines.Viewer{AccountID: viewer}, name.Kind, page.Items, since) {
				a.fail("R4: node %d, between %d and %d: %s", i, viewer, person, l)
			}
		}
	}
}

// hide hides a post or shows it again.
func (a *actor) hide(n *node) {
	c := a.board.pick(a.rng, func(c *card) bool { return c.author != a.id })
	if c == nil {
		return
	}
	want := a.rng.IntN(2) == 0
	set := n.store.Hides.UnhidePost
	if want {
		set = n.store.Hides.HidePost
	} else {
		a.board.note(func(int64) { delete(a.board.hidden, pair{a.id, c.id}) })
	}
	_, ok := a.act("hide", n, func(ctx context.Context) (timelines.Change, error) {
		_, done, err := set(ctx, a.id, c.code)
		return done, err
	})
	if !ok {
		return
	}
	if want {
		a.board.note(func(when int64) { a.board.hidden[pair{a.id, c.id}] = when })
	}
	if it := a.open(c); it != nil && it.Hidden != want {
		a.fail("R3: post %d at %+v: hidden %v, want %v", c.id, it.Stamp, it.Hidden, want)
	}
	page := a.own(rivers.Home, "", rivers.Fresh)
	if want && page != nil && slices.ContainsFunc(page.Items, func(it rivers.Item) bool { return it.PostID == c.id }) {
		a.fail("R3: hidden post %d is in my home", c.id)
	}
}
