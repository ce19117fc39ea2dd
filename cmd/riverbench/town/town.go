// Package town makes the town that riverbench measures in: people, groups, their
// subscriptions, and two years of posts, comments and likes, all of it from a seed. The same
// seed, size and end make the same town on any machine of one kind of processor.
//
// Its shape is that of a real site. A few people are followed, and write, far more than the
// others. One post in ten is private. Most posts get few comments and likes, and none gets more
// than MostComments and MostLikes. People comment on and like only what they may read, and
// mostly what those write whom they follow.
package town

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"riverrun/timelines"
)

// Version is the version of the generator. Raise it with every change after which the same seed and
// size make another town, or the same one is stored in another way: towns that were kept are then
// made anew. Migrations need no higher number.
const Version = 1

// Size is how much there is of everything. Comments and Likes are what posts get together; a
// town has a few per cent more or less. With few people it has fewer, as nobody likes a post
// twice.
type Size struct{ Accounts, Groups, Posts, Comments, Likes int }

// SizeOf returns the size of a town at a scale: 1 is the full one, of 2,000 people and 200,000
// posts. Every number is proportional to the scale.
func SizeOf(scale float64) Size {
	of := func(full float64) int { return int(math.Round(full * scale)) }
	return Size{Accounts: of(2_000), Groups: of(100), Posts: of(200_000), Comments: of(1_000_000), Likes: of(2_000_000)}
}

// WithPosts returns the size of a town with that many posts and the same people. It has as many comments
// and likes for a post, but not more of them than s has in all: a larger town has more posts that nobody
// comments on.
func (s Size) WithPosts(posts int) Size {
	share := min(1, float64(posts)/float64(s.Posts))
	s.Posts = posts
	s.Comments, s.Likes = int(math.Round(share*float64(s.Comments))), int(math.Round(share*float64(s.Likes)))
	return s
}

const (
	// Follows and Memberships are how many people each person follows, and how many groups each
	// is in, in a town that has as many.
	Follows, Memberships = 100, 10
	// MostComments and MostLikes are the most that a post gets.
	MostComments, MostLikes = 300, 500
	// Days is how far the posts reach back.
	Days = 730

	// popularity is the exponent by which people and groups are chosen: the n-th has a weight of
	// n to the power of -popularity.
	popularity = 0.8
	// oneIn is how many people there are to a private one, and the same for groups and posts.
	oneIn = 10
	// inGroups is the share of posts that go to a group; the others go to their author's feed.
	inGroups = 0.15
)

// Town is a town that can be loaded into a store. It holds its people, groups and subscriptions
// in memory, and makes posts as they are needed. It is safe for concurrent use.
type Town struct {
	seed  uint64
	size  Size
	start time.Time
	end   time.Time

	// people and groups are in the order of how popular they are.
	people, groups []timelines.ImportedAccount
	// follows and joins are the people whom each person follows, and the groups each is in;
	// followers and members are the other way round.
	follows, joins     [][]int32
	followers, members [][]int32
	admins             []int32 // of the groups

	anybody, anyGroup *choice // by popularity
	// open and closed choose a public and a private author, and a public and a private group.
	open, closed           picker
	openGroup, closedGroup picker
}

// New returns the town of a seed at a scale, see SizeOf. Its last post, comment and like were
// written shortly before end.
func New(seed uint64, scale float64, end time.Time) *Town { return NewSized(seed, SizeOf(scale), end) }

// NewSized returns the town of a seed with that much of everything. It has at least two people and a group.
func NewSized(seed uint64, size Size, end time.Time) *Town {
	size.Accounts, size.Groups = max(size.Accounts, 2), max(size.Groups, 1)
	end = end.UTC().Truncate(time.Microsecond)
	t := &Town{seed: seed, size: size, start: end.Add(-Days * 24 * time.Hour), end: end}
	t.anybody, t.anyGroup = newChoice(size.Accounts), newChoice(size.Groups)
	t.open, t.closed = newPickers(size.Accounts)
	t.openGroup, t.closedGroup = newPickers(size.Groups)
	for i := range size.Accounts {
		t.people = append(t.people, timelines.ImportedAccount{
			ExternalID: personName(i), Kind: timelines.User, Name: personName(i), Title: personTitle(i), Private: isPrivate(i),
		})
	}
	t.makeGroups()
	t.makeFollows()
	return t
}

// Person is somebody of the town.
type Person struct {
	Name    string
	Private bool
}

// People returns all people, those first whom most follow and who write most.
func (t *Town) People() []Person { return named[Person](t.people) }

// Group is a group of the town.
type Group struct {
	Name    string
	Private bool
}

// Groups returns all groups, those first with the most members.
func (t *Town) Groups() []Group { return named[Group](t.groups) }

func named[T Person | Group](accounts []timelines.ImportedAccount) []T {
	list := make([]T, len(accounts))
	for i, a := range accounts {
		list[i] = T{a.Name, a.Private}
	}
	return list
}

// Size returns the size that the town was made for.
func (t *Town) Size() Size { return t.size }

// isPrivate says whether the account of this popularity is private. They are spread evenly, so
// that private accounts are as popular as others.
func isPrivate(rank int) bool { return rank%oneIn == oneIn-3 }

// makeGroups makes the groups, each with an administrator of its own while people last.
func (t *Town) makeGroups() {
	order := t.chance(ofAdmins, 0).Perm(t.size.Accounts)
	for g := range t.size.Groups {
		admin := order[g%len(order)]
		t.admins = append(t.admins, int32(admin))
		t.groups = append(t.groups, timelines.ImportedAccount{
			ExternalID: groupName(g), Kind: timelines.Group, Name: groupName(g), Title: groupTitle(g), Private: isPrivate(g), Admin: t.people[admin].Name,
		})
	}
}

// makeFollows chooses whom each person follows and which groups they are in. An administrator
// is in the groups they administer.
func (t *Town) makeFollows() {
	n, groups := t.size.Accounts, t.size.Groups
	t.follows, t.joins = make([][]int32, n), make([][]int32, n)
	t.followers, t.members = make([][]int32, n), make([][]int32, groups)
	leads := map[int32][]int32{}
	for g, admin := range t.admins {
		leads[admin] = append(leads[admin], int32(g))
	}
	for i := range n {
		r, self := t.chance(ofFollows, i), int32(i)
		t.follows[i] = t.anybody.several(r, []int32{self}, 1+min(Follows, n-1))[1:]
		t.joins[i] = t.anyGroup.several(r, leads[self], min(Memberships, groups))
		for _, whom := range t.follows[i] {
			t.followers[whom] = append(t.followers[whom], self)
		}
		for _, g := range t.joins[i] {
			t.members[g] = append(t.members[g], self)
		}
	}
}

// Purposes of chance. Each thing has a source of its own, so that it does not depend on the things
// made before it.
const (
	ofAdmins = iota + 1
	ofFollows
	ofPosts
	ofPrivate
	ofHeat
)

func (t *Town) chance(purpose uint64, i int) *rand.Rand {
	return rand.New(rand.NewPCG(mix(t.seed^mix(purpose)), mix(uint64(i))))
}

// mix spreads neighbouring numbers over all numbers (the finish of SplitMix64).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// choice draws ranks by popularity.
type choice struct{ upTo []float64 } // the weights of all ranks up to each

func newChoice(n int) *choice {
	c := &choice{make([]float64, n)}
	sum := 0.0
	for i := range n {
		sum += math.Pow(float64(i+1), -popularity)
		c.upTo[i] = sum
	}
	return c
}

func (c *choice) one(r *rand.Rand) int32 {
	at, _ := slices.BinarySearch(c.upTo, r.Float64()*c.upTo[len(c.upTo)-1])
	return int32(min(at, len(c.upTo)-1))
}

// several adds to different ranks until there are n.
func (c *choice) several(r *rand.Rand, ranks []int32, n int) []int32 {
	ranks = slices.Clone(ranks)
	has := make(map[int32]struct{}, n)
	for _, rank := range ranks {
		has[rank] = struct{}{}
	}
	for len(ranks) < min(n, len(c.upTo)) {
		rank := c.one(r)
		if _, ok := has[rank]; !ok {
			has[rank] = struct{}{}
			ranks = append(ranks, rank)
		}
	}
	return ranks
}

// picker draws from some ranks, by popularity.
type picker struct {
	ranks []int32
	*choice
}

// newPickers return one for the public accounts of n and one for the private ones.
func newPickers(n int) (open, closed picker) {
	for i := range n {
		if isPrivate(i) {
			closed.ranks = append(closed.ranks, int32(i))
		} else {
			open.ranks = append(open.ranks, int32(i))
		}
	}
	open.choice, closed.choice = newChoice(len(open.ranks)), newChoice(len(closed.ranks))
	return open, closed
}

func (p picker) one(r *rand.Rand) int { return int(p.ranks[p.choice.one(r)]) }
