package timelines

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/drafts"
	"riverrun/timelines/files"
	"riverrun/timelines/kinds"
	"riverrun/timelines/notices"
	"riverrun/timelines/rights"
	"riverrun/timelines/rules"
)

// NewComment is a comment about to be made.
type NewComment struct {
	Author int64
	Code   string // the post's
	Body   string
	Key    string // the form's, or empty
	Plain  bool   // the text has no markup
	// Files are the author's uploads to attach, as in NewPost.
	Files []files.Attachment
	Draft drafts.Version // as NewPost.Draft
}

// Create comments on a post. ErrNotFound if the author cannot read it, ErrBlocked
// if they can read it only through groups that block them (see Block). The post enters the
// author's comments and discussions, fresh there the first time, and is bumped everywhere
// if it is young or much discussed (see queueBump). The comment's tags and mentions bring the
// post to their timelines, as the post's own do. A Key that was sent before is handled as
// in Posts.Create, and a stranger's comment too many is a *StrangerError.
func (s Comments) Create(ctx context.Context, n NewComment) (Change, error) {
	attach := s.attachedToComment(n.Files)
	body, err := rules.Body(n.Body, rules.CommentLong, len(n.Files) > 0)
	if err != nil {
		return Change{}, err
	}
	if err := errors.Join(checkKey(n.Key), attach.check()); err != nil {
		return Change{}, err
	}
	return s.change(ctx, func(tx pgx.Tx) (Change, error) {
		p, best, err := s.lockPostNearTx(ctx, tx, n.Author, n.Code, kinds.Best)
		if err != nil {
			return Change{}, err
		}
		c := p.change(n.Author)
		// The clock is read under the post's lock, so comments stand in the order of their
		// transactions.
		query := `
			INSERT INTO comments (post_id, author_id, created_at, body, markup)
			SELECT @post, @author, clock_timestamp(), @body, @markup WHERE ` + heard + `
			RETURNING id`
		err = tx.QueryRow(ctx, query, pgx.StrictNamedArgs{"post": p.ID, "author": n.Author, "body": body, "markup": !n.Plain}).
			Scan(&c.CommentID)
		if errors.Is(err, pgx.ErrNoRows) {
			return Change{}, ErrBlocked
		}
		if err != nil {
			return Change{}, fmt.Errorf("insert comment: %w", err)
		}
		asked, err := askedTx(ctx, tx, n.Author, n.Files)
		if err != nil {
			return Change{}, err
		}
		if err := recordKeyTx(ctx, tx, n.Author, n.form(p.Code, body, asked), p.ID, c.CommentID); err != nil {
			return Change{}, err
		}
		if err := s.countCommentTx(ctx, tx, n.Author); err != nil {
			return Change{}, err
		}
		if err := attach.addTx(ctx, tx, n.Author, p.ID, c.CommentID); err != nil {
			return Change{}, err
		}
		b := &pgx.Batch{}
		bump := queueBump(b, p, n.Author)
		var entered []int64
		query, args := s.entering(p, n.Author, kinds.Commented)
		queueIDs(b, query, args, &entered)
		if err := tx.SendBatch(ctx, b).Close(); err != nil {
			return Change{}, fmt.Errorf("bump post: %w", err)
		}
		written := writing{body, !n.Plain}
		named, err := s.indexTextTx(ctx, tx, &c, p, c.CommentID, written, false)
		if err != nil {
			return Change{}, err
		}
		told, err := notices.TellComment(ctx, tx, p.doing(n.Author, c.CommentID))
		if err != nil {
			return Change{}, err
		}
		var aggregates []int64
		if best.mayEnter() {
			if aggregates, err = s.updateAggregatesTx(ctx, tx, p, kinds.Best); err != nil {
				return Change{}, err
			}
		}
		if err := drafts.RemoveTx(ctx, tx, n.Author, n.Draft); err != nil {
			return Change{}, err
		}
		var also []Event
		if bump.rest {
			also = append(also, PendingBump{PostID: p.ID})
		}
		return s.touchTx(ctx, tx, c, slices.Concat(bump.moved, entered, named, told, aggregates), also...)
	})
}

// heldComment is a comment of a locked post.
type heldComment struct {
	AuthorID int64
	Body     string
	Markup   bool
}

// commentTx reads a comment of a post that is locked, or returns ErrNotFound.
func commentTx(ctx context.Context, tx pgx.Tx, post, id int64) (heldComment, error) {
	const query = `
		SELECT author_id, body, markup FROM comments
		WHERE id = @id AND post_id = @post AND deleted_at IS NULL`
	rows, err := tx.Query(ctx, query, pgx.StrictNamedArgs{"id": id, "post": post})
	if err != nil {
		return heldComment{}, fmt.Errorf("read comment: %w", err)
	}
	c, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[heldComment])
	if errors.Is(err, pgx.ErrNoRows) {
		return heldComment{}, ErrNotFound
	}
	if err != nil {
		return heldComment{}, fmt.Errorf("read comment: %w", err)
	}
	return c, nil
}

// Edit changes the text of the actor's own comment; it bumps nothing.
// ErrNotFound if the actor cannot read the post or it has no such comment,
// ErrForbidden if the comment is another's, ErrBlocked if the actor could not write it now, as
// Create says. The same text changes nothing. Its files stay.
func (s Comments) Edit(ctx context.Context, actor int64, code string, id int64, body string) (Change, error) {
	return s.edit(ctx, actor, code, id, body, nil)
}

// EditFiles is Comments.Edit with the files that the comment has from now on: those it keeps,
// and uploads of the actor's.
func (s Comments) EditFiles(ctx context.Context, actor int64, code string, id int64, body string, list []files.Attachment) (Change, error) {
	return s.edit(ctx, actor, code, id, body, s.attachedToComment(list))
}

func (s Comments) edit(ctx context.Context, actor int64, code string, id int64, body string, attach *attached) (Change, error) {
	body, err := editedBody(attach, body, rules.CommentLong)
	if err != nil {
		return Change{}, err
	}
	return s.change(ctx, func(tx pgx.Tx) (Change, error) {
		p, err := lockPostTx(ctx, tx, actor, code)
		if err != nil {
			return Change{}, err
		}
		held, err := commentTx(ctx, tx, p.ID, id)
		if err != nil {
			return Change{}, err
		}
		if held.AuthorID != actor {
			return Change{}, ErrForbidden
		}
		c := p.change(actor)
		c.CommentID = id
		refiled, err := attach.setTx(ctx, tx, actor, p.ID, id)
		if err != nil {
			return Change{}, err
		}
		if body == "" && attach == nil {
			if err := hasFilesTx(ctx, tx, p.ID, id); err != nil {
				return Change{}, err
			}
		}
		if held.Body == body && !refiled {
			return Change{}, &unchanged{c}
		}
		var may bool
		if err := tx.QueryRow(ctx, `SELECT `+heard, pgx.StrictNamedArgs{"post": p.ID, "author": actor}).Scan(&may); err != nil {
			return Change{}, fmt.Errorf("check the right to comment: %w", err)
		}
		if !may {
			return Change{}, ErrBlocked
		}
		_, err = tx.Exec(ctx, `UPDATE comments SET body = @body, edited_at = clock_timestamp() WHERE id = @id`,
			pgx.StrictNamedArgs{"id": id, "body": body})
		if err != nil {
			return Change{}, fmt.Errorf("edit comment: %w", err)
		}
		touched, err := s.indexTextTx(ctx, tx, &c, p, id, writing{body, held.Markup}, true)
		if err != nil {
			return Change{}, err
		}
		return s.touchTx(ctx, tx, c, touched)
	})
}

// Delete removes a comment with its text and likes. Its author, the post's author
// and administrators of a group that the post stands in may do so; others get
// ErrForbidden. With its author's last comment the post leaves their comments, and their
// discussions unless they wrote or like it. With the last text that has a tag, or names
// somebody, it leaves that timeline. It bumps nothing. Deleting again succeeds, for
// people who may, and changes nothing.
func (s Comments) Delete(ctx context.Context, actor int64, code string, id int64) (Change, error) {
	return s.change(ctx, func(tx pgx.Tx) (Change, error) {
		p, err := lockPostTx(ctx, tx, actor, code)
		if err != nil {
			return Change{}, err
		}
		c := p.change(actor)
		c.CommentID = id
		const query = `SELECT author_id, deleted_at IS NOT NULL FROM comments WHERE id = @id AND post_id = @post`
		var author int64
		var deleted bool
		err = tx.QueryRow(ctx, query, pgx.StrictNamedArgs{"id": id, "post": p.ID}).Scan(&author, &deleted)
		mayDelete := actor == author || actor == p.AuthorID || p.Administers
		switch {
		case errors.Is(err, pgx.ErrNoRows), err == nil && deleted && !mayDelete:
			return Change{}, ErrNotFound
		case err != nil:
			return Change{}, fmt.Errorf("read comment: %w", err)
		case !mayDelete:
			return Change{}, ErrForbidden
		case deleted:
			return Change{}, &unchanged{c}
		}
		return s.deleteTx(ctx, tx, c, p, author)
	})
}

// deleteTx ends the deletion of c.CommentID, a comment of a locked post.
func (s Comments) deleteTx(ctx context.Context, tx pgx.Tx, c Change, p lockedPost, author int64) (Change, error) {
	const empty = `
		WITH likes AS (DELETE FROM comment_likes WHERE comment_id = @id),
		files AS (DELETE FROM files WHERE comment_id = @id)
		UPDATE comments SET deleted_at = clock_timestamp(), body = '', via = '' WHERE id = @id`
	if _, err := tx.Exec(ctx, empty, pgx.StrictNamedArgs{"id": c.CommentID}); err != nil {
		return Change{}, fmt.Errorf("delete comment: %w", err)
	}
	left, err := withdrawTx(ctx, tx, p.ID, author)
	if err != nil {
		return Change{}, err
	}
	unnamed, err := s.indexTextTx(ctx, tx, &c, p, c.CommentID, writing{}, true)
	if err != nil {
		return Change{}, err
	}
	untold, err := notices.UntellComment(ctx, tx, p.doing(c.Actor, c.CommentID))
	if err != nil {
		return Change{}, err
	}
	aggregates, err := s.updateAggregatesTx(ctx, tx, p, kinds.Best)
	if err != nil {
		return Change{}, err
	}
	return s.touchTx(ctx, tx, c, slices.Concat(left, unnamed, untold, aggregates))
}

// Body returns the text of the actor's own comment, for the edit form;
// the errors are those of Comments.Edit.
func (s Comments) Body(ctx context.Context, actor int64, code string, id int64) (string, error) {
	code, ok := ParseCode(code)
	if !ok {
		return "", ErrNotFound
	}
	const query = `
		SELECT c.author_id, c.body
		FROM comments c JOIN posts p ON p.id = c.post_id
		WHERE c.id = @id AND c.deleted_at IS NULL
			AND p.code = @code AND p.deleted_at IS NULL AND ` + rights.SeenPost
	return s.ownBody(ctx, actor, query, pgx.StrictNamedArgs{"viewer": actor, "code": code, "id": id})
}
