package tiers_test

import (
	"context"
	"errors"

	"riverrun/rivers"
	"riverrun/timelines"
)

// whom is somebody to follow: a person, a group, one of the crowd.
func (a *actor) whom() string {
	switch k := a.rng.IntN(10); {
	case k < 5:
		return a.people[a.rng.IntN(len(a.people))].name
	case k < 9:
		return a.workload.groups[a.rng.IntN(len(a.workload.groups))]
	default:
		return ghostPrefix + "1"
	}
}

func (a *actor) subscribe(n *node) {
	name := a.whom()
	a.act("subscribe", n, func(ctx context.Context) (timelines.Change, error) {
		c, _, err := n.store.Subscriptions.Subscribe(ctx, a.id, name)
		return c, err
	})
}

func (a *actor) unsubscribe(n *node) {
	name := a.whom()
	a.act("unsubscribe", n, func(ctx context.Context) (timelines.Change, error) {
		return n.store.Subscriptions.Unsubscribe(ctx, a.id, name)
	})
}

func (a *actor) accept(n *node) {
	waiting, err := n.store.Subscriptions.Requests(a.ctx, a.id, 0, timelines.RequestPlace{}, 20)
	if err != nil {
		a.fail("requests: %v", err)
	}
	if len(waiting) == 0 {
		return
	}
	r := waiting[a.rng.IntN(len(waiting))]
	group := ""
	if r.To.Kind == timelines.Group {
		group = r.To.Name
	}
	answer := n.store.Subscriptions.Accept
	if a.rng.IntN(4) == 0 {
		answer = n.store.Subscriptions.Decline
	}
	a.act("answer a request", n, func(ctx context.Context) (timelines.Change, error) {
		return answer(ctx, a.id, r.From.Name, group)
	})
}

// moderations are what administrators do to people.
func moderations(s *timelines.Store) []func(ctx context.Context, actor int64, group, name string) (timelines.Change, error) {
	return []func(ctx context.Context, actor int64, group, name string) (timelines.Change, error){
		s.Groups.Promote, s.Groups.Promote, s.Groups.Demote, s.Groups.Block, s.Groups.Unblock, s.Groups.RemoveMember,
		s.Groups.Exclude, s.Groups.Unexclude, s.Groups.Admit, s.Groups.Dismiss,
	}
}

// moderate does one of them, mostly in a group of one's own; others do not let it
// happen unless the actor was promoted there.
func (a *actor) moderate(n *node) {
	group := a.workload.groups[a.rng.IntN(len(a.workload.groups))]
	if len(a.groups) > 0 && a.rng.IntN(3) > 0 {
		group = a.groups[a.rng.IntN(len(a.groups))].Name
	}
	all := moderations(n.store)
	do, whom := all[a.rng.IntN(len(all))], a.people[a.rng.IntN(len(a.people))].name
	a.act("moderate", n, func(ctx context.Context) (timelines.Change, error) { return do(ctx, a.id, group, whom) })
}

// setWriters sets who may send messages to the actor, or post to a group.
func (a *actor) setWriters(n *node) {
	kind, group := timelines.User, ""
	if len(a.groups) > 0 && a.rng.IntN(2) == 0 {
		kind, group = timelines.Group, a.groups[a.rng.IntN(len(a.groups))].Name
	}
	choice := timelines.WritersOf(kind)
	who := choice[a.rng.IntN(len(choice))]
	a.act("set writers", n, func(ctx context.Context) (timelines.Change, error) {
		return n.store.Groups.SetWriters(ctx, a.id, group, who)
	})
}

func (a *actor) setAccess(n *node) {
	feed, group := a.feed, ""
	if k := a.rng.IntN(1 + len(a.groups)); k > 0 {
		feed, group = a.groups[k-1].FeedID, a.groups[k-1].Name
	}
	level := timelines.Level(a.rng.IntN(3))
	if level != timelines.Private {
		a.board.note(func(int64) { delete(a.board.closed, feed) })
	}
	_, ok := a.act("set access", n, func(ctx context.Context) (timelines.Change, error) {
		return n.store.Feeds.SetAccess(ctx, a.id, group, level)
	})
	if !ok || level != timelines.Private {
		return
	}
	a.board.note(func(when int64) { a.board.closed[feed] = when })
	kind, of := rivers.User, a.name
	if group != "" {
		kind, of = rivers.Group, group
	}
	for i, n := range a.nodes {
		name, err := n.rivers.Resolve(a.ctx, timelines.Viewer{}, kind, of, rivers.Fresh)
		if err == nil {
			_, err = n.rivers.Visit(a.ctx, timelines.Viewer{}, name, rivers.Cursor{})
		}
		if !errors.Is(err, rivers.ErrForbidden) {
			a.fail("R4: %s page of %s, gone private, on node %d: got %v, want %v", kind, of, i, err, rivers.ErrForbidden)
		}
	}
}

// signIn begins a session. Hashing takes its time, so it is done rarely.
func (a *actor) signIn(n *node) {
	token, _, err := n.store.Accounts.SignIn(a.ctx, a.name, passwordOf(a.name))
	if err != nil {
		a.fail("sign in: %v", err)
		return
	}
	session, _ := timelines.SessionOf(token)
	if a.viewer, err = n.rivers.Access().Session(a.ctx, session); err != nil {
		a.fail("sign in: %v", err)
	}
}

// signOut ends the session, which no node may honour from then on.
func (a *actor) signOut(n *node) {
	was := a.viewer
	if _, ok := a.act("sign out", n, func(ctx context.Context) (timelines.Change, error) {
		return n.store.Accounts.SignOut(ctx, was)
	}); !ok {
		return
	}
	name := rivers.Name{UserID: a.id, Kind: rivers.Home, Order: rivers.Fresh}
	for i, n := range a.nodes {
		if _, err := n.rivers.Visit(a.ctx, was, name, rivers.Cursor{}); !errors.Is(err, timelines.ErrSignedOut) {
			a.fail("R4: a page of the ended session on node %d: got %v, want %v", i, err, timelines.ErrSignedOut)
		}
	}
	a.signIn(n)
}

// listSlugs are the lists people make.
var listSlugs = []string{"some", "others"}

// list makes, changes or ends a list, or places somebody; my pages of it show at
// once whom it is made of.
func (a *actor) list(n *node) {
	slug := listSlugs[a.rng.IntN(len(listSlugs))]
	what, change := "edit list", func(ctx context.Context) (timelines.Change, error) {
		return n.store.Lists.Edit(ctx, a.id, slug, slug, []string{a.whom(), a.whom()})
	}
	switch a.rng.IntN(6) {
	case 0:
		what, change = "make list", func(ctx context.Context) (timelines.Change, error) {
			_, c, err := n.store.Lists.Create(ctx, timelines.NewList{Actor: a.id, Title: slug})
			return c, err
		}
	case 1:
		what, change = "delete list", func(ctx context.Context) (timelines.Change, error) {
			return n.store.Lists.Delete(ctx, a.id, slug)
		}
	case 2, 3:
		name, inHome := a.whom(), a.rng.IntN(2) == 0
		what, change = "place", func(ctx context.Context) (timelines.Change, error) {
			return n.store.Lists.Place(ctx, a.id, name, inHome, []string{slug})
		}
	}
	if _, ok := a.act(what, n, change); !ok {
		return
	}
	n = a.node()
	name, err := n.rivers.Resolve(a.ctx, a.viewer, rivers.List, slug, rivers.Fresh)
	var page *rivers.Page
	if err == nil {
		page, err = n.rivers.Visit(a.ctx, a.viewer, name, rivers.Cursor{})
	}
	if what == "delete list" && !errors.Is(err, rivers.ErrNotFound) {
		a.fail("R3: my deleted list: got %v, want %v", err, rivers.ErrNotFound)
	}
	if err != nil {
		if !errors.Is(err, rivers.ErrNotFound) {
			a.fail("visit my list: %v", err)
		}
		return
	}
	list, _ := page.Sets.List(slug)
	for _, it := range page.Items {
		for _, t := range it.Why {
			if !list.Includes(t.TheirID) {
				a.fail("R3: post %d stands in my list of %v for %s of %d", it.PostID, list.Members, t.Kind, t.TheirID)
			}
		}
	}
}
