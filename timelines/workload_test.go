package timelines

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Several people do everything at once; afterwards all that is stored agrees
// with itself, and every version of every post was announced once.
func TestEverythingAtOnce(t *testing.T) {
	w := newTown(t)
	w.opts.BestOf, w.opts.MostFaved = 2, 2
	people := []Account{w.user("ann"), w.user("bob"), w.user("cid"), w.user("dee")}
	w.group(people[0], "club", Public)
	w.group(people[1], "closed", Private)
	places := []string{"ann", "bob", "cid", "dee", "club", "closed", "ann/private", "bob/private", "ann/photos", ToEyes}
	var mu sync.Mutex // guards made
	for _, p := range people {
		w.list(p, "Some")
		w.list(p, "Others")
	}
	made := []Change{w.post(people[0], "the first")}

	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	var all sync.WaitGroup
	for i := range uint64(6) {
		all.Go(func() {
			random := rand.New(rand.NewPCG(seed, i))
			pick := func() Change {
				mu.Lock()
				defer mu.Unlock()
				return made[max(0, len(made)-1-random.IntN(8))] // mostly recent ones, so that people meet
			}
			for range 60 {
				actor := people[random.IntN(len(people))].ID
				c, err := anything(w, random, actor, pick(), places)
				var bad *InvalidError
				if err != nil && !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrForbidden) && !errors.As(err, &bad) {
					t.Errorf("actor %d: %v", actor, err)
				}
				if err == nil && c.PostID != 0 {
					mu.Lock()
					made = append(made, c)
					mu.Unlock()
				}
			}
		})
	}
	all.Wait()
	w.sound()

	announced := map[int64]int64{}
	for _, e := range announcedPosts(w.heard.take()) {
		announced[e.PostID]++
	}
	rows, err := w.pool.Query(t.Context(), `SELECT id, version FROM posts`)
	w.must(err)
	versions := map[int64]int64{}
	var id, version int64
	_, err = pgx.ForEachRow(rows, []any{&id, &version}, func() error {
		versions[id] = version
		return nil
	})
	w.must(err)
	w.same("announcements by post, against versions", announced, versions)
}

// tagged is the end of a text: none, one or two of a few tags and names.
func tagged(random *rand.Rand) string {
	end := ""
	for range random.IntN(3) {
		end += []string{" #river", " #Weir", " #весна", " @bob", " @nobody-here"}[random.IntN(5)]
	}
	return end
}

// anything does one thing at random, mostly to a post made before.
func anything(w *town, random *rand.Rand, actor int64, on Change, places []string) (Change, error) {
	ctx := w.Context()
	place := places[random.IntN(len(places))]
	switch random.IntN(29) {
	case 0:
		var to []string
		for range random.IntN(3) {
			to = append(to, places[random.IntN(len(places))])
		}
		return w.Posts.Create(ctx, NewPost{Author: actor, Body: "hello" + tagged(random), To: to, Key: fmt.Sprint("p", random.IntN(30))})
	case 1, 2, 3:
		return w.Comments.Create(ctx, NewComment{Author: actor, Code: on.Code, Body: "so" + tagged(random), Key: fmt.Sprint("c", random.IntN(100))})
	case 4, 5:
		return w.Posts.Like(ctx, actor, on.Code)
	case 6:
		return w.Posts.Unlike(ctx, actor, on.Code)
	case 7:
		return w.Comments.Delete(ctx, actor, on.Code, on.CommentID)
	case 8:
		return w.Comments.Edit(ctx, actor, on.Code, on.CommentID, fmt.Sprint("or ", random.IntN(3), tagged(random)))
	case 9:
		return w.Posts.Revise(ctx, actor, on.Code, Revision{Body: new(fmt.Sprint("hello ", random.IntN(3), tagged(random))), Language: new([]string{"", "en", "ru"}[random.IntN(3)])})
	case 10:
		if random.IntN(4) > 0 {
			return Change{}, nil
		}
		return w.Posts.Delete(ctx, actor, on.Code)
	case 11:
		c, _, err := w.Subscriptions.Subscribe(ctx, actor, place)
		return c, err
	case 12:
		if random.IntN(2) == 0 {
			return w.Subscriptions.Unsubscribe(ctx, actor, place)
		}
		return w.Subscriptions.Accept(ctx, actor, place, []string{"", "closed"}[random.IntN(2)])
	case 13:
		return w.Posts.Fave(ctx, actor, on.Code)
	case 14:
		return w.Posts.Unfave(ctx, actor, on.Code)
	case 15:
		return w.Comments.Like(ctx, actor, on.Code, on.CommentID)
	case 16:
		return w.Comments.Unlike(ctx, actor, on.Code, on.CommentID)
	case 17:
		club := []string{"club", "closed"}[random.IntN(2)]
		return w.Groups.SetWriters(ctx, actor, club, WritersOf(Group)[random.IntN(3)])
	case 18:
		return moderation(w, random, actor, place)
	case 23, 24:
		to := []string{place}
		if random.IntN(2) == 0 {
			to = append(to, places[random.IntN(len(places))])
		}
		return w.Posts.Revise(ctx, actor, on.Code, Revision{To: to})
	case 19:
		return w.Posts.RemoveFromGroup(ctx, actor, on.Code, []string{"club", "closed"}[random.IntN(2)])
	case 20:
		if random.IntN(2) == 0 {
			return w.Feeds.Create(ctx, actor, "photos", "Photos", Level(random.IntN(3)))
		}
		return w.Feeds.Delete(ctx, actor, "photos")
	case 21:
		return w.Feeds.SetSubfeedAccess(ctx, actor, "photos", Level(random.IntN(3)))
	case 22:
		slug := []string{"", "private", "photos"}[random.IntN(3)]
		if random.IntN(2) == 0 {
			return w.Feeds.Admit(ctx, actor, slug, place)
		}
		return w.Feeds.Remove(ctx, actor, slug, place)
	case 25:
		return w.Lists.Edit(ctx, actor, "some", "Some", []string{place, places[random.IntN(len(places))]})
	case 26:
		return w.Accounts.SetFriendsOnly(ctx, actor, random.IntN(2) == 0)
	case 27:
		return w.Lists.Place(ctx, actor, place, random.IntN(2) == 0, []string{"some", "others"}[:random.IntN(3)])
	default:
		return w.Feeds.SetAccess(ctx, actor, []string{"", "club", "closed"}[random.IntN(3)], Level(random.IntN(3)))
	}
}

// moderation does one thing at random to a member of a group, or to who is none.
func moderation(w *town, random *rand.Rand, actor int64, name string) (Change, error) {
	group := []string{"club", "closed"}[random.IntN(2)]
	all := []func(ctx context.Context, actor int64, group, name string) (Change, error){
		w.Groups.Promote, w.Groups.Promote, w.Groups.Demote, w.Groups.Block, w.Groups.Unblock, w.Groups.RemoveMember,
		w.Groups.Exclude, w.Groups.Unexclude, w.Groups.Admit, w.Groups.Dismiss,
	}
	if i := random.IntN(len(all) + 1); i < len(all) {
		return all[i](w.Context(), actor, group, name)
	}
	return w.Subscriptions.Decline(w.Context(), actor, name, group)
}
