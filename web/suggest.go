package web

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"riverrun/timelines"
	"riverrun/web/view"
)

// suggestions are the people and groups with most followers, counted now and then, since counting
// them reads all subscriptions. For each viewer they are also those whom most of the viewer's friends
// follow. Which of them a viewer sees is decided again whenever the clock of access moves.
type suggestions struct {
	latest   atomic.Pointer[followerCount]
	counting sync.Mutex // held by the request that counts; the others use the latest count

	mu      sync.Mutex // guards friends
	friends *simplelru.LRU[int64, friendCount]
}

// friendCount is what a viewer's friends follow, counted when the viewer followed this many.
type friendCount struct {
	followerCount
	follows int
}

// maxFriendCounts is for how many viewers a node remembers what their friends follow.
const maxFriendCounts = 10_000

func newSuggestions() *suggestions {
	friends, err := simplelru.NewLRU[int64, friendCount](maxFriendCounts, nil)
	if err != nil {
		panic(err) // only a size below one is refused
	}
	return &suggestions{friends: friends}
}

// forget drops what was counted: the ids may be those of other accounts from now on.
func (p *suggestions) forget() {
	p.latest.Store(nil)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.friends.Purge()
}

// followerCount is a count, and until when it is not made again.
type followerCount struct {
	until time.Time
	ids   []int64
}

const (
	// countEvery is how old a count may be. An account that became popular since waits.
	countEvery = 10 * time.Minute
	// countFew is how old a count may be that found fewer than mostCounted people. So somebody who comes
	// to a new site while people come, or after riverrun demo, finds them.
	countFew = 10 * time.Second
	// failedFor is how long a count that failed is not tried again. Meanwhile the last one stays.
	failedFor = time.Minute
	// mostCounted is how many people, and how many groups, are remembered: a reader who follows
	// all of them finds others by themselves.
	mostCounted = 50
)

// popular returns the accounts that most follow, groups among people: none while they are
// counted for the first time, or while that fails.
func (s *Server) popular(ctx context.Context) followerCount {
	p := s.suggestions
	latest := p.latest.Load()
	if latest == nil {
		latest = &followerCount{}
	}
	if latest.fresh(s.now()) || !p.counting.TryLock() {
		return *latest
	}
	defer p.counting.Unlock()
	people, err := s.timelines.Accounts.MostFollowed(ctx, timelines.User, mostCounted)
	var groups []int64
	if err == nil {
		groups, err = s.timelines.Accounts.MostFollowed(ctx, timelines.Group, mostCounted)
	}
	if err != nil {
		s.log.WarnContext(ctx, "counting followers", "error", err)
		latest = s.failed(latest.ids)
	} else {
		age := countEvery
		if len(people) < mostCounted {
			age = countFew
		}
		latest = &followerCount{s.now().Add(age), mix(people, groups)}
	}
	p.latest.Store(latest)
	return *latest
}

// fresh reports whether the count is not made again yet.
func (c *followerCount) fresh(now time.Time) bool { return !now.After(c.until) }

// failed is the last count, after one that failed.
func (s *Server) failed(ids []int64) *followerCount {
	return &followerCount{s.now().Add(failedFor), ids}
}

// mix puts a group after each two people.
func mix(people, groups []int64) []int64 {
	var all []int64
	for len(people) > 0 || len(groups) > 0 {
		n, m := min(2, len(people)), min(1, len(groups))
		all = append(append(all, people[:n]...), groups[:m]...)
		people, groups = people[n:], groups[m:]
	}
	return all
}

// byFriends returns the accounts that most of the people follow whom the viewer of the page
// follows, which is counted again when the viewer follows more or fewer, and now and then.
func (s *Server) byFriends(ctx context.Context, p *view.Base) followerCount {
	c, me, follows := s.suggestions, p.Viewer.AccountID, len(p.Sets.Follows)
	if me == 0 || follows == 0 {
		return followerCount{}
	}
	c.mu.Lock()
	latest, ok := c.friends.Get(me)
	c.mu.Unlock()
	if ok && latest.follows == follows && latest.fresh(s.now()) {
		return latest.followerCount
	}
	now := &followerCount{until: s.now().Add(countEvery)}
	var err error
	if now.ids, err = s.timelines.Accounts.FollowedByFriends(ctx, me, mostCounted); err != nil {
		s.log.WarnContext(ctx, "counting whom friends follow", "error", err)
		now = s.failed(latest.ids)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.friends.Add(me, friendCount{*now, follows})
	return *now
}

// suggest finds accounts, when they are rendered, that the viewer of the page may read and could follow:
// those whom most of the people follow whom the viewer follows, then those with most followers.
// Each comes with the people who follow it whom the viewer follows and may know of.
func (s *Server) suggest(ctx context.Context, p *view.Base) view.Suggestions {
	friends, popular := s.byFriends(ctx, p), s.popular(ctx)
	return view.Suggestions{
		Version: fmt.Sprint(friends.until.UnixNano(), popular.until.UnixNano()),
		Make: func(n int) ([]view.Suggestion, error) {
			list, err := s.toFollow(ctx, p, slices.Concat(friends.ids, popular.ids), n)
			if err != nil {
				s.log.WarnContext(ctx, "looking for accounts to follow", "error", err)
			}
			return list, err
		},
	}
}

func (s *Server) toFollow(ctx context.Context, p *view.Base, counted []int64, n int) ([]view.Suggestion, error) {
	var ids []int64
	for _, id := range counted {
		if id != p.Viewer.AccountID && !p.Sets.Follows.Has(id) && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	found, err := s.mayFollow(ctx, p, ids, n)
	if err != nil {
		return nil, err
	}
	shown := make([]int64, len(found))
	for i, a := range found {
		shown[i] = a.ID
	}
	friends, _, err := s.friendsAmong(ctx, p, shown)
	if err != nil {
		return nil, err
	}
	list := make([]view.Suggestion, len(found))
	for i, a := range found {
		list[i] = view.Suggestion{Account: a, Friends: friends[a.ID]}
	}
	return list, nil
}

// mayFollow returns the first n of some accounts that the viewer of the page may read and could
// follow. Most accounts pass, so it looks at few more than n before it looks at all the others.
func (s *Server) mayFollow(ctx context.Context, p *view.Base, ids []int64, n int) ([]timelines.Account, error) {
	var found []timelines.Account
	for few := min(2*n, len(ids)); len(ids) > 0; few = len(ids) {
		open, err := s.readable(ctx, p, ids[:few])
		if err != nil {
			return nil, err
		}
		for _, id := range ids[:few] {
			a, ok := open[id]
			if !ok || !p.MayFollow(a) {
				continue
			}
			if found = append(found, a); len(found) == n {
				return found, nil
			}
		}
		ids = ids[few:]
	}
	return found, nil
}
