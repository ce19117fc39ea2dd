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
	return s.mark(ctx, actor, code, marking{query: query, action: kinds.Liked, aggregate: kinds.Best, tell: notices.Liked})
}

// Unlike takes the actor's like back. The post leaves the actor's likes, and
// the discussions unless the actor wrote it or commented on it, and best-of if too few
// people are left. Without a like it succeeds and changes nothing. ErrNotFound if the
// actor cannot read the post.
func (s Posts) Unlike(ctx context.Context, actor int64, code string) (Change, error) {
	const query = `DELETE FROM likes WHERE post_id = @post AND account_id = @actor`
	return s.mark(ctx, actor, code, marking{query: query, back: true, action: kinds.Liked, aggregate: kinds.Best, tell: notices.Unliked})
}

// marking is how a like or save is set, or taken back.
type marking struct {
	query     string // of the row, for @post and @actor
	back      bool
	action    kinds.Action
	aggregate string            // the kind that counts it
	tell      notices.Statement // tells the post's author of it, or takes that back; empty if nobody is told
}

// mark sets or takes back a like or save of a post. The post enters the actor's timelines that it enters by this action, or
// leaves those that have no reason left to hold it, and so does the aggregate. If the mark stood, or was not
// there, already, nothing changes.
func (s Posts) mark(ctx context.Context, actor int64, code string, m marking) (Change, error) {
	return s.change(ctx, func(tx pgx.Tx) (Change, error) {
		p, near, err := s.lockPostNearTx(ctx, tx, actor, code, m.aggregate)
		if err != nil {
			return Change{}, err
		}
		c := p.change(actor)
		query, args := s.markQuery(p, actor, m)
		touched := Touched{PostID: p.ID}
		var marks int64
		if err := tx.QueryRow(ctx, query, args).Scan(&marks, &touched.Timelines, &touched.Unpushed); err != nil {
			return Change{}, fmt.Errorf("mark post: %w", err)
		}
		if marks == 0 {
			return Change{}, &unchanged{c}
		}
		if !m.back && near.mayEnter() || m.back && near.mayLeave() {
			aggregates, err := s.updateAggregatesTx(ctx, tx, p, m.aggregate)
			if err != nil {
				return Change{}, err
			}
			touched.Timelines = append(touched.Timelines, aggregates...)
		}
		c.Touched = union(touched.Timelines, nil)
		touched.Timelines = c.Touched
		return c, s.announceTx(ctx, tx, touched)
	})
}

// markQuery is the one statement of a marking. It returns how many rows were marked, the timelines in which the post
// moved, and whether nobody is to be pushed to.
func (s Posts) markQuery(p lockedPost, actor int64, m marking) (query string, args pgx.StrictNamedArgs) {
	var moves notices.Statement
	if m.back {
		moves, args = withdrawal(m.action), pgx.StrictNamedArgs{"post": p.ID, "account": actor}
	} else {
		moves.Do, args = s.entering(p, actor, m.action)
	}
	args["actor"] = actor
	parts, moved, unpushed := moves.As("moved"), `SELECT timeline_id FROM moved`, `true`
	if m.tell.Do != "" && actor != p.AuthorID {
		parts += `, ` + m.tell.As("told")
		moved += ` UNION ALL SELECT timeline_id FROM told`
		if m.tell.Whom != "" {
			unpushed = `NOT EXISTS (SELECT FROM push_subscriptions WHERE account_id IN (` + m.tell.Whom + `))`
		}
	}
	return `
		WITH marked AS (` + m.query + ` RETURNING 1), ` + parts + `
		SELECT (SELECT count(*) FROM marked), ARRAY(` + moved + `), ` + unpushed, args
}
