package strategies_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"riverrun/migrations/testdb"
	"riverrun/rivers"
	"riverrun/rivers/strategies"
	"riverrun/timelines"
)

func (w *town) everyStrategy() map[string]strategies.Strategy {
	stores := strategies.Stores{Primary: w.store, Rivers: w.rivers, Secondary: w.db.Secondary}
	return map[string]strategies.Strategy{
		"read":           strategies.NewRead(w.store, 0),
		"read, in parts": strategies.NewRead(w.store, 5),
		"timed":          strategies.NewTimed(stores, 20*time.Millisecond),
		"sized":          strategies.NewSized(stores, 4),
		"cache":          strategies.NewCache(stores, strategies.NewRead(w.store, 0), 7, 0),
		"aggregator":     strategies.NewAggregator(stores, strategies.NewRead(w.store, 0), 9).InBlocksOf(4),
		"rivers":         strategies.NewRivers(w.rivers),
	}
}

const (
	conformRounds = 2
	conformSteps  = 15 // of each actor in each round
)

// lively is a town in which several people act at once, while others read.
type lively struct {
	*town
	names  []string // of people
	people []timelines.Viewer
	groups []string

	mu    sync.Mutex // guards what follows
	posts []string   // codes
	late  []timelines.Event
}

// After random changes from several actors at once, applied late, twice and in any order,
// every strategy shows the same pages as the oracle, and its stored feeds agree with the primary
// store.
func TestConformance(t *testing.T) {
	t.Parallel()
	seed, times := testdb.Chance(t)
	w := newLively(t)
	for round := range conformRounds * times {
		w.round(seed, uint64(round))
		for name, s := range w.all {
			for _, d := range w.differences(s, w.people) {
				t.Errorf("round %d: %s: %s", round, name, d)
			}
			checker, ok := s.(strategies.Checker)
			if !ok {
				continue
			}
			report, err := checker.Check(w.ctx)
			for _, d := range must(w.town, report, err).Differences {
				t.Errorf("round %d: %s", round, d)
			}
		}
		if t.Failed() {
			return
		}
	}
}

func newLively(t *testing.T) *lively {
	w := &lively{town: newTown(t)}
	for _, name := range []string{"ann", "bob", "cat", "dan", "eve"} {
		w.names = append(w.names, name)
		w.people = append(w.people, w.person(name))
	}
	for i, level := range []timelines.Level{timelines.Public, timelines.Protected, timelines.Private} {
		w.groups = append(w.groups, "club-"+level.String())
		w.group(w.people[i], w.groups[i], level)
	}
	for i, v := range w.people {
		w.act(w.following(v, w.names[(i+1)%len(w.names)]))
		w.act(w.following(v, w.groups[0]))
		for k := range 12 {
			w.posts = append(w.posts, w.act(w.posting(v, fmt.Sprintf("post %d of %s", k, w.names[i]))).Code)
		}
	}
	return w
}

// round lets everybody act at once and applies what they did.
func (w *lively) round(seed, round uint64) {
	var acting sync.WaitGroup
	for i := range w.people {
		rng := rand.New(rand.NewPCG(seed, round<<32|uint64(i)))
		acting.Go(func() {
			for range conformSteps {
				w.step(rng, i)
			}
		})
	}
	acting.Wait()
	rng := rand.New(rand.NewPCG(seed, round<<32|99))
	rng.Shuffle(len(w.late), func(i, k int) { w.late[i], w.late[k] = w.late[k], w.late[i] })
	for name, s := range w.all {
		if err := s.Apply(w.ctx, w.late...); err != nil {
			w.t.Errorf("%s: apply late: %v", name, err)
		}
	}
	w.late = nil
	if w.later.upkeep || len(w.later.bumps) > 0 {
		w.t.Error("the round left work to jobs, which it does not do")
	}
}

// step makes one random change and applies it now, twice, or at the end of the round. Then it
// reads somebody's page.
func (w *lively) step(rng *rand.Rand, i int) {
	v := w.people[i]
	c, err := w.change(rng, v)(w.ctx)
	c, err = w.tiers.Carry(w.ctx, c, err)
	if err != nil {
		if !expected(err) {
			w.t.Errorf("act: %v", err)
		}
		return
	}
	w.mu.Lock()
	if c.Code != "" && !slices.Contains(w.posts, c.Code) {
		w.posts = append(w.posts, c.Code)
	}
	events := strategies.Events(c)
	how := rng.IntN(4)
	if how == 0 {
		w.late = append(w.late, events...)
	}
	w.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(w.all)) {
		for range min(how, 2) {
			if err := w.all[name].Apply(w.ctx, events...); err != nil {
				w.t.Errorf("%s: apply: %v", name, err)
			}
		}
	}
	name := slices.Sorted(maps.Keys(w.all))[rng.IntN(len(w.all))]
	if _, err := w.all[name].Page(w.ctx, w.people[rng.IntN(len(w.people))], rivers.Cursor{}, 5); err != nil {
		w.t.Errorf("%s: page: %v", name, err)
	}
}

// change is a random change of an actor.
func (w *lively) change(rng *rand.Rand, v timelines.Viewer) func(context.Context) (timelines.Change, error) {
	w.mu.Lock()
	code := w.posts[rng.IntN(len(w.posts))]
	w.mu.Unlock()
	name, group := w.names[rng.IntN(len(w.names))], w.groups[rng.IntN(len(w.groups))]
	level := timelines.Level(rng.IntN(3))
	me := w.names[slices.Index(w.people, v)]
	switch rng.IntN(20) {
	case 0, 1:
		return w.posting(v, "a new post")
	case 2:
		return w.posting(v, "a private post", me+"/private")
	case 3:
		return w.posting(v, "a post in a group", group)
	case 4:
		return w.posting(v, "a message", name)
	case 5, 6:
		return w.liking(v, code)
	case 7:
		return named(w.store.Posts.Unlike, v, code)
	case 8, 9, 10:
		return w.commenting(v, code)
	case 11:
		return w.following(v, name)
	case 12:
		return w.following(v, group)
	case 13:
		return named(w.store.Subscriptions.Unsubscribe, v, name)
	case 14:
		return w.levelling(v, "", level)
	case 15:
		return w.levelling(v, group, level)
	case 16:
		return reader(w.store.Feeds.Admit, v, "private", name)
	case 17:
		return reader([]func(context.Context, int64, string, string) (timelines.Change, error){
			w.store.Feeds.Remove, w.store.Feeds.Exclude, w.store.Feeds.Unexclude, w.store.Feeds.Admit, w.store.Subscriptions.Accept,
		}[rng.IntN(5)], v, "", name)
	case 18:
		return named([]func(context.Context, int64, string) (timelines.Change, error){
			w.store.Bans.Ban, w.store.Bans.Unban,
		}[rng.IntN(2)], v, name)
	default:
		return named(w.store.Posts.Delete, v, code)
	}
}

// forgetful is a broken strategy: it shows each viewer what it showed first.
type forgetful struct {
	strategies.Strategy
	first map[int64][]strategies.Entry
}

func newForgetful(w *town) forgetful {
	return forgetful{strategies.NewRead(w.store, 0), map[int64][]strategies.Entry{}}
}

func (f forgetful) Page(ctx context.Context, v timelines.Viewer, below rivers.Cursor, limit int) (strategies.Page, error) {
	if _, ok := f.first[v.AccountID]; !ok {
		all, err := f.Strategy.Page(ctx, v, rivers.Cursor{}, 1000)
		if err != nil {
			return strategies.Page{}, err
		}
		f.first[v.AccountID] = all.Entries
	}
	var page strategies.Page
	for _, e := range f.first[v.AccountID] {
		at := rivers.Cursor{Place: e.Place, PostID: e.PostID}
		if !below.Top() && !below.Above(at) {
			continue
		}
		if len(page.Entries) == limit {
			page.More = true
			return page, nil
		}
		page.Entries, page.Next = append(page.Entries, e), at
	}
	return page, nil
}

// Each kind of change shows in what the suite compares: a strategy that overlooks it does not
// conform.
func TestTheSuiteFindsWhatIsOverlooked(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	ann, bob := w.person("ann"), w.person("bob")
	w.act(w.levelling(bob, "", timelines.Protected))
	w.act(w.following(ann, "bob"))
	code := w.act(w.posting(bob, "one")).Code
	w.act(w.posting(bob, "two"))
	for _, change := range []struct {
		what string
		do   func(context.Context) (timelines.Change, error)
	}{
		{"a post", w.posting(bob, "another")},
		{"a bump", w.commenting(bob, code)},
		{"a deletion", named(w.store.Posts.Delete, bob, code)},
		{"a ban", named(w.store.Bans.Ban, ann, "bob")},
		{"a ban lifted", named(w.store.Bans.Unban, ann, "bob")},
		{"leaving", named(w.store.Subscriptions.Unsubscribe, ann, "bob")},
		{"following", w.following(ann, "bob")},
		{"an exclusion", reader(w.store.Feeds.Exclude, bob, "", "ann")},
	} {
		broken := newForgetful(w)
		if d := w.differences(broken, []timelines.Viewer{ann}); len(d) > 0 {
			t.Fatalf("before %s: %s", change.what, d)
		}
		w.act(change.do)
		if d := w.differences(broken, []timelines.Viewer{ann}); len(d) == 0 {
			t.Errorf("after %s a strategy that shows what it showed before conforms", change.what)
		}
	}
}
