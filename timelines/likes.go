package timelines

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

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
	return s.mark(ctx, actor, code, query, kinds.Best, kinds.Liked, notices.QueueLike)
}

// Unlike takes the actor's like back. The post leaves the actor's likes, and
// the discussions unless the actor wrote it or commented on it, and best-of if too few
// people are left. Without a like it succeeds and changes nothing. ErrNotFound if the
// actor cannot read the post.
func (s Posts) Unlike(ctx context.Context, actor int64, code string) (Change, error) {
	return s.unmark(ctx, actor, code, kinds.Best, `DELETE FROM likes WHERE post_id = @post AND account_id = @actor`, notices.QueueUnlike)
}

// mark runs a statement that sets the actor's like or save of a post. If it was not set,
// the post enters the actor's timelines that it enters by this action, and the aggregate
// if it now belongs there. tell, if there is one, tells the post's author.
func (s Posts) mark(ctx context.Context, actor int64, code, query, aggregate string, did kinds.Action, tell telling) (Change, error) {
	return s.setMark(ctx, actor, code, aggregate, true, tell, func(b *pgx.Batch, p lockedPost, set *marking) {
		enter, args := s.entering(p, actor, did)
		args["actor"] = actor
		b.Queue(`WITH marked AS (`+query+` RETURNING 1), entered AS (`+enter+`)
			SELECT (SELECT count(*) FROM marked), ARRAY(SELECT timeline_id FROM entered)`, args).
			QueryRow(func(row pgx.Row) error { return row.Scan(&set.marks, &set.moved) })
	})
}

// unmark runs a statement that removes a like or save. The post leaves the actor's
// timelines, and the aggregate, that have no reason left to hold it. untell takes back what
// tell told.
func (s Posts) unmark(ctx context.Context, actor int64, code, aggregate, query string, untell telling) (Change, error) {
	return s.setMark(ctx, actor, code, aggregate, false, untell, func(b *pgx.Batch, p lockedPost, set *marking) {
		b.Queue(query, pgx.StrictNamedArgs{"post": p.ID, "actor": actor}).Exec(func(tag pgconn.CommandTag) error {
			set.marks = tag.RowsAffected()
			return nil
		})
		// The reasons that are left are read when the mark is gone.
		query, args := withdrawal(p.ID, actor)
		queueIDs(b, query, args, &set.moved)
	})
}

// marking is what a mark did: how many were set or removed, and the timelines that the post entered or left.
type marking struct {
	marks int64
	moved []int64
}

// telling adds to a batch the statement that tells people of a like, or takes that back. It sets told
// to their timelines.
type telling func(b *pgx.Batch, d notices.Doing, told *[]int64)

// setMark sends all that a mark changes in one round trip. Nothing of it stays if the mark stood, or
// was not there, already.
func (s Posts) setMark(ctx context.Context, actor int64, code, aggregate string, adds bool, tell telling,
	queue func(b *pgx.Batch, p lockedPost, set *marking),
) (Change, error) {
	return s.change(ctx, func(tx pgx.Tx) (Change, error) {
		p, err := lockPostTx(ctx, tx, actor, code)
		if err != nil {
			return Change{}, err
		}
		var set marking
		var told []int64
		b := &pgx.Batch{}
		queue(b, p, &set)
		if tell != nil && actor != p.AuthorID {
			tell(b, p.doing(actor, 0), &told)
		}
		belongs := s.queueAggregate(b, p, aggregate, adds)
		if err := tx.SendBatch(ctx, b).Close(); err != nil {
			return Change{}, fmt.Errorf("mark post: %w", err)
		}
		if set.marks == 0 {
			return Change{}, &unchanged{p.change(actor)}
		}
		if belongs.maybe() {
			aggregates, err := s.updateAggregatesTx(ctx, tx, p, aggregate)
			if err != nil {
				return Change{}, err
			}
			set.moved = append(set.moved, aggregates...)
		}
		return s.touchTx(ctx, tx, p.change(actor), append(set.moved, told...))
	})
}
