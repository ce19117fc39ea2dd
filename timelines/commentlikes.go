package timelines

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/notices"
	"riverrun/timelines/rights"
)

// Like makes the actor like a comment of the post with that code (source:
// 004). It lifts nothing and brings the post to no timeline. Liking again changes
// nothing. ErrNotFound if the actor cannot read the post, the post has no such comment,
// or a ban hides the comment.
func (s Comments) Like(ctx context.Context, actor int64, code string, id int64) (Change, error) {
	return s.mark(ctx, actor, code, id, `
		INSERT INTO comment_likes (comment_id, account_id, created_at) VALUES (@comment, @actor, clock_timestamp())
		ON CONFLICT DO NOTHING`, notices.TellCommentLike)
}

// Unlike undoes Comments.Like, with the same errors. Without a like it succeeds and
// changes nothing.
func (s Comments) Unlike(ctx context.Context, actor int64, code string, id int64) (Change, error) {
	return s.mark(ctx, actor, code, id,
		`DELETE FROM comment_likes WHERE comment_id = @comment AND account_id = @actor`, notices.UntellCommentLike)
}

// mark runs one statement about the actor and a comment, and tells the comment's author.
func (s Comments) mark(ctx context.Context, actor int64, code string, id int64, query string,
	tell func(context.Context, pgx.Tx, notices.Doing) ([]int64, error),
) (Change, error) {
	return s.change(ctx, func(tx pgx.Tx) (Change, error) {
		p, err := lockPostTx(ctx, tx, actor, code)
		if err != nil {
			return Change{}, err
		}
		// The comment's author may be hidden from the actor, who then sees a placeholder only.
		const seen = `
			SELECT EXISTS (SELECT FROM comments c JOIN posts o ON o.id = c.post_id
				CROSS JOIN LATERAL (SELECT c.author_id, o.decisive) p
				WHERE c.id = @comment AND c.post_id = @post AND c.deleted_at IS NULL AND ` + rights.Unbanned + `)`
		var ok bool
		args := pgx.StrictNamedArgs{"comment": id, "post": p.ID, "viewer": actor}
		if err := tx.QueryRow(ctx, seen, args).Scan(&ok); err != nil {
			return Change{}, fmt.Errorf("read comment: %w", err)
		}
		if !ok {
			return Change{}, ErrNotFound
		}
		c := p.change(actor)
		c.CommentID = id
		tag, err := tx.Exec(ctx, query, pgx.StrictNamedArgs{"comment": id, "actor": actor})
		if err != nil {
			return Change{}, fmt.Errorf("mark comment: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return Change{}, &unchanged{c}
		}
		told, err := tell(ctx, tx, p.doing(actor, id))
		if err != nil {
			return Change{}, err
		}
		return s.touchTx(ctx, tx, c, told)
	})
}
