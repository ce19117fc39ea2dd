package timelines

import (
	"slices"
	"testing"

	"riverrun/timelines/kinds"
	"riverrun/timelines/snapshot"
)

func TestLikeComment(t *testing.T) {
	w := newTown(t)
	bob, ann, cat := w.user("bob"), w.user("ann"), w.user("cat")
	p, other := w.post(bob, "hello"), w.post(bob, "another")
	id := w.comment(ann, p.Code).CommentID
	fresh := w.freshAt(p.PostID)
	w.heard.take()
	change := Change{Actor: cat.ID, PostID: p.PostID, Code: p.Code, CommentID: id}
	told := change
	told.Touched = ids(w.timeline(kinds.Notifications, ann.ID))

	c, err := w.Comments.Like(t.Context(), cat.ID, p.Code, id)
	w.must(err)
	w.same("change", c, told)
	w.same("announced", w.heard.take(), []Event{Touched{PostID: p.PostID, Timelines: told.Touched}})
	w.same("version", w.version(p.PostID), int64(3))
	w.same("the post's fresh_at", w.freshAt(p.PostID), fresh)
	c, err = w.Comments.Like(t.Context(), cat.ID, p.Code, id)
	w.must(err)
	w.same("again", c, change)
	c, err = w.Comments.Unlike(t.Context(), bob.ID, p.Code, id)
	w.must(err)
	w.same("taking back what was not given", c.PostID, p.PostID)
	w.same("announced", w.heard.take(), []Event(nil))
	w.same("version", w.version(p.PostID), int64(3))

	c, err = w.Comments.Unlike(t.Context(), cat.ID, p.Code, id)
	w.must(err)
	w.same("taken back", c, told)
	w.same("announced", w.heard.take(), []Event{Touched{PostID: p.PostID, Timelines: told.Touched}})

	_, err = w.Comments.Like(t.Context(), cat.ID, other.Code, id)
	w.fails("under another post", err, ErrNotFound)
	_, err = w.Feeds.SetAccess(t.Context(), bob.ID, "", Private)
	w.must(err)
	_, err = w.Comments.Like(t.Context(), cat.ID, p.Code, id)
	w.fails("under what one cannot read", err, ErrNotFound)

	_, err = w.Comments.Like(t.Context(), bob.ID, p.Code, id)
	w.must(err)
	_, err = w.Comments.Delete(t.Context(), bob.ID, p.Code, id)
	w.must(err)
	_, err = w.Comments.Like(t.Context(), bob.ID, p.Code, id)
	w.fails("a deleted comment", err, ErrNotFound)
	w.sound()
}

// The likers of folded comments are read, unless there are very many of either.
func TestLikersOfFoldedComments(t *testing.T) {
	w := newTown(t)
	bob, ann, cat := w.user("bob"), w.user("ann"), w.user("cat")
	p := w.post(bob, "hello")
	var ids []int64
	for range 4 {
		ids = append(ids, w.comment(bob, p.Code).CommentID)
	}
	for _, by := range []Account{ann, cat} {
		_, err := w.Comments.Like(t.Context(), by.ID, p.Code, ids[1])
		w.must(err)
	}
	_, err := w.Comments.Like(t.Context(), ann.ID, p.Code, ids[2])
	w.must(err)
	for _, c := range []struct {
		what  string
		depth snapshot.Depth
		likes int
		ids   []int64
	}{
		{"some folded", snapshot.Depth{First: 1, Last: 2, People: 10}, 3, []int64{ann.ID, cat.ID}},
		{"none folded", snapshot.Depth{First: 2, Last: 2, People: 10}, 0, []int64{}},
		{"very many comments", snapshot.Depth{First: 1, Last: 2, People: 3}, 0, nil},
	} {
		w.must(w.InSnapshot(t.Context(), func(sn *snapshot.Snapshot) error {
			found, err := sn.Contents(t.Context(), []int64{p.PostID}, c.depth)
			if err != nil {
				return err
			}
			w.same(c.what, found[p.PostID].FoldedLikes, c.likes)
			got := found[p.PostID].FoldedLikerIDs
			slices.Sort(got)
			slices.Sort(c.ids)
			w.same(c.what, got, c.ids)
			return nil
		}))
	}
}

// The cost of a fold of a much-discussed post, and of reading who likes its folded
// comments, if nobody does and if as many do as are read.
func BenchmarkFoldOfACrowd(b *testing.B) {
	w := newTown(b)
	p := w.post(w.user("bob"), "hello")
	ids := w.people("talker", large(1000))
	w.exec(`INSERT INTO comments (post_id, author_id, created_at, body) SELECT $1, a, now(), 'so it is' FROM unnest($2::bigint[]) a`, p.PostID, ids)
	for _, bm := range []struct {
		name          string
		likes, people int // likes of each comment
	}{
		{"not asked", 0, len(ids) - 1},
		{"none", 0, len(ids)},
		{"one each", 1, len(ids)},
		{"all that are asked of", 4, len(ids)},
	} {
		b.Run(bm.name, func(b *testing.B) {
			w.exec(`INSERT INTO comment_likes (comment_id, account_id, created_at)
				SELECT c.id, a.id, now() FROM comments c, unnest(($1::bigint[])[:$2]) a(id)
				ON CONFLICT DO NOTHING`, ids, bm.likes)
			w.exec(`VACUUM ANALYZE`)
			w.pool.Reset()
			for b.Loop() {
				w.must(w.InSnapshot(b.Context(), func(sn *snapshot.Snapshot) error {
					return second(sn.Contents(b.Context(), []int64{p.PostID}, snapshot.Depth{BodyRunes: 1000, BodyLines: 30, CommentRunes: 300, CommentLines: 10, First: 1, Last: 2, People: bm.people}))
				}))
			}
		})
	}
}
