package town

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"slices"
	"testing"
	"time"
	"unicode/utf8"

	"riverrun/timelines"
)

var evening = time.Date(2026, 6, 1, 19, 30, 0, 0, time.UTC)

// print returns a hash of all that a town is.
func print(t *testing.T, of *Town) string {
	t.Helper()
	sum := sha256.New()
	encoder := json.NewEncoder(sum)
	for _, part := range []any{of.people, of.groups, slices.Collect(of.pairs), of.Posts(0, of.Size().Posts)} {
		if err := encoder.Encode(part); err != nil {
			t.Fatal(err)
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

func TestSameSeedSameTown(t *testing.T) {
	t.Parallel()
	first := print(t, New(1, 0.02, evening))
	if again := print(t, New(1, 0.02, evening)); again != first {
		t.Error("the same seed makes another town")
	}
	if print(t, New(2, 0.02, evening)) == first {
		t.Error("another seed makes the same town")
	}
	if print(t, New(1, 0.02, evening.Add(time.Hour))) == first {
		t.Error("another end makes the same town")
	}
	// A post does not depend on those that were made before it.
	of := New(1, 0.02, evening)
	late, err := json.Marshal(of.Posts(1234, 1235)[0])
	if err != nil {
		t.Fatal(err)
	}
	all, err := json.Marshal(New(1, 0.02, evening).Posts(0, 2000)[1234])
	if err != nil {
		t.Fatal(err)
	}
	if string(late) != string(all) {
		t.Errorf("a post alone: got %s, want %s", late, all)
	}
}

// A town with another number of posts has the same people, and never more comments and likes than before.
func TestWithPosts(t *testing.T) {
	t.Parallel()
	full := SizeOf(1)
	for _, tc := range []struct {
		posts int
		want  Size
	}{
		{20_000, Size{Accounts: 2_000, Groups: 100, Posts: 20_000, Comments: 100_000, Likes: 200_000}},
		{200_000, full},
		{2_000_000, Size{Accounts: 2_000, Groups: 100, Posts: 2_000_000, Comments: 1_000_000, Likes: 2_000_000}},
	} {
		if got := full.WithPosts(tc.posts); got != tc.want {
			t.Errorf("%d posts: got %+v, want %+v", tc.posts, got, tc.want)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	of := NewSized(1, Size{Accounts: 20_000, Groups: 1_000}, evening) // those of scale 10
	seen := map[string]bool{}
	for _, a := range slices.Concat(of.people, of.groups) {
		if seen[a.Name] || !timelines.IsName(a.Name) || slices.Contains(timelines.ReservedNames, a.Name) {
			t.Errorf("name %q: twice, reserved, or none", a.Name)
		}
		seen[a.Name] = true
	}
	private := 0
	for i, p := range of.People() {
		if p.Name != of.people[i].Name {
			t.Fatalf("person %d: got %s, want %s", i, p.Name, of.people[i].Name)
		}
		if p.Private {
			private++
		}
	}
	near(t, "private people", private, 2_000, 0)
	if g := of.Groups(); len(g) != 1_000 || !g[7].Private || g[8].Private {
		t.Errorf("groups: got %d, the eighth private %t, the ninth %t", len(g), g[7].Private, g[8].Private)
	}
}

// near checks that a number is what it should be, or off by no more than a share of that.
func near(t *testing.T, what string, got, want int, share float64) {
	t.Helper()
	if math.Abs(float64(got-want)) > share*float64(want) {
		t.Errorf("%s: got %d, want %d give or take %v", what, got, want, share)
	}
}

// The shape of the town, as what is measured in it is compared with figures of another server.
func TestShape(t *testing.T) {
	t.Parallel()
	for _, scale := range []float64{0.02, 0.1} {
		of := New(7, scale, evening)
		n := len(of.People())
		near(t, "people", n, int(2_000*scale), 0)
		near(t, "groups", len(of.Groups()), int(100*scale), 0)
		reads := map[pair]bool{}
		follows, joins := map[string]int{}, map[string]int{}
		group := map[string]bool{}
		for _, g := range of.Groups() {
			group[g.Name] = true
		}
		for p := range of.pairs {
			if reads[p] || p.who == p.whom {
				t.Errorf("%v: twice, or oneself", p)
			}
			reads[p] = true
			if group[p.whom] {
				joins[p.who]++
			} else {
				follows[p.who]++
			}
		}
		for _, p := range of.People() {
			reads[pair{p.Name, p.Name}] = true
			near(t, "whom somebody follows", follows[p.Name], min(100, n-1), 0)
			near(t, "groups of somebody", joins[p.Name], min(10, len(of.Groups())), 0)
		}
		checkPosts(t, of, scale, reads, group)
	}
}

func checkPosts(t *testing.T, of *Town, scale float64, reads map[pair]bool, group map[string]bool) {
	t.Helper()
	posts := of.Posts(0, of.Size().Posts)
	near(t, "posts", len(posts), int(200_000*scale), 0)
	private, inGroups, comments, likes, empty := 0, 0, 0, 0, 0
	last := evening.Add(-Days * 24 * time.Hour)
	for _, p := range posts {
		place := p.To[0]
		if place.Private {
			private++
		}
		if group[place.Name] {
			inGroups++
			if !reads[pair{p.Author.Name, place.Name}] {
				t.Errorf("%s writes in %s, and is no member", p.Author.Name, place.Name)
			}
		} else if place.Name != p.Author.Name {
			t.Errorf("post of %s in the feed of %s", p.Author.Name, place.Name)
		}
		if n := utf8.RuneCountInString(p.Body); n < 20 || n > 600 {
			t.Errorf("a post of %d characters: %s", n, p.Body)
		}
		if p.CreatedAt.Before(last) || p.CreatedAt.After(evening) {
			t.Errorf("a post at %v, after one at %v", p.CreatedAt, last)
		}
		last = p.CreatedAt
		if len(p.Comments) > MostComments || len(p.Likes) > MostLikes {
			t.Errorf("a post of %d comments and %d likes", len(p.Comments), len(p.Likes))
		}
		if len(p.Comments)+len(p.Likes) == 0 {
			empty++
		}
		comments, likes = comments+len(p.Comments), likes+len(p.Likes)
		checkTalk(t, p, reads)
	}
	if age := evening.Sub(last); age > 24*time.Hour/2 {
		t.Errorf("the newest post is %v old", age)
	}
	near(t, "private posts", private, len(posts)/10, 0.03)
	near(t, "posts in groups", inGroups, len(posts)*15/100, 0.25) // at the smaller scale no group is private
	near(t, "comments", comments, int(1_000_000*scale), 0.03)
	near(t, "likes", likes, int(2_000_000*scale), 0.03)
	if empty == 0 {
		t.Error("every post has comments or likes")
	}
}

// checkTalk checks who comments on a post and likes it, and when.
func checkTalk(t *testing.T, p timelines.Imported, reads map[pair]bool) {
	t.Helper()
	place := p.To[0]
	may := func(a timelines.ImportedAccount) bool {
		return !place.Private || a.Name == p.Author.Name || reads[pair{a.Name, place.Name}]
	}
	times := map[time.Time]bool{p.CreatedAt: true}
	when := func(at time.Time) {
		if times[at] || at.Before(p.CreatedAt) || at.After(evening) {
			t.Errorf("post %s of %v: talk at %v, before it, twice, or after the end", p.ExternalID, p.CreatedAt, at)
		}
		times[at] = true
	}
	for _, c := range p.Comments {
		if !may(c.Author) {
			t.Errorf("%s comments on what they may not read", c.Author.Name)
		}
		if n := utf8.RuneCountInString(c.Body); n == 0 || n > 200 {
			t.Errorf("a comment of %d characters: %s", n, c.Body)
		}
		when(c.CreatedAt)
	}
	liked := map[string]bool{p.Author.Name: true}
	for _, l := range p.Likes {
		if !may(l.Account) {
			t.Errorf("%s likes what they may not read", l.Account.Name)
		}
		if liked[l.Account.Name] {
			t.Errorf("%s likes a post twice, or their own", l.Account.Name)
		}
		liked[l.Account.Name] = true
		when(l.CreatedAt)
	}
}
