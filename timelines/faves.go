package timelines

import (
	"context"

	"riverrun/timelines/kinds"
)

// Fave saves the post for the actor (source: 000, 004, "faves"). It enters the actor's saved
// posts, fresh there the first time and never again; no page of other people takes it from
// there. When enough people save it, it enters most-faved. Saving again changes nothing.
// ErrNotFound if the actor cannot read the post.
func (s Posts) Fave(ctx context.Context, actor int64, code string) (Change, error) {
	const query = `
		INSERT INTO faves (post_id, account_id, created_at) VALUES (@post, @actor, clock_timestamp())
		ON CONFLICT DO NOTHING`
	return s.mark(ctx, actor, code, marking{query: query, action: kinds.Saved, aggregate: kinds.MostFaved})
}

// Unfave undoes Fave. For a post that is not saved it succeeds and changes nothing.
// ErrNotFound if the actor cannot read the post.
func (s Posts) Unfave(ctx context.Context, actor int64, code string) (Change, error) {
	const query = `DELETE FROM faves WHERE post_id = @post AND account_id = @actor`
	return s.mark(ctx, actor, code, marking{query: query, back: true, action: kinds.Saved, aggregate: kinds.MostFaved})
}
