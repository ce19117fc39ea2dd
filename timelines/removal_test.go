package timelines

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Blocks of a removal leave the store as single deletions do, whatever their size.
func TestRemoveBlocks(t *testing.T) {
	for _, size := range []int{1, 3, 200} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			w := newTown(t)
			eve, bob := w.user("eve"), w.user("bob")
			var posts []Change
			for i := range 4 {
				p := w.post(bob, fmt.Sprint("hello ", i))
				posts = append(posts, p)
				for range i {
					_, err := w.Comments.Create(t.Context(), NewComment{Author: eve.ID, Code: p.Code, Body: "see #shoes, @bob and @ann"})
					w.must(err)
				}
				w.comment(bob, p.Code)
				w.post(eve, "watches #shoes")
			}
			for _, id := range w.people("fan", w.opts.BestOf-1) { // with eve they are enough
				_, err := w.Posts.Like(t.Context(), id, posts[3].Code)
				w.must(err)
			}
			best := w.timeline("best", 0)
			if w.row(best, posts[3].PostID).Withdrawn {
				t.Fatal("the post is not among the best")
			}
			_, err := w.Posts.Like(t.Context(), eve.ID, posts[1].Code)
			w.must(err)

			blocks := 0
			for after := int64(0); ; blocks++ {
				gone, err := inTx(t.Context(), w.core, func(tx pgx.Tx) (gone []Touched, err error) {
					gone, after, _, err = w.Posts.RemoveBlockTx(t.Context(), tx, eve.ID, after, size)
					return gone, err
				})
				w.must(err)
				if len(gone) == 0 {
					break
				}
				if blocks > 30 {
					t.Fatal("it does not end")
				}
			}
			w.same("posts and comments left", value[int64](w, `
				SELECT (SELECT count(*) FROM posts WHERE author_id = $1 AND deleted_at IS NULL)
					+ (SELECT count(*) FROM comments WHERE author_id = $1 AND deleted_at IS NULL)`, eve.ID), int64(0))
			w.same("comments of others", value[int64](w, `SELECT count(*) FROM comments WHERE deleted_at IS NULL`), int64(4))
			if !w.row(best, posts[3].PostID).Withdrawn {
				t.Error("too few people are left for the best, but the post stands there")
			}
			w.sound()
		})
	}
}

// The right to remove is checked in the transaction: a refusal changes nothing.
func TestRemoveIsRefused(t *testing.T) {
	w := newTown(t)
	eve, bob := w.user("eve"), w.user("bob")
	p := w.post(eve, "of eve")
	c := w.comment(eve, p.Code)
	was := w.version(p.PostID)
	refused := errors.New("refused")
	no := func(_ context.Context, _ pgx.Tx, author int64) error {
		w.same("author", author, eve.ID)
		return refused
	}
	yes := func(context.Context, pgx.Tx, int64) error { return nil }
	_, err := w.Posts.Remove(t.Context(), bob.ID, p.Code, no)
	w.fails("a removal that is refused", err, refused)
	_, err = w.Comments.Remove(t.Context(), bob.ID, p.Code, c.CommentID, no)
	w.fails("a removal that is refused", err, refused)
	w.same("version", w.version(p.PostID), was)
	_, err = w.Comments.Remove(t.Context(), bob.ID, p.Code, c.CommentID+7, yes)
	w.fails("no such comment", err, ErrNotFound)
	for range 2 {
		_, err = w.Comments.Remove(t.Context(), bob.ID, p.Code, c.CommentID, yes)
		w.must(err)
	}
	for range 2 {
		removed, err := w.Posts.Remove(t.Context(), bob.ID, p.Code, yes)
		w.must(err)
		w.same("post", removed.PostID, p.PostID)
	}
	_, err = w.Posts.Remove(t.Context(), bob.ID, p.Code, no)
	w.fails("a removal again that is refused", err, refused)
	w.sound()
}
