package town

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"riverrun/timelines"
)

// Posts returns the posts from index from up to, and without, index to, oldest first, with their
// comments and likes.
func (t *Town) Posts(from, to int) []timelines.Imported {
	posts := make([]timelines.Imported, 0, to-from)
	for i := from; i < to; i++ {
		posts = append(posts, t.post(i))
	}
	return posts
}

// setting is where a post stands and who may read it.
type setting struct {
	author int32
	place  timelines.ImportedAccount
	// near are the people who see it because they follow its author or are in its group. If it is
	// private, only they and the author may read it.
	near    []int32
	private bool
}

// setting chooses it for the post of an index. One of ten posts in a row is private. Most private
// posts are in the feeds of private people, the others in private groups. Private people write in
// public groups too, and these posts are public.
func (t *Town) setting(r *rand.Rand, i int) setting {
	private := i%oneIn == t.chance(ofPrivate, i/oneIn).IntN(oneIn) && len(t.closed.ranks) > 0
	authors, groups := t.open, t.openGroup
	if private {
		authors, groups = t.closed, t.closedGroup
	}
	if r.Float64() < inGroups && len(groups.ranks) > 0 {
		g := groups.one(r)
		return setting{t.members[g][r.IntN(len(t.members[g]))], t.groups[g], t.members[g], private}
	}
	author := authors.one(r)
	return setting{int32(author), t.people[author], t.followers[author], private}
}

// readers is how many people besides the author may read the post.
func (t *Town) readers(s setting) int {
	switch {
	case !s.private:
		return t.size.Accounts - 1
	case slices.Contains(s.near, s.author):
		return len(s.near) - 1
	}
	return len(s.near)
}

func (t *Town) post(i int) timelines.Imported {
	r := t.chance(ofPosts, i)
	s := t.setting(r, i)
	// The last minute is left to the comments on the last posts.
	span := t.end.Sub(t.start) - time.Minute
	at := t.start.Add(time.Duration((float64(i) + r.Float64()) / float64(t.size.Posts) * float64(span))).Truncate(time.Microsecond)
	russian := isRussian(int(s.author))
	p := timelines.Imported{
		ExternalID: "p" + strconv.Itoa(i), Body: postText(r, russian), CreatedAt: at,
		Author: t.people[s.author], To: []timelines.ImportedAccount{s.place},
	}
	comments := count(r, t.heat(i, 1), float64(t.size.Comments)/float64(t.size.Posts), min(MostComments, 20*(1+t.readers(s))))
	likes := count(r, t.heat(i, 2), float64(t.size.Likes)/float64(t.size.Posts), min(MostLikes, t.readers(s)))
	times := t.times(r, at, comments+likes)
	slices.SortFunc(times[:comments], time.Time.Compare)
	for j, who := range t.commenters(r, s, comments) {
		p.Comments = append(p.Comments, timelines.ImportedComment{
			ExternalID: p.ExternalID + "/" + strconv.Itoa(j), Body: commentText(r, russian), CreatedAt: times[j], Author: t.people[who],
		})
	}
	for j, who := range t.likers(r, s, likes) {
		p.Likes = append(p.Likes, timelines.ImportedLike{CreatedAt: times[comments+j], Account: t.people[who]})
	}
	return p
}

// heat returns a number from 0 to 1 for a post. The numbers of any stretch of posts are spread
// evenly, so that towns of one size have nearly the same number of comments.
func (t *Town) heat(i int, of int) float64 {
	step := []float64{1: math.Phi - 1, 2: math.Sqrt2 - 1}[of]
	_, heat := math.Modf(t.chance(ofHeat, of).Float64() + float64(i)*step)
	return heat
}

// count returns how many comments or likes a post of a heat gets: mean on average, and at most
// most. It is a Lomax distribution of shape 2, cut off at most, and made wider so that the mean
// stays. Most posts get fewer than the mean, and one in some thousands gets most.
func count(r *rand.Rand, heat, mean float64, most int) int {
	if float64(most) <= mean {
		return most
	}
	width := mean * float64(most) / (float64(most) - mean)
	n := width * (1/math.Sqrt(1-heat) - 1)
	return min(int(n+r.Float64()), most)
}

// times returns n different moments after a post and before the end, in no order. Most are within
// hours, a few after weeks.
func (t *Town) times(r *rand.Rand, at time.Time, n int) []time.Time {
	list := make([]time.Time, n)
	left := t.end.Sub(at) - time.Second // those that meet at one moment are moved on
	for i := range list {
		after := time.Duration(math.Exp(1.8*r.NormFloat64()) * float64(30*time.Minute))
		if r.IntN(100) == 0 {
			after = 20*24*time.Hour + time.Duration(r.Int64N(int64(40*24*time.Hour)))
		}
		if after >= left {
			after = time.Duration(r.Int64N(int64(left)))
		}
		list[i] = at.Add(after).Truncate(time.Microsecond)
	}
	slices.SortFunc(list, time.Time.Compare)
	last := at
	for i, moment := range list {
		if !moment.After(last) {
			list[i] = last.Add(time.Microsecond)
		}
		last = list[i]
	}
	r.Shuffle(n, func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

// reader returns somebody who may read the post: mostly one of those near it.
func (t *Town) reader(r *rand.Rand, s setting) int32 {
	if len(s.near) > 0 && (s.private || r.Float64() < 0.8) {
		return s.near[r.IntN(len(s.near))]
	}
	if s.private {
		return s.author
	}
	return t.anybody.one(r)
}

// commenters returns n people, some of them several times, as people talk with each other.
func (t *Town) commenters(r *rand.Rand, s setting, n int) []int32 {
	list := make([]int32, 0, n)
	for len(list) < n {
		switch chance := r.Float64(); {
		case chance < 0.35 && len(list) > 0:
			list = append(list, list[r.IntN(len(list))])
		case chance < 0.5:
			list = append(list, s.author)
		default:
			list = append(list, t.reader(r, s))
		}
	}
	return list
}

// likers returns n different people who may read the post, without its author.
func (t *Town) likers(r *rand.Rand, s setting, n int) []int32 {
	list := make([]int32, 0, n)
	has := make(map[int32]struct{}, n+1)
	has[s.author] = struct{}{}
	add := func(who int32) {
		if _, ok := has[who]; !ok && len(list) < n {
			has[who] = struct{}{}
			list = append(list, who)
		}
	}
	for range 8 * n {
		add(t.reader(r, s))
	}
	// Hardly anybody is left who does not like it yet.
	for _, who := range s.near {
		add(who)
	}
	for who := 0; !s.private && len(list) < n; who++ {
		add(int32(who))
	}
	return list
}
