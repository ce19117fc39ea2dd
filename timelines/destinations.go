package timelines

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/kinds"
	"riverrun/timelines/notices"
	"riverrun/timelines/rights"
	"riverrun/timelines/rules"
)

// newDestinations is cleanDestinations, and wants at least one.
func newDestinations(to []string) ([]string, error) {
	to, err := cleanDestinations(to)
	if err == nil && len(to) == 0 {
		err = rules.ToNone.Broken("")
	}
	return to, err
}

// CheckDestinations returns the error that a post of the actor to these destinations would end with:
// an InvalidError as of Create, or "to_none".
func (s Posts) CheckDestinations(ctx context.Context, actor int64, to []string) error {
	to, err := newDestinations(to)
	if err != nil {
		return err
	}
	_, err = inTx(ctx, s.core, func(tx pgx.Tx) (struct{}, error) {
		_, found, err := addressTx(ctx, tx, actor, to)
		if err != nil {
			return struct{}{}, err
		}
		return struct{}{}, checkWritableTx(ctx, tx, actor, found)
	})
	return err
}

// resendTx is moveTx of a post to the destinations found, by its author. A listing that stays where it
// is may stay in a group that takes no more listings; one that moves may not.
func (s *core) resendTx(ctx context.Context, tx pgx.Tx, p lockedPost, found []destination, decisive []int64) (touched []int64, moved bool, err error) {
	stands, err := decisiveTx(ctx, tx, p.ID)
	if err != nil {
		return nil, false, err
	}
	if !slices.Equal(stands, decisive) {
		if err := checkHeldTx(ctx, tx, p.ID); err != nil {
			return nil, false, err
		}
		if err := checkListingMoveTx(ctx, tx, p.ID, decisive); err != nil {
			return nil, false, err
		}
	}
	fresh := slices.DeleteFunc(found, func(d destination) bool { return slices.Contains(stands, d.TimelineID) })
	if err := checkWritableTx(ctx, tx, p.AuthorID, fresh); err != nil {
		return nil, false, err
	}
	if err := s.checkReachTx(ctx, tx, p.AuthorID, fresh); err != nil {
		return nil, false, err
	}
	if err := checkApprovalTx(ctx, tx, p.AuthorID, fresh); err != nil {
		return nil, false, err
	}
	return s.moveTx(ctx, tx, p, stands, decisive)
}

// RemoveFromGroup takes a post out of a group the actor administers. A post that would
// stand nowhere goes to its author's eyes: nothing is lost, and nobody else sees it.
// ErrNotFound if the actor cannot read the post or there is no such group, ErrForbidden if
// the actor does not administer it. A post that does not stand there stays as it is.
func (s Posts) RemoveFromGroup(ctx context.Context, actor int64, code, group string) (Change, error) {
	if group == "" {
		return Change{}, ErrNotFound
	}
	return s.change(ctx, func(tx pgx.Tx) (Change, error) {
		// No level is held. The post can go only to its author's eyes, whose level never
		// changes; and where it stays, a change of level waits for the post (setLevelsTx).
		p, err := lockPostTx(ctx, tx, actor, code)
		if err != nil {
			return Change{}, err
		}
		place, err := governedFeedTx(ctx, tx, actor, group)
		if err != nil {
			return Change{}, err
		}
		stands, err := decisiveTx(ctx, tx, p.ID)
		if err != nil {
			return Change{}, err
		}
		left := slices.DeleteFunc(slices.Clone(stands), func(id int64) bool { return id == place })
		if len(left) == 0 {
			eyes, err := eyesTx(ctx, tx, p.AuthorID)
			if err != nil {
				return Change{}, err
			}
			left = []int64{eyes}
		}
		touched, moved, err := s.moveTx(ctx, tx, p, stands, left)
		if err != nil {
			return Change{}, err
		}
		if !moved {
			return Change{}, &unchanged{p.change(actor)}
		}
		return s.touchTx(ctx, tx, p.change(actor), touched)
	})
}

// decisiveTx returns the decisive timelines of a locked post, in key order.
func decisiveTx(ctx context.Context, tx pgx.Tx, post int64) (stands []int64, err error) {
	err = tx.QueryRow(ctx, `SELECT decisive FROM posts WHERE id = @post`, pgx.StrictNamedArgs{"post": post}).Scan(&stands)
	if err != nil {
		return nil, fmt.Errorf("read destinations: %w", err)
	}
	return union(stands, nil), nil
}

// moveTx changes a locked post's destinations from one list to another, both in key order.
// If they are the same, nothing is moved. The post enters a timeline as fresh as it is, or
// where it stood there before. All its timelines are touched, since readers of any of them
// may gain or lose the right to read the post.
func (s *core) moveTx(ctx context.Context, tx pgx.Tx, p lockedPost, stands, decisive []int64) (touched []int64, moved bool, err error) {
	if slices.Equal(stands, decisive) {
		return nil, false, nil
	}
	const move = `
		UPDATE posts p
		SET decisive = @decisive, is_public = f.is_public
		FROM (SELECT ` + publicColumn + ` FROM timelines t WHERE t.id = ANY(@decisive)) f
		WHERE p.id = @post`
	if _, err := tx.Exec(ctx, move, pgx.StrictNamedArgs{"post": p.ID, "decisive": decisive}); err != nil {
		return nil, false, fmt.Errorf("move post: %w", err)
	}
	left := without(stands, decisive)
	// A row that comes back keeps its first stamp, so leaving and coming back never lifts.
	const enter = `
		INSERT INTO timeline_entries AS e (timeline_id, post_id, entered_at, fresh_at, created_at)
		SELECT places.id, p.id, p.fresh_at, p.fresh_at, (extract(epoch FROM p.created_at) * 1000000)::bigint
		FROM posts p, unnest(@decisive::bigint[]) places(id)
		WHERE p.id = @post
		ORDER BY places.id
		ON CONFLICT (timeline_id, post_id) DO UPDATE
		SET withdrawn = false,
			fresh_at = greatest(e.entered_at, (SELECT p.fresh_at FROM posts p WHERE p.id = e.post_id))
		WHERE e.withdrawn`
	const leave = `
		WITH standing AS MATERIALIZED (
			SELECT e.at FROM unnest(@left::bigint[]) l(id) CROSS JOIN LATERAL (
				SELECT e.ctid AS at, e.withdrawn FROM timeline_entries e WHERE e.post_id = @post AND e.timeline_id = l.id LIMIT 1) e
			WHERE NOT e.withdrawn
		)
		UPDATE timeline_entries e SET withdrawn = true
		FROM standing WHERE e.ctid = standing.at`
	if _, err := tx.Exec(ctx, enter, pgx.StrictNamedArgs{"post": p.ID, "decisive": decisive}); err != nil {
		return nil, false, fmt.Errorf("enter destinations: %w", err)
	}
	if _, err := tx.Exec(ctx, leave, pgx.StrictNamedArgs{"post": p.ID, "left": left}); err != nil {
		return nil, false, fmt.Errorf("leave destinations: %w", err)
	}
	d := p.doing(p.AuthorID, 0)
	untold, err := notices.UntellParties(ctx, tx, d, left)
	if err != nil {
		return nil, false, err
	}
	told, err := notices.TellParties(ctx, tx, d, without(decisive, stands))
	if err != nil {
		return nil, false, err
	}
	// A move lifts nothing: without a stamp the post enters as fresh as it is.
	p.Stamp = 0
	aggregates, err := s.updateAggregatesTx(ctx, tx, p, kinds.Where(kinds.Spec.IsAggregate)...)
	if err != nil {
		return nil, false, err
	}
	rows, err := tx.Query(ctx, `SELECT timeline_id FROM timeline_entries WHERE post_id = @post AND NOT withdrawn`,
		pgx.StrictNamedArgs{"post": p.ID})
	touched, err = collectIDs(rows, err, "timelines of a moved post")
	if err != nil {
		return nil, false, err
	}
	return slices.Concat(touched, left, untold, told, aggregates), true, nil
}

// without returns the ids that are not among the others.
func without(ids, others []int64) []int64 {
	return slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { return slices.Contains(others, id) })
}

// Destinations returns the destinations of the actor's own post, in the form of
// NewPost.To, for the edit form. The errors are those of Posts.Edit.
func (s Posts) Destinations(ctx context.Context, actor int64, code string) ([]string, error) {
	code, ok := ParseCode(code)
	if !ok {
		return nil, ErrNotFound
	}
	// The timeline of the author's own messages is not named, nor a group that was deleted: the post
	// may stand there until a job takes it out.
	const query = `
		SELECT p.author_id, ARRAY(
			SELECT CASE t.kind WHEN 'eyes' THEN @eyes WHEN 'subfeed' THEN a.name || '/' || t.term ELSE a.name END
			FROM timelines t JOIN accounts a ON a.id = t.their_id
			WHERE t.id = ANY(p.decisive) AND NOT (t.kind = 'directs' AND t.their_id = p.author_id)
				AND t.access IS DISTINCT FROM 3
			ORDER BY t.id)
		FROM posts p WHERE p.code = @code AND p.deleted_at IS NULL AND ` + rights.SeenPost
	var author int64
	var to []string
	err := s.pool.QueryRow(ctx, query, pgx.StrictNamedArgs{"viewer": actor, "code": code, "eyes": ToEyes}).Scan(&author, &to)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, ErrNotFound
	case err != nil:
		return nil, fmt.Errorf("read destinations: %w", err)
	case author != actor:
		return nil, ErrForbidden
	}
	return to, nil
}
