package timelines

import (
	"context"
	"fmt"
	"math"
	"sync"
	"testing"

	"riverrun/timelines/snapshot"
)

// keptUp does all upkeep there is.
func (w *town) keptUp() {
	w.Helper()
	for more := true; more; {
		var err error
		more, err = w.Maintenance.UpkeepBlock(w.Context())
		w.must(err)
	}
}

// crowdIn is crowd in the filter timelines that the gates' index knows, one of them
// being a fan's likes, which it returns.
func (w *town) crowdIn(post int64, n int) (likes int64) {
	w.Helper()
	w.crowd(post, n)
	return value[int64](w, `
		SELECT max(e.timeline_id) FROM timeline_entries e JOIN timelines t ON t.id = e.timeline_id AND t.kind = 'likes'
		WHERE e.post_id = $1 AND NOT e.withdrawn`, post)
}

// few are the posts of one timeline that somebody finds by gates.
func (w *town) few(viewer int64, timeline int64) (posts []int64) {
	w.Helper()
	w.must(w.InSnapshot(w.Context(), func(sn *snapshot.Snapshot) error {
		found, ok, err := sn.Few(w.Context(), snapshot.Scan{Viewer: viewer, Timelines: []int64{timeline}}, math.MaxInt64, math.MaxInt64)
		if !ok {
			w.Error("too many posts to be found by gates")
		}
		for _, p := range found {
			posts = append(posts, p.PostID)
		}
		return err
	}))
	return posts
}

// A post in very many timelines that moves is found by gates all the same, before
// its gates are known, between two blocks and after, wherever it moves meanwhile.
func TestAMovedCrowdIsFoundByGates(t *testing.T) {
	w := newTown(t)
	bob, ann, cat := w.user("bob"), w.user("ann"), w.user("cat")
	p := w.post(bob, "hello", "bob/private") // no old gate of it is open to others
	likes := w.crowdIn(p.PostID, 1200)
	for admin, name := range map[Account]string{cat: "club", ann: "pub"} {
		w.group(admin, name, Private)
		w.subscribe(bob, name)
		_, err := w.Subscriptions.Accept(t.Context(), admin.ID, "bob", name)
		w.must(err)
	}
	found := []int64{p.PostID}
	move := func(to string, announced int, readers ...int64) {
		t.Helper()
		w.heard.take()
		_, err := w.Posts.SetDestinations(t.Context(), bob.ID, p.Code, []string{to})
		w.must(err)
		var upkeeps int
		for _, e := range w.heard.take() {
			if _, ok := e.(Upkeep); ok {
				upkeeps++
			}
		}
		w.same("announced to "+to, upkeeps, announced)
	}
	sees := func(when string, viewer int64, want []int64) {
		t.Helper()
		w.same(fmt.Sprintf("%s: the few for %d", when, viewer), w.few(viewer, likes), want)
	}
	move("club", 1)
	sees("moved", bob.ID, found)
	sees("moved", cat.ID, found)
	sees("moved", ann.ID, nil)
	sees("moved", 0, nil)
	more, err := w.Maintenance.UpkeepBlock(t.Context())
	if err != nil || !more {
		t.Fatalf("a block of many: got %v, %v; want more", more, err)
	}
	w.same("the next is announced", w.heard.take(), []Event{Upkeep{}})
	sees("between blocks", cat.ID, found)
	move("pub", 1) // what the first block brought is of where it stood
	sees("moved on", ann.ID, found)
	sees("moved on", cat.ID, nil)
	w.keptUp()
	w.same("behind", value[int](w, `SELECT count(*)::int FROM ungated_posts`), 0)
	sees("kept up", ann.ID, found)
	sees("kept up", bob.ID, found)
	sees("kept up", cat.ID, nil)
	w.sound()
	w.heard.take()
	more, err = w.Maintenance.UpkeepBlock(t.Context())
	if err != nil || more {
		t.Errorf("a block of nothing: got %v, %v; want no more", more, err)
	}
	w.same("announced of nothing", w.heard.take(), []Event(nil))

	// Somebody else begins to like it between two blocks; and it is deleted.
	move("bob", 1)
	_, err = w.Maintenance.UpkeepBlock(t.Context())
	w.must(err)
	_, err = w.Posts.Like(t.Context(), ann.ID, p.Code)
	w.must(err)
	w.keptUp()
	w.sound()
	move("bob/private", 1)
	_, err = w.Posts.Delete(t.Context(), bob.ID, p.Code)
	w.must(err)
	sees("deleted", bob.ID, nil)
	w.keptUp()
	w.sound()
}

// Blocks run side by side, while the post moves on and on.
func TestUpkeepAtOnce(t *testing.T) {
	w := newTown(t)
	bob := w.user("bob")
	p := w.post(bob, "hello")
	likes := w.crowdIn(p.PostID, 1500)
	w.group(bob, "club", Private)
	moved := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		defer close(moved)
		for i := range 12 {
			_, err := w.Posts.SetDestinations(context.WithoutCancel(t.Context()), bob.ID, p.Code, []string{[]string{"club", "bob", "bob/private"}[i%3]})
			if err != nil {
				t.Error(err)
			}
		}
	})
	for range 3 {
		all.Go(func() {
			for again := true; again; {
				select {
				case <-moved:
					again = false
				default:
				}
				if _, err := w.Maintenance.UpkeepBlock(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	w.keptUp()
	w.same("the few", w.few(bob.ID, likes), []int64{p.PostID})
	w.sound()
}

// What it costs the author to delete a post that 10,000 like and comment on.
func BenchmarkDeleteOfACrowd(b *testing.B) {
	w := newTown(b)
	bob := w.user("bob")
	ids := w.people("talker", large(10_000))
	for b.Loop() {
		b.StopTimer()
		p := w.post(bob, "hello")
		w.exec(`INSERT INTO likes (post_id, account_id, created_at) SELECT $1, a, now() FROM unnest($2::bigint[]) a`, p.PostID, ids)
		w.exec(`INSERT INTO comments (post_id, author_id, created_at, body) SELECT $1, a, now(), 'so it is' FROM unnest($2::bigint[]) a`, p.PostID, ids)
		w.exec(`INSERT INTO timeline_entries (timeline_id, post_id, entered_at, fresh_at, created_at)
			SELECT t.id, p.id, p.fresh_at, p.fresh_at, p.fresh_at FROM posts p, timelines t
			WHERE p.id = $1 AND t.kind IN ('likes', 'comments', 'discussions') AND t.their_id = ANY($2)`, p.PostID, ids)
		w.exec(`VACUUM ANALYZE posts, comments, likes, timeline_entries`)
		b.StartTimer()
		w.must(second(w.Posts.Delete(b.Context(), bob.ID, p.Code)))
	}
}

// What it costs the author to move a post that 10,000 like, under its lock, to where
// it never was; and one block of what follows.
func BenchmarkMoveOfACrowd(b *testing.B) {
	w := newTown(b)
	bob := w.user("bob")
	p := w.post(bob, "hello")
	w.crowd(p.PostID, large(10_000))
	w.exec(`VACUUM ANALYZE`)
	w.pool.Reset()
	groups := 0
	for _, bm := range []struct {
		name  string
		block bool
	}{{"move", false}, {"block", true}} {
		b.Run(bm.name, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				name := fmt.Sprint("club-", groups)
				w.group(bob, name, Public)
				groups++
				w.keptUp()
				if !bm.block {
					b.StartTimer()
				}
				_, err := w.Posts.SetDestinations(b.Context(), bob.ID, p.Code, []string{name})
				w.must(err)
				if bm.block {
					b.StartTimer()
					_, err = w.Maintenance.UpkeepBlock(b.Context())
					w.must(err)
				}
			}
		})
	}
}
