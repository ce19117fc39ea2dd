package timelines

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/kinds"
)

func TestBumpRule(t *testing.T) {
	w := newTown(t)
	bob, ann := w.user("bob"), w.user("ann")
	comments, discussions := w.timeline(kinds.Comments, bob.ID), w.timeline(kinds.Discussions, bob.ID)
	const hour = time.Hour
	for _, tc := range []struct {
		name     string
		age      time.Duration
		comments []time.Duration // ages of those there before
		deleted  int             // how many of them are deleted
		bumps    bool
	}{
		{"young", 23 * hour, nil, 0, true},
		{"old", 25 * hour, nil, 0, false},
		{"old, second within the day", 48 * hour, []time.Duration{hour}, 0, false},
		{"old, third within the day", 48 * hour, []time.Duration{hour, 23 * hour}, 0, true},
		{"old, third, one of them older", 48 * hour, []time.Duration{hour, 25 * hour}, 0, false},
		{"old, third, one of them deleted", 48 * hour, []time.Duration{hour, hour}, 1, false},
		{"old, many", 9000 * hour, []time.Duration{hour, hour, hour, hour, 100 * hour}, 0, true},
	} {
		p := w.post(bob, "hello")
		w.age(p.PostID, tc.age)
		for i, age := range tc.comments {
			w.exec(`INSERT INTO comments (post_id, author_id, created_at, deleted_at, body)
				VALUES ($1, $2, now() - $3::interval, CASE WHEN $4 THEN now() END, 'x')`, p.PostID, ann.ID, age, i < tc.deleted)
		}
		fresh := w.freshAt(p.PostID)
		c := w.comment(bob, p.Code)
		if bumped := w.freshAt(p.PostID) > fresh; bumped != tc.bumps {
			t.Errorf("%s: a comment on a post of %v with comments of %v: got bumped %v, want %v",
				tc.name, tc.age, tc.comments, bumped, tc.bumps)
		}
		want := ids(comments) // entered, whether bumped or not
		if tc.bumps {
			want = ids(append(p.Touched, comments, discussions)...)
		}
		if len(tc.comments) > tc.deleted {
			want = union(want, ids(w.timeline(kinds.Notifications, ann.ID))) // who commented before
		}
		w.same(tc.name+": touched", c.Touched, want)
	}
}

// A bump waits for the post's lock and reads the clock after it, so it is later
// than whatever it waited for, even if that was in the future.
func TestBumpIsLaterThanWhatItWaitedFor(t *testing.T) {
	w := newTown(t)
	bob := w.user("bob")
	p := w.post(bob, "hello")
	future := w.freshAt(p.PostID) + time.Hour.Microseconds()
	other := w.hold()
	_, err := other.Exec(t.Context(), `UPDATE posts SET version = version + 1 WHERE id = $1`, p.PostID)
	w.must(err)
	commented := during(func() error {
		_, err := w.Comments.Create(t.Context(), NewComment{Author: bob.ID, Code: p.Code, Body: "so"})
		return err
	})
	w.waitBlocked(1)
	_, err = other.Exec(t.Context(), `UPDATE posts SET fresh_at = $2 WHERE id = $1`, p.PostID, future)
	w.must(err)
	w.must(other.Commit(t.Context()))
	w.must(commented())
	w.same("fresh_at", w.freshAt(p.PostID), future+1)
	w.same("version", w.version(p.PostID), int64(3))
}

// The rule counts comments that were committed while it waited.
func TestBumpCountsWhatItWaitedFor(t *testing.T) {
	w := newTown(t)
	bob := w.user("bob")
	p := w.post(bob, "hello")
	w.age(p.PostID, 48*time.Hour)
	fresh := w.freshAt(p.PostID)
	other := w.hold()
	_, err := other.Exec(t.Context(), `UPDATE posts SET version = version + 1 WHERE id = $1`, p.PostID)
	w.must(err)
	commented := during(func() error {
		_, err := w.Comments.Create(t.Context(), NewComment{Author: bob.ID, Code: p.Code, Body: "so"})
		return err
	})
	w.waitBlocked(1)
	_, err = other.Exec(t.Context(), `INSERT INTO comments (post_id, author_id, created_at, body)
		SELECT $1, $2, now(), 'x' FROM generate_series(1, 2)`, p.PostID, bob.ID)
	w.must(err)
	w.must(other.Commit(t.Context()))
	w.must(commented())
	if got := w.freshAt(p.PostID); got <= fresh {
		t.Errorf("fresh_at after the third comment: got %d, want it later than %d", got, fresh)
	}
}

// If comments race, each bumps higher than all versions before it.
func TestBumpsFollowVersions(t *testing.T) {
	w := newTown(t)
	bob, ann := w.user("bob"), w.user("ann")
	p := w.post(bob, "hello")
	var mu sync.Mutex
	fresh := map[int64]int64{} // by version
	w.heard.inside(func(ctx context.Context, tx pgx.Tx, _ []Event) error {
		var version, at int64
		err := tx.QueryRow(ctx, `SELECT version, fresh_at FROM posts WHERE id = $1`, p.PostID).Scan(&version, &at)
		mu.Lock()
		defer mu.Unlock()
		fresh[version] = at
		return err
	})
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			author := []Account{bob, ann}[i%2]
			for range 5 {
				if _, err := w.Comments.Create(t.Context(), NewComment{Author: author.ID, Code: p.Code, Body: "so"}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	w.same("version", w.version(p.PostID), int64(41))
	for v := int64(3); v <= 41; v++ {
		if fresh[v] <= fresh[v-1] {
			t.Errorf("fresh_at of version %d: got %d, want it later than %d of the one before", v, fresh[v], fresh[v-1])
		}
	}
	w.sound()
}

// crowd puts the post into the likes timelines of n people, as likes long ago
// would have. Some of these people took their likes back.
func (w *town) crowd(post int64, n int) {
	w.Helper()
	made := w.people("fan", n)
	w.exec(`INSERT INTO timeline_entries (timeline_id, post_id, entered_at, fresh_at, created_at, withdrawn)
		SELECT t.id, p.id, p.fresh_at, p.fresh_at, (extract(epoch FROM p.created_at) * 1000000)::bigint, t.id % 7 = 0
		FROM timelines t, posts p WHERE p.id = $1 AND t.kind = 'likes' AND t.their_id = ANY($2)`, post, made)
	w.exec(`INSERT INTO likes (post_id, account_id, created_at)
		SELECT p.id, t.their_id, p.created_at FROM timelines t, posts p
		WHERE p.id = $1 AND t.kind = 'likes' AND t.their_id = ANY($2) AND t.id % 7 <> 0`, post, made)
	w.exec(`INSERT INTO timeline_entries (timeline_id, post_id, entered_at, fresh_at, created_at)
		SELECT d.id, e.post_id, e.entered_at, e.fresh_at, e.created_at
		FROM timeline_entries e JOIN timelines t ON t.id = e.timeline_id AND t.kind = 'likes'
		JOIN timelines d ON d.kind = 'discussions' AND d.their_id = t.their_id
		WHERE e.post_id = $1 AND NOT e.withdrawn AND t.their_id = ANY($2)
		ON CONFLICT DO NOTHING`, post, made)
}

// followBumps does the jobs of bumps that were announced since events were taken last.
func (w *town) followBumps() {
	w.Helper()
	for next := w.heard.take(); len(next) > 0; next = w.heard.take() {
		for _, e := range next {
			if e, ok := e.(PendingBump); ok {
				w.must(w.Maintenance.BumpBlock(w.Context(), e))
			}
		}
	}
}

// notWithdrawn are all timelines that hold the post.
func (w *town) notWithdrawn(post int64) []int64 {
	w.Helper()
	return value[[]int64](w, `
		SELECT array_agg(timeline_id ORDER BY timeline_id) FROM timeline_entries WHERE post_id = $1 AND NOT withdrawn`, post)
}

func TestBumpOfFew(t *testing.T) {
	w := newTown(t)
	bob := w.user("bob")
	p := w.post(bob, "hello")
	w.crowd(p.PostID, 50) // likes, and most of their discussions
	w.heard.take()
	c := w.comment(bob, p.Code)
	w.same("touched", c.Touched, w.notWithdrawn(p.PostID))
	w.same("announced", w.heard.take(), []Event{Touched{PostID: p.PostID, Timelines: c.Touched}})
	w.sound()
}

func TestBumpOfMany(t *testing.T) {
	w := newTown(t)
	bob := w.user("bob")
	p := w.post(bob, "hello")
	w.crowd(p.PostID, 1200)
	_, err := w.Posts.Like(t.Context(), bob.ID, p.Code)
	w.must(err)
	w.heard.take()

	c := w.comment(bob, p.Code)
	now := ids(append(p.Touched, w.timeline(kinds.Comments, bob.ID), w.timeline(kinds.Likes, bob.ID),
		w.timeline(kinds.Best, 0))...)
	w.same("touched at once", c.Touched, now)
	w.same("announced", w.heard.take(), []Event{PendingBump{PostID: p.PostID}, Touched{PostID: p.PostID, Timelines: now}})
	fresh := w.freshAt(p.PostID)
	for _, id := range now {
		if got := w.row(id, p.PostID).FreshAt; got != fresh {
			t.Errorf("fresh_at in timeline %d, which never waits: got %d, want %d", id, got, fresh)
		}
	}

	// Another bump in the middle of the blocks: those left bring the latest.
	version := w.version(p.PostID)
	touched := slices.Clone(now)
	next := []Event{PendingBump{PostID: p.PostID}}
	blocks := 0
	for len(next) > 0 {
		u, ok := next[0].(PendingBump)
		next = next[1:]
		if !ok {
			continue
		}
		w.must(w.Maintenance.BumpBlock(t.Context(), u))
		heard := w.heard.take()
		if got := touchedBy(heard); len(got) > bumpBlock {
			t.Errorf("timelines in one block: got %d, want at most %d", len(got), bumpBlock)
		}
		touched = union(touched, touchedBy(heard))
		next = append(next, heard...)
		if blocks++; blocks == 2 {
			w.same("version after blocks", w.version(p.PostID), version)
			w.comment(bob, p.Code)
			next = append(next, w.heard.take()...)
		}
	}
	w.same("touched in the end", touched, w.notWithdrawn(p.PostID))
	w.sound()

	// Again: nothing is left.
	w.must(w.Maintenance.BumpBlock(t.Context(), PendingBump{PostID: p.PostID}))
	w.same("announced", w.heard.take(), []Event(nil))
	_, err = w.Posts.Delete(t.Context(), bob.ID, p.Code)
	w.must(err)
	w.heard.take()
	w.must(w.Maintenance.BumpBlock(t.Context(), PendingBump{PostID: p.PostID}))
	w.must(w.Maintenance.BumpBlock(t.Context(), PendingBump{PostID: 999}))
	w.same("announced for what is gone", w.heard.take(), []Event(nil))
}

// Somebody whose row is behind a bump takes the like back and gives it again:
// the row comes back where the post stands now, not where it stood.
func TestLikeAgainWhileBehind(t *testing.T) {
	w := newTown(t)
	bob, ann := w.user("bob"), w.user("ann")
	p := w.post(bob, "hello")
	w.crowd(p.PostID, 300)
	_, err := w.Posts.Like(t.Context(), ann.ID, p.Code)
	w.must(err)
	likes := w.timeline(kinds.Likes, ann.ID)
	entered := w.row(likes, p.PostID).EnteredAt
	w.comment(bob, p.Code)
	w.same("row behind", w.row(likes, p.PostID).FreshAt, entered)
	_, err = w.Posts.Unlike(t.Context(), ann.ID, p.Code)
	w.must(err)
	_, err = w.Posts.Like(t.Context(), ann.ID, p.Code)
	w.must(err)
	w.same("row", w.row(likes, p.PostID), row{entered, w.freshAt(p.PostID), false})
}

// Comments that come before the job of a bump has begun are moved with it, and ask for no other. One that
// comes later asks again.
func TestManyCommentsAreOneJob(t *testing.T) {
	w := newTown(t)
	bob, ann := w.user("bob"), w.user("ann")
	c := w.post(bob, "hello")
	w.crowd(c.PostID, bumpFew+1)
	bumps := func() (n int) {
		for _, e := range w.heard.take() {
			if _, ok := e.(PendingBump); ok {
				n++
			}
		}
		return n
	}
	bumps()
	behind := func() int {
		return value[int](w, `SELECT count(*)::int FROM timeline_entries e JOIN posts p ON p.id = e.post_id WHERE p.id = $1 AND e.fresh_at < p.fresh_at`, c.PostID)
	}
	for i, want := range []int{1, 0, 0} {
		w.say(ann, c.Code, fmt.Sprint("comment ", i))
		w.same(fmt.Sprint("jobs of comment ", i), bumps(), want)
	}
	if behind() == 0 {
		t.Error("the rows of a crowd moved in the comment's transaction")
	}
	w.must(w.Maintenance.BumpBlock(t.Context(), PendingBump{PostID: c.PostID}))
	w.same("rows left behind", behind(), 0)
	bumps()
	w.say(ann, c.Code, "once more")
	w.same("jobs of a later comment", bumps(), 1)
}
