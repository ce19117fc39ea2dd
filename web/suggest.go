package web

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"riverrun/timelines"
	"riverrun/web/view"
)

// suggestions are the people and groups with most followers, counted now and then: to count them
// reads all subscriptions. Each page decides which of them it suggests to its viewer.
type suggestions struct {
	latest   atomic.Pointer[followerCount]
	counting sync.Mutex // held by the request that counts; the others use the latest count
}

type followerCount struct {
	at  time.Time
	ids []int64
}

const (
	// countEvery is how old a count may be. An account that became popular since waits.
	countEvery = 10 * time.Minute
	// mostCounted is how many people, and how many groups, are remembered: a reader who follows
	// all of them finds others by themselves.
	mostCounted = 50
)

// popular returns the accounts that most follow, groups among people: none while they are
// counted for the first time, or if that fails.
func (s *Server) popular(ctx context.Context) []int64 {
	p := &s.suggestions
	latest := p.latest.Load()
	if latest == nil {
		latest = &followerCount{}
	}
	if s.now().Sub(latest.at) <= countEvery || !p.counting.TryLock() {
		return latest.ids
	}
	defer p.counting.Unlock()
	people, err := s.timelines.Accounts.MostFollowed(ctx, timelines.User, mostCounted)
	var groups []int64
	if err == nil {
		groups, err = s.timelines.Accounts.MostFollowed(ctx, timelines.Group, mostCounted)
	}
	if err != nil {
		s.log.WarnContext(ctx, "counting followers", "error", err)
		return latest.ids
	}
	latest = &followerCount{at: s.now(), ids: mix(people, groups)}
	p.latest.Store(latest)
	return latest.ids
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

// suggest returns at most n accounts that the viewer of the page may read and could follow. No
// page fails for want of them.
func (s *Server) suggest(ctx context.Context, p *view.Base, n int) []timelines.Account {
	ids := slices.DeleteFunc(slices.Clone(s.popular(ctx)), func(id int64) bool { return id == p.Viewer.AccountID || p.Sets.Follows.Has(id) })
	if err := s.view.NameAccounts(ctx, p, ids); err != nil {
		s.log.WarnContext(ctx, "naming accounts to follow", "error", err)
		return nil
	}
	var found []timelines.Account
	for _, id := range ids {
		if a, ok := p.Names[id]; ok && p.MayFollow(a) {
			if found = append(found, a); len(found) == n {
				break
			}
		}
	}
	return found
}
