package timelines

import "context"

// Fave keeps the post for the actor (source: 000, 004, "faves"). It enters the
// actor's faves, fresh there the first time and never again; nobody else's page
// has it from there. When enough people keep it, it enters most-faved. Keeping
// what is kept changes nothing. ErrNotFound if the actor cannot read the post.
func (s *Store) Fave(ctx context.Context, actor int64, code string) (Change, error) {
	const query = `
		INSERT INTO faves (post_id, account_id, created_at) VALUES (@post, @actor, clock_timestamp())
		ON CONFLICT DO NOTHING`
	return s.mark(ctx, actor, code, query, KindMostFaved, saved)
}

// Unfave undoes Fave. Not keeping it is a success and changes nothing.
// ErrNotFound if the actor cannot read the post.
func (s *Store) Unfave(ctx context.Context, actor int64, code string) (Change, error) {
	return s.unmark(ctx, actor, code, KindMostFaved, `DELETE FROM faves WHERE post_id = @post AND account_id = @actor`)
}
