package timelines

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/kinds"
	"riverrun/timelines/notices"
)

// Allow decides, in the transaction of a removal, whether it may be made; its error ends it. It is
// told whose the post or comment is.
type Allow func(ctx context.Context, tx pgx.Tx, author int64) error

// Remove deletes a post as Delete does, whoever wrote it and whether or not the actor may read it.
// ErrNotFound if there never was such a post. Removing again changes nothing, for those who are
// allowed.
func (s Posts) Remove(ctx context.Context, actor int64, code string, allow Allow) (Change, error) {
	return s.change(ctx, func(tx pgx.Tx) (Change, error) {
		p, err := lockPostIfTx(ctx, tx, actor, code, `true`)
		if errors.Is(err, ErrNotFound) {
			c, author, err := gonePostTx(ctx, tx, actor, code)
			if err != nil {
				return Change{}, err
			}
			if err := allow(ctx, tx, author); err != nil {
				return Change{}, err
			}
			return Change{}, &unchanged{c}
		}
		if err != nil {
			return Change{}, err
		}
		if err := allow(ctx, tx, p.AuthorID); err != nil {
			return Change{}, err
		}
		return s.emptyTx(ctx, tx, actor, p)
	})
}

// gonePostTx finds a post that is deleted, or returns ErrNotFound.
func gonePostTx(ctx context.Context, tx pgx.Tx, actor int64, code string) (c Change, author int64, err error) {
	c.Actor = actor
	var ok bool
	if c.Code, ok = ParseCode(code); !ok {
		return c, 0, ErrNotFound
	}
	err = tx.QueryRow(ctx, `SELECT id, author_id FROM posts WHERE code = @code AND deleted_at IS NOT NULL`,
		pgx.StrictNamedArgs{"code": c.Code}).Scan(&c.PostID, &author)
	if errors.Is(err, pgx.ErrNoRows) {
		return c, 0, ErrNotFound
	}
	if err != nil {
		return c, 0, fmt.Errorf("find what was deleted: %w", err)
	}
	return c, author, nil
}

// Remove deletes a comment as Delete does, whoever wrote it and whether or not the actor may read
// the post. ErrNotFound if there is no such post or never was such a comment. Removing again changes
// nothing, for those who are allowed.
func (s Comments) Remove(ctx context.Context, actor int64, code string, id int64, allow Allow) (Change, error) {
	return s.change(ctx, func(tx pgx.Tx) (Change, error) {
		p, err := lockPostIfTx(ctx, tx, actor, code, `true`)
		if err != nil {
			return Change{}, err
		}
		c := p.change(actor)
		c.CommentID = id
		const query = `SELECT author_id, deleted_at IS NOT NULL FROM comments WHERE id = @id AND post_id = @post`
		var author int64
		var deleted bool
		err = tx.QueryRow(ctx, query, pgx.StrictNamedArgs{"id": id, "post": p.ID}).Scan(&author, &deleted)
		if errors.Is(err, pgx.ErrNoRows) {
			return Change{}, ErrNotFound
		}
		if err != nil {
			return Change{}, fmt.Errorf("read comment: %w", err)
		}
		if err := allow(ctx, tx, author); err != nil {
			return Change{}, err
		}
		if deleted {
			return Change{}, &unchanged{c}
		}
		return s.deleteTx(ctx, tx, c, p, author)
	})
}

// RemovePosts says that all that an account wrote is to be removed (package admin). The work stands
// in the table removals.
type RemovePosts struct{ AccountID int64 }

func (RemovePosts) event() {}

// RemoveBlockTx deletes at most limit more posts of an account, after the one with that id, and if
// there are none as many of its comments. It announces what rivers must follow, and returns that,
// none if nothing was left, with the id to go on after, and what nodes must drop.
func (s Posts) RemoveBlockTx(ctx context.Context, tx pgx.Tx, account, after int64, limit int) (gone []Touched, last int64, drop []Invalidation, err error) {
	x := Items(s).Resume(tx, account)
	posts, err := x.next(ctx, after, limit)
	if err == nil && len(posts) == 0 && after > 0 {
		posts, err = x.next(ctx, 0, limit) // written meanwhile, and committed late
	}
	switch {
	case err != nil:
	case len(posts) > 0:
		last = posts[len(posts)-1]
		var deleted []int64
		if deleted, err = x.Delete(ctx, posts, true); err == nil && len(deleted) == 0 { // their author was faster
			return s.RemoveBlockTx(ctx, tx, account, last, limit)
		}
	default:
		err = x.deleteComments(ctx, limit)
	}
	if err != nil {
		return nil, 0, nil, err
	}
	for post, of := range x.touched {
		gone = append(gone, Touched{PostID: post, Timelines: union(of, nil)})
	}
	slices.SortFunc(gone, func(a, b Touched) int { return int(a.PostID - b.PostID) })
	_, err = x.End(ctx)
	return gone, last, recount(x.alerted), err
}

// next returns the ids of the author's posts after one of them.
func (x *ItemsTx) next(ctx context.Context, after int64, limit int) ([]int64, error) {
	const query = `
		SELECT id FROM posts WHERE author_id = @author AND id > @after AND deleted_at IS NULL ORDER BY id LIMIT @limit`
	rows, err := x.tx.Query(ctx, query, pgx.StrictNamedArgs{"author": x.place.Author, "after": after, "limit": limit})
	return collectIDs(rows, err, "posts to remove")
}

// deleteComments deletes at most limit of the author's comments, as Comments.Delete does.
func (x *ItemsTx) deleteComments(ctx context.Context, limit int) error {
	const under = `
		SELECT DISTINCT post_id FROM (
			SELECT post_id FROM comments WHERE author_id = @author AND deleted_at IS NULL ORDER BY post_id LIMIT @limit) c
		ORDER BY post_id`
	rows, err := x.tx.Query(ctx, under, pgx.StrictNamedArgs{"author": x.place.Author, "limit": limit})
	posts, err := collectIDs(rows, err, "posts with comments to remove")
	if err != nil || len(posts) == 0 {
		return err
	}
	rows, err = x.tx.Query(ctx, `SELECT id FROM posts WHERE id = ANY(@posts) AND deleted_at IS NULL ORDER BY id FOR NO KEY UPDATE`,
		pgx.StrictNamedArgs{"posts": posts})
	if posts, err = collectIDs(rows, err, "posts with comments to remove"); err != nil {
		return err
	}
	if len(posts) == 0 { // they were deleted meanwhile, and these comments with them
		return x.deleteComments(ctx, limit)
	}
	if err := x.raise(ctx, posts); err != nil {
		return err
	}
	// This is a statement of its own, so that it sees what the locks waited for.
	const empty = `
		WITH chosen AS MATERIALIZED (
			SELECT id, post_id FROM comments WHERE author_id = @author AND deleted_at IS NULL AND post_id = ANY(@posts)
			ORDER BY post_id, id LIMIT @limit
		), likes AS (
			DELETE FROM comment_likes l USING chosen WHERE l.comment_id = chosen.id
		), files AS (
			DELETE FROM files f USING chosen WHERE f.comment_id = chosen.id
		)
		UPDATE comments c SET deleted_at = clock_timestamp(), body = '', via = '' FROM chosen WHERE c.id = chosen.id
		RETURNING c.id`
	rows, err = x.tx.Query(ctx, empty, pgx.StrictNamedArgs{"author": x.place.Author, "posts": posts, "limit": limit})
	comments, err := collectIDs(rows, err, "comments to remove")
	if err != nil {
		return err
	}
	for _, step := range []func(context.Context, []int64, []int64) error{x.withdraw, x.unmark, x.untell, x.leaveBest} {
		if err := step(ctx, posts, comments); err != nil {
			return err
		}
	}
	x.rewritten = append(x.rewritten, posts...)
	return nil
}

// withdraw is withdrawTx of many posts.
func (x *ItemsTx) withdraw(ctx context.Context, posts, _ []int64) error {
	query := `
		WITH reasons AS MATERIALIZED (
			SELECT n.id AS post_id,
				EXISTS (SELECT FROM likes WHERE post_id = n.id AND account_id = @account) AS liked,
				EXISTS (SELECT FROM comments WHERE post_id = n.id AND author_id = @account AND deleted_at IS NULL) AS commented,
				EXISTS (SELECT FROM faves WHERE post_id = n.id AND account_id = @account) AS saved,
				EXISTS (SELECT FROM posts WHERE id = n.id AND author_id = @account) AS wrote
			FROM unnest(@posts::bigint[]) AS n (id)
		), pointless AS MATERIALIZED (
			SELECT t.id, r.post_id FROM timelines t, reasons r
			WHERE t.kind IN ` + kinds.SQL(kinds.Spec.IsByAction) + ` AND t.their_id = @account AND t.term = '' AND NOT ` + kinds.HoldsByAction() + `
		)
		UPDATE timeline_entries e SET withdrawn = true
		FROM pointless p WHERE e.timeline_id = p.id AND e.post_id = p.post_id AND NOT e.withdrawn
		RETURNING e.post_id, e.timeline_id`
	rows, err := x.tx.Query(ctx, query, pgx.StrictNamedArgs{"posts": posts, "account": x.place.Author})
	return x.touchRows(rows, err, "timelines left")
}

// unmark takes posts out of the timelines of tags and @names that only these comments had.
func (x *ItemsTx) unmark(ctx context.Context, posts, comments []int64) error {
	const query = `
		WITH unnamed AS (
			DELETE FROM text_marks WHERE post_id = ANY(@posts) AND comment_id = ANY(@comments)
			RETURNING post_id, timeline_id
		), pointless AS MATERIALIZED (
			SELECT DISTINCT u.post_id, u.timeline_id FROM unnamed u
			WHERE NOT EXISTS (SELECT FROM text_marks m
				WHERE m.post_id = u.post_id AND m.timeline_id = u.timeline_id AND m.comment_id <> ALL(@comments))
		)
		UPDATE timeline_entries e SET withdrawn = true
		FROM pointless p WHERE e.timeline_id = p.timeline_id AND e.post_id = p.post_id AND NOT e.withdrawn
		RETURNING e.post_id, e.timeline_id`
	rows, err := x.tx.Query(ctx, query, pgx.StrictNamedArgs{"posts": posts, "comments": comments})
	return x.touchRows(rows, err, "tags and names")
}

// untell takes back all that was told of these comments.
func (x *ItemsTx) untell(ctx context.Context, posts, comments []int64) error {
	rows, err := notices.UntellComments(ctx, x.tx, posts, comments)
	return x.touchRows(rows, err, "notifications")
}

// leaveBest takes posts out of the aggregates of what most people talk about if too few are left
// (updateAggregatesTx).
func (x *ItemsTx) leaveBest(ctx context.Context, posts, _ []int64) error {
	const query = `
		WITH best AS MATERIALIZED (
			SELECT id FROM timelines WHERE kind = 'best' AND their_id = 0
		), short AS MATERIALIZED (
			SELECT p.id FROM posts p
			WHERE p.id = ANY(@posts)
				AND EXISTS (SELECT FROM timeline_entries e WHERE e.timeline_id IN (SELECT id FROM best) AND e.post_id = p.id AND NOT e.withdrawn)
				AND @best > (SELECT count(*) FROM (
					SELECT l.account_id FROM likes l WHERE l.post_id = p.id AND l.account_id <> p.author_id
					UNION
					SELECT c.author_id FROM comments c WHERE c.post_id = p.id AND c.deleted_at IS NULL AND c.author_id <> p.author_id) people)
		)
		UPDATE timeline_entries e SET withdrawn = true
		FROM short, best WHERE e.timeline_id = best.id AND e.post_id = short.id AND NOT e.withdrawn
		RETURNING e.post_id, e.timeline_id`
	rows, err := x.tx.Query(ctx, query, pgx.StrictNamedArgs{"posts": posts, "best": x.core.opts.BestOf})
	return x.touchRows(rows, err, "aggregates")
}

// ForgetBlockTx takes back the likes and saves that an account has of at most limit posts, and takes
// these out of the timelines that its owner's actions, names in texts and notifications fill. It
// announces what rivers must follow, and returns that, none if nothing was left.
func (s Posts) ForgetBlockTx(ctx context.Context, tx pgx.Tx, account int64, limit int) (gone []Touched, err error) {
	x := Items(s).Resume(tx, account)
	posts, err := x.lockMarked(ctx, limit)
	if err != nil || len(posts) == 0 {
		return nil, err
	}
	if err := x.raise(ctx, posts); err != nil {
		return nil, err
	}
	for _, step := range []func(context.Context, []int64, []int64) error{x.unlike, x.untellBy, x.leaveOwn, x.leaveBest, x.leaveMostFaved} {
		if err := step(ctx, posts, nil); err != nil {
			return nil, err
		}
	}
	for post, of := range x.touched {
		gone = append(gone, Touched{PostID: post, Timelines: union(of, nil)})
	}
	slices.SortFunc(gone, func(a, b Touched) int { return int(a.PostID - b.PostID) })
	_, err = x.End(ctx)
	return gone, err
}

// ownTimelines are the timelines t of @account that fill by themselves.
var ownTimelines = `t.their_id = @account AND t.kind IN ` + kinds.SQL(func(k kinds.Spec) bool { return k.IsOwned() && !k.Base })

// lockMarked finds and locks posts that the account likes, saves, or has in such a timeline.
func (x *ItemsTx) lockMarked(ctx context.Context, limit int) ([]int64, error) {
	query := `
		SELECT DISTINCT post_id FROM (
			(SELECT post_id FROM likes WHERE account_id = @account LIMIT @limit)
			UNION ALL
			(SELECT post_id FROM faves WHERE account_id = @account LIMIT @limit)
			UNION ALL
			(SELECT c.post_id FROM comment_likes l JOIN comments c ON c.id = l.comment_id WHERE l.account_id = @account LIMIT @limit)
			UNION ALL
			(SELECT e.post_id FROM timelines t JOIN timeline_entries e ON e.timeline_id = t.id WHERE ` + ownTimelines + ` LIMIT @limit)
		) m ORDER BY 1 LIMIT @limit`
	rows, err := x.tx.Query(ctx, query, pgx.StrictNamedArgs{"account": x.place.Author, "limit": limit})
	posts, err := collectIDs(rows, err, "posts that somebody likes")
	if err != nil || len(posts) == 0 {
		return nil, err
	}
	rows, err = x.tx.Query(ctx, `SELECT id FROM posts WHERE id = ANY(@posts) ORDER BY id FOR NO KEY UPDATE`, pgx.StrictNamedArgs{"posts": posts})
	return collectIDs(rows, err, "posts that somebody likes")
}

// unlike removes the likes and saves of posts, and the likes of their comments.
func (x *ItemsTx) unlike(ctx context.Context, posts, _ []int64) error {
	args := pgx.StrictNamedArgs{"posts": posts, "account": x.place.Author}
	var batch pgx.Batch
	for _, query := range []string{
		`DELETE FROM likes WHERE post_id = ANY(@posts) AND account_id = @account`,
		`DELETE FROM faves WHERE post_id = ANY(@posts) AND account_id = @account`,
		`DELETE FROM comment_likes l USING comments c WHERE l.account_id = @account AND c.id = l.comment_id AND c.post_id = ANY(@posts)`,
	} {
		batch.Queue(query, args)
	}
	if err := x.tx.SendBatch(ctx, &batch).Close(); err != nil {
		return fmt.Errorf("take likes back: %w", err)
	}
	return nil
}

// untellBy takes back all that was told of what the account did to these posts.
func (x *ItemsTx) untellBy(ctx context.Context, posts, _ []int64) error {
	rows, err := notices.UntellBy(ctx, x.tx, posts, x.place.Author)
	return x.touchRows(rows, err, "notifications")
}

// leaveOwn takes posts out of the account's timelines that fill by themselves.
func (x *ItemsTx) leaveOwn(ctx context.Context, posts, _ []int64) error {
	query := `
		WITH own AS MATERIALIZED (
			SELECT t.id FROM timelines t WHERE ` + ownTimelines + `
		), unnamed AS (
			DELETE FROM text_marks m USING own WHERE m.timeline_id = own.id AND m.post_id = ANY(@posts)
		), gone AS (
			DELETE FROM timeline_entries e USING own WHERE e.timeline_id = own.id AND e.post_id = ANY(@posts)
			RETURNING e.post_id, e.timeline_id, e.withdrawn
		)
		SELECT post_id, timeline_id FROM gone WHERE NOT withdrawn`
	rows, err := x.tx.Query(ctx, query, pgx.StrictNamedArgs{"posts": posts, "account": x.place.Author})
	return x.touchRows(rows, err, "timelines left")
}

// leaveMostFaved is leaveBest for what most people save.
func (x *ItemsTx) leaveMostFaved(ctx context.Context, posts, _ []int64) error {
	const query = `
		WITH most AS MATERIALIZED (
			SELECT id FROM timelines WHERE kind = 'mostfaved' AND their_id = 0
		), short AS MATERIALIZED (
			SELECT p.id FROM posts p
			WHERE p.id = ANY(@posts)
				AND EXISTS (SELECT FROM timeline_entries e WHERE e.timeline_id IN (SELECT id FROM most) AND e.post_id = p.id AND NOT e.withdrawn)
				AND @most > (SELECT count(*) FROM faves f WHERE f.post_id = p.id)
		)
		UPDATE timeline_entries e SET withdrawn = true
		FROM short, most WHERE e.timeline_id = most.id AND e.post_id = short.id AND NOT e.withdrawn
		RETURNING e.post_id, e.timeline_id`
	rows, err := x.tx.Query(ctx, query, pgx.StrictNamedArgs{"posts": posts, "most": x.core.opts.MostFaved})
	return x.touchRows(rows, err, "aggregates")
}
