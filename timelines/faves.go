package timelines

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Fave keeps the post for the actor (source: 000, 004, "faves"). It enters the
// actor's faves, fresh there the first time and never again; nobody else's page
// has it from there. Keeping what is kept changes nothing. ErrNotFound if the
// actor cannot read the post.
func (s *Store) Fave(ctx context.Context, actor int64, code string) (Change, error) {
	return s.change(ctx, func(tx pgx.Tx) (Change, error) {
		p, err := lockPostTx(ctx, tx, actor, code)
		if err != nil {
			return Change{}, err
		}
		const query = `
			INSERT INTO faves (post_id, account_id, created_at) VALUES (@post, @actor, clock_timestamp())
			ON CONFLICT DO NOTHING`
		tag, err := tx.Exec(ctx, query, pgx.StrictNamedArgs{"post": p.ID, "actor": actor})
		if err != nil {
			return Change{}, fmt.Errorf("fave: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return Change{}, &unchanged{p.change(actor)}
		}
		entered, err := s.enterTx(ctx, tx, p, actor, KindFaves)
		if err != nil {
			return Change{}, err
		}
		return s.touchTx(ctx, tx, p.change(actor), entered)
	})
}

// Unfave undoes Fave. Not keeping it is a success and changes nothing.
// ErrNotFound if the actor cannot read the post.
func (s *Store) Unfave(ctx context.Context, actor int64, code string) (Change, error) {
	return s.change(ctx, func(tx pgx.Tx) (Change, error) {
		p, err := lockPostTx(ctx, tx, actor, code)
		if err != nil {
			return Change{}, err
		}
		tag, err := tx.Exec(ctx, `DELETE FROM faves WHERE post_id = @post AND account_id = @actor`,
			pgx.StrictNamedArgs{"post": p.ID, "actor": actor})
		if err != nil {
			return Change{}, fmt.Errorf("unfave: %w", err)
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
