package ramps

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"time"

	"riverrun/timelines"
)

// Sizes of the crowd at scale 1.
const (
	mostFollowers = 1_024
	mostFollowed  = 5_000
	// follows is how many members each member follows.
	follows = 20
	// oldPosts is how many posts each member has written, and authorPosts each author.
	oldPosts, authorPosts = 4, 40
	// day stands for a day: the crowd writes as much in it as people do in a day. Its old posts are
	// of sixty of them.
	day  = 10 * time.Second
	days = 60
	// popularity is the exponent by which members are chosen to be followed, and to write.
	popularity = 0.8
)

// size is how much there is of everything that the ramps need.
type size struct {
	followers, followed []int
	members             int // they follow each other; enough for the longest lists
	active              int // the members who read
}

func sizeOf(scale float64) size {
	of := func(full int) int { return max(1, int(math.Round(float64(full)*scale))) }
	s := size{active: of(mostFollowers)}
	for n := 1; n < s.active; n *= 4 {
		s.followers = append(s.followers, n)
	}
	s.followers = append(s.followers, s.active)
	for _, n := range []int{10, 50, 250, 1_000, 2_500, mostFollowed} {
		s.followed = append(s.followed, of(n))
	}
	s.members = max(s.active, of(mostFollowed)) + 1
	return s
}

// crowd are the people of the ramps, by their ids.
type crowd struct {
	size
	members []int64
	// writers are members, chosen by how popular they are. authors have as many followers as their
	// key says, and readers follow as many members.
	writers          chance
	authors, readers map[int]int64
}

// chance chooses the n-th with a weight of n to the power of -exponent.
type chance []float64

func newChance(n int, exponent float64) chance {
	c := make(chance, n)
	sum := 0.0
	for i := range c {
		sum += math.Pow(float64(i+1), -exponent)
		c[i] = sum
	}
	return c
}

func (c chance) one(r *rand.Rand) int {
	return min(sort.SearchFloat64s(c, r.Float64()*c[len(c)-1]), len(c)-1)
}

// source is the name of the source that the crowd is imported from.
const source = "ramps"

// postsAtOnce is how many posts are loaded at once.
const postsAtOnce = 2_000

// gather makes the crowd in an empty store: its accounts, who follows whom, and what the
// members wrote before.
func gather(ctx context.Context, store *timelines.Store, seed uint64, s size, tell func(format string, args ...any)) (_ *crowd, err error) {
	c := &crowd{size: s, writers: newChance(s.active, popularity), authors: map[int]int64{}, readers: map[int]int64{}}
	im, err := store.Imports.Start(ctx, source)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, im.Close(ctx)) }()
	account := func(format string, n int) timelines.ImportedAccount {
		name := fmt.Sprintf(format, n)
		return timelines.ImportedAccount{ExternalID: name, Kind: timelines.User, Name: name, Title: name}
	}
	var members, authors []timelines.ImportedAccount
	for i := range s.members {
		members = append(members, account("member-%d", i))
	}
	for _, n := range s.followers {
		authors = append(authors, account("author-%d", n))
	}
	all := slices.Concat(members, authors)
	for _, n := range s.followed {
		all = append(all, account("reader-%d", n))
	}
	ids, _, err := im.Accounts(ctx, all)
	if err != nil {
		return nil, err
	}
	for _, m := range members {
		c.members = append(c.members, ids[m.ExternalID])
	}
	var pairs []timelines.ImportedFollow
	for _, n := range s.followers {
		c.authors[n] = ids[fmt.Sprintf("author-%d", n)]
		for _, follower := range c.members[:n] {
			pairs = append(pairs, timelines.ImportedFollow{Subscriber: follower, Account: c.authors[n]})
		}
	}
	for _, n := range s.followed {
		c.readers[n] = ids[fmt.Sprintf("reader-%d", n)]
		for _, followed := range c.members[:n] {
			pairs = append(pairs, timelines.ImportedFollow{Subscriber: c.readers[n], Account: followed})
		}
	}
	r := rand.New(rand.NewPCG(seed, 1))
	for i, follower := range c.members[:s.active] {
		chosen := map[int]bool{i: true}
		for len(chosen) < min(follows+1, s.active) {
			chosen[c.writers.one(r)] = true
		}
		for whom := range chosen {
			if whom != i {
				pairs = append(pairs, timelines.ImportedFollow{Subscriber: follower, Account: c.members[whom]})
			}
		}
	}
	if _, err := im.Follow(ctx, pairs); err != nil {
		return nil, err
	}
	tell("%d people, %d subscriptions", len(all), len(pairs))
	return c, c.write(ctx, im, members, authors, tell)
}

// write adds the old posts. The turn of each member comes four times, so that all lists of the
// followed have posts of all days. Those of the authors are of all days too.
func (c *crowd) write(ctx context.Context, im *timelines.Import, members, authors []timelines.ImportedAccount, tell func(format string, args ...any)) error {
	begin := time.Now().Add(-days * day)
	var posts []timelines.Imported
	post := func(by timelines.ImportedAccount, i, of int) {
		posts = append(posts, timelines.Imported{
			ExternalID: fmt.Sprintf("post-%d", len(posts)), Author: by, To: []timelines.ImportedAccount{by},
			Body: body(len(posts)), CreatedAt: begin.Add(time.Since(begin) * time.Duration(i) / time.Duration(of+1)),
		})
	}
	for i := range oldPosts * len(members) {
		post(members[i*7919%len(members)], i, oldPosts*len(members))
	}
	for _, author := range authors {
		for i := range authorPosts {
			post(author, i, authorPosts)
		}
	}
	for batch := range slices.Chunk(posts, postsAtOnce) {
		if _, err := im.Add(ctx, batch); err != nil {
			return err
		}
	}
	tell("%d posts", len(posts))
	return nil
}

func body(i int) string {
	return fmt.Sprintf("What I have seen today, number %d of all that I saw, in as many words as people use.", i)
}
