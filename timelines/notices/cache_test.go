package notices_test

import (
	"fmt"
	"strings"
	"testing"

	"riverrun/migrations/testdb"
	"riverrun/timelines"
	"riverrun/timelines/notices"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// A node's memory is bounded in bytes, however many unread events people have and however long
// the posts are. It forgets the person first whom nobody asked about for the longest time, and reads
// that person's again.
func TestCacheIsBoundedInBytes(t *testing.T) {
	t.Parallel()
	store := timelines.Open(testdb.New(t).Primary, nil, timelines.DefaultOptions())
	person := func(name string) int64 {
		a, err := store.Accounts.SignUp(t.Context(), timelines.SignUp{Name: name, Title: name, Password: "a long enough one"})
		if err != nil {
			t.Fatal(err)
		}
		return a.ID
	}
	fan := person("fan")
	const people, posts, runes = 6, 3, 1600
	var owners []int64
	of := map[int64][]int64{}
	for i := range people {
		owner := person(fmt.Sprint("owner-", i))
		owners = append(owners, owner)
		for range posts {
			c, err := store.Posts.Create(t.Context(), timelines.NewPost{Author: owner, Body: strings.Repeat("long words ", 200)})
			if err != nil {
				t.Fatal(err)
			}
			of[owner] = append(of[owner], c.PostID)
			if _, err := store.Posts.Like(t.Context(), fan, c.Code); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if _, err := store.Comments.Create(t.Context(), timelines.NewComment{Author: fan, Code: c.Code, Body: "so it is"}); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	c := notices.NewCache(store.Pool())
	const most = 20_000 // three people's
	c.SetMost(most)
	label := notices.Label{Epoch: 1, N: 1}
	for n := range 2 * people {
		owner := owners[n%people]
		ask := notices.Ask{Account: owner, Label: label, Posts: of[owner], BodyRunes: runes}
		found, err := c.Unread(t.Context(), []notices.Ask{ask})
		if err != nil {
			t.Fatal(err)
		}
		if len(found[owner]) != posts {
			t.Fatalf("%d posts are unread, want %d", len(found[owner]), posts)
		}
		for i, p := range found[owner] {
			if want := of[owner][posts-1-i]; p.ID != want || p.Author != owner || len(p.Events) != 3 || len(p.Body) != runes || !p.BodyCut || len(p.Decisive) != 1 {
				t.Errorf("unread %d is %+.200v, want post %d", i, p, want)
			}
			for j := 1; j < len(p.Events); j++ {
				if p.Events[j].At > p.Events[j-1].At {
					t.Errorf("the events of post %d are not the latest first: %v", p.ID, p.Events)
				}
			}
		}
		events, _, err := c.Events(t.Context(), []notices.Ask{ask})
		if err != nil {
			t.Fatal(err)
		}
		if got := len(events[notices.Of{Account: owner, Post: of[owner][0]}]); got != 3 {
			t.Errorf("%d events, want 3", got)
		}
		if n%4 == 0 {
			c.MarkRead(owner, of[owner][:1])
			c.Written(c.Pending())
		}
		if kept, bytes := c.Kept(); kept < min(n+1, 2) || bytes < 0 || bytes > most {
			t.Errorf("after %d people the cache has %d bytes of %d people, want at most %d bytes of 2 or more", n+1, bytes, kept, most)
		}
	}
	// Nobody's part is too large to be remembered alone; and a newer clock takes the place of an older.
	c.SetMost(1)
	for n := range int64(3) {
		if _, err := c.Unread(t.Context(), []notices.Ask{{Account: owners[0], Label: notices.Label{Epoch: 1, N: 2 + n}, BodyRunes: runes}}); err != nil {
			t.Fatal(err)
		}
		if kept, bytes := c.Kept(); kept != 1 || bytes < 1000 {
			t.Errorf("%d people, %d bytes, want the one that was asked about", kept, bytes)
		}
	}
}
