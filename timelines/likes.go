package timelines

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/kinds"
	"riverrun/timelines/notices"
)

// Like makes the actor like the post. It enters the actor's likes and discussions, fresh
// there the first time and never again, and best-of when enough people take part in it.
// Liking again changes nothing. ErrNotFound if the actor cannot read the post.
func (s Posts) Like(ctx context.Context, actor int64, code string) (Change, error) {
	const query = `
		INSERT INTO likes (post_id, account_id, created_at) VALUES (@post, @actor, clock_timestamp())
		ON CONFLICT DO NOTHING`
	return s.mark(ctx, actor, code, query, kinds.Best, kinds.Liked, notices.TellLike)
}

// Unlike takes the actor's like back. The post leaves the actor's likes, and
// the discussions unless the actor wrote it or commented on it, and best-of if too few
// people are left. Without a like it succeeds and changes nothing. ErrNotFound if the
// actor cannot read the post.
func (s Posts) Unlike(ctx context.Context, actor int64, code string) (Change, error) {
	return s.unmark(ctx, actor, code, kinds.Best, `DELETE FROM likes WHERE post_id = @post AND account_id = @actor`, notices.UntellLike)
}

// mark runs a statement that sets the actor's like or save of a post. If it was not set,
// the post enters the actor's timelines that it enters by this action, and the aggregate
// if it now belongs there. tell, if there is one, tells the post's author.
func (s Posts) mark(ctx context.Context, actor int64, code, query, aggregate string, did kinds.Action, tell telling) (Change, error) {
	return s.setMark(ctx, actor, code, query, tell, func(tx pgx.Tx, p lockedPost) ([]int64, error) {
		entered, err := s.enterTx(ctx, tx, p, actor, did)
		if err != nil {
			return nil, err
		}
		aggregates, err := s.updateAggregateTx(ctx, tx, p, aggregate, true)
		return union(entered, aggregates), err
	})
}

// unmark runs a statement that removes a like or save. The post leaves the actor's
// timelines, and the aggregate, that have no reason left to hold it. untell takes back what
// tell told.
func (s Posts) unmark(ctx context.Context, actor int64, code, aggregate, query string, untell telling) (Change, error) {
	return s.setMark(ctx, actor, code, query, untell, func(tx pgx.Tx, p lockedPost) ([]int64, error) {
		left, err := withdrawTx(ctx, tx, p.ID, actor)
		if err != nil {
			return nil, err
		}
		aggregates, err := s.updateAggregateTx(ctx, tx, p, aggregate, false)
		return union(left, aggregates), err
	})
}

// telling tells people of a like, or takes that back, and returns their timelines.
type telling func(context.Context, pgx.Tx, notices.Doing) ([]int64, error)

func (s Posts) setMark(ctx context.Context, actor int64, code, query string, tell telling,
	move func(pgx.Tx, lockedPost) (touched []int64, err error),
) (Change, error) {
	return s.change(ctx, func(tx pgx.Tx) (Change, error) {
		p, err := lockPostTx(ctx, tx, actor, code)
		if err != nil {
			return Change{}, err
		}
		tag, err := tx.Exec(ctx, query, pgx.StrictNamedArgs{"post": p.ID, "actor": actor})
		if err != nil {
			return Change{}, fmt.Errorf("mark post: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return Change{}, &unchanged{p.change(actor)}
		}
		touched, err := move(tx, p)
		if err != nil {
			return Change{}, err
		}
		if tell != nil && actor != p.AuthorID {
			told, err := tell(ctx, tx, p.doing(actor, 0))
			if err != nil {
				return Change{}, err
			}
			touched = union(touched, told)
		}
		return s.touchTx(ctx, tx, p.change(actor), touched)
	})
}
