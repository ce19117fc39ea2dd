package timelines

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/kinds"
)

// EndTx takes a group away from everybody: its feed gets the level Ended, and nobody administers it
// any more. The actor administers it, or with any set may do it to every group. The caller hides the
// account and deletes what is in it (package leaving). ErrNotFound if there is no such group,
// ErrForbidden if the actor does not administer it.
func (s Groups) EndTx(ctx context.Context, tx pgx.Tx, actor int64, name string, every bool) (group int64, replaced []Replace, drop []Invalidation, err error) {
	if !nameForm.MatchString(name) {
		return 0, nil, nil, ErrNotFound
	}
	// Accounts come before timelines, as in SetProfile.
	_, err = tx.Exec(ctx, `SELECT FROM accounts WHERE name = @name AND kind = 'group' FOR NO KEY UPDATE`, pgx.StrictNamedArgs{"name": name})
	if err != nil {
		return 0, nil, nil, fmt.Errorf("lock account: %w", err)
	}
	var g governed
	if every {
		g, err = anyGroupTx(ctx, tx, name)
	} else {
		g, err = lockGroupTx(ctx, tx, actor, name)
	}
	if err != nil {
		return 0, nil, nil, err
	}
	was, err := s.setLevelTx(ctx, tx, g.FeedID, Ended)
	if err != nil {
		return 0, nil, nil, err
	}
	if replaced, err = invalidatedByLevelTx(ctx, tx, g.FeedID, was, Ended); err != nil {
		return 0, nil, nil, err
	}
	if err := s.announceReplacedTx(ctx, tx, replaced); err != nil {
		return 0, nil, nil, err
	}
	rows, err := tx.Query(ctx, `DELETE FROM group_admins WHERE group_id = @group RETURNING account_id`, pgx.StrictNamedArgs{"group": g.ID})
	admins, err := collectIDs(rows, err, "administrators of an ended group")
	if err != nil {
		return 0, nil, nil, err
	}
	drop = []Invalidation{{Kind: InvalidLevel, TimelineID: g.FeedID}, {Kind: InvalidCounts, AccountID: g.ID}}
	for _, id := range admins {
		drop = append(drop, Invalidation{Kind: InvalidSets, AccountID: id}, Invalidation{Kind: InvalidCounts, AccountID: id})
	}
	return g.ID, replaced, drop, nil
}

// DisbandBlockTx empties an ended group of at most limit posts: those that stand only there are
// deleted, whoever wrote them, and the others leave it. Then posts that wait for it go on without it, one each time. It announces what rivers must follow, and
// returns that, none if it found only posts that had left the group before, or if the account is no
// group. more says that posts may be left.
func (s Posts) DisbandBlockTx(ctx context.Context, tx pgx.Tx, group int64, limit int) (gone []Touched, more bool, err error) {
	for range disbandRounds {
		gone, more, err = s.disbandRoundTx(ctx, tx, group, limit)
		if err != nil || !more || len(gone) > 0 {
			break
		}
	}
	if err != nil || more {
		return gone, more, err
	}
	return s.forgoTx(ctx, tx, group)
}

// disbandRounds bounds how many rounds one transaction makes while it finds only posts that had left
// the group before, which nothing has to follow.
const disbandRounds = 3

func (s Posts) disbandRoundTx(ctx context.Context, tx pgx.Tx, group int64, limit int) (gone []Touched, more bool, err error) {
	x := Items(s).Resume(tx, 0)
	const of = `SELECT coalesce((SELECT id FROM timelines WHERE kind = 'group' AND their_id = @group AND term = '' AND access = 3), 0)`
	var feed int64
	if err := tx.QueryRow(ctx, of, pgx.StrictNamedArgs{"group": group}).Scan(&feed); err != nil {
		return nil, false, fmt.Errorf("find the feed of a group: %w", err)
	}
	// Nothing enters the group any more, but a post may still leave it, or be deleted by its author. So
	// facts about posts are read in statements of their own, after the locks.
	const lock = `
		SELECT id FROM posts WHERE id IN (SELECT post_id FROM timeline_entries WHERE timeline_id = @feed ORDER BY created_at DESC, post_id DESC LIMIT @limit)
		ORDER BY id FOR NO KEY UPDATE`
	rows, err := tx.Query(ctx, lock, pgx.StrictNamedArgs{"feed": feed, "limit": limit})
	locked, err := collectIDs(rows, err, "posts of a group")
	if err != nil || len(locked) == 0 {
		return nil, false, err
	}
	alone, err := x.standing(ctx, feed, locked, true)
	if err != nil {
		return nil, false, err
	}
	also, err := x.standing(ctx, feed, locked, false)
	if err != nil {
		return nil, false, err
	}
	if len(alone) > 0 {
		if err := x.empty(ctx, alone); err != nil {
			return nil, false, err
		}
	}
	if len(also) > 0 {
		if err := x.part(ctx, feed, also); err != nil {
			return nil, false, err
		}
	}
	_, err = tx.Exec(ctx, `DELETE FROM timeline_entries WHERE timeline_id = @feed AND post_id = ANY(@posts)`,
		pgx.StrictNamedArgs{"feed": feed, "posts": locked})
	if err != nil {
		return nil, false, fmt.Errorf("empty a group: %w", err)
	}
	if len(x.touched) == 0 { // they had left the group before
		return nil, true, nil
	}
	for post, of := range x.touched {
		gone = append(gone, Touched{PostID: post, Timelines: union(of, nil)})
	}
	slices.SortFunc(gone, func(a, b Touched) int { return int(a.PostID - b.PostID) })
	_, err = x.End(ctx)
	return gone, true, err
}

// standing returns those of these locked posts that stand in a timeline, alone or elsewhere too.
func (x *ItemsTx) standing(ctx context.Context, timeline int64, locked []int64, alone bool) ([]int64, error) {
	const query = `
		SELECT id FROM posts WHERE id = ANY(@posts) AND deleted_at IS NULL AND @timeline = ANY(decisive)
			AND (array_remove(decisive, @timeline) = '{}') = @alone
		ORDER BY id`
	rows, err := x.tx.Query(ctx, query, pgx.StrictNamedArgs{"posts": locked, "timeline": timeline, "alone": alone})
	return collectIDs(rows, err, "where posts stand")
}

// part takes locked posts out of one of their destinations, as moveTx does.
func (x *ItemsTx) part(ctx context.Context, timeline int64, locked []int64) error {
	if err := x.raise(ctx, locked); err != nil {
		return err
	}
	const touched = `SELECT post_id, timeline_id FROM timeline_entries WHERE post_id = ANY(@posts) AND NOT withdrawn`
	rows, err := x.tx.Query(ctx, touched, pgx.StrictNamedArgs{"posts": locked})
	if err := x.touchRows(rows, err, "timelines"); err != nil {
		return err
	}
	_, err = x.tx.Exec(ctx, `UPDATE posts SET decisive = array_remove(decisive, @timeline) WHERE id = ANY(@posts)`,
		pgx.StrictNamedArgs{"posts": locked, "timeline": timeline})
	if err != nil {
		return fmt.Errorf("move posts: %w", err)
	}
	if err := flagTx(ctx, x.tx, locked); err != nil {
		return err
	}
	// A post that is only a message now is in no aggregate (updateAggregatesTx).
	query := `
		WITH messages AS MATERIALIZED (
			SELECT p.id FROM posts p WHERE p.id = ANY(@posts)
				AND NOT EXISTS (SELECT FROM timelines d WHERE d.id = ANY(p.decisive) AND d.kind IN ` + kinds.SQL(kinds.Spec.IsLevelled) + `)
		), aggregates AS MATERIALIZED (
			SELECT id FROM timelines WHERE kind IN ` + kinds.SQL(kinds.Spec.IsAggregate) + ` AND their_id = 0
		)
		UPDATE timeline_entries e SET withdrawn = true
		FROM messages m, aggregates a WHERE e.timeline_id = a.id AND e.post_id = m.id AND NOT e.withdrawn
		RETURNING e.post_id, e.timeline_id`
	rows, err = x.tx.Query(ctx, query, pgx.StrictNamedArgs{"posts": locked})
	if err := x.touchRows(rows, err, "aggregates"); err != nil {
		return err
	}
	x.rewritten = append(x.rewritten, locked...)
	return nil
}
