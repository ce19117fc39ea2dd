package timelines

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Like makes the actor like the post. It enters the actor's likes and
// discussions, fresh there the first time and never again. Liking what is liked
// changes nothing. ErrNotFound if the actor cannot read the post.
func (s *Store) Like(ctx context.Context, actor int64, code string) (Change, error) {
	return s.change(ctx, func(tx pgx.Tx) (Change, error) {
		p, err := lockPostTx(ctx, tx, actor, code)
		if err != nil {
			return Change{}, err
		}
		const query = `
			INSERT INTO likes (post_id, account_id, created_at) VALUES (@post, @actor, clock_timestamp())
			ON CONFLICT DO NOTHING`
		tag, err := tx.Exec(ctx, query, pgx.StrictNamedArgs{"post": p.ID, "actor": actor})
		if err != nil {
			return Change{}, fmt.Errorf("like: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return Change{}, &unchanged{p.change(actor)}
		}
		entered, err := s.enterTx(ctx, tx, p, actor, KindLikes, KindDiscussions)
		if err != nil {
			return Change{}, err
		}
		return s.touchTx(ctx, tx, p.change(actor), entered)
	})
}

// Unlike takes the actor's like back. The post leaves the actor's likes, and
// the discussions unless the actor wrote it or commented on it. Not liking it is
// a success and changes nothing. ErrNotFound if the actor cannot read the post.
func (s *Store) Unlike(ctx context.Context, actor int64, code string) (Change, error) {
	return s.change(ctx, func(tx pgx.Tx) (Change, error) {
		p, err := lockPostTx(ctx, tx, actor, code)
		if err != nil {
			return Change{}, err
		}
		tag, err := tx.Exec(ctx, `DELETE FROM likes WHERE post_id = @post AND account_id = @actor`,
			pgx.StrictNamedArgs{"post": p.ID, "actor": actor})
		if err != nil {
			return Change{}, fmt.Errorf("unlike: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return Change{}, &unchanged{p.change(actor)}
		}
		left, err := withdrawTx(ctx, tx, p.ID, actor)
		if err != nil {
			return Change{}, err
		}
		return s.touchTx(ctx, tx, p.change(actor), left)
	})
}
