package timelines

import (
	"sync"
	"testing"
	"time"

	"riverrun/timelines/kinds"
)

func TestLike(t *testing.T) {
	w := newTown(t)
	bob, ann := w.user("bob"), w.user("ann")
	p := w.post(bob, "hello")
	likes, discussions := w.timeline(kinds.Likes, ann.ID), w.timeline(kinds.Discussions, ann.ID)
	told := w.timeline(kinds.Notifications, bob.ID)
	fresh := w.freshAt(p.PostID)
	w.heard.take()

	c, err := w.Posts.Like(t.Context(), ann.ID, p.Code)
	w.must(err)
	w.same("change", c, Change{Actor: ann.ID, PostID: p.PostID, Code: p.Code, Touched: ids(likes, discussions, told)})
	w.same("announced", w.heard.take(), []Event{Touched{PostID: p.PostID, Timelines: ids(likes, discussions, told), Unpushed: true}})
	w.same("version", w.version(p.PostID), int64(2))
	w.same("the post's fresh_at", w.freshAt(p.PostID), fresh)
	first := w.row(likes, p.PostID)
	if first.EnteredAt <= fresh || first.FreshAt != first.EnteredAt || first.Withdrawn {
		t.Errorf("row in likes: got %+v, want it fresh there, later than the post's %d", first, fresh)
	}
	w.same("the author's row", w.row(w.timeline(kinds.Discussions, bob.ID), p.PostID), row{fresh, fresh, false})

	c, err = w.Posts.Like(t.Context(), ann.ID, p.Code)
	w.must(err)
	w.same("again", c, Change{Actor: ann.ID, PostID: p.PostID, Code: p.Code})
	c, err = w.Posts.Unlike(t.Context(), bob.ID, p.Code)
	w.must(err)
	w.same("taking back what was not given", c, Change{Actor: bob.ID, PostID: p.PostID, Code: p.Code})
	w.same("announced", w.heard.take(), []Event(nil))
	w.same("version", w.version(p.PostID), int64(2))

	c, err = w.Posts.Unlike(t.Context(), ann.ID, p.Code)
	w.must(err)
	w.same("taken back", c, Change{Actor: ann.ID, PostID: p.PostID, Code: p.Code, Touched: ids(likes, discussions, told)})
	w.same("row", w.row(likes, p.PostID), row{first.EnteredAt, first.FreshAt, true})

	// Like, unlike, like never lifts.
	c, err = w.Posts.Like(t.Context(), ann.ID, p.Code)
	w.must(err)
	w.same("once more", c.Touched, ids(likes, discussions, told))
	w.same("row", w.row(likes, p.PostID), first)
	w.sound()
}

func TestLikeKeepsDiscussions(t *testing.T) {
	w := newTown(t)
	bob, ann := w.user("bob"), w.user("ann")
	p := w.post(bob, "hello")
	for name, actor := range map[string]Account{"the author": bob, "a commenter": ann} {
		w.comment(actor, p.Code)
		likes := ids(w.timeline(kinds.Likes, actor.ID))
		if actor != bob {
			likes = union(likes, ids(w.timeline(kinds.Notifications, bob.ID)))
		}
		c, err := w.Posts.Like(t.Context(), actor.ID, p.Code)
		w.must(err)
		w.same(name+" likes", c.Touched, likes)
		c, err = w.Posts.Unlike(t.Context(), actor.ID, p.Code)
		w.must(err)
		w.same(name+" takes it back", c.Touched, likes)
	}
	w.sound()
}

// A like of one post leaves the actor's other posts where they are, those before it and
// those after it.
func TestLikeLeavesOtherPostsAlone(t *testing.T) {
	w := newTown(t)
	bob, ann := w.user("bob"), w.user("ann")
	before, p, after := w.post(bob, "one"), w.post(bob, "two"), w.post(bob, "three")
	for _, other := range []Change{before, after} {
		w.comment(ann, other.Code)
		_, err := w.Posts.Like(t.Context(), ann.ID, other.Code)
		w.must(err)
	}
	rows := func() map[int64][]row {
		all := map[int64][]row{}
		for _, other := range []Change{before, after} {
			for _, kind := range []string{kinds.Likes, kinds.Comments, kinds.Discussions} {
				all[other.PostID] = append(all[other.PostID], w.row(w.timeline(kind, ann.ID), other.PostID))
			}
		}
		return all
	}
	was := rows()
	_, err := w.Posts.Like(t.Context(), ann.ID, p.Code)
	w.must(err)
	_, err = w.Posts.Unlike(t.Context(), ann.ID, p.Code)
	w.must(err)
	w.same("rows after a like taken back", rows(), was)
	c := w.comment(ann, p.Code)
	_, err = w.Comments.Delete(t.Context(), ann.ID, p.Code, c.CommentID)
	w.must(err)
	w.same("rows after a comment taken back", rows(), was)
	_, err = w.Posts.Delete(t.Context(), bob.ID, p.Code)
	w.must(err)
	w.same("rows after the post is gone", rows(), was)
	w.sound()
}

// An entrance into an old post's filter timelines lifts nothing there.
func TestLikeOfAnOldPost(t *testing.T) {
	w := newTown(t)
	bob, ann := w.user("bob"), w.user("ann")
	likes := w.timeline(kinds.Likes, ann.ID)
	for _, tc := range []struct {
		name  string
		max   time.Duration
		age   time.Duration
		lifts bool
	}{
		{"younger", 48 * time.Hour, 47 * time.Hour, true},
		{"older", 48 * time.Hour, 49 * time.Hour, false},
		{"any age", 0, 10000 * time.Hour, true},
	} {
		w.opts.LocalBumpMaxAge = tc.max
		p := w.post(bob, "hello")
		w.age(p.PostID, tc.age)
		fresh := w.freshAt(p.PostID)
		_, err := w.Posts.Like(t.Context(), ann.ID, p.Code)
		w.must(err)
		got := w.row(likes, p.PostID)
		if lifted := got.EnteredAt > fresh; lifted != tc.lifts || got.EnteredAt != got.FreshAt {
			t.Errorf("%s: row of a post of %v with at most %v: got %+v over %d, want lifted %v",
				tc.name, tc.age, tc.max, got, fresh, tc.lifts)
		}
	}
	w.sound()
}

// However likes and unlikes meet, they end as they were answered: each change
// drew one version and made one announcement, and what is stored agrees.
func TestLikeAndUnlikeAtOnce(t *testing.T) {
	w := newTown(t)
	bob, ann := w.user("bob"), w.user("ann")
	p := w.post(bob, "hello")
	w.heard.take()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 10 {
				act := w.Posts.Like
				if i%2 == 1 {
					act = w.Posts.Unlike
				}
				if _, err := act(t.Context(), ann.ID, p.Code); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	w.sound()
	w.same("version", w.version(p.PostID), int64(1+len(w.heard.take())))
}
