package web

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"riverrun/timelines"
	"riverrun/timelines/access"
	"riverrun/web/view"
)

// The head of an account's page is made from the node's memory, so that the page stays one
// statement. It names and counts only what its viewer may know: who follows an account
// is known to those who may read it, as the members of a group are; people are named only if
// the viewer may read them and no ban stands between; and so are groups.

// facesShown is how many members a group's page shows.
const facesShown = 12

// profile returns what the head of a page says of an account that the page's viewer may read.
func (s *Server) profile(ctx context.Context, p *view.Base, a timelines.Account) (view.Profile, error) {
	var f view.Profile
	memory := s.rivers.Access()
	friends, followers, err := s.friendsAmong(ctx, p, []int64{a.ID})
	if err != nil {
		return f, err
	}
	f.Followers, f.Friends = followers[a.ID].Total, friends[a.ID]
	if a.Kind == timelines.Group {
		f.Faces, err = s.faces(ctx, p, f.Friends, followers[a.ID])
		if err == nil && p.Administers(a.ID) {
			if f.Requests, err = memory.RequestCount(ctx, []int64{a.ID}); err == nil {
				f.Waiting, err = s.waiting(ctx, a.ID)
			}
		}
		return f, err
	}
	if me := p.Viewer.AccountID; me != 0 && me != a.ID {
		mine, err := memory.Followers(ctx, []int64{me})
		if err != nil {
			return f, err
		}
		f.FollowsViewer = mine[me].IDs.Has(a.ID)
	}
	follows, err := memory.Following(ctx, a.ID)
	if err != nil {
		return f, err
	}
	f.Following = follows.People
	f.Groups, err = s.groupsOf(ctx, p, follows.Groups)
	return f, err
}

// waiting is how many posts wait for a group, as the node remembers.
func (s *Server) waiting(ctx context.Context, group int64) (int, error) {
	known, err := s.rivers.Access().Alerts(ctx, []int64{group})
	for _, a := range known[group] {
		if a.Approval {
			return a.Posts, err
		}
	}
	return 0, err
}

// friendsAmong returns those followers of each account whom the viewer of the page follows and
// may know of, by title, and all followers by id. The viewer must be allowed to read the
// accounts.
func (s *Server) friendsAmong(ctx context.Context, p *view.Base, accounts []int64) (map[int64][]timelines.Account, map[int64]access.Followers, error) {
	followers, err := s.rivers.Access().Followers(ctx, accounts)
	if err != nil {
		return nil, nil, err
	}
	var all []int64
	both := make(map[int64]access.IDs, len(followers))
	for id, f := range followers {
		both[id] = common(f.IDs, p.Sets.Follows)
		all = append(all, both[id]...)
	}
	open, err := s.readable(ctx, p, access.NewIDs(all...)) // the same friends follow many of them
	if err != nil {
		return nil, nil, err
	}
	friends := make(map[int64][]timelines.Account, len(accounts))
	for id, follow := range both {
		for _, friend := range follow {
			if a, ok := open[friend]; ok && a.Kind == timelines.User {
				friends[id] = append(friends[id], a)
			}
		}
		slices.SortFunc(friends[id], byTitle)
	}
	return friends, followers, nil
}

// readable returns those of some accounts that the viewer of the page may read and does not
// hide, with their present levels.
func (s *Server) readable(ctx context.Context, p *view.Base, ids []int64) (map[int64]timelines.Account, error) {
	if err := s.view.NameAccounts(ctx, p, ids); err != nil {
		return nil, err
	}
	feeds := make([]int64, 0, len(ids))
	for _, id := range ids {
		if a, ok := p.Names[id]; ok {
			feeds = append(feeds, a.FeedID)
		}
	}
	levels, err := s.rivers.Access().Levels(ctx, feeds)
	if err != nil {
		return nil, err
	}
	open := make(map[int64]timelines.Account, len(ids))
	for _, id := range ids {
		a, ok := p.Names[id]
		if !ok || !levels.Opens(p.Sets, a.FeedID) || p.Sets.BlockedBetween(id) || p.Sets.Hides.Accounts.Has(id) {
			continue
		}
		a.Access = levels.Level(a.FeedID)
		open[id] = a
	}
	return open, nil
}

// groupsOf returns those of an account's groups that the viewer of the page may know of: the
// viewer's own first, then by title.
func (s *Server) groupsOf(ctx context.Context, p *view.Base, ids []int64) ([]view.GroupOf, error) {
	open, err := s.readable(ctx, p, ids)
	if err != nil {
		return nil, err
	}
	groups := make([]view.GroupOf, 0, len(open))
	for _, a := range open {
		groups = append(groups, view.GroupOf{Account: a})
	}
	slices.SortFunc(groups, func(a, b view.GroupOf) int {
		return cmp.Or(cmp.Compare(rank(p.Sets, a.ID), rank(p.Sets, b.ID)), byTitle(a.Account, b.Account))
	})
	shown := groups[:min(len(groups), view.GroupsBeside)]
	of := make([]int64, len(shown))
	for i, g := range shown {
		of[i] = g.ID
	}
	members, err := s.rivers.Access().Followers(ctx, of)
	if err != nil {
		return nil, err
	}
	for i, g := range shown {
		shown[i].Members = members[g.ID].Total
	}
	return groups, nil
}

// faces are some members of a group: those whom the viewer follows, and others.
func (s *Server) faces(ctx context.Context, p *view.Base, friends []timelines.Account, all access.Followers) ([]timelines.Account, error) {
	faces := slices.Clone(friends[:min(len(friends), facesShown)])
	more := all.IDs[:min(len(all.IDs), 2*facesShown)]
	open, err := s.readable(ctx, p, more)
	if err != nil {
		return nil, err
	}
	for _, id := range more {
		a, ok := open[id]
		if ok && len(faces) < facesShown && !slices.ContainsFunc(faces, func(f timelines.Account) bool { return f.ID == id }) {
			faces = append(faces, a)
		}
	}
	return faces, nil
}

// common returns what two sets have in common.
func common(a, b access.IDs) access.IDs {
	if len(a) > len(b) {
		a, b = b, a
	}
	var both access.IDs
	for _, id := range a {
		if b.Has(id) {
			both = append(both, id)
		}
	}
	return both
}

func byTitle(a, b timelines.Account) int {
	return cmp.Or(strings.Compare(a.Title, b.Title), strings.Compare(a.Name, b.Name))
}
